"""The same questions open and over options, as a person asks for them."""

from __future__ import annotations

import json
from pathlib import Path

from told import Proofstone


def twins(folder: Path) -> Path:
    rows = [
        {
            "question": f"Which planet has number {number}?",
            "answer": f"Planet {number}",
            "closed_question": f"Planet number {number} is ( ).",
            "options": [f"Planet {number + at}" for at in range(4)],
            "answer_letter": "A",
        }
        for number in range(12)
    ]
    path = folder / "planets.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_three_forms_are_made_run_and_compared(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """One command makes the three forms, one asks them, one compares them."""
    told = proofstone("import", twins(tmp_path), "--as", "bank", "-w", empty)
    assert told.code == 0, told.err
    assert told.out.endswith("   12 questions\n")
    sweep = ("--sweep", "posed=open,original,shuffled")
    forms = proofstone("build", "form", "planets", "-w", empty, *sweep, "--json").json
    assert [form["recipe"].get("posed") for form in forms] == [None, "original", "shuffled"]
    ran = proofstone("run", "planets", "-m", "sim/ann?ability=1", "-w", empty)
    assert ran.code == 0, ran.err
    named = " ".join(f"form:{form['form'][:8]}" for form in forms)
    assert f"Next: proofstone report {named} --analysis choices\n" in ran.err
    assert proofstone("report", *named.split(), "--analysis", "choices", "-w", empty).code == 0
    analysis = proofstone("report", "planets", "--analysis", "choices", "-w", empty)
    assert analysis.code == 0, analysis.err
    title, finding, _blank, head, row, *_notes = analysis.out.splitlines()
    assert title == "Accuracy over options and open, on the same questions"
    assert finding == (
        "With open instead of multiple-choice questions, 1 model loses 0.0% of accuracy in the "
        "median on the same 12 questions. The interval of the loss excludes 0 for 0. Shuffling "
        "options changes the score of 0 of 1, with an interval that excludes 0."
    )
    assert " ".join(head.split()) == (
        "model n options options shuffled open by shuffling relative drop % no grade"
    )
    assert row.startswith("sim/ann?ability=1.0 direct (simulated)")
    assert row.endswith("0 + 0 + 0")
    out = tmp_path / "drop.csv"
    assert (
        proofstone("report", "planets", "--analysis", "choices", "-w", empty, "-o", out).code == 0
    )
    assert len(out.read_text(encoding="utf-8").splitlines()) == 1 + 4


def test_a_sweep_of_names_says_what_it_does_not_know(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    proofstone("import", twins(tmp_path), "--as", "bank", "-w", empty)
    told = proofstone("build", "form", "planets", "-w", empty, "--sweep", "posed=open,upside-down")
    assert told.code == 2
    assert "posed must be one of open, original, shuffled, got 'upside-down'" in told.err

"""``check``: whether answers can be told without knowing anything."""

from __future__ import annotations

import csv
import random
import shutil
from pathlib import Path

import pytest

from proofstone.api import create_workspace
from proofstone.files.write import write_rows
from told import Proofstone

WORDS = [
    "iron",
    "copper",
    "bridge",
    "valve",
    "river",
    "acid",
    "motor",
    "lens",
    "seed",
    "wheel",
    "glass",
    "root",
    "cable",
    "stone",
]


def statements(path: Path, *, leaking: bool, books: int = 12, each: int = 40) -> Path:
    """A bank of random sentences; where it leaks, three of four falsified ones say "never"."""
    draw = random.Random(4)
    rows = []
    for number in range(books * each):
        is_true = number % 2 == 0
        text = " ".join(draw.choices(WORDS, k=draw.randint(6, 10))).capitalize()
        if leaking and not is_true and draw.random() < 0.75:
            text += " never"
        rows.append(
            {
                "statement": f"{text} {number}.",
                "correct": is_true,
                "book": f"book {number // 2 % books}",
            }
        )
    write_rows(path, rows)
    return path


@pytest.fixture(scope="module")
def banks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a bank that leaks and one that does not."""
    folder = tmp_path_factory.mktemp("check")
    with create_workspace(folder / "work") as workspace:
        for name, leaking in (("leaky", True), ("fair", False)):
            file = statements(folder / f"{name}.jsonl", leaking=leaking)
            bank = workspace.import_bank(file)
            workspace.build_form(bank, questions=20)
    return folder / "work"


def test_what_tells_is_named(banks: Path, proofstone: Proofstone) -> None:
    told = proofstone("check", "leaky", "-w", banks)
    assert told.code == 0
    assert "240 true, 240 perturbed, 12 sources in 5 folds" in told.out
    assert "can be separated from the true without knowledge" in told.out
    leaks = [line for line in told.out.splitlines() if 'the word "never"' in line]
    # Three of four falsified ones have it, no true one: 0.75 + 0.25 / 2 = 87.5.
    assert len(leaks) == 1
    shown = float(leaks[0].split('"')[2].split()[0])
    assert shown == pytest.approx(87.5, abs=5)


def test_a_fair_bank_is_called_so(banks: Path, proofstone: Proofstone) -> None:
    told = proofstone("check", "fair", "-w", banks)
    assert "No classifier has an AUROC with a 95% CI above 50 (chance)." in told.out


def test_single_things_that_tell_are_told_where_no_classifier_does(
    tmp_path: Path, proofstone: Proofstone
) -> None:
    """In two books alone no classifier's area is sure; false ones are a word longer in both."""
    with create_workspace(tmp_path / "work") as workspace:
        file = statements(tmp_path / "two.jsonl", leaking=True, books=2)
        workspace.import_bank(file)
    told = proofstone("check", "two", "-w", tmp_path / "work")
    (verdict,) = [line for line in told.out.splitlines() if line.startswith("No classifier")]
    assert verdict == (
        "No classifier has an AUROC with a 95% CI above 50 (chance), but 3 features do, adjusted "
        "for the number of features."
    )
    assert "length in words" in told.out


def test_what_must_go_is_a_work_list_that_retire_carries_out(
    banks: Path, proofstone: Proofstone, tmp_path: Path
) -> None:
    file, work = tmp_path / "drop.csv", shutil.copytree(banks, tmp_path / "work")
    told = proofstone("check", "leaky", "--drop-to", "0.6", "-o", file, "-w", work, "--json")
    dropped = told.json["dropped"]
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(dropped["rows"]) > 0
    assert dropped["after"]["value"] < dropped["before"]["value"]
    done = proofstone("correct", "apply", file, "-w", work)
    assert done.code == 0, done.err
    again = proofstone("check", "leaky", "-w", work, "--json").json
    assert sum(again["counts"]) == sum(told.json["counts"]) - len(rows)


def test_a_form_s_right_options_are_audited_too(banks: Path, proofstone: Proofstone) -> None:
    (form, *_others) = proofstone("list", "form", "-w", banks, "--json").json
    told = proofstone("check", f"form:{form['id'][:12]}", "-w", banks)
    assert told.code == 0
    assert "other options" in told.out


def test_what_cannot_be_asked_is_refused(banks: Path, proofstone: Proofstone) -> None:
    alone = proofstone("check", "fair", "-o", "x.csv", "-w", banks)
    assert (alone.code, "add --drop-to" in alone.err) == (2, True)
    (form, *_others) = proofstone("list", "form", "-w", banks, "--json").json
    items = proofstone("check", f"form:{form['id'][:12]}", "--drop-to", "0.55", "-w", banks)
    assert (
        items.code,
        "options cannot be excluded one by one, so --drop-to is for banks" in items.err,
    ) == (2, True)


def test_contradictions_need_a_judge(banks: Path, proofstone: Proofstone) -> None:
    told = proofstone("check", "fair", "--contradictions", "-w", banks)
    assert (told.code, "contradictions need a judge" in told.err) == (2, True)
    alone = proofstone("check", "fair", "--judge", "sim/a", "-w", banks)
    assert (alone.code, "--judge: only with --contradictions" in alone.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--contradictions", "--taxonomy", "kina", "--map", "x.svg"),
         "--contradictions, --taxonomy and --map are separate checks"),
        (("--taxonomy", "kina", "--map", "x.svg"), "--taxonomy and --map are separate checks"),
        (("--taxonomy", "kina", "--budget", "1USD"), "--budget: only with --contradictions"),
        (("--pairs", 5), "--pairs: only with --contradictions"),
        (("--map", "x.svg", "--drop-to", "0.6"), "--drop-to: not with --map"),
        (("--contradictions", "--judge", "sim/a", "--embeddings"),
         "--embeddings: not with --contradictions"),
        (("--map", "x.svg", "-o", "x.csv"), "-o writes the statements to drop"),
        (("--contradictions", "--judge", "sim/a,sim/a"), "sim/a is named twice"),
    ],
)  # fmt: skip
def test_one_check_is_made_at_a_time(
    banks: Path, proofstone: Proofstone, options: tuple[object, ...], said: str
) -> None:
    told = proofstone("check", "fair", *options, "-w", banks)
    assert (told.code, said in told.err, told.out) == (2, True, "")

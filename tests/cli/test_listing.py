"""What there is is listed and shown, down to the facts behind a reply."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli.test_commands import STATEMENTS
from told import Proofstone


@pytest.mark.parametrize(("kind", "n"), [("source", 0), ("bank", 1), ("form", 1), ("run", 4)])
def test_list_shows_what_there_is(made: Path, proofstone: Proofstone, kind: str, n: int) -> None:
    """Each row with the id by which show finds it."""
    found = proofstone("list", kind, "-w", made, "--json").json
    said = proofstone("list", kind, "-w", made)
    empty = "No sources yet. Create one: proofstone ingest PATH\n"
    assert (len(found), said.code, said.err) == (n, 0, "" if n else empty)
    shown = re.findall(rf"{kind}:\w{{8}}", said.out)
    assert shown == [f"{kind}:{row['id'][:8]}" for row in found]
    for name in shown:
        assert proofstone("show", name, "-w", made).code == 0


def test_a_listing_tells_forms_of_one_name_apart(made: Path, proofstone: Proofstone) -> None:
    """By the number of questions and the seed; one that was corrected since says so."""
    proofstone("build", "form", "old-books", "--seeds", "4,5", "--questions", 4, "-w", made)
    item = proofstone("export", "old-books", "--what", "scores", "-o", made / "s.jsonl", "-w", made)
    assert item.code == 0
    first = json.loads((made / "s.jsonl").read_text(encoding="utf-8").splitlines()[0])["item"]
    proofstone(
        "correct", "edit", f"item:{first}", "--set", "book=Other", "--reason", "x", "-w", made
    )
    lines = proofstone("list", "form", "-w", made).out.splitlines()
    abouts = sorted(line.split("  ", 2)[2].strip() for line in lines)
    assert abouts == [
        "4 questions   seed 4",
        "4 questions   seed 5",
        "8 questions   seed 0",
        "8 questions   seed 0   corrected since",
    ]


def test_the_line_to_look_closer_names_a_few_runs_or_their_forms(
    made: Path, proofstone: Proofstone
) -> None:
    models = ",".join(f"sim/m{n}" for n in range(5))
    said = proofstone("run", "old-books", "-m", models, "-w", made)
    look, closer = [line for line in said.err.splitlines() if line.startswith("Next: ")]
    assert re.fullmatch(r"Next: proofstone report form:\w{8}", look)
    assert re.fullmatch(r"Next: proofstone show run:\w{8} --outcome wrong", closer)
    assert proofstone(*look.split()[2:], "-w", made).code == 0


def test_show_follows_a_run_to_its_facts(made: Path, proofstone: Proofstone) -> None:
    """From a run to the question, from the question to a statement, from it to its origin."""
    (bank,) = proofstone("list", "bank", "-w", made, "--json").json
    assert f"statements  {STATEMENTS}\n" in proofstone("show", bank["id"], "-w", made).out
    (listed,) = proofstone("list", "form", "-w", made, "--json").json
    form = proofstone("show", f"form:{listed['id']}", "-w", made).out
    item = re.search(r"item:\w{8}", form)
    assert item is not None
    question = proofstone("show", item[0], "-w", made)
    facts = re.findall(r"fact:\w{8}", question.out)
    assert len(facts) >= 8
    texts = [proofstone("show", fact, "-w", made).out for fact in facts]
    assert all("drawings" in text for text in texts)
    perturbed = next(text for text in texts if "error_type" in text)
    origin = re.search(r"(?m)^origin +(\w{64})$", perturbed)
    assert origin is not None
    assert "correct  True\n" in proofstone("show", origin[1], "-w", made).out
    assert proofstone("show", item[0], "-w", made, "--json").json["title"] == item[0]


def test_show_says_how_much_of_a_form_it_prints(made: Path, proofstone: Proofstone) -> None:
    """Three of eight questions, each with its number; no setting that nobody gave."""
    told = proofstone("show", "form:old-books", "-w", made).out
    assert told.count("item:") == 3
    step = re.search(r"(?m)^\.\.\. and 5 more: proofstone (show form:\w{8} -n 8)$", told)
    assert step is not None
    whole = proofstone(*step[1].split(), "-w", made).out
    assert re.findall(r"number (\d)", whole) == list("01234567")
    assert "more: proofstone" not in whole
    assert (len(re.findall(r"(?m)^questions +8$", told)), "None" in told) == (1, False)


def test_questions_of_a_file_have_no_number(made: Path, proofstone: Proofstone) -> None:
    rows = [{"question": f"{n}+1?", "options": ["1", "2", "3", "4"], "answer": "B"} for n in (1, 2)]
    file = made / "sums.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert proofstone("import", file, "--as", "form", "-w", made).code == 0
    told = proofstone("show", "sums", "-w", made).out
    assert ("1+1?" in told, "number" in told) == (True, False)
    item = re.search(r"item:\w{8}", told)
    assert item is not None
    assert "number" not in proofstone("show", item[0], "-w", made).out


def test_a_simulated_model_is_found_by_any_spelling(made: Path, proofstone: Proofstone) -> None:
    """``ability=0.5`` is the default and no part of the stored name; ``show`` states the values."""
    told = proofstone("run", "old-books", "-m", "sim/q?ability=0.5", "-w", made)
    run = re.search(r"run:\w{8}", told.out)
    assert run is not None
    shown = proofstone("show", run[0], "-w", made).out
    assert re.search(r"(?m)^simulated by +ability=0\.5  bias=0\.0  miss=0\.0$", shown)
    for spelling in ("sim/q?ability=0.5", "sim/q?ability=0.50", "sim/q"):
        found = proofstone("show", "old-books", "-m", spelling, "-n", 1, "-w", made)
        assert (found.code, f"response:{run[0][4:]}/" in found.out) == (0, True), found.err


def test_show_prints_what_was_sent_and_what_came(made: Path, proofstone: Proofstone) -> None:
    """The wrong answers of one model: exact messages, raw response, extraction, nothing else."""
    (form,) = proofstone("list", "form", "-w", made, "--json").json
    show = (
        "show",
        f"form:{form['id']}",
        "-m",
        "sim/bob?miss=0.5",
        "--outcome",
        "unparsed",
        "-n",
        2,
    )
    said = proofstone(*show, "-w", made)
    assert said.out.count("--- sent, user\n") == 2
    assert said.out.count("--- raw response (") == 2
    assert said.out.count("--- accuracy: unparsed   nothing extracted") == 2
    responses = proofstone(*show, "-w", made, "--json").json
    for response in responses:
        (call,) = response["calls"]
        assert call["prompt"][0]["role"] == "user"
        assert json.loads(call["raw"])["choices"][0]["message"]["role"] == "assistant"
        assert response["scores"][0]["outcome"] == "unparsed"
    assert proofstone("run", "old-books", "-m", "sim/eve?ability=0", "-w", made).code == 0
    wrong = proofstone(
        "show", "old-books", "--outcome", "wrong", "-n", 1, "-w", made, "--json"
    ).json
    assert [response["scores"][0]["value"] for response in wrong] == [0.0]
    none = proofstone("show", "old-books", "--outcome", "refused", "-w", made)
    assert (none.code, none.out, none.err) == (0, "", "no matching response\n")
    absent = proofstone("show", "old-books", "-m", "sim/zoe", "-w", made)
    assert absent.code == 2
    assert "there is: sim/ann?ability=0.8, sim/bob?miss=0.5" in absent.err

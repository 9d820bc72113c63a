"""Incomplete models: what was received, not asked, failed and not scored is counted as such."""

from __future__ import annotations

import json
import re
import sqlite3
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from told import Proofstone

STRONG = "sim/strong?ability=1"


@pytest.fixture
def work(tmp_path: Path, proofstone: Proofstone) -> Path:
    """A workspace with forms of 4 questions each of a bank of 7, which share one."""
    rows = [
        {"question": f"What is {n} plus {n}?", "options": [str(2 * n + k) for k in range(4)],
         "answer": "A"}
        for n in range(7)
    ]  # fmt: skip
    for name, part in (("one", rows[:4]), ("two", rows[3:])):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(map(json.dumps, part)), encoding="utf-8")
    made = tmp_path / "w"
    assert proofstone("init", made).code == 0
    for name in ("one", "two"):
        told = proofstone("import", tmp_path / f"{name}.jsonl", "--as", "form", "-w", made)
        assert told.code == 0, told.err
    return made


def run(proofstone: Proofstone, work: Path, form: str, model: str) -> None:
    told = proofstone("run", form, "-m", model, "--yes", "-w", work)
    assert told.code == 0, told.err


def board(proofstone: Proofstone, work: Path, *forms: str) -> dict[str, Any]:
    told = proofstone("leaderboard", *forms, "--json", "-w", work)
    assert told.code == 0, told.err
    found: dict[str, Any] = json.loads(told.out)
    return found


def unscore(work: Path) -> None:
    """As after a hard stop: responses are stored, and their scoring is not complete."""
    with sqlite3.connect(work / ".proofstone" / "store.sqlite") as store:
        store.execute("update scoring set completed_at = null")


def test_items_of_two_forms_count_once_and_forms_not_asked_are_named(
    work: Path, proofstone: Proofstone
) -> None:
    run(proofstone, work, "one", STRONG)
    for form in ("one", "two"):
        run(proofstone, work, form, "sim/both?ability=1")
    found = board(proofstone, work, "one", "two")
    assert found["n_items"] == 7
    (group,) = found["standings"]
    (short,) = group["incomplete"]
    assert (short["n_responses"], short["missing"], short["not_asked"]) == (4, 3, 3)
    assert (short["bounds"]["low"], short["bounds"]["high"]) == pytest.approx((4 / 7, 1))
    (whole,) = group["ranked"]
    assert (whole["n_responses"], whole["missing"]) == (7, 0)
    told = proofstone("leaderboard", "one", "two", "-w", work).out
    assert "4 of 7 responses  57.1 .. 100.0  so far 100.0" in told
    assert "3 not asked" in told
    page = work / "page.html"
    assert proofstone("report", "one", "two", "-o", page, "-w", work).code == 0
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8"))).split())
    assert "7 items" in text
    assert "11 of 11 responses received" in text
    assert "8 items" not in text


def test_stored_responses_without_scores_were_received(work: Path, proofstone: Proofstone) -> None:
    run(proofstone, work, "one", STRONG)
    unscore(work)
    found = board(proofstone, work, "one")
    (row,) = found["standings"][0]["incomplete"]
    assert (row["n_responses"], row["unscored"], row["missing"]) == (0, 4, 4)
    told = proofstone("leaderboard", "one", "-w", work).out
    assert re.search(r"form    one-\w{4}   4 questions", told)
    assert "4 of 4 responses" in told
    assert "4 not scored yet" in told
    page = work / "page.html"
    assert proofstone("report", "one", "-o", page, "-w", work).code == 0
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", page.read_text(encoding="utf-8"))).split())
    assert "4 of 4 responses received" in text
    assert "0 responses" not in text  # neither "Of 0 responses: ." nor "None of 0 responses."
    assert "No response has a score yet." in text
    graded = proofstone(
        "grade",
        json.loads(proofstone("list", "runs", "--json", "-w", work).out)[0]["id"],
        "-w",
        work,
    )
    assert graded.code == 0, graded.err
    assert board(proofstone, work, "one")["standings"][0]["incomplete"] == []


def test_an_endpoint_that_refuses_leaves_the_form_its_name_and_size(
    work: Path, proofstone: Proofstone
) -> None:
    told = proofstone("run", "one", "-m", "sim/strong?ability=1", "--limit", 2, "--yes", "-w", work)
    assert told.code == 0, told.err
    unscore(work)
    told = proofstone("leaderboard", "one", "-w", work)
    assert re.search(r"form    one-\w{4}   4 questions", told.out)

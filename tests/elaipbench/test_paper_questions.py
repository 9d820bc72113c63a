"""The questions on papers of Debian packages keep their counts, evidence and balance."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from proofstone.files.fields import LETTERS
from proofstone.methods.elaipbench.questions import read_facts
from proofstone.records.tables import Row

FILE = Path(__file__).parents[2] / "docs/data/paper-questions.jsonl"
SHORT = {"MOB.pdf", "residual-shadings.pdf"}  # at most 8,000 tokens each


def rows() -> list[dict[str, Any]]:
    return [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def test_all_questions_are_read_with_their_marks() -> None:
    """With quotes stored as if they had been found, no row has a problem."""
    placed = []
    for number, row in enumerate(rows(), 1):
        found = [
            {"option": option, "spans": [{"start": 0, "end": len(text), "text": text}]}
            for option, quotes in row["evidence"].items()
            for text in quotes
        ]
        placed.append(Row(f"line {number}", {**row, "evidence": found}))
    payloads = [built.fact.payload for built in read_facts(placed)]
    assert len(payloads) == 36
    assert {each.written_by for each in payloads} == {"model"}
    assert {each.difficulty for each in payloads} == {"easy", "moderate", "hard"}
    assert all(built.fact.stratum.discipline for built in read_facts(placed))


def test_both_types_and_enough_questions_on_short_papers() -> None:
    asked = rows()
    assert Counter(row["type"] for row in asked) == {"single": 22, "multiple": 14}
    assert len({row["document"] for row in asked}) == 8
    short = [row for row in asked if row["document"] in SHORT]
    assert short == asked[:30]
    assert Counter(row["type"] for row in short) == {"single": 20, "multiple": 10}


def test_correct_options_have_evidence_and_letters_exist() -> None:
    for row in rows():
        letters = set(LETTERS[: len(row["options"])])
        assert len(set(row["options"])) == len(row["options"]) >= 4
        assert set(row["answer"]) <= set(row["evidence"]) <= letters, row["question"]
        sizes = {1} if row["type"] == "single" else {2, 3}
        assert len(set(row["answer"])) == len(row["answer"]) in sizes
        assert all(quote.strip() for quotes in row["evidence"].values() for quote in quotes)


def test_most_wrong_options_have_evidence_against_them() -> None:
    """Without it are options that the paper contradicts in no single place."""
    wrong = [
        letter in row["evidence"]
        for row in rows()
        for letter in set(LETTERS[: len(row["options"])]) - set(row["answer"])
    ]
    assert (sum(wrong), len(wrong)) == (85, 91)


def test_positions_of_correct_options_are_balanced() -> None:
    for kind in ("single", "multiple"):
        chosen = Counter(
            letter for row in rows() if row["type"] == kind for letter in row["answer"]
        )
        assert set(chosen) == set("ABCD")
        assert max(chosen.values()) - min(chosen.values()) <= 2

"""The answers held along a reasoning text, and the share of it that checks again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from proofstone.choices.held import answers_held, verification_share

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "labelled" / "held.jsonl").read_text("utf-8").splitlines()
]

OPTIONS = ["alpha one", "beta two", "gamma three", "delta four"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reasoning"][:40])
def test_the_answers_held_are_those_marked(case: dict[str, Any]) -> None:
    held = answers_held(case["reasoning"], OPTIONS, several=case.get("several", True))
    assert ["".join("ABCD"[place] for place in each.letters) for each in held] == case["held"]


def test_positions_are_those_of_the_statements_in_a_long_text() -> None:
    filler = "The table lists the rates.\n" * 2000
    text = f"{filler}The answer is A.\n{filler}The answer is C and D.\n"
    first, second = answers_held(text, OPTIONS)
    assert text[first.start : first.end].endswith("answer is A")
    assert text[second.start : second.end].endswith("answer is C and D")


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("A holds. Wait, B holds too.", 0.5),
        ("Let me double-check Fig. 3. It says 2.5 m. Alternatively, C holds.", 2 / 3),
        ("We wait for the bound. The answer is C.", 0.0),
        ("答案是A。等等，再检查一遍。", 0.5),
        ("", None),
        (" ... \n", None),
    ],
)
def test_the_share_that_verifies(text: str, share: float | None) -> None:
    assert verification_share(text) == share

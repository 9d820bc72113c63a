"""A model of known behaviour behind an endpoint, a judge beside it, and questions for both."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from scripted_server import Act, Seen, answer, error

__all__ = ["SAYINGS", "Desk", "judge_of_sayings", "made_rows", "write_rows"]

# What the solver says to question n is SAYINGS[n % 5]; the grade that it deserves stands beside it.
SAYINGS: Sequence[tuple[str, str]] = (
    ("{answer}", "CORRECT"),  # the one that a rule settles
    ("I believe that it was {answer}.", "CORRECT"),
    ("It was Nobody-{n}.", "INCORRECT"),
    ("I do not know.", "NOT_ATTEMPTED"),
    ("First I thought of Nobody-{n}, but it was {answer}.", "INCORRECT"),
)
_RESPONSE = re.compile(r"\[reply \| begin (\w+)\]\n(.*?)\n\[reply \| end \1\]", re.DOTALL)
_NUMBER = re.compile(r"Who found number (\d+)\?")


def made_rows(n: int) -> list[dict[str, Any]]:
    """``n`` questions in two categories of two parts each, in English."""
    return [
        {
            "question": f"Who found number {number}?",
            "answer": f"Finder-{number}",
            "primary_category": "AB"[number % 2],
            "secondary_category": f"{'AB'[number % 2]}{number // 2 % 2}",
            "answer_type": "person" if number % 3 else "organisation",
        }
        for number in range(n)
    ]


def write_rows(folder: Path, rows: Sequence[dict[str, Any]], name: str = "found.jsonl") -> Path:
    """The rows as JSONL."""
    path = folder / name
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def judge_of_sayings(response: str) -> str:
    """The label that a saying deserves."""
    if "do not know" in response:
        return "NOT_ATTEMPTED"
    return "INCORRECT" if "Nobody" in response else "CORRECT"


class Desk:
    """The script of an endpoint: ``scripted/solver`` answers, all other models judge. ``label``
    says what a judge replies to a text, or None where its call fails; ``judged`` counts its calls,
    ``solved`` those of the solver."""

    def __init__(self, label: Callable[[str], str | None] = judge_of_sayings) -> None:
        self.label = label
        self.judged = 0
        self.solved = 0

    def __call__(self, seen: Seen) -> Act:
        request = seen.json
        text = request["messages"][-1]["content"]
        if request["model"] == "solver":
            self.solved += 1
            return answer(_said(text))
        self.judged += 1
        found = _RESPONSE.search(text)
        assert found, text
        label = self.label(found[2])
        if label is None:
            return error(400, {"error": {"message": "not this one"}})
        if "response_format" in request:
            return answer(json.dumps({"reason": f"it says: {found[2]}", "label": label}))
        return answer(f"It says: {found[2]}\nLabel: {label}")


def _said(text: str) -> str:
    found = _NUMBER.search(text)
    assert found, text
    number = int(found[1])
    saying, _grade = SAYINGS[number % len(SAYINGS)]
    return saying.format(answer=f"Finder-{number}", n=number)

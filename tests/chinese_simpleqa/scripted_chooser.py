"""A model of known behaviour over options and openly, and twins to ask it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from scripted_server import Act, Seen, answer

__all__ = ["Chooser", "twin_rows"]

_NUMBER = re.compile(r"number (\d+)")
_OPTION = re.compile(r"^([A-D])\. (.+)$", re.MULTILINE)
_RESPONSE = re.compile(r"\[reply \| begin (\w+)\]\n(.*?)\n\[reply \| end \1\]", re.DOTALL)


def twin_rows(n: int) -> list[dict[str, Any]]:
    """``n`` questions in both forms, the right option at the places A, B, C, D in turn."""
    return [
        {
            "question": f"Who found number {number}?",
            "answer": f"Finder-{number}",
            "closed_question": f"Number {number} was found by ( ).",
            "options": _options(number),
            "answer_letter": "ABCD"[number % 4],
            "made": "converted",
            "primary_category": "AB"[number % 2],
        }
        for number in range(n)
    ]


def _options(number: int) -> list[str]:
    wrong = [f"Nobody-{number}-{at}" for at in range(3)]
    return [*wrong[: number % 4], f"Finder-{number}", *wrong[number % 4 :]]


class Chooser:
    """The script of an endpoint. ``scripted/model`` knows what ``known`` says it knows; what it
    does not, it answers with the option at A, and openly with Nobody. ``mute`` questions get a
    reply without a choice. All other models judge: Finder is right."""

    def __init__(self, known: Sequence[int], open_known: Sequence[int], mute: Sequence[int] = ()):
        self.known, self.open_known, self.mute = set(known), set(open_known), set(mute)
        self.judged = 0

    def __call__(self, seen: Seen) -> Act:
        text = seen.json["messages"][-1]["content"]
        if seen.json["model"] != "model":
            self.judged += 1
            found = _RESPONSE.search(text)
            assert found, text
            label = "CORRECT" if "Finder" in found[2] else "INCORRECT"
            return answer(json.dumps({"reason": "as it says", "label": label}))
        number = int(_NUMBER.findall(text.replace("Number", "number"))[-1])
        options = dict(_OPTION.findall(text))
        if not options:
            who = "Finder" if number in self.open_known else "Nobody"
            return answer(f"It was {who}-{number}.")
        if number in self.mute:
            return answer("These are all fine people.")
        right = next(letter for letter, who in options.items() if who.startswith("Finder"))
        return answer(f"Answer: {right if number in self.known else 'A'}")

"""An endpoint that takes every part in judging questions: panel members and three judges.

The stem's melting point identifies a question: ``hot`` is 600 + 17 times its number.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scripted_server import Act, Seen, answer

PANEL = tuple(f"scripted/member-{n}" for n in range(1, 6))
JUDGES = tuple(f"scripted/judge-{n}" for n in range(1, 4))
WRONG = "C"  # G is the correct option


def number_of(text: str) -> int:
    found = re.search(r"melted at (\d+) kelvin", text)
    assert found is not None
    return (int(found[1]) - 600) // 17


@dataclass
class Jury:
    """``right`` are the members that answer each question correctly; each judge picks what
    ``picks`` says, of the shown summaries by question number. ``spoilt`` replaces replies."""

    right: dict[int, set[str]] = field(default_factory=dict)
    picks: dict[str, list[int]] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    spoilt: Callable[[str, str, int], str | None] = lambda _judge, _kind, _again: None
    asked: Counter[str] = field(default_factory=Counter)
    prompts: list[str] = field(default_factory=list)

    def __call__(self, seen: Seen) -> Act:
        model, prompt = str(seen.json["model"]), seen.json["messages"][-1]["content"]
        if model.startswith("member"):
            self.asked["panel"] += 1
            right = model in self.right.get(number_of(prompt), set())
            return answer(f"ANSWER: {_letter(prompt) if right else WRONG}")
        kind = _kind(prompt)
        again = int("previous reply could not be used" in prompt)
        self.asked[kind] += 1
        self.prompts.append(prompt)
        spoilt = self.spoilt(model, kind, again)
        if spoilt is not None:
            return answer(spoilt)
        return answer(json.dumps(getattr(self, f"_{kind}")(model, prompt)))

    def _features(self, model: str, prompt: str) -> dict[str, Any]:
        number = number_of(prompt)
        return {
            "knowledge_point": f"cooling law {number}",
            "question_type": "case_based",
            "key_topics": ["granite", f"run {number}"],
            "coverage": "high",
            "uniqueness": self.levels.get(model, "medium"),
            "impact": "low",
            "value": "medium",
        }

    def _failures(self, model: str, prompt: str) -> dict[str, Any]:
        wrong = re.findall(r"^- (M\d): ", prompt, re.MULTILINE)
        kind = "unknown" if model == "judge-3" else "knowledge_gap"
        errors = [{"member": name, "type": kind, "hypothesis": "no law"} for name in wrong]
        return {"errors": errors, "summary": "They do not know the law."}

    def _vote(self, model: str, prompt: str) -> dict[str, Any]:
        names = {
            int(number): name
            for name, number in re.findall(r"^(Q\d+)\nknowledge point: cooling law (\d+)", prompt,
                                           re.MULTILINE)
        }  # fmt: skip
        chosen = self.picks[model]
        left = [number for number in sorted(names) if number not in chosen]
        return {
            "selected": [
                {"id": names[number], "knowledge_point": f"law {number}", "reason": "it separates"}
                for number in chosen
            ],
            "refused": [{"id": names[number], "reason": "it overlaps"} for number in left[:2]],
        }


def _kind(prompt: str) -> str:
    if "key_topics" in prompt:
        return "features"
    return "failures" if "Wrong answers" in prompt else "vote"


def _letter(prompt: str) -> str:
    found = re.search(r"^\(?([A-J])[.)] 2, 4$", prompt, re.MULTILINE)
    assert found is not None, prompt
    return found[1]

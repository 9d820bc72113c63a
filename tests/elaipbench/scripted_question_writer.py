"""An endpoint that takes every part in building questions on documents, by plain rules: it writes
questions, and answers them as the judge and as the members of a panel.

Documents are about pumps: one section says when a pump starts, another, far away, when it stops.
The word before "pump" says what becomes of the question.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from scripted_server import Act, Seen, answer, error

__all__ = ["PANEL", "QuestionWriter", "pump_document"]

PANEL = ("scripted/member-1", "scripted/member-2", "scripted/member-3")
RIGHT = ("It starts at seven bars.", "It stops at nine bars.")
WRONG = ("It starts at nine bars.", "It stops at seven bars.", "It never stops.")
BOTH = "It starts at seven bars and stops at nine bars."
_FILLER = (
    "Water is lifted from the lower to the upper basin by a machine with a wheel and a shaft. The "
    "keeper writes down what happened in the course of the day, and hands the book on at night. "
)
_TAG = re.compile(r"The (\w+) pump of (\w+) (starts|stops) at (\w+) bars\.")
Options = list[tuple[str, list[str]]]
_OPTION = re.compile(r"^([A-H])\. (.+)$", re.MULTILINE)


def pump_document(folder: Path, tag: str, *, sections: int = 11) -> str:
    """Write a document on the pump of this kind; return its title."""
    title = f"{tag.capitalize()} station"
    parts = [f"# {title}"]
    for number in range(sections):
        said = {0: ("starts", "seven"), sections - 1: ("stops", "nine")}.get(number)
        first = f"The {tag} pump of Aberdour {said[0]} at {said[1]} bars. " if said else ""
        parts.append(f"## Part {number}\n\n{first}{_FILLER * 11}")
    (folder / f"{tag}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return title


class QuestionWriter:
    """``asked`` counts requests by what they were for; the models in ``down`` cannot answer."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.down: set[str] = set()

    def __call__(self, seen: Seen) -> Act:
        model, prompt = str(seen.json["model"]), seen.json["messages"][-1]["content"]
        found = _TAG.search(prompt) or re.search(r"the (\w+) pump of", prompt)
        tag = found[1] if found else ""
        if model in self.down:
            return error(400, {"error": {"message": "this model's maximum context length is 3"}})
        if model == "author":
            self.asked["author"] += 1
            return self._written(tag, prompt)
        kind = self._kind(prompt)
        self.asked[f"{model} {kind}"] += 1
        return self._answered(model, kind, tag, prompt)

    def _kind(self, prompt: str) -> str:
        """What is shown before the question: the evidence, one passage, the document or nothing."""
        n_filler, n_said = prompt.count("The keeper"), len(_TAG.findall(prompt))
        if n_filler > 50:
            return "both" if n_said > 2 else "document"
        if n_filler:
            return "passage"
        return "evidence" if n_said else "nothing"

    def _written(self, tag: str, prompt: str) -> Act:
        if tag == "mumbling":
            return answer("Here is a question: when does it start?")
        if tag == "barren":
            return answer(json.dumps({"question": "", "options": []}))
        starts, stops = (found[0] for found in _TAG.finditer(prompt))
        right = [(BOTH, [starts, stops])]
        if "Two or three of them are correct" in prompt:
            right = [(text, [quote]) for text, quote in zip(RIGHT, (starts, stops), strict=True)]
        right, wrong = _spoiled(tag, right, [(text, [starts]) for text in WRONG], stops)
        question = f"When does the {tag} pump of Aberdour run{' by its XQV7' * (tag == 'jargon')}?"
        return answer(json.dumps({"question": question, "options": _options(right, wrong)}))

    def _answered(self, model: str, kind: str, tag: str, prompt: str) -> Act:
        options = {text: letter for letter, text in _OPTION.findall(prompt)}
        right = ", ".join(sorted(options[text] for text in (*RIGHT, BOTH) if text in options))
        wrong = options[WRONG[0]]
        silent = {("silent", "evidence"), ("hushed", "passage"), ("garbled", "document")}
        if (tag, kind) in silent and model in ("judge", "member-3"):
            return answer("Who can tell?")
        knows = {
            "evidence": tag != "unfounded",
            "both": tag != "unfounded",
            "passage": tag == "lookup",
            "nothing": (tag == "famous" and model != "member-3")
            or (tag == "guessed" and model == "member-1"),
            "document": tag == "easy" and model == "member-3",
        }[kind]
        return answer(f"So it is \\boxed{{{right if knows else wrong}}}")


def _spoiled(tag: str, right: Options, wrong: Options, stops: str) -> tuple[Options, Options]:
    """Return the correct and the other options, with the fault that a tag stands for."""
    ((first, quotes), *others), (other, *rest) = right, wrong
    faults: dict[str, tuple[Options, Options]] = {
        "narrow": (right, [other]),
        "twofold": (right, [(first.upper(), quotes), *rest]),
        "misjudged": ([], [*wrong, *right]),
        "invented": (right, [(other[0], [stops.replace("nine", "ninety")]), *rest]),
        "dreamt": (right, [(other[0], ["Bees sleep among clover while rain falls"]), *rest]),
        "bare": ([(first, []), *others], [(other[0], [stops]), *rest]),
        "onesided": ([(first, quotes[:1]), *others], wrong),
    }
    return faults.get(tag, (right, wrong))


def _options(*groups: Options) -> list[dict[str, Any]]:
    return [
        {"text": text, "correct": place == 0, "evidence": quotes}
        for place, group in enumerate(groups)
        for text, quotes in group
    ]

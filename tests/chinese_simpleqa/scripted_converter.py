"""An endpoint that makes twins by plain rules: it opens choices, writes options, judges both.

Choices are about minerals: "The plain mineral Halite was first described in ( )." The word before
"mineral" says what becomes of it; all that is not of twins the examiner answers.
"""

from __future__ import annotations

import json
import re

from chinese_simpleqa.scripted_examiner import Examiner
from scripted_server import Act, Seen, answer

__all__ = ["Converter"]

_ASKED = re.compile(r"The (\w+) mineral (\w+) was first described in")
_PAIR = re.compile(r"was the (\w+) mineral (\w+) first described")
_BLOCK = re.compile(r"\[([^|\]]+) \| begin [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
# What is offered to the question of a tag, round by round; the year asked for is 1801 plus n.
_OFFERED = {
    "plain": [["1901", "1902", "1903"]],
    "echoing": [["{year}", "1901", "1901"], ["1902", "1903"]],
    "doubted": [["1666", "1777", "1901"], ["1902", "1903"]],
    "poor": [["1901", "{year}"], ["1901", "1666"], ["{year}."]],
}


class Converter(Examiner):
    """``asked`` counts requests: "open" and "close" to the author, "opened" and "distractor" to
    judges, besides the examiner's."""

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        blocks = [text for _name, text in _BLOCK.findall(prompt)]
        if "Put it as a question that is asked without any options" in prompt:
            self.asked["open"] += 1
            return self._open(blocks, prompt)
        if "to stand beside the right one as options" in prompt:
            self.asked["close"] += 1
            return self._close(blocks, prompt)
        if "\n- leans:" in prompt:
            self.asked["opened"] += 1
            tagged = {"needy": "leans", "drifting": "other"}
            return _label(next((tagged[tag] for tag in tagged if tag in blocks[0]), "same"))
        if "\n- unlike:" in prompt:
            self.asked["distractor"] += 1
            return _label({"1666": "right", "1777": "unlike"}.get(blocks[2], "wrong"))
        return super().__call__(seen)

    def _open(self, blocks: list[str], prompt: str) -> Act:
        found = _ASKED.search(blocks[0])
        assert found, blocks[0]
        tag, name = found.groups()
        if tag == "mumbling":
            return answer("It is a fine question as it stands.")
        if tag == "closed":
            return _said({"verdict": "cannot be asked openly", "question": ""})
        question = f"In which year was the {tag} mineral {name} first described?"
        if tag == "telling" or (tag == "hasty" and "This was refused" not in prompt):
            question = f"When was the {tag} mineral {name} found in {blocks[1]}?"
        return _said({"verdict": "open", "question": question})

    def _close(self, blocks: list[str], prompt: str) -> Act:
        found = _PAIR.search(blocks[0])
        assert found, blocks[0]
        offered = _OFFERED[found[1]]
        at = 0 if "already" not in prompt and "refused" not in prompt else 1
        if "\n- 1666" in prompt and found[1] == "poor":
            at = 2
        return _said({"options": [each.format(year=blocks[1]) for each in offered[at]]})


def _said(value: object) -> Act:
    return answer(json.dumps(value))


def _label(label: str) -> Act:
    return answer(json.dumps({"reason": "by the tag", "label": label}))

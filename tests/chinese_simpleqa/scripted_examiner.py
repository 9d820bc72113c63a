"""An endpoint that takes every part in building short questions, by plain rules: it writes pairs,
checks, judges, and answers as the members of a panel.

Passages are about minerals: "The plain mineral Halite was first described in 1801." The pair asks
for the year, and carries the word before "mineral" along, which says what becomes of it.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from scripted_server import Act, Seen, answer, error

__all__ = ["PANEL", "Examiner", "passage_of"]

PANEL = tuple(f"scripted/member-{number}" for number in range(1, 6))
_BLOCK = re.compile(r"\[([^|\]]+) \| (?:begin|开始) [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
_ENGLISH = re.compile(r"The (\w+) mineral (\w+) was first described in (\d{4})")
_CHINESE = re.compile(r"矿物(\w+?)，(\w+)，于(\d{4})年首次描述")
_PROMPTS = {
    "write": ("You write short questions", "你在为一场事实知识考试编写"),
    "check": ("You check a short question", "请先作检查"),
    "revise": ("You wrote a short question", "你为一场事实知识考试写了"),
    "rewrite": ("is too like another one", "与另一个已有的问题过于相似"),
}
_QUESTIONS = {
    "enough": "knowledge", "strays": "category", "misses": "criteria", "supported": "evidence",
    "text 1": "source", "sound": "rewritten", "sensitive": "sensitive", "place": "type",
    "CORRECT": "grade", "same": "alias",
}  # fmt: skip
_LABELS = {
    "knowledge": {"outlined": "little", "private": "specific"},
    "category": {"foul": "misses", "stray": "strays"},
    "criteria": {"foul": "misses"},
    "evidence": {
        "disputed": "contradicted", "manifold": "several", "fleeting": "changes",
        "unheard": "insufficient",
    },
    "rewritten": {"twinned": "unsound"},
    "sensitive": {"secret": "sensitive"},
}  # fmt: skip
_USUAL = {
    "knowledge": "enough", "category": "meets", "criteria": "meets", "evidence": "supported",
    "source": "text 1", "rewritten": "sound", "sensitive": "harmless", "type": "place",
}  # fmt: skip
# No label: prose, two of them, nothing, one of another language.
_ODD = {
    "prosaic": "I would say that this is quite good.",
    "doubtful": '{"reason": "seen", "label": "enough or little"}',
    "silent": "",
    "foreign": '{"reason": "seen", "label": "足够"}',
}
_CRITERIA = ("objective", "single", "lasting", "demanding", "datable", "named")


def passage_of(tag: str, name: str, year: int) -> str:
    """A passage that is to go the way that its tag says."""
    return (
        f"The {tag} mineral {name} was first described in {year}. It was found in an old quarry by "
        f"a party of students who were looking for crystals of {name.lower()}-like stone."
    )


class Examiner:
    """``asked`` counts requests by what they were for; members of ``down`` cannot answer."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.down: set[str] = set()
        self.years: dict[str, str] = {}

    def __call__(self, seen: Seen) -> Act:
        model, prompt = str(seen.json["model"]), seen.json["messages"][-1]["content"]
        if model.startswith("member-"):
            return self._member(model, prompt)
        blocks = [text for _name, text in _BLOCK.findall(prompt)]
        kind = self._kind(prompt)
        self.asked[kind] += 1
        if kind in _PROMPTS:
            return getattr(self, f"_{kind}")(blocks)  # type: ignore[no-any-return]
        return self._judge(kind, blocks)

    def _kind(self, prompt: str) -> str:
        for kind, tells in _PROMPTS.items():
            if any(told in prompt for told in tells):
                return kind
        labels = re.findall(r"^- (\w+(?: \d)?)[:：]", prompt, re.MULTILINE)
        return next(_QUESTIONS[label] for label in reversed(labels) if label in _QUESTIONS)

    def _write(self, blocks: list[str]) -> Act:
        found = _ENGLISH.search(blocks[0])
        if found is not None:
            tag, name, year = found.groups()
            question = f"In which year was the {tag} mineral {name} first described?"
        else:
            found = _CHINESE.search(blocks[0])
            if found is None:
                return _said({"pairs": []})
            name, tag, year = found.groups()
            question = f"矿物{name}（{tag}）首次被描述是在公元哪一年？"
        self.years[name] = year
        if tag == "mumbling":
            return answer("Here is a question: which year was it?")
        pairs = [] if tag == "barren" else [{"question": question, "answer": year, "aliases": []}]
        if tag == "placed":
            town = f"{name} Town"
            pair = {"question": f"Near which town does the mineral {name} occur?", "answer": town}
            self.years[name] = town
            pairs = [{**pair, "aliases": [town.upper(), year, f"{name} Province"]}]
        return _said({"pairs": pairs})

    def _check(self, blocks: list[str]) -> Act:
        if "gibberish" in blocks[0]:
            return answer("All of this looks fine to me.")
        missed = "loose" in blocks[0] or "stubborn" in blocks[0] or "quitting" in blocks[0]
        review = {name: {"label": "met", "suggestion": ""} for name in _CRITERIA}
        if missed:
            review["single"] = {"label": "missed", "suggestion": "Say it more exactly."}
        return _said(review)

    def _revise(self, blocks: list[str]) -> Act:
        question, year = blocks[0], blocks[1]
        if "quitting" in question:
            return _said({"question": "", "answer": "", "aliases": []})
        revised = question.replace("the loose", "the exact").replace("first", "first ever")
        return _said({"question": revised, "answer": year, "aliases": []})

    def _rewrite(self, blocks: list[str]) -> Act:
        question, year = blocks[0], blocks[1]
        if "parroted" in question:
            return _said({"question": question})
        name = re.findall(r"mineral (\w+)", question)[0]
        tag = "twinned " if "twinned" in question else ""
        self.years[name] = year
        return _said({"question": f"When did somebody put {name}, a {tag}stone, on record?"})

    def _judge(self, kind: str, blocks: list[str]) -> Act:
        shown = blocks[0]
        odd = next((tag for tag in _ODD if tag in shown), "")
        if odd:
            return answer(_ODD[odd])
        if kind == "grade":
            if "garbled" in shown:
                return answer("Who can tell?")
            return _label("INCORRECT" if "1066" in blocks[-1] else "CORRECT")
        if kind == "alias":
            return _label("other" if "Province" in blocks[-1] else "same")
        tagged = _LABELS.get(kind, {})
        return _label(next((tagged[tag] for tag in tagged if tag in shown), _USUAL[kind]))

    def _member(self, model: str, prompt: str) -> Act:
        self.asked["panel"] += 1
        if model in self.down:
            return error(400, {"error": {"message": "this model's maximum context length is 3"}})
        name = next((name for name in self.years if name in prompt), "")
        is_easy = "plain" in prompt
        if model == "member-5" and not is_easy:
            return answer("Perhaps 1066.")
        return answer(self.years.get(name, "unknown"))


def _said(value: object) -> Act:
    return answer(json.dumps(value, ensure_ascii=False))


def _label(label: str) -> Act:
    return _said({"reason": "seen", "label": label})

"""An endpoint that takes statements from passages, falsifies and judges them, by plain rules.

Of a passage, English or Chinese, each sentence is a statement. Sentences hold words that say what
is to become of them: "leaning" ones need their book (and lose the word when rewritten), "foreign"
ones are not supported, "stubborn" ones stay true when falsified, "vague" ones get a reason that
does not fit.
"""

from __future__ import annotations

import json
import re
from collections import Counter

from scripted_server import Act, Seen, answer, error

__all__ = ["Author", "Panelists", "panelists"]

_BLOCK = re.compile(r"\[[^|\]]+ \| (?:begin|开始) [0-9a-f]{8}\]\n(.*?)\n\[", re.DOTALL)
_KINDS = {
    "extract": ("Take from the passage at most", "提取至多"),
    "rewrite": ("Rewrite the statement", "请改写一次"),
    "perturb": ("Make a false statement", "改成一条错误的陈述"),
}
_SENTENCES = re.compile(r"[^.。]+[.。]")


class Author:
    """``asked`` counts requests by what they were for; ``garbled`` texts get no JSON."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.garbled: set[str] = set()

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        blocks = _BLOCK.findall(prompt)
        kind = self._kind(prompt)
        self.asked[kind] += 1
        if any(text in prompt for text in self.garbled):
            return answer("I would rather not.")
        return answer(json.dumps(getattr(self, f"_{kind}")(blocks), ensure_ascii=False))

    def _kind(self, prompt: str) -> str:
        for kind, tells in _KINDS.items():
            if any(told in prompt for told in tells):
                return kind
        labels = re.findall(r"^- (\w+)[:：]", prompt, re.MULTILINE)
        kinds = {"stands": "standing", "supported": "support", "false": "falsity", "fits": "reason"}
        return next(kinds[label] for label in labels if label in kinds)

    def _extract(self, blocks: list[str]) -> object:
        parts = [part.strip() for part in _SENTENCES.findall(blocks[0])]
        return {"statements": [{"title": p.split()[0], "text": p} for p in parts]}

    def _rewrite(self, blocks: list[str]) -> object:
        return {"text": blocks[0].replace("leaning ", "")}

    def _perturb(self, blocks: list[str]) -> object:
        text = blocks[0].replace("conducts", "insulates").replace("导电", "绝缘")
        return {
            "analysis": "what it does", "error_type": "detail falsification",
            "statement": text, "reason": "It conducts." if "vague" not in text else "Hm.",
        }  # fmt: skip

    def _standing(self, blocks: list[str]) -> object:
        return _label("leans" if "leaning" in blocks[0] else "stands")

    def _support(self, blocks: list[str]) -> object:
        return _label("unsupported" if "foreign" in blocks[1] else "supported")

    def _falsity(self, blocks: list[str]) -> object:
        return _label("true" if "stubborn" in blocks[1] else "false")

    def _reason(self, blocks: list[str]) -> object:
        return _label("misses" if blocks[2] == "Hm." else "fits")


def _label(label: str) -> object:
    return {"reason": "seen", "label": label}


class Panelists(Author):
    """Judges of whom ``dissent`` finds nothing supported, ``silent`` gives no label, and ``dead``
    cannot answer, each on whether copper and silver are supported."""

    dissent: frozenset[str] = frozenset()
    silent: frozenset[str] = frozenset()
    dead: frozenset[str] = frozenset()

    def __call__(self, seen: Seen) -> Act:
        model, prompt = str(seen.json["model"]), seen.json["messages"][-1]["content"]
        if "Pure gold" not in prompt and self._kind(prompt) == "support":
            if model in self.dead:
                body = {"error": {"message": "this model's maximum context length is 3"}}
                return error(400, body)
            if model in self.silent:
                return answer("I cannot say.")
            if model in self.dissent:
                return answer('{"reason": "not in it", "label": "unsupported"}')
        return super().__call__(seen)


def panelists(**who: str) -> Panelists:
    """Judges with these traits, each of the models named, apart by spaces."""
    author = Panelists()
    for trait, models in who.items():
        setattr(author, trait, frozenset(models.split()))
    return author

"""The numbers that a word processor sets before the items of its lists."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from proofstone.engines.ingest.docx.names import attribute, child, local, value

__all__ = ["Numbering", "read_numbering"]

_DEEPEST = 9
_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip
_MOST = 3999  # numbers that letters and Roman numerals are written for


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _List:
    """A list: whose levels it counts by, what those are, and where it begins anew."""

    form: str
    levels: dict[int, _Level]
    anew: dict[int, int]


class Numbering:
    """Counts the items of each list as they come; lists of one form count on, unless they say
    where they begin."""

    def __init__(self, lists: dict[str, _List]) -> None:
        self._lists = lists
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def mark(self, number: str, depth: int) -> str:
        """What stands before the next item of list ``number`` at a depth from 0."""
        found = self._lists.get(number)
        level = found.levels.get(depth) if found else None
        if found is None or level is None or not _PLACE.search(level.text):
            return "-"
        counts = self._counts.setdefault(found.form, {})
        if number not in self._begun:
            self._begun.add(number)
            counts |= {place: start - 1 for place, start in found.anew.items()}
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]

        def shown(place: re.Match[str]) -> str:
            there = found.levels.get(int(place[1]) - 1, level)
            return _written(counts.get(int(place[1]) - 1, there.start), there.form)

        return _PLACE.sub(shown, level.text).strip() or "-"


def read_numbering(root: Any) -> Numbering:
    """The lists that a numbering part defines."""
    forms = {
        attribute(form, "abstractNumId"): _levels(form)
        for form in root
        if local(form) == "abstractNum"
    }
    lists = {}
    for entry in root:
        if local(entry) == "num":
            form = value(entry, "abstractNumId")
            lists[attribute(entry, "numId")] = _List(form, forms.get(form, {}), _anew(entry))
    return Numbering(lists)


def _anew(entry: Any) -> dict[int, int]:
    """Where the levels of a list begin that does not count on."""
    found = {}
    for change in entry:
        depth, start = attribute(change, "ilvl"), value(change, "startOverride")
        if depth.isdigit() and start.isdigit() and int(depth) < _DEEPEST and len(start) < 9:
            found[int(depth)] = int(start)
    return found


def _levels(form: Any) -> dict[int, _Level]:
    found = {}
    for level in form:
        depth = attribute(level, "ilvl")
        if local(level) == "lvl" and depth.isdigit() and int(depth) < _DEEPEST:
            start = value(level, "start")
            text = child(level, "lvlText")
            found[int(depth)] = _Level(
                value(level, "numFmt"),
                "" if text is None else attribute(text, "val")[:40],
                int(start) if start.isdigit() and len(start) < 9 else 1,
            )
    return found


def _written(number: int, form: str) -> str:
    if not 0 < number <= _MOST:
        return str(number)
    if form in {"lowerLetter", "upperLetter"}:
        letter = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letter if form == "lowerLetter" else letter.upper()
    if form in {"lowerRoman", "upperRoman"}:
        text, left = "", number
        for worth, sign in _ROMAN:
            text += sign * (left // worth)
            left %= worth
        return text if form == "lowerRoman" else text.upper()
    return str(number)

"""Places of a message are filled; in Chinese with the space that stands beside Latin text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from string import Formatter

__all__ = ["filled"]

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z0-9+\-%$~<*.]")


def filled(
    template: str, values: Mapping[str, object], shown: Callable[[object, str], str] = format
) -> str:
    """A Chinese ``template`` with ``values`` in its places, each as ``shown`` writes it.

    Where a value meets a Chinese character, a space stands between if the value is Latin text or a
    number there, and none if it is Chinese: whatever the template has. What the template or a value
    holds within stays as it is.
    """
    pieces: list[str] = []
    for text, name, spec, _conversion in Formatter().parse(template):
        pieces.append(text)
        pieces.append("" if name is None else shown(values[name], spec or ""))
    filled_in = pieces[0] if pieces else ""
    for piece in pieces[1:]:
        if piece:
            filled_in = _joined(filled_in, piece)
    return filled_in


def _joined(left: str, right: str) -> str:
    """Two pieces with one space, none, or what they have between them."""
    before, after = left.rstrip(" "), right.lstrip(" ")
    ends = before[-1:], after[:1]
    kinds = [("chinese" if _CHINESE.match(end) else _LATIN.match(end) and "latin") for end in ends]
    if kinds == ["chinese", "chinese"]:
        return before + after
    if set(kinds) == {"chinese", "latin"}:
        return f"{before} {after}"
    return left + right

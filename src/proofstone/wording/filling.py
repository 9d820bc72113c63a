"""Places of a message are filled; in Chinese with the space that stands beside Latin text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from string import Formatter

__all__ = ["filled", "with_unsigned_zeros"]

_CHINESE = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_LATIN = re.compile(r"[A-Za-z0-9+\-%$~<*.]")


def with_unsigned_zeros(values: Mapping[str, object]) -> dict[str, object]:
    """The values, negative floats such that what rounds to zero is written without a minus."""
    return {
        name: _Unsigned(value) if isinstance(value, float) and -math.inf < value <= 0 else value
        for name, value in values.items()
    }


class _Unsigned(float):
    """A number of which no rounding is ``-0.0``."""

    def __format__(self, spec: str) -> str:
        written = format(float(self), spec)
        return written if any(digit in written for digit in "123456789") else format(0.0, spec)


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

"""Evaluate SPDX license expressions.

Grammar of the SPDX specification, annex D: names joined by OR, AND, WITH and parentheses; AND binds
tighter than OR.
"""

from __future__ import annotations

import re
from collections.abc import Callable

__all__ = ["holds"]

_TOKEN = re.compile(r"\(|\)|[A-Za-z0-9.+:-]+")
_JOINING = {"(", ")", "AND", "OR", "WITH"}


def holds(expression: str, is_allowed: Callable[[str], bool]) -> bool:
    """Return True if allowed licenses alone can satisfy ``expression``.

    ``X WITH E`` is satisfied if X is allowed, or the whole text ``X WITH E``. Raises ValueError for
    an invalid expression.
    """
    if _TOKEN.sub("", expression).strip():
        raise ValueError(f"no SPDX expression: {expression!r}")
    rest = _TOKEN.findall(expression)
    answer = _either(rest, is_allowed)
    if rest:
        raise ValueError(f"no SPDX expression: {expression!r}")
    return answer


def _either(rest: list[str], is_allowed: Callable[[str], bool]) -> bool:
    answer = _both(rest, is_allowed)
    while rest[:1] == ["OR"]:
        del rest[0]
        answer = _both(rest, is_allowed) or answer
    return answer


def _both(rest: list[str], is_allowed: Callable[[str], bool]) -> bool:
    answer = _one(rest, is_allowed)
    while rest[:1] == ["AND"]:
        del rest[0]
        answer = _one(rest, is_allowed) and answer
    return answer


def _one(rest: list[str], is_allowed: Callable[[str], bool]) -> bool:
    word = rest.pop(0) if rest else ""
    if word == "(":
        answer = _either(rest, is_allowed)
        if rest[:1] != [")"]:
            raise ValueError("a parenthesis of the SPDX expression is not closed")
        del rest[0]
        return answer
    if word in _JOINING or not word:
        raise ValueError("an SPDX expression misses a licence's name")
    if rest[:1] == ["WITH"] and len(rest) > 1:
        exception = rest[1]
        del rest[:2]
        return is_allowed(word) or is_allowed(f"{word} WITH {exception}")
    return is_allowed(word)

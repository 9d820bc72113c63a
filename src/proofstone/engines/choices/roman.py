"""Lower-case Roman numerals, by which the statements of a question are counted."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["roman"]

_PARTS = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


@lru_cache(maxsize=256)
def roman(number: int) -> str:
    """The numeral of a number from 1 to 3999: ``roman(8) == "viii"``; ValueError beyond."""
    if not 1 <= number <= 3999:
        raise ValueError(f"a Roman numeral counts 1 to 3999, not {number}")
    text = ""
    for value, letters in _PARTS:
        repeats, number = divmod(number, value)
        text += letters * repeats
    return text

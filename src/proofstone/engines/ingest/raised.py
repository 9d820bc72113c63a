"""Raised and lowered signs in plain text: as such characters, else after ``^`` and ``_``."""

from __future__ import annotations

__all__ = ["set_off"]

_MARKS = {"sup": "^", "sub": "_"}
_SIGNS = {
    "sup": dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True)),
    "sub": dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True)),
}


def set_off(place: str, text: str) -> str:
    """Raised (``sup``) or lowered (``sub``) text as such characters, else after ^ or _."""
    table = _SIGNS[place]
    if not text or all(character in table for character in text):
        return "".join(table[character] for character in text)
    if text.isalpha() and place == "sup" and len(text) <= 2:
        return text  # 1st
    return f"{_MARKS[place]}{text}" if len(text) == 1 else f"{_MARKS[place]}{{{text}}}"

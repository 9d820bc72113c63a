"""The names of tied runs of a ranking."""

from __future__ import annotations

import string

__all__ = ["tie_letters"]


def tie_letters(tie: int) -> str:
    """a to z, then aa, ab, ...: the name of the tied run of that number, from 0."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name

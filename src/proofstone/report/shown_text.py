"""Any text as a reader may see it: nothing in it moves, hides or turns what stands beside it."""

from __future__ import annotations

import unicodedata

from proofstone.wording import say

__all__ = ["visible"]

# A longer text is cut here, and it is said how much is left out.
MOST_CHARACTERS = 20_000


def visible(text: str) -> str:
    """``text`` that no control or direction character can rearrange, cut at 20,000 characters."""
    if len(text) <= MOST_CHARACTERS and text.isprintable():
        return str(text)  # nearly all are
    shown = "".join(_visible_character(character) for character in text[:MOST_CHARACTERS])
    left_out = len(text) - MOST_CHARACTERS
    if left_out <= 0:
        return shown
    return f"{shown}\n{say('[... {n:,} more characters]', n=left_out)}"


def _visible_character(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in {"Cc", "Cf", "Cs"}:
        return character
    return f"\u27e8U+{ord(character):04X}\u27e9"

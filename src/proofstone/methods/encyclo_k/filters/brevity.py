"""Falsified statements too short to hold both a falsehood and enough truth around it."""

from __future__ import annotations

import re

__all__ = ["MIN_WORDS", "find_brevity"]

# Table 1's shortest statement has 8 tokens: about 5 words, or 8 Chinese characters.
MIN_WORDS = 5
_CHARACTERS_A_WORD = 1.6
_WORD = re.compile(r"[^\W_㐀-鿿]+")
_CHARACTER = re.compile(r"[㐀-鿿]")


def find_brevity(text: str) -> str:
    """How long the text is, where it is too short; else the empty text."""
    words, characters = len(_WORD.findall(text)), len(_CHARACTER.findall(text))
    if words + characters / _CHARACTERS_A_WORD >= MIN_WORDS:
        return ""
    return f"{words} words" if not characters else f"{characters} characters, {words} words"

"""What a text is about: its longer words, its numbers, and of Chinese its pairs of characters."""

from __future__ import annotations

import re

__all__ = ["terms"]

_LATIN = re.compile(r"[A-Za-z]+|[0-9]+(?:[.,][0-9]+)*")
_HAN = re.compile(r"[\u3400-\u9fff]+")
_SHORT_WORD = 3  # the, and, of: they stand everywhere


def terms(text: str) -> frozenset[str]:
    """Words of more than three letters in lower case, numbers, and pairs of Chinese characters."""
    latin = (word.lower() for word in _LATIN.findall(text))
    words = {word for word in latin if len(word) > _SHORT_WORD or word[0].isdigit()}
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
    return frozenset(words | pairs)

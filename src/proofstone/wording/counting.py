"""Counted things, lists and runs of sentences, as each language writes them."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.wording.language import language
from proofstone.wording.messages import nouns, word

__all__ = ["counted", "joined", "listed", "paragraph"]


def counted(n: int, noun: str, plural: str = "") -> str:
    """``1 item``, ``2 items``, ``5,038 items``; ``plural`` where an s does not make one. Chinese
    has a measure word of the noun's own."""
    spoken = language()
    if spoken == "en":
        return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
    return nouns(spoken).get(noun, "{n:,} 个{noun}").format(n=n, noun=word(noun))


def joined(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``; the empty text of no words."""
    if not words:
        return ""
    *first, last = words
    if not first:
        return last
    before = listed(first)
    if language() == "en":
        return f"{before} and {last}"
    return f"{before}{_space(before[-1:])}和{_space(last[:1])}{last}"


def listed(words: Sequence[str]) -> str:
    """``a, b, c``."""
    return ("、" if language() == "zh" else ", ").join(words)


def paragraph(*sentences: str) -> str:
    """The sentences one after the other, those that are empty left out."""
    return ("" if language() == "zh" else " ").join(filter(None, sentences))


def _space(beside: str) -> str:
    """Between a Chinese character and what is none stands a space."""
    return " " if beside.isascii() else ""

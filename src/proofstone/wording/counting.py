"""Counted things, lists and runs of sentences, as each language writes them."""

from __future__ import annotations

from collections.abc import Sequence

from proofstone.wording.filling import filled
from proofstone.wording.language import language
from proofstone.wording.messages import nouns, say, word

__all__ = ["counted", "joined", "listed", "paragraph"]


def counted(n: int, noun: str, plural: str = "") -> str:
    """``1 item``, ``2 items``, ``5,038 items``; ``plural`` where an s does not make one. Chinese
    has a measure word of the noun's own."""
    spoken = language()
    if spoken == "en":
        return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
    return filled(nouns(spoken).get(noun, "{n:,} 个{noun}"), {"n": n, "noun": word(noun)})


def joined(words: Sequence[str], most: int | None = None) -> str:
    """``a``, ``a and b``, ``a, b and c``; the empty text of no words. Of more than ``most`` the
    first ones, and how many others there are."""
    if not words:
        return ""
    if most is not None and len(words) > most:
        return listed(words, most)
    *first, last = words
    if not first:
        return last
    before = listed(first)
    if language() == "en":
        return f"{before} and {last}"
    return filled("{before}和{last}", {"before": before, "last": last})


def listed(words: Sequence[str], most: int | None = None) -> str:
    """``a, b, c``; with ``most``, no more than that: ``a, b and 3 more``."""
    shown = ("、" if language() == "zh" else ", ").join(words[:most])
    left = 0 if most is None else len(words) - most
    return say("{words} and {n:,} more", words=shown, n=left) if left > 0 else shown


def paragraph(*sentences: str) -> str:
    """The sentences one after the other, those that are empty left out."""
    return ("" if language() == "zh" else " ").join(filter(None, sentences))

"""Where a reply may state its answer: anchor words, found from the end of the text.

Plain substring search on a lower-cased copy is linear and fast however the text is made; the
number of anchors looked at is bounded, so that a reply of nothing but anchors costs no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from proofstone.engines.choices.answer_words import ANSWER_WORDS

__all__ = ["MOST_ANCHORS", "Anchor", "anchors_from_end", "lowered"]

# A reply that names its answer more often than this has degenerated; the last ones decide.
MOST_ANCHORS = 250

_ENGLISH = ("answer", "boxed", "option", "choice", "closest", "[[")
_CHINESE = ("答案", "选", "正确")
_OTHERS = tuple(
    anchor for words in ANSWER_WORDS for anchor in words.anchors if anchor not in _ENGLISH
)
_ASCII = _ENGLISH + tuple(anchor for anchor in _OTHERS if anchor.isascii())
_ALL = _ENGLISH + _CHINESE + _OTHERS


class Anchor(Struct, frozen=True):
    """An anchor word and where it stands: [start, end) in the text."""

    word: str
    start: int
    end: int


def lowered(text: str) -> str:
    """``text`` in lower case, character by character in the same places."""
    # The one character whose lower case is longer is the Turkish dotted capital I.
    if not text.isascii() and "\u0130" in text:
        text = text.replace("\u0130", "I")
    return text.lower()


def anchors_from_end(lower: str, words: Sequence[str] | None = None) -> Iterator[Anchor]:
    """The anchors of a text in lower case, last first, at most MOST_ANCHORS of them; ``words`` are
    those of questions with options, unless others are given."""
    if words is None:
        words = _ASCII if lower.isascii() else _ALL
    last = [(place, word) for word in words if (place := lower.rfind(word)) >= 0]
    for _ in range(MOST_ANCHORS):
        if not last:
            return
        place, word = found = max(last)
        yield Anchor(word, place, place + len(word))
        last.remove(found)
        if (before := lower.rfind(word, 0, place)) >= 0:
            last.append((before, word))

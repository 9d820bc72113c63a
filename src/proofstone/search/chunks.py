"""Split texts into chunks of a maximum number of tokens, at sentence ends.

A chunk is a span of its text, never a changed copy. Search results can therefore be traced to their
passage and its page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from proofstone.errors import BadUsage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


CountTokens = Callable[[str], int]


FindSentences = Callable[[str], Iterable[tuple[int, int]]]


CHUNKS_VERSION = 1  # increase when the same text would be split differently


LEAST_TOKENS = 8  # one character is up to four tokens: a piece of one always fits


# Split points of an overlong sentence: after a clause, or else after white space.
_CLAUSE = re.compile(r"[，、；：,;:](?=.)|\n", re.DOTALL)


_SPACE = re.compile(r"\s(?=\S)")


# A token of cl100k_base is rarely longer than this: the first estimate of where a piece ends.
_CHARACTERS = 6


class Chunk(Struct, frozen=True, gc=False, order=True):
    """Code points [start, end) of a text, with no white space at either end."""

    start: int
    end: int


class Chunking(Struct, frozen=True, kw_only=True):
    """How texts are split: chunks of at most ``most`` tokens.

    Each begins with the last whole sentences of the previous chunk that fit into ``overlap``
    tokens. Raises BadUsage.
    """

    most: int = 200
    overlap: int = 0

    def __post_init__(self) -> None:
        if self.most < LEAST_TOKENS:
            raise BadUsage(f"expected chunks of {LEAST_TOKENS} tokens or more, got {self.most}")
        if not 0 <= self.overlap <= self.most // 2:
            raise BadUsage(
                f"expected an overlap of 0 to {self.most // 2} tokens (half a chunk), got "
                f"{self.overlap}"
            )


def cut_chunks(
    text: str, chunking: Chunking, *, count: CountTokens, sentences: FindSentences
) -> list[Chunk]:
    """Return the chunks of a text in order; none for white space.

    ``count`` counts tokens, ``sentences`` gives the spans of sentences in order. Sentences are
    joined while the whole span has at most ``most`` tokens. Only a longer sentence is split: after
    a clause, a word, or else between characters. Every character except white space is in a chunk,
    and without overlap in exactly one.
    """
    pieces = [
        piece
        for start, end in sentences(text)
        for piece in _pieces(text, start, end, chunking.most, count)
    ]
    return list(_packed(text, pieces, chunking, count))


def _packed(
    text: str, pieces: list[Chunk], chunking: Chunking, count: CountTokens
) -> Iterator[Chunk]:
    """Yield pieces joined while they fit."""
    at = 0
    while at < len(pieces):
        until = at + 1
        while until < len(pieces) and _fits(text, pieces[at], pieces[until], chunking.most, count):
            until += 1
        yield Chunk(pieces[at].start, pieces[until - 1].end)
        if until == len(pieces):
            return
        at = _overlapping(text, pieces, at, until, chunking, count)


def _overlapping(
    text: str, pieces: list[Chunk], at: int, until: int, chunking: Chunking, count: CountTokens
) -> int:
    """Return where the chunk after [at, until) begins.

    It begins after this chunk's start, and late enough to include the next piece.
    """
    last, start = pieces[until - 1], until
    while start - 1 > at and _fits(text, pieces[start - 1], last, chunking.overlap, count):
        start -= 1
    while start < until and not _fits(text, pieces[start], pieces[until], chunking.most, count):
        start += 1
    return start


def _fits(text: str, first: Chunk, last: Chunk, most: int, count: CountTokens) -> bool:
    # No token has more than 128 characters of meaningful text; longer spans are not counted.
    length = last.end - first.start
    return length <= 128 * most and count(text[first.start : last.end]) <= most


def _pieces(text: str, start: int, end: int, most: int, count: CountTokens) -> Iterator[Chunk]:
    """Yield a sentence whole, or its parts if it is too long; no part is white space."""
    while start < end:
        while start < end and text[start].isspace():
            start += 1
        if start == end:
            return
        stop = _reach(text, start, end, most, count)
        trimmed = start + len(text[start:stop].rstrip())
        yield Chunk(start, trimmed)
        start = stop


def _reach(text: str, start: int, end: int, most: int, count: CountTokens) -> int:
    """Return the end of a piece: the sentence's end, or the last split point that fits."""

    def fits(stop: int) -> bool:
        return count(text[start:stop].rstrip()) <= most

    if end - start <= 128 * most and fits(end):
        return end
    beyond = min(end, start + _CHARACTERS * most)
    words = _last([found.end() for found in _SPACE.finditer(text, start, beyond)], fits)
    half = start + ((words or beyond) - start) // 2
    clauses = _last([found.end() for found in _CLAUSE.finditer(text, half, words or beyond)], fits)
    return clauses or words or _last(range(start + 1, beyond + 1), fits) or start + 1


def _last(places: Sequence[int], fits: Callable[[int], bool]) -> int | None:
    """Return the last of these ascending positions that fits; None if none does."""
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if fits(places[middle]) else (low, middle)
    return places[low - 1] if low else None


def tokens_by_bytes(text: str) -> int:
    """Estimate the tokens of a text: one per four bytes, for Latin letters and Chinese."""
    return -(-len(text.encode()) // 4)


# Search results and their order.


class Hit(Struct, frozen=True, gc=False):
    """A text by its index, and its score; higher is better."""

    place: int
    score: float


def best_hits(places: NDArray[np.int64], scores: NDArray[Any], k: int) -> list[Hit]:
    """Return the ``k`` best of these texts, best first; ties by lower index.

    The texts come in any order, each with its score. Returns fewer if there are fewer.
    """
    import numpy as np  # noqa: PLC0415

    if k < 1:
        return []
    if len(places) > k:
        bar = np.partition(scores, len(scores) - k)[len(scores) - k]
        kept = scores >= bar
        places, scores = places[kept], scores[kept]
    order = np.lexsort((places, -scores))[:k]
    return list(map(Hit, places[order].tolist(), scores[order].astype(np.float64).tolist()))


# Combine rankings of the same texts by reciprocal rank fusion.
#
# Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual rank
# learning methods" (SIGIR 2009): a text gets 1 / (60 + rank) from each ranking that has it. Scores
# on different scales (BM25, cosine) can thus be combined.

RANK_CONSTANT = 60  # the paper's constant


def fuse_ranks(rankings: Sequence[Sequence[Hit]], k: int) -> list[Hit]:
    """Return the ``k`` best texts over all rankings, best first; ties by lower index."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for rank, hit in enumerate(ranking, start=1):
            scores[hit.place] = scores.get(hit.place, 0.0) + 1 / (RANK_CONSTANT + rank)
    best = sorted((-score, place) for place, score in scores.items())
    return [Hit(place, -score) for score, place in best[: max(k, 0)]]

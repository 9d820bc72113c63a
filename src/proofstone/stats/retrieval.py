"""Recall and nDCG of retrieved passages against the spans of labeled evidence.

A span is covered by its characters other than white space, so that a split between two passages
loses nothing. Each span of a question counts the same, however long it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Stretch(NamedTuple):
    """Characters [start, end) of the text that ``place`` identifies."""

    place: Hashable
    start: int
    end: int


class EvidenceSpan(NamedTuple):
    """A span of evidence: the offsets, ascending, of its characters other than white space."""

    place: Hashable
    offsets: NDArray[np.int64]

    @classmethod
    def of(cls, place: Hashable, start: int, text: str) -> EvidenceSpan:
        """Return the span of ``text`` that begins at ``start``."""
        offsets = [start + at for at, character in enumerate(text) if not character.isspace()]
        return cls(place, np.array(offsets, dtype=np.int64))

    def within(self, stretch: Stretch) -> NDArray[np.bool_]:
        """Return which of the span's characters a stretch holds."""
        if stretch.place != self.place:
            return np.zeros(len(self.offsets), dtype=np.bool_)
        return np.asarray((self.offsets >= stretch.start) & (self.offsets < stretch.end))

    def is_within(self, stretch: Stretch) -> bool:
        """Return True if a stretch holds any of the span's characters."""
        return bool(self.within(stretch).any())


@dataclass(frozen=True, slots=True)
class EvidenceFound:
    """Recall and nDCG at k = 1, 2, ... of one question's passages.

    ``recall`` has as many values as passages were asked for. ``ndcg`` is NaN if no passage of the
    collection holds any evidence.
    """

    recall: NDArray[np.float64]
    ndcg: NDArray[np.float64]


def measure_found(
    spans: Sequence[EvidenceSpan],
    shown: Sequence[Stretch],
    collection: Iterable[Stretch],
    most: int,
) -> EvidenceFound:
    """Return recall and nDCG at 1 to ``most`` of the passages ``shown``, best first.

    Recall at k is the mean over the evidence spans of the share of a span's characters that the
    first k passages hold together.

    nDCG at k is DCG at k over its value for the best order of the ``collection`` (all passages
    searched; those without evidence may be left out). DCG is the sum over ranks r of
    gain(r) / log2(r + 1). The gain of a passage is graded: the sum over evidence spans of the share
    of the span that it holds (Järvelin and Kekäläinen 2002, ACM TOIS 20(4), with their linear
    gain).

    Fewer passages than ``most`` keep the values of the last. Raises ValueError without evidence
    spans, or with one without characters.
    """
    if not spans or not all(len(span.offsets) for span in spans):
        raise ValueError("evidence has one span or more, each with text")
    shown = shown[:most]
    recall, gains = np.zeros(most), np.zeros(most)
    held = [np.zeros(len(span.offsets), dtype=np.bool_) for span in spans]
    for rank, stretch in enumerate(shown):
        for place, span in enumerate(spans):
            inside = span.within(stretch)
            gains[rank] += inside.mean()
            held[place] |= inside
        recall[rank] = np.mean([each.mean() for each in held])
    if shown:
        recall[len(shown) :] = recall[len(shown) - 1]
    pool = {*collection, *shown}
    best = sorted((_gain(spans, stretch) for stretch in _largest(pool)), reverse=True)[:most]
    ideal = np.zeros(most)
    ideal[: len(best)] = best
    discount = 1.0 / np.log2(np.arange(2, most + 2))
    highest = np.cumsum(ideal * discount)
    reached = np.cumsum(gains * discount)
    ndcg = np.divide(reached, highest, out=np.full(most, np.nan), where=highest > 0)
    return EvidenceFound(recall, ndcg)


def _gain(spans: Iterable[EvidenceSpan], stretch: Stretch) -> float:
    return sum(float(span.within(stretch).mean()) for span in spans)


def _largest(pool: Iterable[Stretch]) -> list[Stretch]:
    """Return the longest stretch of each start: a shortened passage is part of a whole one."""
    found: dict[tuple[Hashable, int], Stretch] = {}
    for stretch in pool:
        key = (stretch.place, stretch.start)
        if key not in found or found[key].end < stretch.end:
            found[key] = stretch
    return list(found.values())

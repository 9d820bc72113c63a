"""What was counted of each entity for each group, and what follows for several groups together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    DrawnRatios,
    MadeOf,
    draw_ratios,
    estimate_together,
    harmonic_mean,
)
from proofstone.records.results import Estimate
from proofstone.records.triples import EntityFacts

__all__ = ["DIFFERENT", "SHARES", "Cell", "DrawnCells", "Tallies"]

Floats = NDArray[np.float64]
Chosen = NDArray[np.bool_]

SHARES = ("precision", "recall", "contradiction", "unparsed", "recall_unparsed")
_CLUSTERS = "entities"
DIFFERENT = (
    "f1",
    "precision",
    "recall",
    "contradiction",
    "triples",
)  # what differences there are of


@dataclass(frozen=True, slots=True, eq=False)
class Tallies:
    """Counts by entity (E) and group (G). ``hits`` of ``sampled`` triples (E, G, 5) count for
    ``SHARES``; ``said`` (E, G) are the triples of ``replies`` (E, G).
    Fictional entities are among them, sampled or not; nothing waits in ``sampled``."""

    entities: tuple[EntityFacts, ...]
    hits: Floats
    sampled: Floats
    said: Floats
    replies: Floats

    @property
    def is_real(self) -> Chosen:
        """Which entities exist (E)."""
        return np.array([not facts.is_fictional for facts in self.entities], dtype=bool)

    def where(self, field: str, value: str) -> Chosen:
        """Which entities have this value of a field (E)."""
        return np.array([getattr(facts, field) == value for facts in self.entities], dtype=bool)

    def triples_each(self, group: int, chosen: Chosen) -> float | None:
        """Triples of a reply of a group about these entities; None without a reply."""
        replies = float(self.replies[chosen, group].sum())
        return float(self.said[chosen, group].sum()) / replies if replies else None

    def shared(self, groups: Sequence[int]) -> Chosen:
        """The entities of which every one of these groups was asked, and that exist (E)."""
        asked = (self.replies[:, list(groups)] > 0).all(axis=1)
        return np.asarray(asked & self.is_real)


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """A group on some of the entities (E)."""

    group: int
    chosen: Chosen


class DrawnCells:
    """Cells whose entities are drawn together, so that any two can be compared: those of which both
    were asked move both."""

    def __init__(
        self,
        tallies: Tallies,
        cells: Sequence[Cell],
        *,
        confidence: float = 0.95,
        seed: int = 0,
        n_draws: int = 2_000,
    ) -> None:
        self._tallies = tallies
        self._cells = cells
        self._confidence = confidence
        self._seed, self._n_draws = seed, n_draws

    def estimate(self, cell: int, measure: str) -> Estimate | None:
        """F1 or a share of a cell by itself; None where nothing counts in it."""
        if measure == "f1":
            places = self._places(cell)
            if not all(self._verified.n[place] for place in places):
                return None
            return self._verified.made_of(
                places,
                lambda ratios: harmonic_mean(ratios[:, places[0]], ratios[:, places[1]]),
                confidence=self._confidence,
            )
        place = self._places(cell)[0] + SHARES.index(measure)
        if not self._verified.n[place]:
            return None
        return self._verified.ratio(place, confidence=self._confidence)

    def less(self, pairs: Sequence[tuple[int, int]], measure: str) -> tuple[Estimate | None, ...]:
        """By how much the first cell of each pair is above the second, all intervals holding
        together; None where either has nothing that counts."""
        made = [self._difference(first, second, measure) for first, second in pairs]
        drawn = self._said if measure == "triples" else self._verified
        found = estimate_together(drawn, made, confidence=self._confidence) if made else ()
        return tuple(each if each.n else None for each in found)

    def trend(self, cells: Sequence[int], measure: str) -> tuple[Estimate | None, ...]:
        """By how much precision or recall rises in each cell where entities have twice as many
        statements: the least-squares slope over triples, all intervals holding together; None where
        they are not known, or nowhere differ."""
        x = np.array(
            [np.log2(facts.statements) if facts.statements else np.nan
             for facts in self._tallies.entities]
        )  # fmt: skip
        known = ~np.isnan(x)
        able = [cell for cell in cells if self._varies(cell, measure, x, known)]
        if not able:
            return (None,) * len(cells)
        found = dict(zip(able, self._slopes(able, measure, x, known), strict=True))
        return tuple(found.get(cell) for cell in cells)

    def _slopes(
        self, cells: Sequence[int], measure: str, x: Floats, known: Chosen
    ) -> tuple[Estimate, ...]:
        tops, bottoms = [], []
        centre = float(x[known].mean())
        for cell in cells:
            hits, sampled = self._counts(cell, measure, known)
            at = np.where(known, x - centre, 0.0)
            tops += [sampled * at, sampled * at**2, hits, hits * at]
            bottoms += [sampled] * 4
        drawn = self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))
        made = [
            MadeOf(tuple(range(first, first + 4)), _slope(first))
            for first in range(0, 4 * len(cells), 4)
        ]
        return estimate_together(drawn, made, confidence=self._confidence)

    def _varies(self, cell: int, measure: str, x: Floats, known: Chosen) -> bool:
        _hits, sampled = self._counts(cell, measure, known)
        return len(np.unique(x[known & (sampled > 0)])) > 1

    def _counts(self, cell: int, measure: str, known: Chosen) -> tuple[Floats, Floats]:
        here = (self._cells[cell].chosen & known).astype(np.float64)
        group, place = self._cells[cell].group, SHARES.index(measure)
        counts = self._tallies
        return counts.hits[:, group, place] * here, counts.sampled[:, group, place] * here

    def _difference(self, first: int, second: int, measure: str) -> MadeOf:
        if measure == "triples":
            inf = float("inf")
            return MadeOf((first, second), lambda r: r[:, first] - r[:, second], -inf, inf)
        one, other = self._places(first), self._places(second)
        if measure == "f1":
            return MadeOf(
                (*one, *other),
                lambda r: (
                    harmonic_mean(r[:, one[0]], r[:, one[1]])
                    - harmonic_mean(r[:, other[0]], r[:, other[1]])
                ),
            )
        at = SHARES.index(measure)
        return MadeOf(
            (one[0] + at, other[0] + at), lambda r: r[:, one[0] + at] - r[:, other[0] + at]
        )

    def _places(self, cell: int) -> tuple[int, int]:
        """Where precision and recall of a cell stand among the verified ratios."""
        first = len(SHARES) * cell
        return first, first + 1

    @cached_property
    def _verified(self) -> DrawnRatios:
        counts = self._tallies
        tops = [counts.hits[:, each.group] * each.chosen[:, None] for each in self._cells]
        bottoms = [counts.sampled[:, each.group] * each.chosen[:, None] for each in self._cells]
        return self._draw(np.concatenate(tops, axis=1), np.concatenate(bottoms, axis=1))

    @cached_property
    def _said(self) -> DrawnRatios:
        counts = self._tallies
        tops = [counts.said[:, each.group] * each.chosen for each in self._cells]
        bottoms = [counts.replies[:, each.group] * each.chosen for each in self._cells]
        return self._draw(np.stack(tops, axis=1), np.stack(bottoms, axis=1))

    def _draw(self, tops: Floats, bottoms: Floats) -> DrawnRatios:
        return draw_ratios(
            tops, bottoms, clusters=_CLUSTERS, n_draws=self._n_draws, seed=self._seed
        )


def _slope(first: int) -> Callable[[Floats], Floats]:
    """The slope of y on x from the means of x, x^2, y and xy, which stand behind each other."""

    def make(ratios: Floats) -> Floats:
        x, square, y, product = (ratios[:, first + step] for step in range(4))
        spread = square - x**2
        return np.where(spread > 0, (product - x * y) / np.where(spread > 0, spread, 1.0), np.nan)

    return make

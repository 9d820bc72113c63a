"""Verdicts counted by entity, direction and outcome: what every measure is summed from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from proofstone.methods.bequ.verification.counting import OUTCOMES, Counted
from proofstone.records.triples import DIRECTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MEASURES", "cells_of", "outcomes_in", "sums_of"]

_PRECISION = ("entailment", "contradiction", "neutral", "no reference", "unparsed")
_THREE = ("entailment", "contradiction", "neutral")
_RECALL = (*_THREE, "covered", "not covered", "unparsed")  # of either way of measuring it
_PLACE = {name: code for code, name in enumerate(OUTCOMES)}
# Each measure: its direction, what counts, and what it is divided by.
MEASURES: Mapping[str, tuple[Literal[0, 1], tuple[str, ...], tuple[str, ...]]] = {
    "precision": (0, ("entailment",), _PRECISION),
    "recall": (1, ("entailment", "covered"), _RECALL),
    "contradiction": (0, ("contradiction",), _PRECISION),
    "neutral": (0, ("neutral", "no reference"), _PRECISION),
    "unparsed": (0, ("unparsed",), _PRECISION),
    "without_reference": (0, ("no reference",), _PRECISION),
    "precision_judged": (0, ("entailment",), _PRECISION[:3]),
    "precision_decided": (0, ("entailment",), _PRECISION[:2]),
    "recall_judged": (1, ("entailment", "covered"), _RECALL[:-1]),
    "recall_contradiction": (1, ("contradiction",), _THREE),
    "recall_unparsed": (1, ("unparsed",), _RECALL),
}


def cells_of(
    counted: Counted, group: int, n_entities: int, part: NDArray[np.integer] | None = None
) -> NDArray[np.int64]:
    """A group's triples by part, entity, direction and outcome. ``part`` is the code of each triple
    of ``counted``, from 0; without it all are part 0."""
    import numpy as np  # noqa: PLC0415

    mine = np.flatnonzero(counted.column("group") == group)
    direction, outcome = (counted.column(name)[mine] for name in ("direction", "outcome"))
    cell = counted.column("entity")[mine].astype(np.int64)
    n_parts = 1
    if part is not None:
        own = part[mine]
        n_parts = int(own.max(initial=0)) + 1
        cell += own.astype(np.int64) * n_entities
    cell = (cell * 2 + direction) * len(OUTCOMES) + outcome
    shape = (n_parts, n_entities, 2, len(OUTCOMES))
    return np.bincount(cell, minlength=int(np.prod(shape))).reshape(shape)


def sums_of(
    cells: NDArray[np.int64], names: Sequence[str] = tuple(MEASURES)
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What counts in each measure and what it is divided by, (entities, measures) each, of the
    cells of one part."""
    import numpy as np  # noqa: PLC0415

    def summed(side: int, outcomes: Sequence[str]) -> NDArray[np.int64]:
        return np.asarray(cells[:, side, [_PLACE[name] for name in outcomes]].sum(axis=1))

    found = [MEASURES[name] for name in names]
    tops = np.stack([summed(side, top) for side, top, _bottom in found], axis=1)
    bottoms = np.stack([summed(side, bottom) for side, _top, bottom in found], axis=1)
    return tops.astype(np.float64), bottoms.astype(np.float64)


def outcomes_in(cells: NDArray[np.int64]) -> dict[str, dict[str, int]]:
    """How many triples came to what, by direction, in the cells of one part."""
    n = cells.sum(axis=0).tolist()
    return {
        direction: {name: count for name, count in zip(OUTCOMES, n[side], strict=True) if count}
        for side, direction in enumerate(DIRECTIONS)
    }

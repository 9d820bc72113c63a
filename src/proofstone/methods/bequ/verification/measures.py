"""Precision, recall and what stands beside them, with intervals over entities.

The published figures divide by all triples of the sample: what has no reference, and what the judge
gave no readable verdict on, are in the denominator. Beside them stand precision and recall over
what was judged, and precision over what the passages decide either way. What waits for a judge is
in none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from proofstone.methods.bequ.verification.counting import OUTCOMES, Counted
from proofstone.records.triples import Breakdown, EntityFacts, Group, Measured

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MEASURES", "measure_all", "measure_by"]

_PRECISION = ("entailment", "contradiction", "neutral", "no reference", "unparsed")
_RECALL = ("covered", "not covered", "unparsed")
# Each measure: its direction, what counts, and what it is divided by.
MEASURES: Mapping[str, tuple[Literal[0, 1], tuple[str, ...], tuple[str, ...]]] = {
    "precision": (0, ("entailment",), _PRECISION),
    "recall": (1, ("covered",), _RECALL),
    "contradiction": (0, ("contradiction",), _PRECISION),
    "neutral": (0, ("neutral", "no reference"), _PRECISION),
    "unparsed": (0, ("unparsed",), _PRECISION),
    "without_reference": (0, ("no reference",), _PRECISION),
    "precision_judged": (0, ("entailment",), _PRECISION[:3]),
    "precision_decided": (0, ("entailment",), _PRECISION[:2]),
    "recall_judged": (1, ("covered",), _RECALL[:2]),
    "recall_unparsed": (1, ("unparsed",), _RECALL),
}
HALF_WIDTH = 0.02


def measure_all(
    counted: Counted,
    groups: Sequence[Group],
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Measured]:
    """The measures of each group."""
    mine = counted.column("group")
    return [
        _measured(counted, mine == number, group, n_draws=n_draws, seed=seed, confidence=confidence)
        for number, group in enumerate(groups)
    ]


def measure_by(
    counted: Counted,
    groups: Sequence[Group],
    entities: Sequence[EntityFacts],
    by: Breakdown,
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Iterator[Measured]:
    """The measures of each group by the values of a breakdown, in alphabetical order; none where
    no triple has a value.

    By source, precision is by that of the passage a verdict rests on, so that it is one of what a
    passage decided; recall by where the reference has the triple from.
    """
    codes, names = _values(counted, entities, by)
    mine = counted.column("group")
    for number, group in enumerate(groups):
        own = mine == number
        for code in sorted(range(len(names)), key=names.__getitem__):
            chosen = own & (codes == code)
            if names[code] and chosen.any():
                yield _measured(
                    counted, chosen, group, by=by, value=names[code],
                    n_draws=n_draws, seed=seed, confidence=confidence,
                )  # fmt: skip


def _values(
    counted: Counted, entities: Sequence[EntityFacts], by: Breakdown
) -> tuple[NDArray[np.integer], list[str]]:
    import numpy as np  # noqa: PLC0415

    if by == "source":
        return counted.column("source"), counted.sources.names
    if by == "family":
        return counted.column("family"), counted.families.names
    said = [getattr(facts, by) for facts in entities]
    names = sorted(set(said))
    numbers = {name: code for code, name in enumerate(names)}
    return np.array([numbers[name] for name in said], dtype=np.intc)[
        counted.column("entity")
    ], names


def _measured(
    counted: Counted,
    chosen: NDArray[np.bool_],
    group: Group,
    *,
    by: str = "",
    value: str = "",
    n_draws: int,
    seed: int,
    confidence: float,
) -> Measured:
    from proofstone.engines.stats import (  # noqa: PLC0415
        draw_ratios,
        harmonic_mean,
        more_for_half_width,
    )

    tops, bottoms = _sums(counted, chosen)
    drawn = draw_ratios(tops, bottoms, clusters="entities", n_draws=n_draws, seed=seed)
    estimates = {
        name: drawn.ratio(place, confidence=confidence)
        for place, name in enumerate(MEASURES)
        if drawn.n[place]
    }
    if {"precision", "recall"} <= estimates.keys():
        estimates["f1"] = drawn.made_of(
            (0, 1),
            lambda ratios: harmonic_mean(ratios[:, 0], ratios[:, 1]),
            confidence=confidence,
        )
    return Measured(
        group=group,
        counts=_counts(counted, chosen),
        estimates=estimates,
        more={
            name: more_for_half_width(estimates[name], HALF_WIDTH)
            for name in ("precision", "recall")
            if name in estimates
        },
        by=by,
        value=value,
    )


def _sums(
    counted: Counted, chosen: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What counts and what it is divided by, (entities, measures) each."""
    import numpy as np  # noqa: PLC0415

    _, entity = np.unique(counted.column("entity")[chosen], return_inverse=True)
    n = int(entity.max(initial=-1)) + 1
    direction, outcome = counted.column("direction")[chosen], counted.column("outcome")[chosen]
    cells = np.zeros((2, len(OUTCOMES), n))
    np.add.at(cells, (direction, outcome, entity), 1.0)
    place = {name: code for code, name in enumerate(OUTCOMES)}

    def summed(side: int, names: Sequence[str]) -> NDArray[np.float64]:
        return np.asarray(cells[side][[place[name] for name in names]].sum(axis=0))

    tops = [summed(side, top) for side, top, _bottom in MEASURES.values()]
    bottoms = [summed(side, bottom) for side, _top, bottom in MEASURES.values()]
    return np.stack(tops, axis=1), np.stack(bottoms, axis=1)


def _counts(counted: Counted, chosen: NDArray[np.bool_]) -> dict[str, dict[str, int]]:
    import numpy as np  # noqa: PLC0415

    direction, outcome = counted.column("direction")[chosen], counted.column("outcome")[chosen]
    found = {}
    for side, name in enumerate(("precision", "recall")):
        n = np.bincount(outcome[direction == side], minlength=len(OUTCOMES))
        found[name] = {OUTCOMES[code]: int(n[code]) for code in np.flatnonzero(n).tolist()}
    return found

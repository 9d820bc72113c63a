"""Precision, recall and what stands beside them, with intervals over entities.

The published figures divide by all triples of the sample: what has no reference, and what the judge
gave no readable verdict on, are in the denominator. Beside them stand precision and recall over
what was judged, and precision over what the passages decide either way. What waits for a judge is
in none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from proofstone.methods.bequ.verification.cells import MEASURES, cells_of, outcomes_in, sums_of
from proofstone.methods.bequ.verification.counting import Counted
from proofstone.records.triples import Breakdown, EntityFacts, Group, Measured

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from proofstone.engines.stats import DrawnRatios

__all__ = ["measure_all", "measure_by"]

HALF_WIDTH = 0.02
# Sums that are held at once, to be drawn together: 64 MB of them.
_MOST_AT_ONCE = 8_000_000


class _Part(NamedTuple):
    """One group's triples, or a part of them: sums by entity and measure, and outcomes."""

    group: Group
    value: str
    tops: NDArray[np.float64]
    bottoms: NDArray[np.float64]
    counts: dict[str, dict[str, int]]


class _Drawing(NamedTuple):
    by: str
    n_draws: int
    seed: int
    confidence: float


def measure_all(
    counted: Counted,
    groups: Sequence[Group],
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> list[Measured]:
    """The measures of each group."""
    n = _n_entities(counted)
    parts = (
        _part(cells_of(counted, number, n)[0], group, "") for number, group in enumerate(groups)
    )
    return list(_measured(parts, _Drawing("", n_draws, seed, confidence)))


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
    parts = _parts(counted, groups, codes, names)
    return _measured(parts, _Drawing(by, n_draws, seed, confidence))


def _n_entities(counted: Counted) -> int:
    return int(counted.column("entity").max(initial=-1)) + 1


def _parts(
    counted: Counted,
    groups: Sequence[Group],
    codes: NDArray[np.integer],
    names: Sequence[str],
) -> Iterator[_Part]:
    n = _n_entities(counted)
    for number, group in enumerate(groups):
        cells = cells_of(counted, number, n, codes)
        for code in sorted(range(len(cells)), key=names.__getitem__) if len(names) else ():
            if names[code] and cells[code].any():
                yield _part(cells[code], group, names[code])


def _part(cells: NDArray[np.int64], group: Group, value: str) -> _Part:
    """Entities of which it has nothing are left out, so that few are held of a small part."""
    held = cells[cells.any(axis=(1, 2))]
    tops, bottoms = sums_of(held)
    return _Part(group, value, tops, bottoms, outcomes_in(held))


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


def _measured(parts: Iterable[_Part], drawing: _Drawing) -> Iterator[Measured]:
    """The measures of each part; entities are drawn for many parts at once."""
    from proofstone.engines.stats import draw_ratios_each  # noqa: PLC0415

    for batch in _batches(parts):
        drawn = draw_ratios_each(
            [(part.tops, part.bottoms) for part in batch],
            clusters="entities",
            n_draws=drawing.n_draws,
            seed=drawing.seed,
        )
        for part, ratios in zip(batch, drawn, strict=True):
            yield _of_part(part, ratios, drawing)


def _batches(parts: Iterable[_Part]) -> Iterator[list[_Part]]:
    batch: list[_Part] = []
    held = 0
    for part in parts:
        batch.append(part)
        held += part.tops.size + part.bottoms.size
        if held >= _MOST_AT_ONCE:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _of_part(part: _Part, drawn: DrawnRatios, drawing: _Drawing) -> Measured:
    from proofstone.engines.stats import harmonic_mean, more_for_half_width  # noqa: PLC0415

    estimates = {
        name: drawn.ratio(place, confidence=drawing.confidence)
        for place, name in enumerate(MEASURES)
        if drawn.n[place]
    }
    if {"precision", "recall"} <= estimates.keys():
        estimates["f1"] = drawn.made_of(
            (0, 1),
            lambda ratios: harmonic_mean(ratios[:, 0], ratios[:, 1]),
            confidence=drawing.confidence,
        )
    return Measured(
        group=part.group,
        counts=part.counts,
        estimates=estimates,
        more={
            name: more_for_half_width(estimates[name], HALF_WIDTH)
            for name in ("precision", "recall")
            if name in estimates
        },
        by=drawing.by,
        value=part.value,
    )

"""Precision, recall and what stands beside them, with intervals over entities.

The published figures divide by all triples of the sample: what has no reference, and what the judge
gave no readable verdict on, are in the denominator. Beside them stand precision and recall over
what was judged, and precision over what the passages decide either way. What waits for a judge is
in none.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from proofstone.methods.bequ.verification.records import (
    DIRECTIONS,
    Breakdown,
    EntityFacts,
    Group,
    Measured,
    Verified,
)
from proofstone.stats.estimates import Spread
from proofstone.stats.ranks import RankInterval, rank_jointly, tied_runs
from proofstone.stats.ratios import (
    DrawnRatios,
    draw_ratios_each,
    harmonic_mean,
    harmonic_spread,
    more_for_half_width,
    ratio_spread,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# Verdicts as columns of small numbers: millions of them are counted without being held.

# What a triple of either direction came to; the place is the code.
OUTCOMES = (
    "waiting", "unparsed", "entailment", "contradiction", "neutral", "no reference", "covered",
    "not covered",
)  # fmt: skip


_CODE = {name: code for code, name in enumerate(OUTCOMES)}


class Codes:
    """Texts as numbers, in order of first appearance."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """The texts by their numbers."""
        return list(self._numbers)

    def of(self, name: str) -> int:
        """The number of a text."""
        return self._numbers.setdefault(name, len(self._numbers))


class Counted:
    """The columns of verified triples, one entry a triple: about 20 bytes each."""

    def __init__(self) -> None:
        self.families, self.sources = Codes(), Codes()
        self._direction, self._outcome = array("b"), array("b")
        self._group, self._entity = array("i"), array("i")
        self._family, self._source = array("i"), array("i")

    def __len__(self) -> int:
        return len(self._outcome)

    def add(self, found: Verified) -> None:
        """Counts a triple."""
        self._direction.append(DIRECTIONS.index(found.direction))
        self._outcome.append(_CODE[_outcome(found)])
        self._group.append(found.group)
        self._entity.append(found.entity)
        self._family.append(self.families.of(found.family))
        self._source.append(self.sources.of(found.source))

    def column(self, name: str) -> NDArray[np.integer]:
        """direction, outcome, group, entity, family or source of each triple."""
        import numpy as np  # noqa: PLC0415

        held: array[int] = getattr(self, f"_{name}")
        return np.frombuffer(held, dtype=np.int8 if held.typecode == "b" else np.intc)


def _outcome(found: Verified) -> str:
    verdict = found.verdict
    if verdict.basis == "no reference":
        return verdict.basis
    return verdict.label or verdict.basis


# Verdicts counted by entity, direction and outcome: what every measure is summed from.

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


# Ranks by F1 that hold together, of groups that were held against the same entities.


@dataclass(frozen=True, slots=True)
class RankedGroups:
    """``groups`` (their numbers) in falling order of F1. ``intervals`` are their ranks, in that
    order, and ``ties`` runs of places that cannot be told apart. ``elsewhere`` has those that were
    held against other entities than most, and so stand apart: in how many these differ. Without
    ``is_common`` no two were held against the same: all are in ``groups``, and there are no ranks.
    """

    groups: tuple[int, ...]
    intervals: tuple[RankInterval, ...] = ()
    ties: tuple[tuple[int, int], ...] = ()
    elsewhere: Mapping[int, int] = field(default_factory=dict)
    is_common: bool = True


def rankable(counted: Counted, n_groups: int) -> list[int]:
    """The groups of which both directions were judged and nothing waits."""
    cells = _counts(counted, n_groups)
    judged = cells[:, :, 1:].sum(axis=2).min(axis=1).tolist()
    waiting = cells[:, :, 0].sum(axis=1).tolist()
    return [group for group in range(n_groups) if judged[group] and not waiting[group]]


def rank_by_f1(
    counted: Counted, groups: Sequence[int], *, confidence: float = 0.95, seed: int = 0
) -> RankedGroups:
    """The ranks of ``groups``, all of them ``rankable``, at ``confidence`` for all together.

    Entities are drawn for all groups and both directions at once (`harmonic_spread`), and all
    differences tested together (`rank_jointly`). Groups without a reply of some entity are not held
    against it, and stand apart: they may have been spared the hardest.
    """

    if not groups:
        return RankedGroups(())
    elsewhere = held_elsewhere(counted, groups)
    alike = [group for group in groups if group not in elsewhere]
    if len(alike) == 1 and elsewhere:
        return RankedGroups(_by_f1(_spread_of_f1(counted, groups), groups), is_common=False)
    spread = _spread_of_f1(counted, alike)
    ordered = _by_f1(spread, alike)
    places = [alike.index(group) for group in ordered]
    ranking = rank_jointly(spread, confidence=confidence, seed=seed)
    return RankedGroups(
        ordered,
        tuple(ranking.intervals[place] for place in places),
        tied_runs(ranking.better[places][:, places]),
        elsewhere,
    )


def _spread_of_f1(counted: Counted, groups: Sequence[int]) -> Spread:
    """F1 of ``groups``, all of them ``rankable``, with its spread over entities."""

    return harmonic_spread(*_sums(counted, groups))


def spreads_of(counted: Counted, groups: Sequence[int]) -> dict[str, Spread]:
    """F1, precision and recall of ``groups``, all of them ``rankable``, each with its spread."""

    tops, bottoms = _sums(counted, groups)
    found = {"f1": harmonic_spread(tops, bottoms)}
    for side, name in enumerate(DIRECTIONS):
        found[name] = ratio_spread(tops[:, :, side], bottoms[:, :, side])
    return found


def _sums(
    counted: Counted, groups: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What counts for precision and recall and what it is divided by: (entities, groups, 2)."""
    import numpy as np  # noqa: PLC0415

    n = int(counted.column("entity").max(initial=-1)) + 1
    sums = [sums_of(cells_of(counted, group, n)[0], DIRECTIONS) for group in groups]
    tops, bottoms = (np.stack([each[side] for each in sums], axis=1) for side in (0, 1))
    return tops, bottoms


def _by_f1(spread: Spread, groups: Sequence[int]) -> tuple[int, ...]:
    places = sorted(range(len(groups)), key=lambda place: -spread.means[place])
    return tuple(groups[place] for place in places)


def held_elsewhere(counted: Counted, groups: Sequence[int]) -> dict[int, int]:
    """The groups in which facts of other entities were looked for than in most of them (of as many,
    than in those with more entities), and how many entities differ. What each said of which entity
    differs anyway; what it could have said does not."""
    import numpy as np  # noqa: PLC0415

    mine, entity = counted.column("group"), counted.column("entity")
    known = counted.column("direction") == 1
    held = {group: np.unique(entity[known & (mine == group)]) for group in groups}
    same = Counter(each.tobytes() for each in held.values())
    usual = max(held.values(), key=lambda each: (same[each.tobytes()], len(each)))
    differing = {group: len(np.setxor1d(each, usual)) for group, each in held.items()}
    return {group: n for group, n in differing.items() if n}


def _counts(counted: Counted, n_groups: int) -> NDArray[np.int64]:
    """Triples by group, direction and outcome; outcome 0 waits."""
    import numpy as np  # noqa: PLC0415

    group, direction = counted.column("group").astype(np.int64), counted.column("direction")
    cell = (group * 2 + direction) * len(OUTCOMES) + counted.column("outcome")
    size = n_groups * 2 * len(OUTCOMES)
    return np.bincount(cell, minlength=size).reshape(n_groups, 2, len(OUTCOMES))


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

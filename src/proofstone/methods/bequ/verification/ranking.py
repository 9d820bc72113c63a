"""Ranks by F1 that hold together, of groups that were held against the same entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from proofstone.methods.bequ.verification.cells import cells_of, sums_of
from proofstone.methods.bequ.verification.counting import OUTCOMES, Counted
from proofstone.records.triples import DIRECTIONS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from proofstone.engines.stats import RankInterval, Spread

__all__ = ["RankedGroups", "held_elsewhere", "rank_by_f1", "rankable", "spreads_of"]


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
    from proofstone.engines.stats import rank_jointly, tied_runs  # noqa: PLC0415

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
    from proofstone.engines.stats import harmonic_spread  # noqa: PLC0415

    return harmonic_spread(*_sums(counted, groups))


def spreads_of(counted: Counted, groups: Sequence[int]) -> dict[str, Spread]:
    """F1, precision and recall of ``groups``, all of them ``rankable``, each with its spread."""
    from proofstone.engines.stats import harmonic_spread, ratio_spread  # noqa: PLC0415

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

"""Quotas and duplicate limits on a selection, and which of them conflict."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

from proofstone.errors import BadInput, BadUsage, Problem, QuotasConflict
from proofstone.selection.objective import Coverage

SECONDS = 60.0  # for one mixed-integer program


@dataclass(frozen=True, slots=True)
class Quota:
    """Bounds on the chosen items of each group: ``bounds[group] = (least, most)``.

    ``groups`` states the group of each item. A group without bounds is free; several quotas, by
    discipline and by type, may hold at once.
    """

    name: str
    groups: Mapping[str, str]
    bounds: Mapping[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most ``most`` of these items: near-duplicates of each other."""

    items: Collection[str]
    most: int = 1


@dataclass(frozen=True, slots=True)
class Limit:
    """One bound: of ``rows``, at least ``least`` and at most ``most`` are chosen."""

    name: str
    rows: tuple[int, ...]
    least: int
    most: int
    quota: int = -1  # which of the quotas; -1 without


def limits_of(
    coverage: Coverage, quotas: Sequence[Quota], duplicates: Sequence[AtMost]
) -> list[Limit]:
    """Return the bounds over the rows of ``coverage``; raise BadInput with all problems."""
    at = {item: row for row, item in enumerate(coverage.items)}
    found, problems = [], []
    for place, quota in enumerate(quotas):
        members: dict[str, list[int]] = {}
        for item, row in at.items():
            if item in quota.groups:
                members.setdefault(quota.groups[item], []).append(row)
            else:
                problems.append(Problem(f"quota {quota.name}", f"{item!r} has no group"))
        for group, (least, most) in sorted(quota.bounds.items()):
            name = f"{quota.name} {group}"
            if not 0 <= least <= most:
                problems.append(Problem(name, f"{least} to {most} is not a range of counts"))
            found.append(Limit(name, tuple(members.get(group, ())), least, most, place))
    for number, duplicate in enumerate(duplicates, 1):
        name = f"duplicate limit {number}"
        problems += [
            Problem(name, f"{item!r} is not a candidate")
            for item in duplicate.items
            if item not in at
        ]
        if duplicate.most < 0:
            problems.append(Problem(name, f"at most {duplicate.most} is below 0"))
        rows = tuple(sorted({at[item] for item in duplicate.items if item in at}))
        some = ", ".join(coverage.items[row] for row in rows[:3]) + (
            ", ..." if len(rows) > 3 else ""
        )
        found.append(Limit(f"duplicates ({some})", rows, 0, duplicate.most))
    if problems:
        raise BadInput("Quotas or duplicate limits are invalid.", problems)
    return found


def sized(n: int, k: int) -> Limit:
    """Return the bound that exactly ``k`` of ``n`` candidates are chosen."""
    if k < 0:
        raise BadUsage(f"{k} items cannot be chosen.", hint="State a number of at least 0.")
    return Limit("size", tuple(range(n)), k, k)


def violated(limits: Sequence[Limit], rows: Collection[int]) -> list[Limit]:
    """Return the bounds that these items do not keep."""
    chosen = set(rows)
    return [
        limit
        for limit in limits
        if not limit.least <= len(chosen.intersection(limit.rows)) <= limit.most
    ]


def matrix(n: int, limits: Sequence[Limit]) -> sparse.csr_array:
    """Return the 0/1 matrix (limits, n items)."""
    lengths = [len(limit.rows) for limit in limits]
    columns = np.array([row for limit in limits for row in limit.rows], dtype=np.int64)
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(limits), n))


def best_kept(n: int, limits: Sequence[Limit], worth: NDArray[np.float64]) -> list[int] | None:
    """Return the items of the largest total worth within all limits, or None if there are none.

    Raises BadUsage when ``SECONDS`` end before either is known.
    """
    if not n:
        return [] if all(limit.least <= 0 for limit in limits) else None
    rule = optimize.LinearConstraint(
        matrix(n, limits), [limit.least for limit in limits], [limit.most for limit in limits]
    )
    found = optimize.milp(
        -worth, constraints=rule, integrality=np.ones(n), bounds=(0, 1),
        options={"time_limit": SECONDS},
    )  # fmt: skip
    if found.x is not None:
        rows = np.flatnonzero(found.x > 0.5).tolist()
        if not violated(limits, rows):
            return rows
    if found.status == 2:
        return None
    raise BadUsage(
        f"No selection within the quotas was found in {SECONDS:.0f} seconds.",
        hint="Widen some quotas, or remove some duplicate limits.",
    )


def conflict(n: int, limits: Sequence[Limit]) -> list[Limit]:
    """Return limits that no ``n`` items can keep together, but can without any one of them.

    Deletion filter (Chinneck and Dravnieks 1991): a part is left out if the rest still conflicts.
    Each quota counts as two limits, its lower and its upper bound. ``limits`` must conflict.
    """
    kept = [half for limit in limits for half in _halves(limit)]
    waiting = [list(range(len(kept)))]
    gone: set[int] = set()
    while waiting:
        part = waiting.pop()
        rest = [kept[at] for at in range(len(kept)) if at not in gone and at not in part]
        if best_kept(n, rest, np.zeros(n)) is None:
            gone.update(part)
        elif len(part) > 1:
            waiting += [part[len(part) // 2 :], part[: len(part) // 2]]
    return [half for at, half in enumerate(kept) if at not in gone]


def _halves(limit: Limit) -> list[Limit]:
    lower = Limit(limit.name, limit.rows, limit.least, len(limit.rows) + limit.least, limit.quota)
    upper = Limit(limit.name, limit.rows, 0, limit.most, limit.quota)
    return [half for half in (lower, upper) if half.least > 0 or half.most < len(half.rows)]


def explained(limits: Sequence[Limit]) -> QuotasConflict:
    """Return the error for an irreducible set of limits."""
    lines = [
        f"{limit.name}: at least {limit.least}, and {len(limit.rows)} candidates"
        if limit.least > 0
        else f"{limit.name}: at most {limit.most} of {len(limit.rows)} candidates"
        for limit in limits
    ]
    return QuotasConflict(
        "No selection keeps these limits together:\n" + "\n".join(f"  {line}" for line in lines),
        hint="Change any one of them; without it the others can be kept.",
    )


class Openings:
    """Which items may still be taken, so that limits stay within reach.

    No upper bound is passed. When the free places just suffice for the lower bounds of a quota,
    its other groups close. Several quotas together may still miss a lower bound.
    """

    def __init__(self, n: int, k: int, limits: Sequence[Limit]) -> None:
        self.open = np.ones(n, dtype=np.bool_)
        self._left = k
        self._limits = limits
        self._counts = np.zeros(len(limits), dtype=np.int64)
        self._rows = [np.array(limit.rows, dtype=np.int64) for limit in limits]
        self._of = matrix(n, limits).tocsc()
        for at in range(len(limits)):
            self._close_full(at)
        self._close_unneeded()

    def take(self, row: int) -> None:
        """Count an item that was taken."""
        self._left -= 1
        self.open[row] = False
        for at in self._of.indices[self._of.indptr[row] : self._of.indptr[row + 1]].tolist():
            self._counts[at] += 1
            self._close_full(at)
        self._close_unneeded()

    def _close_full(self, at: int) -> None:
        if self._counts[at] >= self._limits[at].most:
            self.open[self._rows[at]] = False

    def _close_unneeded(self) -> None:
        short: dict[int, list[int]] = {}
        for at, limit in enumerate(self._limits):
            if limit.quota >= 0 and self._counts[at] < limit.least:
                short.setdefault(limit.quota, []).append(at)
        for ats in short.values():
            if sum(self._limits[at].least - int(self._counts[at]) for at in ats) >= self._left:
                needed = np.zeros_like(self.open)
                needed[np.concatenate([self._rows[at] for at in ats])] = True
                self.open &= needed

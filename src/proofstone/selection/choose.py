"""Choosing items within limits: lazy greedy, greedy with repair, or an exact program.

KINA (appendix B) chooses K items of the largest F within quotas by stratum and limits on
near-duplicates, by greedy with repair or a small mixed-integer program. With limits greedy has no
general guarantee; the certificate states what is proven for the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import optimize, sparse

from proofstone.selection.greedy import lazy_greedy
from proofstone.selection.limits import (
    SECONDS,
    AtMost,
    Limit,
    Openings,
    Quota,
    best_kept,
    conflict,
    explained,
    limits_of,
    matrix,
    sized,
    violated,
)
from proofstone.selection.objective import Coverage, Floats

# Above so many pairs of an item and a reference no exact program is tried. Below, it takes seconds:
# whether it ends in time must not depend on how busy a machine is.
EXACT_PAIRS = 5_000
SWAPS = 500_000_000  # scores read at most by the swaps after a repair

How = Literal["auto", "greedy", "exact"]


@dataclass(frozen=True, slots=True)
class Selection:
    """Chosen items in the order of their marginal gains, largest first given those before.

    ``how`` is "greedy", "greedy with repair" or "exact": proven to be the best within the limits.
    """

    items: tuple[str, ...]
    gains: tuple[float, ...]
    value: float
    how: str


def select(
    coverage: Coverage,
    k: int,
    *,
    quotas: Sequence[Quota] = (),
    duplicates: Sequence[AtMost] = (),
    how: How = "auto",
) -> Selection:
    """Return exactly ``k`` items within all limits.

    "auto" tries the exact program up to ``EXACT_PAIRS`` pairs with a score, for ``SECONDS``, and
    keeps greedy's items when it does not end. The result does not depend on the order of items.
    Raises QuotasConflict with limits that cannot be kept together, BadInput for invalid limits,
    BadUsage if repair finds no items in ``SECONDS``.
    """
    n = len(coverage.items)
    limits = [sized(n, k), *limits_of(coverage, quotas, duplicates)]
    rows, said = _greedy(coverage, k, limits)
    if how == "exact" or (how == "auto" and coverage.pairs <= EXACT_PAIRS):
        best = _exact(coverage, limits)
        if best is not None:
            found = _result(coverage, best, "exact")
            greedy = _result(coverage, rows, "exact")
            return greedy if greedy.value >= found.value else found
    return _result(coverage, rows, said)


def _greedy(coverage: Coverage, k: int, limits: Sequence[Limit]) -> tuple[list[int], str]:
    n = len(coverage.items)
    room = Openings(n, k, limits[1:]) if len(limits) > 1 else None
    rows = lazy_greedy(coverage, k, room)
    if not violated(limits, rows):
        return rows, "greedy"
    covered = coverage.covered(rows)
    gains = coverage.gains(covered)
    worth = gains / max(float(gains.max(initial=0)), 1e-300) / (n + 1)
    worth[rows] = 1 + np.arange(len(rows), 0, -1) / (len(rows) + 1)
    kept = best_kept(n, limits, worth)
    if kept is None:
        raise explained(conflict(n, limits))
    return _swapped(coverage, kept, limits), "greedy with repair"


def _swapped(coverage: Coverage, rows: list[int], limits: Sequence[Limit]) -> list[int]:
    """Exchange items one for one while F grows, each at most once for a candidate set."""
    size = max(1, coverage.pairs)
    for place in range(min(len(rows), SWAPS // size)):
        others = rows[:place] + rows[place + 1 :]
        gains = coverage.gains(coverage.covered(others))
        gains[others] = -1
        for row in np.argsort(-gains, kind="stable")[:50].tolist():
            if gains[row] <= gains[rows[place]] * (1 + 1e-12):
                break
            if not violated(limits, [*others, row]):
                rows = [*rows[:place], row, *rows[place + 1 :]]
                break
    return rows


def _result(coverage: Coverage, rows: Sequence[int], how: str) -> Selection:
    """Return the items in greedy's order among themselves."""
    part = Coverage(
        tuple(coverage.items[row] for row in sorted(rows)),
        coverage.references,
        coverage.weights,
        coverage.weighted[np.array(sorted(rows), dtype=np.int64)],
    )
    order = lazy_greedy(part, len(rows))
    covered = np.zeros(len(part.references))
    gains = []
    for row in order:
        gains.append(float(part.gains(covered, np.array([row]))[0]))
        part.cover(covered, row)
    return Selection(tuple(part.items[row] for row in order), tuple(gains), part.value(order), how)


@dataclass(frozen=True, slots=True)
class Program:
    """Facility location as a linear program: x by item, then z by pair, F = worth @ z.

    z(q, u) <= x(q), and the z of a reference sum to at most 1 (Cornuejols, Fisher and Nemhauser
    1977).
    """

    worth: Floats
    within: sparse.csr_array
    limits: sparse.csr_array
    n_pairs: int


def program(coverage: Coverage, limits: Sequence[Limit]) -> Program:
    """Return the program of this objective within these limits."""
    n, m = len(coverage.items), len(coverage.references)
    pairs = sparse.coo_array(coverage.weighted)
    rows, columns = pairs.coords
    count = len(pairs.data)
    at = np.arange(count)
    upper = sparse.coo_array(
        (
            np.concatenate([np.ones(count), np.ones(count), -np.ones(count)]),
            (
                np.concatenate([columns, m + at, m + at]),
                np.concatenate([n + at, n + at, rows]),
            ),
        ),
        shape=(m + count, n + count),
    )
    wide = sparse.hstack([matrix(n, limits), sparse.csr_array((len(limits), count))])
    return Program(
        np.concatenate([np.zeros(n), pairs.data]), sparse.csr_array(upper),
        sparse.csr_array(wide), count,
    )  # fmt: skip


def _exact(coverage: Coverage, limits: Sequence[Limit]) -> list[int] | None:
    """Return the best items, or None if the program did not end in ``SECONDS``."""
    n, m = len(coverage.items), len(coverage.references)
    if not n:
        return []
    made = program(coverage, limits)
    scale = max(float(made.worth.max(initial=0)), 1e-300)
    found = optimize.milp(
        -made.worth / scale,
        constraints=[
            optimize.LinearConstraint(
                made.within, -np.inf, np.r_[np.ones(m), np.zeros(made.n_pairs)]
            ),
            optimize.LinearConstraint(
                made.limits, [limit.least for limit in limits], [limit.most for limit in limits]
            ),
        ],
        integrality=np.r_[np.ones(n), np.zeros(made.n_pairs)],
        bounds=(0, 1),
        options={"time_limit": SECONDS, "mip_rel_gap": 0},
    )
    if found.status != 0:
        return None
    rows = np.flatnonzero(found.x[:n] > 0.5).tolist()
    return None if violated(limits, rows) else rows

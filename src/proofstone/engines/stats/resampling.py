"""Draws of units within strata, as counts: one row a draw, one column a unit.

Everything that is resampled here is a matrix product of such counts with the values, so that no
draw is a loop in Python. Seeded by NumPy's PCG64: these draws enter statistics and never an id.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Strata",
    "allocate",
    "blocks_of_draws",
    "bootstrap_counts",
    "generator",
    "subsample_counts",
]

Counts = NDArray[np.float32]
Integers = NDArray[np.int64]

# Counts of draws held at once: 32 MB, and a few times that while they are made.
_MOST_COUNTS = 8_000_000
# Of these the ones worked on at a time: what passes through a cache is twice as fast.
_IN_CACHE = 50_000


@dataclass(frozen=True, slots=True)
class Strata:
    """A partition of n units: ``order`` (n) puts each stratum's units side by side, ``sizes`` are
    theirs in that order, none 0."""

    order: Integers
    sizes: Integers

    @classmethod
    def of(cls, codes: NDArray[np.integer] | None, n_units: int) -> Strata:
        """Units by stratum code (any integers); without codes they are all one stratum."""
        if codes is None:
            codes = np.zeros(n_units, dtype=np.int64)
        order = np.argsort(codes, kind="stable").astype(np.int64)
        return cls(order, np.unique(codes, return_counts=True)[1].astype(np.int64))

    @property
    def ends(self) -> Integers:
        """One past the last place of each stratum in ``order``."""
        return np.cumsum(self.sizes)


def generator(seed: int, *purpose: int) -> np.random.Generator:
    """The stream of ``seed`` >= 0 for one purpose; another purpose gives an unrelated one."""
    return np.random.default_rng([seed, *purpose])


def blocks_of_draws(n_units: int, n_draws: int) -> Iterator[int]:
    """How many draws to hold at a time, together ``n_draws``, so that memory stays bounded."""
    block = max(1, _MOST_COUNTS // max(n_units, 1))
    for start in range(0, n_draws, block):
        yield min(block, n_draws - start)


def allocate(sizes: Sequence[int] | Integers, rate: float) -> Integers:
    """How many units of each stratum a subsample holds: ``rate`` of all, half rounded up, at least
    one; shared out by largest remainder, equal ones to the earlier stratum."""
    whole = np.asarray(sizes, dtype=np.int64)
    if not len(whole):
        return whole
    total = max(1, int(np.floor(rate * whole.sum() + 0.5)))
    exact = whole * (total / whole.sum())
    drawn: Integers = np.floor(exact + 1e-9).astype(np.int64)
    left = total - int(drawn.sum())
    drawn[np.argsort(drawn - exact, kind="stable")[:left]] += 1
    return drawn


def subsample_counts(strata: Strata, rate: float, n_draws: int, rng: np.random.Generator) -> Counts:
    """Draws without replacement (draws, units in ``strata.order``): 1 where a unit is drawn.

    Each draw holds ``allocate(sizes, rate)`` of each stratum, any such subset equally likely.
    """
    chosen = np.empty((n_draws, len(strata.order)), dtype=np.float32)
    for end, size, n in zip(strata.ends, strata.sizes, allocate(strata.sizes, rate), strict=True):
        keys = rng.random((n_draws, int(size)), dtype=np.float32)
        chosen[:, int(end - size) : int(end)] = _smallest(keys, int(n))
    return chosen


def _smallest(keys: Counts, n: int) -> NDArray[np.bool_]:
    """Where each row holds its ``n`` smallest keys: by the next larger one as a threshold, which
    is three times as fast as by place; rows where equal keys spoil that are sorted."""
    if n == keys.shape[1]:
        return np.ones(keys.shape, dtype=bool)
    below = keys < np.partition(keys, n, axis=1)[:, n : n + 1]
    for row in np.flatnonzero(np.count_nonzero(below, axis=1) != n).tolist():
        below[row] = False
        below[row, np.argsort(keys[row], kind="stable")[:n]] = True
    return np.asarray(below)


def bootstrap_counts(
    strata: Strata, n_draws: int, rng: np.random.Generator, *, one_less: bool = False
) -> Counts:
    """Draws with replacement (draws, units in ``strata.order``): how often a unit is drawn.

    Each draw holds as many units of each stratum as there are; with ``one_less`` one fewer, with
    counts scaled up by n / (n - 1), so that means vary by as much as those of samples do (Rao and
    Wu 1988). A stratum of one unit is held as it is.
    """
    number = np.maximum(strata.sizes - 1, 1) if one_less else strata.sizes
    counts = np.empty((n_draws, len(strata.order)), dtype=np.float32)
    scale = np.repeat(strata.sizes / number, strata.sizes)
    rows = max(1, _IN_CACHE // max(len(strata.order), 1))
    for start in range(0, n_draws, rows):
        block = counts[start : start + rows]
        drawn = _drawn_counts(strata, number, rng.random((len(block), int(number.sum()))))
        block[:] = drawn * scale if one_less else drawn
    return counts


def _drawn_counts(strata: Strata, number: Integers, place: NDArray[np.float64]) -> Integers:
    """How often each unit is drawn (draws, units) by ``place`` in [0, 1) (draws, drawn units)."""
    n_draws, n = len(place), len(strata.order)
    place *= np.repeat(strata.sizes, number)
    # A product may round up to the size itself; the last unit is meant.
    places = np.minimum(place.astype(np.int64), np.repeat(strata.sizes - 1, number))
    places += np.repeat(strata.ends - strata.sizes, number)
    places += np.arange(n_draws)[:, None] * n
    return np.bincount(places.ravel(), minlength=n_draws * n).reshape(n_draws, n)

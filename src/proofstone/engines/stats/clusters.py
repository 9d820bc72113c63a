"""Units that share any key are dependent; sums over exactly those pairs, and over no others.

A composed question rests on nine statements, so it has nine keys and clusters overlap. Connected
components would not do: one of them holds 99.9% of Encyclo-K's questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SharedKeys", "key_matrix", "partner_sums"]

# Bounds the memory of one block of the units x units matrix (about 20 bytes a pair).
_PAIRS_A_BLOCK = 2_000_000
# A key held by more than this share of the units makes so many pairs that they are summed by
# class (units with the same such keys) and not one by one; 64 of them fit the bits of a word.
_HEAVY_FROM = 0.02
_MOST_HEAVY = 64

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class SharedKeys:
    """Which of ``n_units`` units holds which key: E edges ``unit[e]`` -> ``key[e]``.

    A unit may have any number of keys, also none (then it is independent of all others). An edge
    given twice counts once.
    """

    n_units: int
    unit: Integers
    key: Integers

    @classmethod
    def none(cls, n_units: int) -> SharedKeys:
        """Units that share nothing."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(n_units, nothing, nothing)

    def among(self, units: Integers) -> SharedKeys:
        """The same for the chosen units (no unit twice), renumbered in the order given."""
        if np.array_equal(units, np.arange(self.n_units)):
            return self
        place = np.full(self.n_units, -1, dtype=np.int64)
        place[units] = np.arange(len(units))
        new = place[self.unit]
        kept = new >= 0
        chosen = SharedKeys(len(units), new[kept], self.key[kept])
        # A part of pairs already made is cheaper than making them again: hundreds of strata.
        if (known := self.__dict__.get("pairs")) is not None:
            chosen.__dict__["pairs"] = known.among(units)
        return chosen

    @cached_property
    def groups(self) -> Integers | None:
        """The group of each unit, where keys part the units: none has two. None elsewhere."""
        codes, key = np.unique(self.key, return_inverse=True)
        group = len(codes) + np.arange(self.n_units)  # a unit without a key is alone
        group[self.unit] = key
        return group if bool((group[self.unit] == key).all()) else None

    @cached_property
    def pairs(self) -> Pairs | None:
        """All pairs that share, made once; None where they would take too much memory."""
        heavy, light = _split_heavy(self)
        incidence = key_matrix(light)
        if _reach(incidence).sum() > _PAIRS_A_BLOCK:
            return None
        return Pairs(heavy, _sharing(incidence, incidence.T.tocsr(), heavy, 0))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The pairs that share: by ``heavy`` bits (units), else by a one in ``light``.

    ``light`` is a CSR matrix of units x units. A unit's pair with itself is in one of the two.
    """

    heavy: Bits
    light: Any

    def among(self, units: Integers) -> Pairs:
        """The pairs of the chosen units."""
        return Pairs(self.heavy[units], self.light[units][:, units])


def partner_sums(keys: SharedKeys, columns: Floats) -> Floats:
    """``out[i, c]`` sums ``columns[j, c]`` over the units j that share a key with i, and i itself.

    ``columns`` and the result are (units, C); with no shared key they are equal. A column of ones
    counts partners, so the sum of the result is the number of ordered pairs that share. Memory is
    bounded whatever one key holds: too many pairs are made block by block.
    """
    if not len(keys.unit):
        return columns
    if keys.groups is not None:
        return _group_sums(keys.groups, columns)
    if keys.pairs is not None:
        sums: Floats = keys.pairs.light @ columns
        return sums + _heavy_sums(keys.pairs.heavy, columns)
    heavy, light = _split_heavy(keys)
    return _blockwise_sums(light, heavy, columns) + _heavy_sums(heavy, columns)


def _group_sums(group: Integers, columns: Floats) -> Floats:
    """The sum over each unit's group, for every column."""
    _, place = np.unique(group, return_inverse=True)
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.add.reduceat(columns[order], starts, axis=0)[place])


def _split_heavy(keys: SharedKeys) -> tuple[Bits, SharedKeys]:
    """Each unit's keys that many units hold, as bits (units), and the edges of all other keys."""
    _, key, holders = np.unique(keys.key, return_inverse=True, return_counts=True)
    most_held = np.argsort(-holders, kind="stable")[:_MOST_HEAVY]
    heavy_keys = most_held[holders[most_held] > _HEAVY_FROM * keys.n_units]
    place = np.full(len(holders), -1, dtype=np.int64)
    place[heavy_keys] = np.arange(len(heavy_keys))
    bit = place[key]
    is_heavy = bit >= 0
    bits = np.zeros(keys.n_units, dtype=np.uint64)
    np.bitwise_or.at(bits, keys.unit[is_heavy], np.uint64(1) << bit[is_heavy].astype(np.uint64))
    return bits, SharedKeys(keys.n_units, keys.unit[~is_heavy], key[~is_heavy])


def _heavy_sums(bits: Bits, columns: Floats) -> Floats:
    """The sums over partners by a heavy key, by classes of units with the same ones."""
    if not bits.any():
        return np.zeros_like(columns)
    classes, member = np.unique(bits, return_inverse=True)
    of_class = np.zeros((len(classes), columns.shape[1]))
    np.add.at(of_class, member, columns)
    sums = np.zeros_like(of_class)
    for first, last in _row_blocks(np.full(len(classes), float(len(classes)))):
        shares = (classes[first:last, None] & classes[None, :]) != 0
        sums[first:last] = shares.astype(np.float64) @ of_class
    return np.asarray(sums[member])


def _blockwise_sums(light: SharedKeys, heavy: Bits, columns: Floats) -> Floats:
    """The sums over partners by a light key, and the unit itself, that share no heavy one."""
    incidence = key_matrix(light)
    transposed = incidence.T.tocsr()
    sums = np.zeros_like(columns)
    for first, last in _row_blocks(_reach(incidence)):
        sums[first:last] = _sharing(incidence[first:last], transposed, heavy, first) @ columns
    return sums


def _sharing(rows: Any, transposed: Any, heavy: Bits, first: int) -> Any:
    """One where a unit of ``rows`` (from number ``first``) shares a light key and no heavy one."""
    shares = rows @ transposed
    row = np.repeat(np.arange(first, first + rows.shape[0]), np.diff(shares.indptr))
    shares.data[:] = (heavy[row] & heavy[shares.indices]) == 0
    return shares


def key_matrix(keys: SharedKeys) -> Any:
    """Return the units x keys matrix (CSR) of ones; a unit without a key has a private one."""
    codes, column = np.unique(keys.key, return_inverse=True)
    alone = np.setdiff1d(np.arange(keys.n_units), keys.unit)
    unit = np.concatenate([keys.unit, alone])
    column = np.concatenate([column, len(codes) + np.arange(len(alone))])
    shape = (keys.n_units, len(codes) + len(alone))
    return sparse.csr_matrix((np.ones(len(unit)), (unit, column)), shape=shape)


def _reach(incidence: Any) -> Floats:
    """At most how many units each unit shares with (units)."""
    holders = np.asarray(incidence.sum(axis=0)).ravel()
    return np.asarray(np.minimum(incidence @ holders, incidence.shape[0]))


def _row_blocks(reach: Floats) -> Iterator[tuple[int, int]]:
    """Ranges of rows that together reach about ``_PAIRS_A_BLOCK`` others, ``reach`` (rows) each."""
    block = np.floor(np.cumsum(reach) / _PAIRS_A_BLOCK)
    cuts = (np.flatnonzero(np.diff(block)) + 1).tolist()
    yield from pairwise([0, *cuts, len(reach)])

"""Units that share any key are dependent; sums over exactly those pairs, and over no others.

A composed question rests on nine statements, so it has nine keys and clusters overlap. Connected
components would not do: one of them holds 99.9% of Encyclo-K's questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["SharedKeys", "pair_products"]

# Bounds the memory of one block of the units x units matrix (about 20 bytes a pair).
_PAIRS_A_BLOCK = 2_000_000
# A key held by more than this share of the units makes so many pairs that they are summed by
# class (units with the same such keys) and not one by one; 64 of them fit the bits of a word.
_HEAVY_FROM = 0.02
_MOST_HEAVY = 64

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
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
        place = np.full(self.n_units, -1, dtype=np.int64)
        place[units] = np.arange(len(units))
        new = place[self.unit]
        kept = new >= 0
        return SharedKeys(len(units), new[kept], self.key[kept])


def pair_products(keys: SharedKeys, columns: Floats) -> Floats:
    """``out[a, b]`` sums ``columns[i, a] * columns[j, b]`` over ordered pairs that share a key.

    ``columns`` is (units, C), the result (C, C) and symmetric. Every unit shares with itself, so
    with no shared key the result is ``columns.T @ columns``. A column of ones counts the pairs.
    Memory is bounded whatever one key holds: pairs are made block by block.
    """
    if not len(keys.unit):
        return np.asarray(columns.T @ columns)
    heavy, light = _split_heavy(keys)
    return _heavy_products(heavy, columns) + _light_products(light, heavy, columns)


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


def _heavy_products(bits: Bits, columns: Floats) -> Floats:
    """The products over pairs that share a heavy key, by classes of units with the same ones."""
    holding = bits != 0
    classes, member = np.unique(bits[holding], return_inverse=True)
    sums = np.zeros((len(classes), columns.shape[1]))
    np.add.at(sums, member, columns[holding])
    total = np.zeros((columns.shape[1], columns.shape[1]))
    for first, last in _row_blocks(np.full(len(classes), float(len(classes)))):
        shares = (classes[first:last, None] & classes[None, :]) != 0
        total += sums[first:last].T @ (shares.astype(np.float64) @ sums)
    return total


def _light_products(light: SharedKeys, heavy: Bits, columns: Floats) -> Floats:
    """The products over pairs that share a light key, or are one unit, and share no heavy one."""
    incidence = _incidence(light)
    transposed = incidence.T.tocsr()
    holders = np.asarray(incidence.sum(axis=0)).ravel()
    reach = np.minimum(incidence @ holders, light.n_units)
    total = np.zeros((columns.shape[1], columns.shape[1]))
    for first, last in _row_blocks(reach):
        shares = incidence[first:last] @ transposed
        row = np.repeat(np.arange(first, last), np.diff(shares.indptr))
        shares.data[:] = (heavy[row] & heavy[shares.indices]) == 0
        total += columns[first:last].T @ (shares @ columns)
    return total


def _incidence(keys: SharedKeys) -> Any:
    """The units x keys matrix (CSR); a unit without a key has a private one."""
    codes, column = np.unique(keys.key, return_inverse=True)
    alone = np.setdiff1d(np.arange(keys.n_units), keys.unit)
    unit = np.concatenate([keys.unit, alone])
    column = np.concatenate([column, len(codes) + np.arange(len(alone))])
    shape = (keys.n_units, len(codes) + len(alone))
    return sparse.csr_matrix((np.ones(len(unit)), (unit, column)), shape=shape)


def _row_blocks(reach: Floats) -> Iterator[tuple[int, int]]:
    """Ranges of rows that together reach about ``_PAIRS_A_BLOCK`` others, ``reach`` (rows) each."""
    block = np.floor(np.cumsum(reach) / _PAIRS_A_BLOCK)
    cuts = (np.flatnonzero(np.diff(block)) + 1).tolist()
    yield from pairwise([0, *cuts, len(reach)])

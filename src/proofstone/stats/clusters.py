"""Sums over exactly those pairs of units that share a cluster key, for clustered variances.

Units that share any key are dependent. A composed question uses nine statements, so it has nine
keys and clusters overlap. Connected components do not work: one of them holds 99.9% of Encyclo-K's
questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from proofstone.stats.intervals import (
    MeanIntervals,
    covariance_root,
    interval_of_means,
    unlike_values,
)
from proofstone.stats.intervals import Moments as MeanMoments

# Bounds the memory of one block of the units x units matrix (about 20 bytes per pair).
_PAIRS_A_BLOCK = 2_000_000


# A key held by more than this share of units makes so many pairs that they are summed by class
# (units with the same such keys). The 64 possible keys fit the bits of a word.
_HEAVY_FROM = 0.02


_MOST_HEAVY = 64


Floats = NDArray[np.float64]


Integers = NDArray[np.int64]


Bits = NDArray[np.uint64]


@dataclass(frozen=True)
class SharedKeys:
    """Keys of ``n_units`` units, as E edges ``unit[e]`` -> ``key[e]``.

    A unit may have any number of keys; a unit without one is independent of all others. Duplicate
    edges count once.
    """

    n_units: int
    unit: Integers
    key: Integers

    @classmethod
    def none(cls, n_units: int) -> SharedKeys:
        """Return keys for units that share nothing."""
        nothing = np.empty(0, dtype=np.int64)
        return cls(n_units, nothing, nothing)

    def among(self, units: Integers) -> SharedKeys:
        """Return the keys of the chosen units (no unit twice), renumbered in the order given."""
        if np.array_equal(units, np.arange(self.n_units)):
            return self
        place = np.full(self.n_units, -1, dtype=np.int64)
        place[units] = np.arange(len(units))
        new = place[self.unit]
        kept = new >= 0
        chosen = SharedKeys(len(units), new[kept], self.key[kept])
        # Selecting from existing pairs is cheaper than recomputing them for hundreds of strata.
        if (known := self.__dict__.get("pairs")) is not None:
            chosen.__dict__["pairs"] = known.among(units)
        return chosen

    @cached_property
    def groups(self) -> Integers | None:
        """Return the group of each unit if the keys partition the units (at most one each),
        otherwise None."""
        codes, key = np.unique(self.key, return_inverse=True)
        group = len(codes) + np.arange(self.n_units)  # a unit without a key is its own group
        group[self.unit] = key
        return group if bool((group[self.unit] == key).all()) else None

    @cached_property
    def pairs(self) -> Pairs | None:
        """Return all pairs that share a cluster key, cached; None where they would take too much
        memory."""
        heavy, light = _split_heavy(self)
        incidence = key_matrix(light)
        if _reach(incidence).sum() > _PAIRS_A_BLOCK:
            return None
        return Pairs(heavy, _sharing(incidence, incidence.T.tocsr(), heavy, 0))


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs that share a cluster key, by ``heavy`` bits (units) or by a one in ``light``.

    ``light`` is a CSR matrix of units x units. A unit's pair with itself is in one of the two.
    """

    heavy: Bits
    light: Any

    def among(self, units: Integers) -> Pairs:
        """Return the pairs of the chosen units."""
        return Pairs(self.heavy[units], self.light[units][:, units])


def block_sums(columns: Floats, block: NDArray[np.integer], n_blocks: int) -> Floats:
    """Return the sums of ``columns`` (units, C) over the units of each block (blocks, C)."""
    sums = np.zeros((n_blocks, columns.shape[1]))
    np.add.at(sums, block, columns)
    return sums


def cluster_sums(columns: Floats, clusters: NDArray[np.integer]) -> Floats:
    """Return the same sums by cluster code (units), which may be any integers."""
    codes, place = np.unique(clusters, return_inverse=True)
    return block_sums(columns, place, len(codes))


@dataclass(frozen=True, slots=True)
class ErrorParts:
    """Contributions of n units to the errors of C estimates.

    ``alone`` (n, C) assumes independent units, ``parts`` dependent ones. ``partners`` holds the
    sums of ``parts`` over the units that each unit depends on.
    """

    alone: Floats
    parts: Floats
    partners: Floats

    def variances(self) -> Floats:
        """Return the variance of each estimate (C), floored at that of independent units."""
        together = (self.parts * self.partners).sum(axis=0)
        return np.asarray(np.maximum((self.alone**2).sum(axis=0), together))

    def covariance(self) -> Floats:
        """Return the covariance of the estimates (C, C), symmetric, without the floor of the
        variances.
        """
        product = self.parts.T @ self.partners
        return np.asarray((product + product.T) / 2.0)

    def covariance_alone(self) -> Floats:
        """Return the covariance if all units were independent: the floor of the other."""
        return np.asarray(self.alone.T @ self.alone)


def partner_sums(keys: SharedKeys, columns: Floats) -> Floats:
    """Return ``out[i, c]``: the sum of ``columns[j, c]`` over i and all units j that share a
    cluster key with it.

    ``columns`` and the result are (units, C); without shared keys they are equal. A column of ones
    counts partners, so its sum is the number of ordered pairs that share. Memory is bounded: if
    there are too many pairs, they are made block by block.
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
    """Return each unit's group sum for every column."""
    _, place = np.unique(group, return_inverse=True)
    order = np.argsort(place, kind="stable")
    sizes = np.bincount(place)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.asarray(np.add.reduceat(columns[order], starts, axis=0)[place])


def _split_heavy(keys: SharedKeys) -> tuple[Bits, SharedKeys]:
    """Return each unit's frequent keys as bits (units), and the edges of all other keys."""
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
    """Return sums over partners by a frequent key, by classes of units with the same ones."""
    if not bits.any():
        return np.zeros_like(columns)
    classes, member = np.unique(bits, return_inverse=True)
    of_class = block_sums(columns, member, len(classes))
    sums = np.zeros_like(of_class)
    for first, last in _row_blocks(np.full(len(classes), float(len(classes)))):
        shares = (classes[first:last, None] & classes[None, :]) != 0
        sums[first:last] = shares.astype(np.float64) @ of_class
    return np.asarray(sums[member])


def _blockwise_sums(light: SharedKeys, heavy: Bits, columns: Floats) -> Floats:
    """Return sums over the unit itself and partners by a light key that share no heavy one."""
    incidence = key_matrix(light)
    transposed = incidence.T.tocsr()
    sums = np.zeros_like(columns)
    for first, last in _row_blocks(_reach(incidence)):
        sums[first:last] = _sharing(incidence[first:last], transposed, heavy, first) @ columns
    return sums


def _sharing(rows: Any, transposed: Any, heavy: Bits, first: int) -> Any:
    """Return 1 where a unit of ``rows`` (from number ``first``) shares a light key and no heavy
    one.
    """
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
    """Return an upper bound of how many units each unit shares a cluster key with (units)."""
    holders = np.asarray(incidence.sum(axis=0)).ravel()
    return np.asarray(np.minimum(incidence @ holders, incidence.shape[0]))


def _row_blocks(reach: Floats) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows that together reach about ``_PAIRS_A_BLOCK`` others, ``reach`` (rows)
    each.
    """
    block = np.floor(np.cumsum(reach) / _PAIRS_A_BLOCK)
    cuts = (np.flatnonzero(np.diff(block)) + 1).tolist()
    yield from pairwise([0, *cuts, len(reach)])


# Dependent answers: several per item, and items that share keys.
#
# An estimate from n answers is, near its value, a sum of each answer's contribution to its error
# (the empirical influence divided by n). Its variance sums products of contributions over all pairs
# of answers of one item and of items that share a cluster key (Liang and Zeger 1986, for
# overlapping clusters). It is corrected by G / (G - 1) with Kish's effective number of groups, as
# `spread` does for means.

DependenceIntegers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Moments:
    """Covariance of C estimates that are sums over answers.

    ``covariance`` (C, C) is symmetric; ``alone`` is the same for independent items. Variances of
    the first are floored at those of the second: a lower value due to shared keys is sampling
    noise.
    """

    covariance: Floats
    alone: Floats

    def variances(self) -> Floats:
        """Return the variance of each estimate (C)."""
        return np.asarray(np.maximum(np.diag(self.covariance), np.diag(self.alone)))

    def root(self) -> Floats:
        """Return the symmetric square root (C, C) of the nearest positive semidefinite covariance.

        Its rows are scaled to these variances.
        """
        root = covariance_root(self.covariance, is_symmetric=True)
        own, wanted = np.sqrt((root**2).sum(axis=1)), np.sqrt(self.variances())
        scale = np.where(own > 0, wanted / np.where(own > 0, own, 1.0), 0.0)
        return np.asarray(root * scale[:, None])


@dataclass(frozen=True)
class Dependence:
    """Dependence between n answers: ``unit`` (n) is the unit of each answer in ``keys``."""

    keys: SharedKeys
    unit: NDArray[np.int64]

    @classmethod
    def of(
        cls, n: int, unit: DependenceIntegers | None = None, keys: SharedKeys | None = None
    ) -> Dependence:
        """Return the dependence of n answers from their unit codes.

        By default each answer is its own unit; without ``keys`` units share nothing.
        """
        codes = np.arange(n) if unit is None else np.asarray(unit, dtype=np.int64)
        if keys is None:
            keys = SharedKeys.none(int(codes.max(initial=-1)) + 1)
        return cls(keys, codes)

    def among(self, chosen: NDArray[np.bool_]) -> Dependence:
        """Return the dependence of the answers chosen by a mask (n)."""
        return Dependence(self.keys, self.unit[chosen])

    @cached_property
    def is_shared(self) -> bool:
        """Return True if any two answers depend on each other."""
        return bool(self._pairs > len(self.unit))

    @cached_property
    def groups(self) -> float:
        """Return the effective number of independent groups: n**2 over the ordered dependent pairs.

        A pair of an answer with itself counts, so independent answers give n. 0 without answers.
        """
        return len(self.unit) ** 2 / self._pairs if len(self.unit) else 0.0

    @cached_property
    def _pairs(self) -> float:
        sums = self.sums(np.ones((len(self.unit), 1)))
        return float((sums * partner_sums(self.keys, sums)).sum())

    def sums(self, parts: Floats) -> Floats:
        """Return the sum of ``parts`` (n, C) over the answers of each unit (units, C)."""
        n, units = self.keys.n_units, self.unit
        columns = [np.bincount(units, weights=column, minlength=n) for column in parts.T]
        return np.column_stack(columns) if columns else np.zeros((n, 0))

    def moments(self, parts: Floats, *, groups: float | None = None) -> Moments:
        """Return the covariance of C estimates to which each answer adds ``parts`` (n, C).

        It is corrected for ``groups`` effective groups (default: all). With fewer than two there is
        no correction.
        """
        groups = self.groups if groups is None else groups
        sums = self.sums(parts)
        product = sums.T @ partner_sums(self.keys, sums)
        factor = groups / (groups - 1.0) if groups >= 2.0 else 1.0
        n_units = len(np.unique(self.unit))
        bessel = n_units / (n_units - 1.0) if n_units > 1 else 1.0
        return Moments(factor * (product + product.T) / 2.0, bessel * (sums.T @ sums))

    def shares(
        self, member: Floats, scores: Floats, confidence: float
    ) -> tuple[Floats, MeanIntervals]:
        """Return the mean of ``scores`` (n) over each of S sets of answers, with its interval.

        ``member`` (n, S) is 0 or 1. The interval is that of ``interval_of_means`` on the set's own
        groups less one. NaN for an empty set; [0, 1] with fewer than two dependent groups.
        """
        sizes = member.sum(axis=0)
        held = np.maximum(sizes, 1.0)
        means = scores @ member / held
        left = member * (scores[:, None] - means) / held
        sums = self.sums(np.hstack([member, left]))
        products = (sums * partner_sums(self.keys, sums)).sum(axis=0)
        groups = sizes**2 / np.maximum(products[: len(sizes)], 1.0)
        corrected = products[len(sizes) :] * groups / np.maximum(groups - 1.0, 0.5)
        alone = (sums[:, len(sizes) :] ** 2).sum(axis=0) * held / np.maximum(held - 1.0, 1.0)
        is_binary = bool(((scores == 0.0) | (scores == 1.0)).all())
        found = interval_of_means(
            MeanMoments(
                n=held,
                means=means,
                squares=scores**2 @ member / held,
                variances=np.maximum(corrected, alone),
                degrees=np.where(groups < 2.0, 0.0, groups - 1.0),
                groups=groups,
                unlike=_unlike(member > 0.0, scores),
                is_binary=np.full(len(sizes), is_binary),
                is_plain=products[: len(sizes)] <= sizes + 0.5,
            ),
            confidence,
        )
        low, high = (np.where(sizes > 0, each, np.nan) for each in (found.low, found.high))
        return np.where(sizes > 0, means, np.nan), replace(found, low=low, high=high)


def _unlike(member: NDArray[np.bool_], scores: Floats) -> Floats:
    """Return how many scores of each set (n, S) differ from the rest of it; 0 for an empty set."""
    found = np.zeros(member.shape[1])
    for place, chosen in enumerate(member.T):
        values = scores[chosen]
        if len(values):
            weights = np.full(len(values), 1.0 / len(values))
            found[place] = unlike_values(values[:, None], weights)[0]
    return found

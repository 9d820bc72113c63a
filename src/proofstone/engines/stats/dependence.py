"""Answers that are not independent: several of one item, and items that share keys.

A figure of n answers is, near its value, a sum of what each answer adds to its error (its part: the
empirical influence, divided by n). Its variance sums products of parts over all pairs of answers of
one item and of items that share any key (Liang and Zeger 1986, for overlapping clusters), corrected
by G / (G - 1) with Kish's effective number of groups, as `spread` does for means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.intervals import MeanIntervals, interval_of_means, unlike_values
from proofstone.engines.stats.intervals import Moments as MeanMoments

__all__ = ["Dependence", "Moments"]

Floats = NDArray[np.float64]
Integers = NDArray[np.integer]


@dataclass(frozen=True, slots=True)
class Moments:
    """Of C figures, each a sum over answers: ``covariance`` (C, C), symmetric, and ``alone``, the
    same were items independent of each other. The variances (diagonal) of the first are not below
    those of the second: where shared keys seem to make a figure surer, that is noise."""

    covariance: Floats
    alone: Floats

    def variances(self) -> Floats:
        """The variance of each figure (C)."""
        return np.asarray(np.maximum(np.diag(self.covariance), np.diag(self.alone)))

    def root(self) -> Floats:
        """The symmetric square root (C, C) of the nearest covariance without negative parts, its
        rows scaled to these variances."""
        values, vectors = np.linalg.eigh(self.covariance)
        root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        own, wanted = np.sqrt((root**2).sum(axis=1)), np.sqrt(self.variances())
        scale = np.where(own > 0, wanted / np.where(own > 0, own, 1.0), 0.0)
        return np.asarray(root * scale[:, None])


@dataclass(frozen=True)
class Dependence:
    """Which of n answers depend on each other: ``unit`` (n) is the unit of each in ``keys``."""

    keys: SharedKeys
    unit: NDArray[np.int64]

    @classmethod
    def of(cls, n: int, unit: Integers | None = None, keys: SharedKeys | None = None) -> Dependence:
        """Of n answers by their units' codes, by default each a unit of its own; without ``keys``
        units share nothing."""
        codes = np.arange(n) if unit is None else np.asarray(unit, dtype=np.int64)
        if keys is None:
            keys = SharedKeys.none(int(codes.max(initial=-1)) + 1)
        return cls(keys, codes)

    def among(self, chosen: NDArray[np.bool_]) -> Dependence:
        """Of the answers chosen by a mask (n)."""
        return Dependence(self.keys, self.unit[chosen])

    @cached_property
    def is_shared(self) -> bool:
        """Whether any two answers depend on each other."""
        return bool(self._pairs > len(self.unit))

    @cached_property
    def groups(self) -> float:
        """The effective number of independent groups, n**2 over the ordered pairs of answers that
        depend, each with itself included: n where none do; 0 of no answers."""
        return len(self.unit) ** 2 / self._pairs if len(self.unit) else 0.0

    @cached_property
    def _pairs(self) -> float:
        sums = self.sums(np.ones((len(self.unit), 1)))
        return float((sums * partner_sums(self.keys, sums)).sum())

    def sums(self, parts: Floats) -> Floats:
        """The sum of ``parts`` (n, C) over the answers of each unit (units, C)."""
        n, units = self.keys.n_units, self.unit
        columns = [np.bincount(units, weights=column, minlength=n) for column in parts.T]
        return np.column_stack(columns) if columns else np.zeros((n, 0))

    def moments(self, parts: Floats, *, groups: float | None = None) -> Moments:
        """The covariance of the C figures to which each answer adds ``parts`` (n, C), corrected for
        ``groups`` effective groups, by default all. With fewer than two there is none to speak of:
        nothing corrects it then."""
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
        """The mean of ``scores`` (n) over each of S sets of answers, ``member`` (n, S) 0 or 1, with
        its interval by ``interval_of_means``, on the set's own groups less one. NaN of an empty
        set; all of [0, 1] with fewer than two groups that depend.
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
    """How many scores of each set (n, S) differ from the rest of it; 0 of an empty set."""
    found = np.zeros(member.shape[1])
    for place, chosen in enumerate(member.T):
        values = scores[chosen]
        if len(values):
            weights = np.full(len(values), 1.0 / len(values))
            found[place] = unlike_values(values[:, None], weights)[0]
    return found

"""Answers that are not independent: several of one item, and items that share keys.

A figure of n answers is, near its value, a sum of what each answer adds to its error (its part: the
empirical influence, divided by n). Its variance sums products of parts over all pairs of answers of
one item and of items that share any key (Liang and Zeger 1986, for overlapping clusters), corrected
by G / (G - 1) with Kish's effective number of groups, as `spread` does for means.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.intervals import normal_quantile, t_quantile, wilson

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
    ) -> tuple[Floats, Floats, Floats]:
        """The mean of ``scores`` (n) over each of S sets of answers, ``member`` (n, S) 0 or 1, with
        its interval: Wilson's at the effective size, t on the set's own groups less one; plain
        where no two answers of it depend. NaN of an empty set; all of [0, 1] with fewer than two
        groups that depend.
        """
        sizes = member.sum(axis=0)
        held = np.where(sizes > 0, sizes, np.nan)
        means = scores @ member / held
        left = np.nan_to_num(member * (scores[:, None] - means) / held)
        sums = self.sums(np.hstack([member, left]))
        partners = partner_sums(self.keys, sums)
        products = (sums * partners).sum(axis=0)
        pairs, variances = products[: len(sizes)], products[len(sizes) :]
        alone = (sums[:, len(sizes) :] ** 2).sum(axis=0)
        low, high = np.empty(len(sizes)), np.empty(len(sizes))
        for place, mean in enumerate(means.tolist()):
            ends = _share(
                mean, sizes[place], pairs[place], max(variances[place], alone[place]), confidence
            )
            low[place], high[place] = ends
        return means, low, high


def _share(
    mean: float, size: float, pairs: float, variance: float, confidence: float
) -> tuple[float, float]:
    """Wilson's interval of one set's mean; see ``Dependence.shares``."""
    if not size > 0:
        return float("nan"), float("nan")
    quantile = normal_quantile(confidence)
    effective = float(size)
    if pairs > size + 0.5:
        groups = size**2 / pairs
        if groups < 2.0:
            return 0.0, 1.0
        quantile = t_quantile(groups - 1.0, confidence)
        # The correction of the variance, G / (G - 1), is that of p (1 - p), and so falls out.
        effective = min(mean * (1.0 - mean) / variance, size) if variance > 1e-20 else groups
    low, high = wilson(np.array([mean]), np.array([effective]), quantile)
    return float(low[0]), float(high[0])

"""Differences between two conditions, on the same units, on others, or partly so; with one joint
covariance, so that the differences themselves can be compared.

Each difference is a sum over units, and units that share a key are dependent wherever they stand:
two forms of one bank hold different questions on the same facts. So the covariance of all
differences is one sum over pairs of units that share, as in `spread`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.flags import Estimand, Flag, estimand_name, resampled_unit
from proofstone.engines.stats.intervals import NO_SPREAD_BELOW, t_quantile, t_two_sided_p
from proofstone.records.results import Estimate

__all__ = ["Contrasts", "measure_contrasts"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FEW_GROUPS = 50.0
# Pairs are made where at least this share of the smaller condition's units is in the other too.
_PAIRED_FROM = 0.5


@dataclass(frozen=True, slots=True)
class Contrasts:
    """C differences of means over U units: ``values`` (C), NaN where a condition has no unit.

    ``alone`` (U, C) holds what independent units add to each difference's error, ``parts`` what
    dependent ones do, ``partners`` the sums of ``parts`` over the units each depends on.
    ``degrees`` (C) are those of its t-test: groups less one where paired, Welch's else; NaN with
    fewer than two effective groups in a condition. ``n_units`` (C, 2) are the units behind each
    mean, the same ones where ``is_paired`` (C).
    """

    values: Floats
    alone: Floats
    parts: Floats
    partners: Floats
    degrees: Floats
    n_units: NDArray[np.int64]
    is_paired: Bools
    estimand: Estimand
    flags: tuple[Flag, ...]

    def covariance(self) -> Floats:
        """The covariance of the differences (C, C), symmetric, without any floor."""
        product = self.parts.T @ self.partners
        return np.asarray((product + product.T) / 2.0)

    def covariance_alone(self) -> Floats:
        """The same, were all units independent: what the other is not to fall below."""
        return np.asarray(self.alone.T @ self.alone)

    def combined(self, weights: Floats) -> Contrasts:
        """Linear combinations of the differences: ``weights`` (C, D) gives D of them. A
        combination has the fewest degrees and units of what it combines."""
        used = weights != 0.0
        lost = (used & np.isnan(self.values)[:, None]).any(axis=0) | ~used.any(axis=0)
        columns = [np.flatnonzero(used[:, d]) for d in range(weights.shape[1])]
        degrees = np.array([self.degrees[c].min(initial=np.inf) for c in columns])
        fewest = [self.n_units[c].min(axis=0) if len(c) else [0, 0] for c in columns]
        return Contrasts(
            values=np.where(lost, np.nan, np.nan_to_num(self.values) @ weights),
            alone=self.alone @ weights,
            parts=self.parts @ weights,
            partners=self.partners @ weights,
            degrees=np.where(lost, np.nan, degrees),
            n_units=np.array(fewest, dtype=np.int64).reshape(-1, 2),
            is_paired=np.array([self.is_paired[c].all() for c in columns], dtype=bool),
            estimand=self.estimand,
            flags=self.flags,
        )

    def variances(self) -> Floats:
        """The variance of each difference (C), floored at that of independent units."""
        together = (self.parts * self.partners).sum(axis=0)
        return np.asarray(np.maximum((self.alone**2).sum(axis=0), together))

    def p(self) -> Floats:
        """Two-sided p-values (C): a t-test; a sign test over the groups where a difference is the
        same on every unit; 1 where nothing can be told."""
        known = ~np.isnan(self.degrees) & ~np.isnan(self.values)
        degrees = np.where(known, self.degrees, 1.0)
        variance = np.where(known, self.variances(), 1.0)
        alike = variance < NO_SPREAD_BELOW
        t = np.where(known, self.values, 0.0) / np.sqrt(np.where(alike, 1.0, variance))
        by_sign = np.where(t == 0.0, 1.0, np.minimum(1.0, 0.5**degrees))
        return np.where(known, np.where(alike, by_sign, t_two_sided_p(t, degrees)), 1.0)

    def estimates(self, *, confidence: float = 0.95, bound: float = 1.0) -> tuple[Estimate, ...]:
        """One estimate a difference, its interval within [-bound, bound]."""
        variances = self.variances()
        is_shared = not np.array_equal(self.parts, self.partners)
        found = []
        for c, value in enumerate(self.values.tolist()):
            degrees, half = float(self.degrees[c]), np.inf
            if not np.isnan(degrees):
                half = t_quantile(degrees, confidence) * float(np.sqrt(variances[c]))
            nothing = bool(np.isnan(value))
            found.append(
                Estimate(
                    value=value,
                    n=int(self.n_units[c].min()),
                    low=value if nothing else max(value - half, -bound),
                    high=value if nothing else min(value + half, bound),
                    level=confidence,
                    estimand=estimand_name(self.estimand),
                    made_by=self._made_by(c),
                    resampled=resampled_unit(is_shared=is_shared),
                    effective_n=0.0 if np.isnan(degrees) else degrees + 1.0,
                    flags=self._flags(c, is_alike=bool(variances[c] < NO_SPREAD_BELOW)),
                )
            )
        return tuple(found)

    def _made_by(self, c: int) -> str:
        if np.isnan(self.values[c]) or np.isnan(self.degrees[c]):
            return "none"
        how = "paired" if self.is_paired[c] else "not paired"
        return f"{how}, t on {self.degrees[c]:.1f} degrees"

    def _flags(self, c: int, *, is_alike: bool) -> tuple[Flag, ...]:
        if np.isnan(self.values[c]):
            return ("no-scores",)
        found: list[Flag] = list(self.flags)
        if np.isnan(self.degrees[c]):
            return (*found, "one-group")
        if is_alike:
            found.append("no-spread")
        if self.degrees[c] + 1.0 < _FEW_GROUPS:
            found.append("few-groups")
        return tuple(found)


def measure_contrasts(
    before: Floats,
    after: Floats,
    keys: SharedKeys,
    estimand: Estimand = "knowledge",
    *,
    paired: bool | None = None,
) -> Contrasts:
    """``after`` less ``before``, column by column; both (U, C), NaN where a unit is not in the
    condition.

    Where at least half of the smaller condition's units are in both, the difference is paired: on
    the units of both, and no others. Else each mean is over all units of its condition, and units
    of both still count as the same. ``paired`` says it one way or the other, whatever they share.
    """
    is_before, is_after = ~np.isnan(before), ~np.isnan(after)
    both = is_before & is_after
    smaller = np.minimum(is_before.sum(axis=0), is_after.sum(axis=0))
    in_pairs = both.sum(axis=0) >= _PAIRED_FROM * smaller if paired is None else paired
    is_paired = (smaller > 0) & in_pairs
    gain = np.where(both, after, 0.0) - np.where(both, before, 0.0)
    plus = _term(
        np.where(is_paired, gain, after), np.where(is_paired, both, is_after), keys, estimand
    )
    minus = _term(np.where(is_paired, 0.0, before), ~is_paired & is_before, keys, estimand)
    nothing = np.where(is_paired, 0.0, np.nan)
    counts = np.stack([np.where(is_paired, plus.n, minus.n), plus.n], axis=1)
    return Contrasts(
        values=plus.mean - np.where(minus.n > 0, minus.mean, nothing),
        alone=plus.alone - minus.alone,
        parts=plus.parts - minus.parts,
        partners=plus.partners - minus.partners,
        degrees=_degrees(plus, minus, is_paired),
        n_units=counts.astype(np.int64),
        is_paired=is_paired,
        estimand=estimand,
        flags=("no-keys",) if estimand == "knowledge" and not len(keys.unit) else (),
    )


@dataclass(frozen=True, slots=True)
class _Term:
    """The mean of each column (C) over its n units, its residuals, and its effective groups."""

    mean: Floats
    n: NDArray[np.int64]
    alone: Floats
    parts: Floats
    partners: Floats
    groups: Floats

    @property
    def variance(self) -> Floats:
        together = (self.parts * self.partners).sum(axis=0)
        return np.asarray(np.maximum((self.alone**2).sum(axis=0), together))


def _term(values: Floats, mask: Bools, keys: SharedKeys, estimand: Estimand) -> _Term:
    n = mask.sum(axis=0)
    held = np.where(mask, values, 0.0)
    mean = np.where(n > 0, held.sum(axis=0) / np.maximum(n, 1), np.nan)
    residual = np.where(mask, held - np.nan_to_num(mean), 0.0) / np.maximum(n, 1)
    alone = residual * _correction(n.astype(np.float64))
    if estimand == "bank" or not len(keys.unit):
        return _Term(mean, n, alone, alone, alone, n.astype(np.float64))
    ones = mask.astype(np.float64)
    sharing = (ones * partner_sums(keys, ones)).sum(axis=0)
    groups = n**2 / np.maximum(sharing, 1.0)
    parts = residual * _correction(groups)
    return _Term(mean, n, alone, parts, partner_sums(keys, parts), groups)


def _correction(groups: Floats) -> Floats:
    """The root of G / (G - 1); nothing below two groups, where no variance is told."""
    enough = groups >= 2.0
    return np.asarray(np.sqrt(np.where(enough, groups / np.where(enough, groups - 1.0, 1.0), 1.0)))


def _degrees(plus: _Term, minus: _Term, paired: Bools) -> Floats:
    """Groups less one where paired, else Welch and Satterthwaite's; NaN where not known."""
    own, other = plus.variance, minus.variance
    few = (plus.groups < 2.0) | (~paired & (minus.groups < 2.0))
    d_own, d_other = np.maximum(plus.groups - 1.0, 1.0), np.maximum(minus.groups - 1.0, 1.0)
    scale = own**2 / d_own + other**2 / d_other
    fewest = np.where(paired, d_own, np.minimum(d_own, d_other))
    welch = np.where(scale > 0.0, (own + other) ** 2 / np.where(scale > 0.0, scale, 1.0), fewest)
    return np.where(few, np.nan, np.where(paired, d_own, welch))

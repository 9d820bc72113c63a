"""How far weighted means, and differences between them, may lie from what they estimate.

For weights w and residuals e of respondent r, the sum of ``w_i e_ir w_j e_jr`` over pairs of units
that are dependent estimates the variance of r's mean; with two respondents it estimates the
covariance, so that paired comparisons come from the same matrix.

- "bank": fresh forms of this bank. Items are independent, so only i = j counts.
- "knowledge": the facts are a sample. All ordered pairs that share any key count.

Small-sample correction, within each group g of the weighting: G / (G - 1), where
``G = n**2 / (ordered pairs that share, each unit with itself included)`` is the number of equal
disjoint clusters with as many sharing pairs (Kish's effective count). For such clusters this is
CR1's correction; with nothing shared it is n / (n - 1). The result of "knowledge" is never below
that of "bank": a negative sum of cross products is noise, not information.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys, partner_sums
from proofstone.engines.stats.flags import Estimand, Flag
from proofstone.engines.stats.weights import Weighting

__all__ = ["Spread", "measure_spread"]

Floats = NDArray[np.float64]

# Below this, G / (G - 1) multiplies by three or more; such a group is treated as a lone unit.
_LONE_BELOW = 1.5


@dataclass(frozen=True, slots=True)
class Spread:
    """Weighted means (R) of n units, and what each unit adds to their error.

    ``alone`` (n, R) holds the corrected, weighted residuals of independent units, ``parts`` those
    of dependent ones, ``partners`` the sums of ``parts`` over the units each depends on. ``groups``
    is the effective number of independent groups, ``1 / sum of w_i w_j over dependent pairs``: n
    for n independent equal units, the number of clusters for equal disjoint ones. ``is_shared``:
    whether any two units are taken as dependent. ``own_groups`` (R) are those of each mean, where
    they differ: ``groups`` is then the least of them.
    """

    means: Floats
    alone: Floats
    parts: Floats
    partners: Floats
    groups: float
    n_units: int
    estimand: Estimand
    is_shared: bool
    flags: tuple[Flag, ...]
    own_groups: Floats | None = None

    def variances(self) -> Floats:
        """The variance of each mean (R), floored at that of independent units."""
        independent = (self.alone**2).sum(axis=0)
        return np.asarray(np.maximum(independent, (self.parts * self.partners).sum(axis=0)))

    def covariance(self) -> Floats:
        """The covariance of the means (R, R), symmetric, without the floor of the variances."""
        product = self.parts.T @ self.partners
        return np.asarray((product + product.T) / 2.0)

    def difference_variances(self) -> Floats:
        """The variance of ``means[a] - means[b]`` (R, R), floored in the same way, and at 0: the
        sums of a constant difference end a rounding error below it."""
        independent = np.maximum(_of_differences(self.alone.T @ self.alone), 0.0)
        return np.maximum(independent, _of_differences(self.parts.T @ self.partners))


def measure_spread(
    values: Floats, weighting: Weighting, keys: SharedKeys, estimand: Estimand
) -> Spread:
    """The means of the columns of ``values`` (n units >= 1, R respondents; no NaN), and spread."""
    alone, n_lone = _parts(values, weighting, weighting.sizes)
    weights = weighting.weights()
    groups = 1.0 / float(weights @ weights)
    parts, partners, is_shared = alone, alone, False
    if estimand == "knowledge":
        effective, groups, is_shared = _effective_groups(weighting, keys)
        if is_shared:
            parts, n_lone = _parts(values, weighting, effective)
            partners = partner_sums(keys, parts)
    return Spread(
        means=weighting.group_means(values).mean(axis=0),
        alone=alone,
        parts=parts,
        partners=partners,
        groups=groups,
        n_units=len(values),
        estimand=estimand,
        is_shared=is_shared,
        flags=_flags(estimand, keys, n_lone, weighting),
    )


def _parts(values: Floats, weighting: Weighting, effective: Floats) -> tuple[Floats, int]:
    """What each unit adds to each mean's error (n, R), corrected; and how many groups were lone.

    A lone group (one unit, or units that all share) has no residual of its own. It is centred at
    the mean of all groups instead: too wide rather than too narrow, as surveys treat a stratum
    with a single sampling unit.
    """
    means = weighting.group_means(values)
    lone = effective < _LONE_BELOW
    centres = np.where(lone[:, None], means.mean(axis=0), means)
    counts = np.where(lone, np.inf, effective)
    correction = np.ones_like(counts)
    correction[~lone] = np.sqrt(counts[~lone] / (counts[~lone] - 1.0))
    scale = weighting.weights() * correction[weighting.group]
    return (values - centres[weighting.group]) * scale[:, None], int(lone.sum())


def _effective_groups(weighting: Weighting, keys: SharedKeys) -> tuple[Floats, float, bool]:
    """G within each group of the weighting, G over all, and whether any pair shares a key."""
    n = len(weighting.group)
    weights = weighting.weights()
    columns = np.zeros((n, weighting.n_groups + 2))
    columns[np.arange(n), weighting.group] = 1.0
    columns[:, -2], columns[:, -1] = 1.0, weights
    # Sums of products by element, not by matrix: threads of a BLAS cost more here than they save.
    sums = partner_sums(keys, columns)
    within = (columns[:, :-2] * sums[:, :-2]).sum(axis=0)
    groups = 1.0 / float((weights * sums[:, -1]).sum())
    return weighting.sizes**2 / within, groups, bool(sums[:, -2].sum() > n)


def _flags(
    estimand: Estimand, keys: SharedKeys, n_lone: int, weighting: Weighting
) -> tuple[Flag, ...]:
    found: list[Flag] = []
    if estimand == "knowledge" and not len(keys.unit):
        found.append("no-keys")
    if n_lone and weighting.n_groups > 1:
        found.append("lone-units")
    return tuple(found)


def _of_differences(covariance: Floats) -> Floats:
    own = np.diag(covariance)
    return own[:, None] + own[None, :] - covariance - covariance.T

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

Many composed questions over few statements leave hardly any pair that shares nothing, and so hardly
any group. Each mean has a second variance then, `KeyVariances`, by the components of variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys, key_matrix, partner_sums
from proofstone.engines.stats.flags import Estimand, Flag
from proofstone.engines.stats.weights import Weighting

__all__ = ["KeyVariances", "Spread", "measure_spread"]

Floats = NDArray[np.float64]

# Below this, G / (G - 1) multiplies by three or more; such a group is treated as a lone unit.
_LONE_BELOW = 1.5
# From this many effective groups on the sum over pairs keeps its level by itself.
_BY_KEY_BELOW = 10.0
# A key with more than this share of the variance that keys bring is no one of many.
_HEAVIEST_KEY = 0.1
# Products of keys x keys are held.
_MOST_KEYS = 2_000


@dataclass(frozen=True, slots=True)
class KeyVariances:
    """The ``variances`` (R) of means of units that share keys in overlapping sets, each with its
    ``degrees`` (R) of freedom.

    A value is taken as a constant plus the effects of its unit's keys plus an error. The variance
    of an effect and that of an error follow from two sums, of squared residuals and of squared sums
    of residuals by key, whose expectations are exact for residuals (Henderson 1953, method 1;
    multiple membership). Degrees are Satterthwaite's (1946). No variance is below that of
    independent units.
    """

    variances: Floats
    degrees: Floats


@dataclass(frozen=True, slots=True)
class Spread:
    """Weighted means (R) of n units, and what each unit adds to their error.

    ``alone`` (n, R) holds the corrected, weighted residuals of independent units, ``parts`` those
    of dependent ones, ``partners`` the sums of ``parts`` over the units each depends on. ``groups``
    is the effective number of independent groups, ``1 / sum of w_i w_j over dependent pairs``: n
    for n independent equal units, the number of clusters for equal disjoint ones. ``is_shared``:
    whether any two units are taken as dependent. ``own_groups`` (R) are those of each mean, where
    they differ: ``groups`` is then the least of them. ``by_key``: the means' variances by the
    effects of keys, where units share them in overlapping sets and ``groups`` are few.
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
    by_key: KeyVariances | None = None

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
    parts, partners, is_shared, by_key = alone, alone, False, None
    if estimand == "knowledge":
        effective, groups, is_shared = _effective_groups(weighting, keys)
        if is_shared:
            parts, n_lone = _parts(values, weighting, effective)
            partners = partner_sums(keys, parts)
        if is_shared and groups < _BY_KEY_BELOW and keys.groups is None:
            by_key = _by_key(values, weighting, keys, (alone**2).sum(axis=0))
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
        by_key=by_key,
    )


def _by_key(
    values: Floats, weighting: Weighting, keys: SharedKeys, floor: Floats
) -> KeyVariances | None:
    """The means' variances by the effects of keys, at least ``floor`` (R); None where there are too
    many keys, where one of them outweighs the others, or where effects cannot be told from errors.
    """
    holders = key_matrix(keys)
    if holders.shape[1] > _MOST_KEYS:
        return None
    weights = weighting.weights()
    of_keys = (holders.T @ weights) ** 2
    if of_keys.max() > _HEAVIEST_KEY * of_keys.sum():
        return None
    residuals = values - weighting.group_means(values)[weighting.group]
    dense = holders.toarray()
    dense -= weighting.group_means(dense)[weighting.group]
    products = dense.T @ dense
    squared = products @ products
    # Traces of the powers of the keys' products among residuals, and the residuals' own number.
    one, two = float(np.trace(products)), float(np.trace(squared))
    three, four = float((products * squared).sum()), float((squared**2).sum())
    number = float(len(values) - weighting.n_groups)
    determinant = one**2 - number * two
    if not determinant < -1e-9 * number * two:
        return None
    squares = (residuals**2).sum(axis=0)
    by_key = ((holders.T @ residuals) ** 2).sum(axis=0)
    effect = np.maximum((one * squares - number * by_key) / determinant, 0.0)
    error = np.maximum((one * by_key - two * squares) / determinant, 0.0)
    error = np.where(effect > 0.0, error, squares / number)
    of_effect, of_error = float(of_keys.sum()), float(weights @ weights)
    # The variance is this combination of the two sums, and so are its expectation and variance.
    on_squares = (of_effect * one - of_error * two) / determinant
    on_keys = (of_error * one - of_effect * number) / determinant
    constant = on_squares * error
    linear = on_squares * effect + on_keys * error
    square = on_keys * effect
    expected = constant * number + linear * one + square * two
    spread = (
        constant**2 * number
        + 2.0 * constant * linear * one
        + (linear**2 + 2.0 * constant * square) * two
        + 2.0 * linear * square * three
        + square**2 * four
    )
    is_known = spread > 0.0
    degrees = np.where(is_known, expected**2 / np.where(is_known, spread, 1.0), number)
    variances = np.maximum(of_effect * effect + of_error * error, floor)
    return KeyVariances(variances, np.minimum(degrees, number))


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

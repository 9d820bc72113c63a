"""Item analysis: difficulty, discrimination, distractors, key effects, position bias, IRT."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaincc, ndtri

from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.intervals import (
    divided,
    normal_two_sided_p,
    quadratic_p,
    t_two_sided_p,
    unknown,
)
from proofstone.stats.multiple_comparisons import benjamini_hochberg, over_known

Floats = NDArray[np.float64]


ItemFlag = Literal["nearly-all-right", "nearly-all-wrong", "weak-beat-strong", "strong-distractor"]


ITEM_FLAGS: dict[ItemFlag, str] = {
    "nearly-all-right": "ceiling item: nearly all models are correct",
    "nearly-all-wrong": "floor item: nearly all models are wrong (too hard or wrong answer key)",
    "weak-beat-strong": (
        "negative discrimination: weak models beat strong ones (check the answer key)"
    ),
    "strong-distractor": "the strongest models agree on one wrong answer (it may be correct)",
}


# With fewer models than this, their ranking is too imprecise to flag an item.
_FEWEST_RESPONDENTS = 8


_THIRD = 1.0 / 3.0


class ItemStatistics(Struct, frozen=True, kw_only=True):
    """Statistics of one item (a row) over the ``n`` models that answered it.

    ``difficulty`` is the mean score, so it is high for easy items. ``discrimination`` is the
    correlation of its scores with the mean of all other items (corrected item-total), NaN where
    either does not vary. ``p`` is the one-sided p-value of a correlation this low under no
    correlation. ``strong`` and ``weak`` are the means of the thirds of models that score best, and
    worst, on the other items. ``distractor`` is the wrong answer most frequent in the strong third,
    -1 if none or unknown; ``distractor_share`` is its share.
    """

    unit: int
    n: int
    difficulty: float
    discrimination: float
    p: float
    strong: float
    weak: float
    distractor: int = -1
    distractor_share: float = float("nan")
    flags: tuple[ItemFlag, ...] = ()


def describe_items(
    values: Floats,
    *,
    answers: NDArray[np.integer] | None = None,
    answer_key: NDArray[np.integer] | None = None,
    extreme: float = 0.05,
    false_share: float = 0.1,
) -> tuple[ItemStatistics, ...]:
    """Return the statistics of each row of ``values`` (items, models), NaN where a cell is missing.

    ``answers`` (items, models, optionally samples) are codes, negative if unparsed; ``answer_key``
    (items) is the answer key. Items within ``extreme`` of 0 or 1 are flagged. Items with negative
    discrimination are flagged at the false discovery rate ``false_share`` (Benjamini-Hochberg).
    Those, and distractors chosen by more than half of the strong third, need at least eight models.
    """
    n, difficulty = _means(values)
    correlation, rest = item_rest_correlations(values)
    p = one_sided_p(correlation, n)
    adjusted = over_known(benjamini_hochberg, p)
    is_strong, is_weak = _thirds(rest)
    strong, weak = (_mean_where(values, chosen) for chosen in (is_strong, is_weak))
    distractor, share = _distractors(answers, answer_key, is_strong)
    enough = n >= _FEWEST_RESPONDENTS
    found: dict[ItemFlag, NDArray[np.bool_]] = {
        "nearly-all-right": enough & (difficulty >= 1.0 - extreme),
        "nearly-all-wrong": enough & (difficulty <= extreme),
        "weak-beat-strong": enough & (adjusted < false_share) & (weak > strong),
        "strong-distractor": enough & (share > 0.5) & (share > np.nan_to_num(strong)),
    }
    return tuple(
        ItemStatistics(
            unit=unit,
            n=int(n[unit]),
            difficulty=float(difficulty[unit]),
            discrimination=float(correlation[unit]),
            p=float(p[unit]),
            strong=float(strong[unit]),
            weak=float(weak[unit]),
            distractor=int(distractor[unit]),
            distractor_share=float(share[unit]),
            flags=tuple(flag for flag, items in found.items() if items[unit]),
        )
        for unit in range(len(values))
    )


def item_rest_correlations(values: Floats) -> tuple[Floats, Floats]:
    """Return item-rest correlations (items) and the means of the other items (items, models).

    Each correlation is over the models that have the item; each mean is over the other items that
    the model has.
    """
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    others = there.sum(axis=0) - there
    rest = np.where(there, divided(scores.sum(axis=0) - scores, others), np.nan)
    return row_correlations(values, rest), rest


def row_correlations(first: Floats, second: Floats) -> Floats:
    """Return Pearson's correlation of each pair of rows, over positions present in both.

    NaN where either row does not vary.
    """
    both = ~np.isnan(first) & ~np.isnan(second)
    number = np.maximum(both.sum(axis=1, keepdims=True), 1)
    x, y = (np.where(both, rows, 0.0) for rows in (first, second))
    x = np.where(both, x - x.sum(axis=1, keepdims=True) / number, 0.0)
    y = np.where(both, y - y.sum(axis=1, keepdims=True) / number, 0.0)
    scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    varies = scale > 1e-12
    return np.where(varies, (x * y).sum(axis=1) / np.where(varies, scale, 1.0), np.nan)


def _means(values: Floats) -> tuple[NDArray[np.int64], Floats]:
    n = (~np.isnan(values)).sum(axis=1)
    return n, divided(np.nansum(values, axis=1), n)


def one_sided_p(correlation: Floats, n: NDArray[np.int64]) -> Floats:
    """Return the one-sided p-value of a correlation this low over n pairs (Student's t)."""
    degrees = np.maximum(n - 2.0, 1.0)
    left = np.maximum(1.0 - correlation**2, 1e-12)
    t = correlation * np.sqrt(degrees / left)
    half = t_two_sided_p(t, degrees) / 2.0
    p = np.where(correlation < 0, half, 1.0 - half)
    return np.where((n > 2) & ~np.isnan(correlation), p, np.nan)


def correlation_interval(r: float, n: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the ends of a confidence interval of a correlation of ``n`` pairs.

    Fisher's z transform (Fisher 1921), approximate for scores of 0 and 1. NaN below four pairs, and
    for a correlation that is not defined.
    """
    if n < 4 or math.isnan(r):
        return math.nan, math.nan
    if abs(r) >= 1.0 - 1e-12:
        return r, r
    half = float(ndtri(0.5 + confidence / 2.0)) / math.sqrt(n - 3)
    middle = math.atanh(r)
    return math.tanh(middle - half), math.tanh(middle + half)


def _thirds(rest: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the best and the worst third of models on the other items, by item."""
    n = (~np.isnan(rest)).sum(axis=1, keepdims=True)
    size = np.floor(n * _THIRD + 1e-9)
    order = np.argsort(np.where(np.isnan(rest), np.inf, rest), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(rest.shape[1])[None, :], axis=1)
    there = ~np.isnan(rest)
    return there & (place >= n - size), there & (place < size)


def _mean_where(values: Floats, chosen: NDArray[np.bool_]) -> Floats:
    number = chosen.sum(axis=1)
    sums = np.where(chosen, np.nan_to_num(values), 0.0).sum(axis=1)
    return divided(sums, number)


def _distractors(
    answers: NDArray[np.integer] | None,
    answer_key: NDArray[np.integer] | None,
    is_strong: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], Floats]:
    """Return the wrong answer most frequent among the strong (the first of ties) and its share."""
    n_items = len(is_strong)
    if answers is None or answer_key is None or not answers.size or answers.max() < 0:
        return np.full(n_items, -1), np.full(n_items, np.nan)
    if answers.ndim == 3:
        is_strong = np.repeat(is_strong, answers.shape[2], axis=1)
        answers = answers.reshape(n_items, -1)
    wrong = is_strong & (answers >= 0) & (answers != answer_key[:, None])
    n_codes = int(answers.max()) + 1
    row, column = np.nonzero(wrong)
    # Only codes that occur: free texts have as many codes as responses.
    given, counts = np.unique(row * n_codes + answers[row, column], return_counts=True)
    items, code = np.divmod(given, n_codes)
    first = np.unique(items[order := np.lexsort((code, -counts, items))], return_index=True)[1]
    winner = order[first]
    distractor, most = np.full(n_items, -1), np.zeros(n_items)
    distractor[items[winner]], most[items[winner]] = code[winner], counts[winner]
    size = is_strong.sum(axis=1)
    return distractor, divided(most, size)


# Effect of each shared fact on the questions that hold it: difficulty and discrimination.
#
# A composed question uses several statements, so no single score measures one of them. Averaged
# over all questions with a statement, the effects of the other statements even out. A wrong
# statement makes its questions harder than the rest, most of all for stronger models.

KeyFlag = Literal["harder-than-the-rest", "weak-beat-strong", "probably-wrong"]


KEY_FLAGS: dict[KeyFlag, str] = {
    "harder-than-the-rest": "lower scores on its questions than on the others",
    "weak-beat-strong": "negative discrimination: weak models beat strong ones on its questions",
    "probably-wrong": "lower scores on its questions, and no advantage for strong models",
}


class KeyStatistics(Struct, frozen=True, kw_only=True):
    """Statistics of one key over the ``n_units`` units that hold it.

    ``mean`` is the mean score on them. ``lift`` is that less the mean on all units, over the models
    that have them; ``p`` tests a lift of 0. ``discrimination`` is the correlation over models of
    their mean on these units with that on all others; ``p_low`` is the one-sided p-value of a
    correlation this low. NaN where undefined.
    """

    key: int
    n_units: int
    mean: float
    lift: float
    p: float
    discrimination: float
    p_low: float
    flags: tuple[KeyFlag, ...] = ()


def describe_keys(
    values: Floats, keys: SharedKeys, *, fewest_units: int = 2, false_share: float = 0.1
) -> tuple[KeyStatistics, ...]:
    """Return the statistics of every key that at least ``fewest_units`` units hold, by key.

    ``values`` is (units, models), NaN where a cell is missing. The test of a lift treats units as
    independent with equal variances. Flags are tested at the false discovery rate ``false_share``
    (Benjamini-Hochberg). "probably-wrong" means harder than the rest and a discrimination of at
    most 0, with at least eight models.
    """
    incidence, codes = _holders(keys)
    n_units = np.asarray(incidence.sum(axis=1)).ravel().astype(np.int64)
    chosen = np.flatnonzero(n_units >= fewest_units)
    incidence, codes, n_units = incidence[chosen], codes[chosen], n_units[chosen]
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    sums, held = incidence @ scores, incidence @ there.astype(np.float64)
    own = divided(sums, held)
    others = divided(scores.sum(axis=0) - sums, there.sum(axis=0) - held)
    lift, p = _lifts(incidence, values, n_units)
    both = ~np.isnan(own) & ~np.isnan(others)
    discrimination = row_correlations(own, np.where(both, others, np.nan))
    n = both.sum(axis=1)
    p_low = one_sided_p(discrimination, n)
    harder = (lift < 0) & (over_known(benjamini_hochberg, p) < false_share)
    weak_beat = (over_known(benjamini_hochberg, p_low) < false_share) & (n >= _FEWEST_RESPONDENTS)
    wrong = harder & (discrimination <= 0) & (n >= _FEWEST_RESPONDENTS)
    found: dict[KeyFlag, NDArray[np.bool_]] = {
        "harder-than-the-rest": harder,
        "weak-beat-strong": weak_beat,
        "probably-wrong": wrong,
    }
    total = held.sum(axis=1)
    means = divided(sums.sum(axis=1), total)
    return tuple(
        KeyStatistics(
            key=int(codes[row]),
            n_units=int(n_units[row]),
            mean=float(means[row]),
            lift=float(lift[row]),
            p=float(p[row]),
            discrimination=float(discrimination[row]),
            p_low=float(p_low[row]),
            flags=tuple(flag for flag, rows in found.items() if rows[row]),
        )
        for row in range(len(codes))
    )


def _holders(keys: SharedKeys) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return a sparse matrix (keys, units) of ones, each edge once, and the keys' codes."""
    codes, row = np.unique(keys.key, return_inverse=True)
    edges = np.unique(row.astype(np.int64) * max(keys.n_units, 1) + keys.unit)
    row, unit = np.divmod(edges, max(keys.n_units, 1))
    shape = (len(codes), keys.n_units)
    return sparse.csr_matrix((np.ones(len(edges)), (row, unit)), shape=shape), codes


def _lifts(
    incidence: NDArray[np.float64], values: Floats, n_units: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """Return the mean residual of each key's units, and its two-sided p-value (normal).

    A unit's residual is the mean over models of its score less the model's own mean, so a unit that
    only strong models were asked is not counted as easy.
    """
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    level = divided(scores.sum(axis=0), there.sum(axis=0))
    above = np.where(there, values - level, 0.0)
    residual = divided(above.sum(axis=1), there.sum(axis=1))
    known = ~np.isnan(residual)
    number = incidence @ known.astype(np.float64)
    lift = divided(incidence @ np.where(known, residual, 0.0), number)
    deviation = float(residual[known].std(ddof=1)) if known.sum() > 1 else 0.0
    if deviation == 0.0:
        return lift, np.full(len(lift), np.nan)
    return lift, normal_two_sided_p(lift * np.sqrt(number) / deviation)


# Position bias: does a model prefer a position among the options?
#
# Questions with more options are harder to guess and have later positions. So positions are
# compared within questions with the same number of options, and the tests are summed.

Codes = NDArray[np.integer]


Bools = NDArray[np.bool_]


class PositionShare(Struct, frozen=True, kw_only=True):
    """A position (from 0) in ``asked`` responses: how often it was ``chosen`` and was ``right``.

    ``accuracy`` is the mean score where it held the correct option, NaN if never.
    """

    position: int
    asked: int
    chosen: int
    right: int
    expected: float
    accuracy: float


class PositionTest(Struct, frozen=True, kw_only=True):
    """Chi-square test over positions (Pearson's or a score test), with its degrees of freedom.

    ``p`` accounts for dependence between responses of one item, and of items that share keys: the
    statistic is referred to its distribution under their covariance (Rao and Scott 1984, second
    order). ``design`` is the factor by which dependence inflates it; 1 if responses are
    independent. ``least_expected`` is the smallest expected count over ``design``: with less than
    ``stats.ranks.LEAST_EXPECTED`` the chi-square approximation does not hold.
    """

    chi_square: float
    df: int
    p: float
    design: float
    least_expected: float


class PositionBias(Struct, frozen=True, kw_only=True):
    """Positions of the correct and of the chosen option, and three tests.

    ``accuracy`` tests equal accuracy for every position of the correct option. ``choice`` tests
    uniform choice over positions; it also rejects for a correct model if the key is not uniform.
    ``error`` tests that wrong choices are uniform over the wrong positions, which the key cannot
    affect. ``unread`` responses chose no position. ``groups`` is the effective number of
    independent groups of responses.
    """

    positions: tuple[PositionShare, ...]
    accuracy: PositionTest
    choice: PositionTest
    error: PositionTest
    unread: int
    groups: float


def position_bias(
    scores: Floats,
    answer_key: Codes,
    chosen: Codes,
    n_options: Codes,
    *,
    unit: Codes | None = None,
    keys: SharedKeys | None = None,
) -> PositionBias:
    """Return the position bias of one model from parallel arrays (responses).

    The arrays are the score, the positions of the correct and the chosen option (from 0, negative
    if none), and the number of options. ``unit`` (responses) gives the item of each response by its
    index in ``keys``; by default each is its own item. Responses without a score or a correct
    position are left out.
    """
    kept = ~np.isnan(scores) & (answer_key >= 0) & (answer_key < n_options)
    y, g, c, k = scores[kept], answer_key[kept], chosen[kept], n_options[kept]
    dependence = Dependence.of(len(y), None if unit is None else unit[kept], keys)
    valid = (c >= 0) & (c < k)
    most = int(k.max(initial=0))
    return PositionBias(
        positions=tuple(_share(p, y, g, np.where(valid, c, -1), k) for p in range(most)),
        accuracy=_tested([_one_accuracy(y, g, k, int(n)) for n in np.unique(k)], dependence),
        choice=_tested([_even(c, k, valid, int(n)) for n in np.unique(k)], dependence),
        error=_tested([_errors_even(g, c, k, valid & (c != g), most)], dependence),
        unread=int((~valid).sum()),
        groups=dependence.groups,
    )


def _share(p: int, y: Floats, g: Codes, c: Codes, k: Codes) -> PositionShare:
    there, right = k > p, g == p
    return PositionShare(
        position=p,
        asked=int(there.sum()),
        chosen=int((c == p).sum()),
        right=int(right.sum()),
        expected=float((1.0 / k[there & (c >= 0)]).sum()),
        accuracy=float(y[right].mean()) if right.any() else float("nan"),
    )


# A test's parts (responses, q): each response's contribution to each excess over its expectation,
# the covariance (q, q) of these excesses for independent responses, and the expected counts.
_Excess = tuple[Floats, Floats, Floats]


def _one_accuracy(y: Floats, g: Codes, k: Codes, n: int) -> _Excess:
    """Return scores above the mean of questions with n options, by position of the correct one."""
    chosen = k == n
    size = int(chosen.sum())
    mean = float(y[chosen].mean())
    at = (g[:, None] == np.arange(n)) & chosen[:, None]
    share = at.sum(axis=0) / size
    parts = np.where(chosen[:, None], (at - share) * (y - mean)[:, None], 0.0)
    variance = float(((y[chosen] - mean) ** 2).mean())
    covariance = variance * size * (np.diag(share) - np.outer(share, share))
    return parts, covariance, size * np.concatenate([share * mean, share * (1 - mean)])


def _even(c: Codes, k: Codes, valid: Bools, n: int) -> _Excess:
    """Return choices above one in n, for questions with n options."""
    chosen = valid & (k == n)
    parts = ((c[:, None] == np.arange(n)) - 1.0 / n) * chosen[:, None]
    expected = np.full(n, chosen.sum() / n)
    return parts, chosen.sum() * (np.eye(n) / n - 1.0 / n**2), expected


def _errors_even(g: Codes, c: Codes, k: Codes, wrong: Bools, most: int) -> _Excess:
    """Return wrong choices above a uniform spread over each response's own wrong positions."""
    position = np.arange(most)
    open_to = (position < k[:, None]) & (position != g[:, None]) & wrong[:, None]
    chance = open_to / np.maximum(k - 1.0, 1.0)[:, None]
    parts = ((c[:, None] == position) & wrong[:, None]) - chance
    expected = chance.sum(axis=0)
    return parts, np.diag(expected) - chance.T @ chance, expected


def _tested(excesses: Sequence[_Excess], dependence: Dependence) -> PositionTest:
    """Return the sum of chi-squares of several excesses, with its p-value.

    Each is taken over the covariance for independent responses, along the directions with variance.
    The p-value uses the actual dependence.
    """
    whitened, least = [], np.inf
    for parts, covariance, expected in excesses:
        values, vectors = np.linalg.eigh(covariance)
        # Counts sum to the number of responses, so at least one direction has no variance.
        free = values > 1e-9 * max(float(values.max(initial=0.0)), 1e-9)
        whitened.append(parts @ (vectors[:, free] / np.sqrt(values[free])))
        if free.any():  # a position without expected choices is not part of the test
            least = min(least, float(expected[expected > 0].min()))
    parts = np.hstack(whitened) if whitened else np.zeros((0, 0))
    df = parts.shape[1]
    if not df:
        return unknown(PositionTest, df=0)
    statistic = float((parts.sum(axis=0) ** 2).sum())
    p, design = float(gammaincc(df / 2, statistic / 2)), 1.0
    if dependence.is_shared:
        v = dependence.moments(parts).covariance
        design = float(np.trace(v)) / df
        if design > 1.0:
            p = quadratic_p(statistic, float(np.trace(v)), float((v**2).sum()), dependence.groups)
    design = max(design, 1.0)
    return PositionTest(
        chi_square=statistic, df=df, p=p, design=design, least_expected=least / design
    )


# Two-parameter item response theory: item difficulty and slope, respondent ability.
#
# P(right) = 1 / (1 + exp(-(slope * skill + intercept))), skill standard normal. The item parameters
# maximize the marginal likelihood by EM over quadrature nodes (Bock and Aitkin 1981). With as few
# respondents as a leaderboard has, slopes need a prior: log-normal, and a normal on intercepts
# (Mislevy 1986).
#
# With free slopes the variance of skill is not identified, and a prior around 1 imposes one: 20
# equal models had a reliability of 0.6. So the prior is centered at the common slope that fits all
# items best. This is the standard deviation of skill in a one-slope model, 0 for equal models.

_NODES = np.linspace(-5.0, 5.0, 41)


# The prior's standard deviations: of the logarithm of a slope, and of an intercept.
_SLOPE_SD, _INTERCEPT_SD = 0.3, 3.0


_LEAST_SLOPE, _MOST_SLOPE = 0.01, 8.0


_FEW_RESPONDENTS = 50


_MOST_GROUPS, _FEWEST_GROUPS, _SMALLEST_GROUP = 10, 4, 5


@dataclass(frozen=True, slots=True)
class ItemResponse:
    """Fitted IRT model of U items and R respondents, with fit statistics.

    ``slope`` and ``intercept`` (U); ``difficulty`` = -intercept / slope (U), the skill at which the
    probability of a correct answer is one half. ``skill`` and ``skill_sd`` (R) are posterior means
    and deviations. ``outfit`` and ``infit`` (U) are mean squared standardized residuals, plain and
    weighted by information, about 1 where the model holds (Wright and Masters 1982), NaN where
    nothing was answered. ``fit_p`` (U) tests each item's curve against the observed shares in
    groups of similar skill (Yen's Q1, 1981): low where the curve is wrong, NaN with fewer than four
    groups of five. ``common_slope`` is the center of the slope prior, NaN without one.
    ``reliability`` is the share of the variance of skill that the responses explain; NaN below 50
    respondents and without a prior. ``flags``: "few-respondents" below 50, where the prior
    dominates; "not-converged".
    """

    slope: Floats
    intercept: Floats
    difficulty: Floats
    skill: Floats
    skill_sd: Floats
    outfit: Floats
    infit: Floats
    fit_p: Floats
    common_slope: float
    reliability: float
    log_likelihood: float
    n_iterations: int
    flags: tuple[str, ...]


def fit_two_parameter(
    values: Floats, *, with_prior: bool = True, most_iterations: int = 200, tolerance: float = 1e-3
) -> ItemResponse:
    """Return the model fitted to ``values`` (items, respondents) in [0, 1], NaN where missing.

    A share of several samples counts as a fraction of a correct answer. Without items or
    respondents the arrays are empty or NaN. Without the prior, an item that all get right or wrong
    has no finite estimate; its parameters are limited to [-8, 8].
    """
    there = ~np.isnan(values)
    right = np.where(there, values, 0.0)
    wrong = np.where(there, 1.0 - right, 0.0)
    slope, intercept = np.ones(len(values)), _first_intercepts(right, there)
    density = np.exp(-(_NODES**2) / 2.0)
    density /= density.sum()
    common = float("nan")
    if with_prior and values.size:
        common, intercept = _common_slope(right, wrong, density, intercept)
        slope = np.full(len(values), common)
    converged, step = not values.size, 0
    while not converged and step < most_iterations:
        step += 1
        posterior, _ = _posterior(slope, intercept, right, wrong, density)
        new = _maximise(slope, intercept, right @ posterior, wrong @ posterior, common)
        moved = max(np.abs(new[0] - slope).max(), np.abs(new[1] - intercept).max())
        slope, intercept = new
        converged = moved < tolerance
    posterior, log_likelihood = _posterior(slope, intercept, right, wrong, density)
    return _described(
        slope, intercept, common, posterior, values, log_likelihood, step, is_converged=converged
    )


def _first_intercepts(right: Floats, there: NDArray[np.bool_]) -> Floats:
    share = (right.sum(axis=1) + 0.5) / (there.sum(axis=1) + 1.0)
    return np.asarray(np.log(share / (1.0 - share)))


def _posterior(
    slope: Floats, intercept: Floats, right: Floats, wrong: Floats, density: Floats
) -> tuple[Floats, float]:
    """Return each respondent's weight on every node (R, nodes), and the total log-likelihood."""
    z = slope[:, None] * _NODES + intercept[:, None]
    log_right, log_wrong = -np.logaddexp(0.0, -z), -np.logaddexp(0.0, z)
    log_joint = right.T @ log_right + wrong.T @ log_wrong + np.log(density)
    most = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - most)
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, float((np.log(total) + most).sum())


def _common_slope(
    right: Floats, wrong: Floats, density: Floats, intercept: Floats
) -> tuple[float, Floats]:
    """Return the maximum-likelihood common slope of all items, and the corresponding intercepts."""
    found = intercept

    def loss(log_slope: float) -> float:
        nonlocal found
        slope = np.full(len(right), np.exp(log_slope))
        for _ in range(3):
            posterior, _likelihood = _posterior(slope, found, right, wrong, density)
            counts = right @ posterior, wrong @ posterior
            for _ in range(2):
                chance = expit(slope[:, None] * _NODES + found[:, None])
                number = counts[0] + counts[1]
                error = (counts[0] - number * chance).sum(axis=1) - found / _INTERCEPT_SD**2
                weight = (number * chance * (1.0 - chance)).sum(axis=1) + 1.0 / _INTERCEPT_SD**2
                found = np.clip(found + np.clip(error / weight, -1.0, 1.0), -8.0, 8.0)
        return -_posterior(slope, found, right, wrong, density)[1]

    bounds = (float(np.log(_LEAST_SLOPE)), float(np.log(_MOST_SLOPE)))
    best = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 0.02})
    return float(np.exp(best.x)), found


def _maximise(
    slope: Floats, intercept: Floats, right: Floats, wrong: Floats, common: float
) -> tuple[Floats, Floats]:
    """Return a few damped Newton steps for all items together, on expected counts (items, nodes).

    ``common`` is the center of the slope prior. Steps are then of log slopes, so that slopes remain
    above 0. NaN means no prior, and steps of the slopes themselves.
    """
    number = right + wrong
    has_prior = not np.isnan(common)
    for _ in range(2):
        chance = expit(slope[:, None] * _NODES + intercept[:, None])
        error = right - number * chance
        weight = number * chance * (1.0 - chance)
        by_slope, by_intercept = error @ _NODES, error.sum(axis=1)
        ss, si, ii = weight @ _NODES**2, weight @ _NODES, weight.sum(axis=1)
        if has_prior:
            by_slope = slope * by_slope - np.log(slope / common) / _SLOPE_SD**2
            ss, si = slope**2 * ss + 1.0 / _SLOPE_SD**2, slope * si
            by_intercept = by_intercept - intercept / _INTERCEPT_SD**2
            ii = ii + 1.0 / _INTERCEPT_SD**2
        ss, ii = ss + 1e-9, ii + 1e-9
        determinant = np.maximum(ss * ii - si**2, 1e-12)
        change = np.clip((ii * by_slope - si * by_intercept) / determinant, -0.5, 0.5)
        change_intercept = (ss * by_intercept - si * by_slope) / determinant
        slope = slope * np.exp(change) if has_prior else slope + change
        intercept = np.clip(intercept + np.clip(change_intercept, -1.0, 1.0), -8.0, 8.0)
        slope = np.clip(slope, _LEAST_SLOPE / 10 if has_prior else -_MOST_SLOPE, _MOST_SLOPE)
    return slope, intercept


def _described(
    slope: Floats,
    intercept: Floats,
    common: float,
    posterior: Floats,
    values: Floats,
    log_likelihood: float,
    n_iterations: int,
    *,
    is_converged: bool,
) -> ItemResponse:
    skill = posterior @ _NODES
    skill_variance = posterior @ _NODES**2 - skill**2
    between = float(skill.var()) if len(skill) else float("nan")
    total = between + float(skill_variance.mean()) if len(skill) else float("nan")
    outfit, infit = _fit(slope, intercept, posterior, values)
    is_few = values.shape[1] < _FEW_RESPONDENTS
    flags = ["few-respondents"] if is_few else []
    if not is_converged:
        flags.append("not-converged")
    return ItemResponse(
        slope=slope,
        intercept=intercept,
        difficulty=-intercept / np.where(slope == 0.0, np.nan, slope),
        skill=skill,
        skill_sd=np.sqrt(np.maximum(skill_variance, 0.0)),
        outfit=outfit,
        infit=infit,
        fit_p=_curve_p(slope, intercept, posterior, values),
        common_slope=common,
        reliability=between / total
        if total > 0 and not is_few and not np.isnan(common)
        else float("nan"),
        log_likelihood=log_likelihood if values.size else float("nan"),
        n_iterations=n_iterations,
        flags=tuple(flags),
    )


def _fit(
    slope: Floats, intercept: Floats, posterior: Floats, values: Floats
) -> tuple[Floats, Floats]:
    """Return mean squared residuals of each item over the posterior of skill.

    Each respondent's residual is taken at every node, so that an uncertain skill does not count as
    misfit.
    """
    chance = expit(slope[:, None] * _NODES + intercept[:, None])
    variance = chance * (1.0 - chance)
    there = ~np.isnan(values)
    right = np.where(there, values, 0.0)
    squared = there * right**2
    # The sums over respondents of (x - P)^2 and of (x - P)^2 / V, weighted by their posteriors.
    seen, scores, squares = there @ posterior, right @ posterior, squared @ posterior
    residual = squares - 2.0 * scores * chance + seen * chance**2
    number = there.sum(axis=1)
    held = np.where(number > 0, number, np.nan)
    outfit = (residual / np.maximum(variance, 1e-9)).sum(axis=1) / held
    information = (seen * variance).sum(axis=1)
    infit = residual.sum(axis=1) / np.where(information > 0, information, np.nan)
    return np.asarray(outfit), np.asarray(infit)


def _curve_p(slope: Floats, intercept: Floats, posterior: Floats, values: Floats) -> Floats:
    """Return the p-value of each item's curve, on two degrees of freedom fewer than groups."""
    m = values.shape[1]
    n_groups = min(_MOST_GROUPS, m // _SMALLEST_GROUP)
    if n_groups < _FEWEST_GROUPS:
        return np.full(len(values), np.nan)
    order = np.argsort(posterior @ _NODES, kind="stable")
    group = np.empty(m, dtype=np.int64)
    group[order] = np.arange(m) * n_groups // m
    member = (group[:, None] == np.arange(n_groups)).astype(np.float64)
    chance = expit(slope[:, None] * _NODES + intercept[:, None]) @ posterior.T
    there = ~np.isnan(values)
    number = there @ member
    seen = np.where(there, values, 0.0) @ member
    expected = np.where(there, chance, 0.0) @ member
    variance = expected * (1.0 - expected / np.where(number > 0, number, 1.0))
    held = variance > 1e-9
    squares = np.where(held, (seen - expected) ** 2 / np.where(held, variance, 1.0), 0.0)
    degrees = held.sum(axis=1) - 2.0
    p = gammaincc(np.maximum(degrees, 1.0) / 2.0, squares.sum(axis=1) / 2.0)
    return np.where(degrees > 0, p, np.nan)

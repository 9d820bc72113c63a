"""Two-parameter item response theory: each item's difficulty and slope, each respondent's skill.

P(right) = 1 / (1 + exp(-(slope * skill + intercept))), skill standard normal; the item parameters
maximise the likelihood with skill integrated out, by expectation and maximisation over quadrature
nodes (Bock and Aitkin 1981). With as few respondents as a leaderboard has, slopes need a prior:
log-normal, and a normal on intercepts (Mislevy 1986).

With free slopes the variance of skill is not identified, and a prior around 1 states one: 20 equal
models came out with a reliability of 0.6. The prior is therefore centred at the slope that fits all
items best, the standard deviation of skill in a model of one slope, which is 0 for equal models.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaincc

Floats = NDArray[np.float64]


_NODES = np.linspace(-5.0, 5.0, 41)


# The prior's standard deviations: of the logarithm of a slope, and of an intercept.
_SLOPE_SD, _INTERCEPT_SD = 0.3, 3.0


_LEAST_SLOPE, _MOST_SLOPE = 0.01, 8.0


_FEW_RESPONDENTS = 50


_MOST_GROUPS, _FEWEST_GROUPS, _SMALLEST_GROUP = 10, 4, 5


@dataclass(frozen=True, slots=True)
class ItemResponse:
    """A fitted model of U items and R respondents, and how well it fits.

    ``slope`` and ``intercept`` (U); ``difficulty`` = -intercept / slope (U), the skill at which an
    item is right half of the time. ``skill`` and ``skill_sd`` (R) are posterior means and
    deviations. ``outfit`` and ``infit`` (U) are mean squared standardised residuals, plain and
    weighted by information, about 1 where the model holds (Wright and Masters 1982), NaN where
    nobody answered. ``fit_p`` (U) tests each item's curve against the shares seen in groups of like
    skill (Yen's Q1, 1981): low where the curve is wrong, NaN with fewer than four groups of five.
    ``common_slope`` is where the prior of slopes has its centre, NaN without one. ``reliability``
    is the share of the variance of skill that the responses explain; NaN below 50 respondents and
    without a prior. ``flags``: "few-respondents" below 50, where the prior outweighs the data;
    "not-converged".
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
    """The model of ``values`` (items, respondents) in [0, 1], NaN where a cell is missing.

    A share of several samples counts as so much of one right answer. No item or no respondent gives
    empty arrays and NaN. Without the prior an item that all get right, or wrong, has no estimate;
    its parameters stay within [-8, 8].
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
    """Each respondent's weight on every node (R, nodes), and the log-likelihood of all."""
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
    """Return the one slope of all items under which the responses are most likely, and the
    intercepts that go with it."""
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
    """A few damped Newton steps for all items at once, on expected counts (items, nodes).

    ``common`` is the centre of the prior of slopes. Steps are of their logarithm then, so that they
    stay above 0; NaN stands for no prior, and steps of the slopes themselves.
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
    """Mean squared residuals of each item over the posterior of skill: each respondent's residual
    at every node, so that an uncertain skill is no misfit."""
    chance = expit(slope[:, None] * _NODES + intercept[:, None])
    variance = chance * (1.0 - chance)
    there = ~np.isnan(values)
    right = np.where(there, values, 0.0)
    squared = there * right**2
    # The sum over respondents of (x - P)^2 and of (x - P)^2 / V, weighted by their posteriors.
    seen, scores, squares = there @ posterior, right @ posterior, squared @ posterior
    residual = squares - 2.0 * scores * chance + seen * chance**2
    number = there.sum(axis=1)
    held = np.where(number > 0, number, np.nan)
    outfit = (residual / np.maximum(variance, 1e-9)).sum(axis=1) / held
    information = (seen * variance).sum(axis=1)
    infit = residual.sum(axis=1) / np.where(information > 0, information, np.nan)
    return np.asarray(outfit), np.asarray(infit)


def _curve_p(slope: Floats, intercept: Floats, posterior: Floats, values: Floats) -> Floats:
    """The p-value of each item's curve, on two degrees of freedom fewer than there are groups."""
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

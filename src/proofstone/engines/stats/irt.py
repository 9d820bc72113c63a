"""Two-parameter item response theory: each item's difficulty and slope, each respondent's skill.

P(right) = 1 / (1 + exp(-(slope * skill + intercept))), skill standard normal; the item parameters
maximise the likelihood with skill integrated out, by expectation and maximisation over quadrature
nodes (Bock and Aitkin 1981). With as few respondents as a leaderboard has, slopes need a prior:
log-normal around 1, and a normal on intercepts (Mislevy 1986).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaincc

__all__ = ["ItemResponse", "fit_two_parameter"]

Floats = NDArray[np.float64]

_NODES = np.linspace(-5.0, 5.0, 41)
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
    ``reliability``: the share of the variance of skill that the answers tell.
    ``flags``: "few-respondents" below 50, where the prior speaks with the data; "not-converged".
    """

    slope: Floats
    intercept: Floats
    difficulty: Floats
    skill: Floats
    skill_sd: Floats
    outfit: Floats
    infit: Floats
    fit_p: Floats
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
    converged, step = not values.size, 0
    while not converged and step < most_iterations:
        step += 1
        posterior, _ = _posterior(slope, intercept, right, wrong, density)
        new = _maximise(slope, intercept, right @ posterior, wrong @ posterior, with_prior)
        moved = max(np.abs(new[0] - slope).max(), np.abs(new[1] - intercept).max())
        slope, intercept = new
        converged = moved < tolerance
    posterior, log_likelihood = _posterior(slope, intercept, right, wrong, density)
    return _described(
        slope, intercept, posterior, values, log_likelihood, step, is_converged=converged
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


def _maximise(
    slope: Floats, intercept: Floats, right: Floats, wrong: Floats, with_prior: bool
) -> tuple[Floats, Floats]:
    """A few damped Newton steps for all items at once, on expected counts (items, nodes)."""
    number = right + wrong
    for _ in range(2):
        chance = expit(slope[:, None] * _NODES + intercept[:, None])
        error = right - number * chance
        weight = number * chance * (1.0 - chance)
        by_slope, by_intercept = error @ _NODES, error.sum(axis=1)
        ss, si, ii = weight @ _NODES**2, weight @ _NODES, weight.sum(axis=1)
        if with_prior:
            # log slope ~ N(0, 0.5^2), intercept ~ N(0, 3^2); the curvature of the first is kept
            # positive, so that a step never climbs the wrong way.
            by_slope = by_slope - (np.log(slope) / 0.25 + 1.0) / slope
            ss = ss + np.maximum((1.0 - np.log(slope)) / 0.25 - 1.0, 0.5) / slope**2
            by_intercept, ii = by_intercept - intercept / 9.0, ii + 1.0 / 9.0
        ss, ii = ss + 1e-9, ii + 1e-9
        determinant = np.maximum(ss * ii - si**2, 1e-12)
        change_slope = (ii * by_slope - si * by_intercept) / determinant
        change_intercept = (ss * by_intercept - si * by_slope) / determinant
        slope = slope + np.clip(change_slope, -0.5, 0.5)
        intercept = np.clip(intercept + np.clip(change_intercept, -1.0, 1.0), -8.0, 8.0)
        slope = np.clip(slope, 0.05 if with_prior else -8.0, 8.0)
    return slope, intercept


def _described(
    slope: Floats,
    intercept: Floats,
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
    flags = ["few-respondents"] if values.shape[1] < _FEW_RESPONDENTS else []
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
        reliability=between / total if total > 0 else float("nan"),
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

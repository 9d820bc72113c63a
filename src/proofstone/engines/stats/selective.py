"""Answering only when sure: how a respondent's own confidence sorts right answers from wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["RiskCoverage", "area_parts", "auroc", "auroc_parts", "risk_coverage"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """What answering only above a confidence would give, surest first.

    ``confidence`` (steps) falls, one step a distinct confidence; ``coverage`` and ``risk`` (draws,
    steps) are the share answered and the mean loss among them, NaN where a draw has none.
    ``area`` (draws) is the mean over units of the risk at the coverage that lets each in (El-Yaniv
    and Wiener 2010).
    """

    confidence: Floats
    coverage: Floats
    risk: Floats
    area: Floats


def risk_coverage(
    confidence: Floats, scores: Floats, weights: Floats | None = None
) -> RiskCoverage:
    """The curve of ``scores`` by ``confidence`` (units, no NaN); ``weights`` (draws, units) are how
    often each unit stands in each draw, by default once in one. Equal confidences enter together.
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    levels, step = _falling(confidence)
    number = _by_step(weights, step, len(levels))
    lost = _by_step(weights * (1.0 - scores), step, len(levels))
    answered = np.cumsum(number, axis=1)
    total = weights.sum(axis=1, keepdims=True)
    risk = np.cumsum(lost, axis=1) / np.where(answered > 0, answered, np.nan)
    held = np.where(total > 0, total, np.nan)
    area = np.nansum(np.where(number > 0, number * risk, 0.0), axis=1) / held[:, 0]
    return RiskCoverage(levels, answered / held, risk, area)


def auroc(confidence: Floats, scores: Floats, weights: Floats | None = None) -> Floats:
    """How often a right answer is surer than a wrong one, equal ones half (draws).

    ``scores`` of 0.5 and more are right; NaN without both kinds. The area under the ROC curve
    (Hanley and McNeil 1982).
    """
    weights = np.ones((1, len(scores))) if weights is None else weights
    levels, step = _falling(confidence)
    right = _by_step(weights * (scores >= 0.5), step, len(levels))
    wrong = _by_step(weights * (scores < 0.5), step, len(levels))
    surer = np.cumsum(right, axis=1) - right / 2.0
    pairs = right.sum(axis=1) * wrong.sum(axis=1)
    return np.asarray((surer * wrong).sum(axis=1) / np.where(pairs > 0, pairs, np.nan))


def auroc_parts(confidence: Floats, scores: Floats) -> Floats:
    """What each unit adds to the error of ``auroc`` (units): how often it is surer, or less sure,
    than those of the other kind, less the mean of that, by its kind's number (DeLong, DeLong and
    Clarke-Pearson 1988; for clusters Obuchowski 1997). Zeros without both kinds."""
    right = scores >= 0.5
    n_right, n_wrong = int(right.sum()), int((~right).sum())
    if not n_right or not n_wrong:
        return np.zeros(len(scores))
    value = float(auroc(confidence, scores)[0])
    above_wrong = _share_below(confidence, confidence[~right])
    above_right = _share_below(confidence, confidence[right])
    return np.where(right, (above_wrong - value) / n_right, (1.0 - above_right - value) / n_wrong)


def area_parts(confidence: Floats, scores: Floats) -> Floats:
    """What each unit adds to the error of ``risk_coverage(...).area`` (units): the risk at its own
    coverage less the area, and what its loss changes at all coverages that let it in."""
    n = len(scores)
    if not n:
        return np.zeros(0)
    curve = risk_coverage(confidence, scores)
    risk, coverage = curve.risk[0], curve.coverage[0]
    step = len(curve.confidence) - 1 - np.searchsorted(curve.confidence[::-1], confidence)
    weight = np.diff(coverage, prepend=0.0) / coverage
    # A unit stands in every coverage from its own step on, surest first.
    later = np.cumsum(weight[::-1])[::-1]
    later_risk = np.cumsum((weight * risk)[::-1])[::-1]
    own = risk[step] - float(curve.area[0]) + (1.0 - scores) * later[step] - later_risk[step]
    return np.asarray(own / n)


def _share_below(values: Floats, among: Floats) -> Floats:
    """The share of ``among`` below each value, equal ones half."""
    ordered = np.sort(among)
    ends = np.searchsorted(ordered, values, "left") + np.searchsorted(ordered, values, "right")
    return np.asarray(ends / (2.0 * len(among)))


def _falling(confidence: Floats) -> tuple[Floats, NDArray[np.intp]]:
    levels, place = np.unique(confidence, return_inverse=True)
    return levels[::-1], len(levels) - 1 - place


def _by_step(columns: Floats, step: NDArray[np.intp], n_steps: int) -> Floats:
    """Sums of ``columns`` (draws, units) over the units of each step (draws, steps)."""
    order = np.argsort(step, kind="stable")
    if not n_steps:
        return np.zeros((len(columns), 0))
    starts = np.searchsorted(step[order], np.arange(n_steps))
    return np.asarray(np.add.reduceat(columns[:, order], starts, axis=1))

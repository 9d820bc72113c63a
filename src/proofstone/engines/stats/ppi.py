"""A rate that a judge gave to many, corrected by people's labels of a few: prediction-powered."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.dependence import Dependence
from proofstone.engines.stats.flags import Flag
from proofstone.engines.stats.intervals import NO_SPREAD_BELOW, share_interval, t_quantile
from proofstone.records.results import Estimate

__all__ = ["JudgedRate", "correct_judged_rate"]

Floats = NDArray[np.float64]

_FEW_LABELS = 50


class JudgedRate(Struct, frozen=True, kw_only=True):
    """A mean by people's labels and a judge's, three ways, and whether the judge helped.

    ``corrected`` is PPI++; ``people_only`` uses the labelled units alone; ``judge_only`` believes
    the judge everywhere, which no interval can mend where the judge is biased: ``bias`` is how far
    it lies above people on the units that both saw. ``trust`` in [0, 1] is how much of the judge's
    word PPI++ uses (its lambda). ``labels_saved``: how many more labels people alone would need for
    as narrow an interval; 0 where the judge does not help. ``agreement`` is the correlation of both
    over the labelled units.
    """

    corrected: Estimate
    people_only: Estimate
    judge_only: float
    bias: float
    trust: float
    agreement: float
    labels_saved: float
    helps: bool


def correct_judged_rate(
    people: Floats,
    judge_on_same: Floats,
    judge_elsewhere: Floats,
    *,
    unit: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    confidence: float = 0.95,
) -> JudgedRate:
    """The mean label over all records, of which people saw a random sample.

    ``people`` and ``judge_on_same`` (n) are of the same records, ``judge_elsewhere`` (N) of the
    rest. ``unit`` (n + N, people's first) says which records are of one item, by its place in
    ``keys``; without it each is of its own. The mean is ``people + trust * (judge elsewhere - judge
    on the same)``, with the trust that makes its variance least: cov(a, b) / var(b) of people's
    mean a and the difference b of the judge's, held within [0, 1]; of independent records it is
    cov(people, judge) / ((1 + n / N) var(judge)) (Angelopoulos, Duchi and Zrnic 2023, equation 9).
    Student's t on people's effective groups less one, or Wilson's interval at these where nothing
    varies. It is right only where people's records were
    drawn at random, or whole items were.
    """
    n, n_more = len(people), len(judge_elsewhere)
    dependence = Dependence.of(n + n_more, unit, keys)
    seen = dependence.among(np.arange(n + n_more) < n)
    alone = _errors(people, n_more)
    variance = _covariance(dependence, seen, alone, alone) if n > 1 else float("nan")
    plain, trust = variance, 0.0
    mean = float(people.mean()) if n else float("nan")
    everywhere = np.concatenate([judge_on_same, judge_elsewhere])
    if n > 1 and n_more:
        lead = np.concatenate([_errors(judge_on_same, 0), -_errors(judge_elsewhere, 0)])
        own = _covariance(dependence, seen, lead, lead)
        both = _covariance(dependence, seen, alone, lead)
        trust = float(np.clip(both / own, 0.0, 1.0)) if own > NO_SPREAD_BELOW else 0.0
        mean += trust * float(judge_elsewhere.mean() - judge_on_same.mean())
        if trust > 0.0:
            left = alone - trust * lead
            variance = _covariance(dependence, seen, left, left)
    saved = n * (plain / variance - 1.0) if variance > 0 else 0.0
    return JudgedRate(
        corrected=_estimate(mean, variance, n, n_more, seen.groups, confidence, "PPI++"),
        people_only=_estimate(
            float(people.mean()) if n else mean, plain, n, 0, seen.groups, confidence, "mean, t"
        ),
        judge_only=float(everywhere.mean()) if len(everywhere) else float("nan"),
        bias=float((judge_on_same - people).mean()) if n else float("nan"),
        trust=trust,
        agreement=_correlation(people, judge_on_same) if n > 1 else float("nan"),
        labels_saved=max(saved, 0.0),
        helps=saved > 0.0,
    )


def _errors(values: Floats, n_more: int) -> Floats:
    """What each value adds to the error of their mean, and ``n_more`` others that add nothing."""
    n = len(values)
    left = (values - values.mean()) / n if n else values
    return np.concatenate([left, np.zeros(n_more)])


def _covariance(dependence: Dependence, seen: Dependence, first: Floats, second: Floats) -> float:
    """The covariance of two errors, corrected by people's groups, of which there are fewest; a
    variance is not below that of independent items."""
    found = dependence.moments(np.column_stack([first, second]), groups=seen.groups)
    covariance = float(found.covariance[0, 1])
    return max(covariance, float(found.alone[0, 1])) if first is second else covariance


def _correlation(first: Floats, second: Floats) -> float:
    scale = float(first.std() * second.std())
    covariance = float(((first - first.mean()) * (second - second.mean())).mean())
    return covariance / scale if scale > 0 else float("nan")


def _estimate(
    mean: float,
    variance: float,
    n: int,
    n_more: int,
    groups: float,
    confidence: float,
    made_by: str,
) -> Estimate:
    low, high = (0.0, 1.0) if n else (float("nan"), float("nan"))
    if groups >= 2.0:
        quantile = t_quantile(groups - 1.0, confidence)
        half = quantile * max(variance, 0.0) ** 0.5
        low, high = max(mean - half, 0.0), min(mean + half, 1.0)
        if variance <= 0.0:  # all alike: groups count as one answer each
            share = np.clip(np.array([mean]), 0.0, 1.0)
            ends = np.concatenate(share_interval(share, np.array([groups]), confidence))
            low, high = (float(end) for end in ends)
    flags: tuple[Flag, ...] = ("few-groups",) if groups < _FEW_LABELS else ()
    if groups < 2.0:
        flags = ("one-group",) if n else ("no-scores",)
    elif variance <= 0.0:
        flags = (*flags, "no-spread")
    return Estimate(
        value=mean,
        n=n + n_more,
        low=low,
        high=high,
        level=confidence,
        estimand="units like these, as people label them",
        made_by=made_by if groups >= 2.0 else "none",
        resampled="labelled records" if not n_more else "labelled and judged records",
        effective_n=groups,
        flags=flags,
    )

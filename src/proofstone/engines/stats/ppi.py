"""A rate that a judge gave to many, corrected by people's labels of a few: prediction-powered."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.flags import Flag
from proofstone.engines.stats.intervals import t_quantile
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
    people: Floats, judge_on_same: Floats, judge_elsewhere: Floats, *, confidence: float = 0.95
) -> JudgedRate:
    """The mean label over all units, of which people saw a random sample.

    ``people`` and ``judge_on_same`` (n) are of the same units, ``judge_elsewhere`` (N) of the rest.
    The mean is ``people + trust * (judge elsewhere - judge on the same)``, with the trust that
    makes its variance least: cov(people, judge) / ((1 + n / N) var(judge)), held within [0, 1]
    (Angelopoulos, Duchi and Zrnic 2023, equation 9); Student's t on n - 1 degrees. Units count as
    independent. It is right only where the labelled units were drawn at random.
    """
    n, n_more = len(people), len(judge_elsewhere)
    enough = n > 1
    trust = _trust(people, judge_on_same, n_more) if enough and n_more else 0.0
    mean = float(people.mean()) if n else float("nan")
    if trust > 0.0:
        mean += trust * float(judge_elsewhere.mean() - judge_on_same.mean())
    plain = float(people.var(ddof=1)) / n if enough else float("nan")
    variance = plain
    if trust > 0.0:
        left = float((people - trust * judge_on_same).var(ddof=1)) / n
        both = np.concatenate([judge_on_same, judge_elsewhere])
        variance = left + trust**2 * float(both.var(ddof=1)) / n_more
    saved = n * (plain / variance - 1.0) if variance > 0 else 0.0
    everywhere = np.concatenate([judge_on_same, judge_elsewhere])
    return JudgedRate(
        corrected=_estimate(mean, variance, n, n_more, confidence, "PPI++"),
        people_only=_estimate(
            float(people.mean()) if n else mean, plain, n, 0, confidence, "mean, t"
        ),
        judge_only=float(everywhere.mean()) if len(everywhere) else float("nan"),
        bias=float((judge_on_same - people).mean()) if n else float("nan"),
        trust=trust,
        agreement=_correlation(people, judge_on_same) if enough else float("nan"),
        labels_saved=max(saved, 0.0),
        helps=saved > 0.0,
    )


def _trust(people: Floats, judge: Floats, n_more: int) -> float:
    variance = float(judge.var(ddof=1))
    if variance <= 0.0:
        return 0.0
    covariance = float(np.cov(people, judge)[0, 1])
    return float(np.clip(covariance / ((1.0 + len(people) / n_more) * variance), 0.0, 1.0))


def _correlation(first: Floats, second: Floats) -> float:
    scale = float(first.std() * second.std())
    covariance = float(((first - first.mean()) * (second - second.mean())).mean())
    return covariance / scale if scale > 0 else float("nan")


def _estimate(
    mean: float, variance: float, n: int, n_more: int, confidence: float, made_by: str
) -> Estimate:
    low, high = (0.0, 1.0) if n else (float("nan"), float("nan"))
    if n > 1:
        half = t_quantile(n - 1, confidence) * variance**0.5
        low, high = max(mean - half, 0.0), min(mean + half, 1.0)
    flags: tuple[Flag, ...] = ("few-groups",) if n < _FEW_LABELS else ()
    if n < 2:
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
        made_by=made_by if n > 1 else "none",
        resampled="labelled units" if not n_more else "labelled and judged units",
        effective_n=float(n),
        flags=flags,
    )

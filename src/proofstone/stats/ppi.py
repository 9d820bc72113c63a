"""A rate that a judge gave to many, corrected by people's labels of a few: prediction-powered."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.comparisons import measure_contrasts
from proofstone.stats.flags import Estimand, Flag
from proofstone.stats.intervals import NO_SPREAD_BELOW, share_interval, t_quantile

# Whether a benchmark that a model filtered is harder for that model, or easier, than for others.
#
# Items were kept or dropped by what the filter's model answered (as a rule those that it failed),
# so on the filtered items its accuracy is no longer that of a model among others. Where a sample
# that no filter saw was asked too, the bias is a difference of differences: what the filter's model
# loses from unfiltered to filtered items, less what the others lose on average. Items are shared by
# all models, so the bias is one mean over filtered items less one over unfiltered ones, of each
# item's lead of the filter's model over the others.

Floats = NDArray[np.float64]


class FilterBias(Struct, frozen=True, kw_only=True):
    """``bias``: below 0 where the filter costs the models that made it more than the others.

    ``own`` and ``others`` are the two changes from unfiltered to filtered items, on the items where
    both kinds have scores. ``n_filtered`` and ``n_unfiltered`` items, ``n_own`` and ``n_others``
    models.
    """

    bias: Estimate
    own: Estimate
    others: Estimate
    p: float
    n_filtered: int
    n_unfiltered: int
    n_own: int
    n_others: int


def filter_bias(
    values: Floats,
    is_filtered: NDArray[np.bool_],
    is_unfiltered: NDArray[np.bool_],
    own: NDArray[np.bool_],
    keys: SharedKeys,
    *,
    estimand: Estimand = "knowledge",
    confidence: float = 0.95,
) -> FilterBias:
    """The bias against the models ``own`` (m) of ``values`` (U units, m; NaN where missing).

    ``is_filtered`` and ``is_unfiltered`` (U) say which items came through the filter, and which are
    a sample of all before it; an item may be in both. Items that lack a model's score are left out.
    Raises BadUsage where all models are the filter's, or none.
    """
    if not own.any() or own.all():
        raise BadUsage(
            "a filter's bias compares its own models with others; here are "
            f"{int(own.sum())} of its own and {int((~own).sum())} others",
            hint="ask models that had no hand in the filter the same items",
        )
    complete = ~np.isnan(values).any(axis=1)
    mine, theirs = values[:, own].mean(axis=1), values[:, ~own].mean(axis=1)
    columns = np.stack([mine - theirs, mine, theirs], axis=1)
    before = np.where((complete & is_unfiltered)[:, None], columns, np.nan)
    after = np.where((complete & is_filtered)[:, None], columns, np.nan)
    # Two samples of items, whatever they have in common: a filter picks among items, it does not
    # change them, so pairs would compare an item with itself.
    found = measure_contrasts(before, after, keys, estimand, paired=False)
    bias, own_change, others_change = found.estimates(confidence=confidence, bound=2.0)
    return FilterBias(
        bias=bias,
        own=own_change,
        others=others_change,
        p=float(found.p()[0]),
        n_filtered=int((complete & is_filtered).sum()),
        n_unfiltered=int((complete & is_unfiltered).sum()),
        n_own=int(own.sum()),
        n_others=int((~own).sum()),
    )


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

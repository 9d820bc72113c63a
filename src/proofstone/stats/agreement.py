"""Chance-corrected agreement between judges, annotators and keys, with intervals.

Also combines a judge's labels with those of people (prediction-powered inference).

Every coefficient here is a function of sums over units, so its bootstrap over units is a matrix
product. Ratings are category codes (units, raters), -1 where missing. ``clusters`` (units) assigns
units to items, ``keys`` lists what those items share.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate, Flag, Population, group_flags
from proofstone.stats.clusters import Dependence, SharedKeys, cluster_sums
from proofstone.stats.comparisons import measure_contrasts
from proofstone.stats.intervals import NO_SPREAD_BELOW, percentiles, share_interval, t_quantile
from proofstone.stats.resampling import bootstrapped, generator

Floats = NDArray[np.float64]


Ratings = NDArray[np.integer]


Level = Literal["nominal", "ordinal", "interval"]


Coefficient = Literal["Fleiss kappa", "Gwet AC1", "observed agreement"]


# Maps sums over units in each resample (resamples, columns) to one coefficient per resample.
_Reduce = Callable[[Floats], Floats]


_PURPOSE = 6


def cohen_kappa(
    first: Ratings,
    second: Ratings,
    *,
    weights: Literal["none", "linear", "quadratic"] = "none",
    n_categories: int | None = None,
    clusters: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return Cohen's kappa of two raters (1960), or weighted kappa (1968).

    Units that either rater left out are dropped. The value is 1 - observed / expected disagreement.
    The disagreement between categories i and j is 1, their distance, or its square. NaN where both
    raters use one and the same category only.
    """
    kept = (first >= 0) & (second >= 0)
    a, b = first[kept].astype(np.int64), second[kept].astype(np.int64)
    c = n_categories or int(max(a.max(initial=-1), b.max(initial=-1))) + 1
    cells = np.zeros((len(a), max(c, 1) ** 2))
    cells[np.arange(len(a)), a * c + b] = 1.0
    distance = np.abs(np.subtract.outer(np.arange(c), np.arange(c))).astype(np.float64)
    cost = {"none": (distance > 0).astype(np.float64), "linear": distance}.get(weights, distance**2)

    def kappa(sums: Floats) -> Floats:
        tables = sums.reshape(len(sums), c, c)
        total = np.maximum(tables.sum(axis=(1, 2)), 1e-300)
        margins = tables.sum(axis=2)[:, :, None] * tables.sum(axis=1)[:, None, :]
        seen = (tables * cost).sum(axis=(1, 2))
        return _one_less(seen, (margins * cost).sum(axis=(1, 2)) / total)

    own = None if clusters is None else clusters[kept]
    return _estimate(cells, kappa, own, keys, n_resamples, seed, confidence)


def agreement(
    ratings: Ratings,
    coefficient: Coefficient,
    *,
    n_categories: int | None = None,
    clusters: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return Fleiss' kappa (1971), Gwet's AC1 (2008) or plain pairwise agreement of any number of
    raters.

    Observed agreement is the mean over units of the share of rating pairs that agree. A unit with
    one rating only counts for the category frequencies. Expected agreement is the sum of p**2 for
    Fleiss. For AC1 it is the sum of p (1 - p) / (categories - 1), so AC1 stays high where one
    category holds nearly all ratings. ``n_categories`` is the number of possible categories
    (default: up to the highest code seen).
    """
    c = n_categories or int(ratings.max(initial=-1)) + 1
    counts = _category_counts(ratings, max(c, 1))
    number = counts.sum(axis=1)
    pairs = number * (number - 1.0)
    paired = number > 1
    alike = np.where(paired, (counts * (counts - 1.0)).sum(axis=1) / np.where(paired, pairs, 1), 0)
    shares = counts / np.maximum(number, 1.0)[:, None]
    columns = np.column_stack([alike, paired, number > 0, shares]).astype(np.float64)

    def coefficient_of(sums: Floats) -> Floats:
        seen = sums[:, 0] / np.where(sums[:, 1] > 0, sums[:, 1], np.nan)
        if coefficient == "observed agreement":
            return seen
        p = sums[:, 3:] / np.where(sums[:, 2] > 0, sums[:, 2], np.nan)[:, None]
        if coefficient == "Fleiss kappa":
            chance = (p**2).sum(axis=1)
        else:
            chance = (p * (1.0 - p)).sum(axis=1) / max(c - 1, 1)
        return _one_less(1.0 - seen, 1.0 - chance)

    kept = number > 0
    own = None if clusters is None else clusters[kept]
    return _estimate(columns[kept], coefficient_of, own, keys, n_resamples, seed, confidence)


def krippendorff_alpha(
    ratings: Ratings,
    level: Level = "nominal",
    *,
    values: Floats | None = None,
    clusters: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    n_resamples: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """Return Krippendorff's alpha for any number of raters and missing ratings (2019, chapter 12).

    ``level``: categories are unordered, ordered (codes ascend), or have ``values`` (categories; by
    default their codes). Units with fewer than two ratings do not contribute.
    """
    if level not in {"nominal", "ordinal", "interval"}:
        raise BadUsage(
            f"unknown level of measurement {level!r}", hint="use nominal, ordinal or interval"
        )
    c = int(ratings.max(initial=-1)) + 1
    counts = _category_counts(ratings, max(c, 1))
    kept = counts.sum(axis=1) > 1
    counts = counts[kept]
    c = counts.shape[1]
    pairs = counts[:, :, None] * counts[:, None, :]
    pairs[:, np.arange(c), np.arange(c)] -= counts
    coincidences = pairs / np.maximum(counts.sum(axis=1) - 1.0, 1.0)[:, None, None]
    scale = np.arange(c, dtype=np.float64) if values is None else values

    def alpha(sums: Floats) -> Floats:
        together = sums.reshape(len(sums), c, c)
        margins = together.sum(axis=2)
        total = margins.sum(axis=1)
        cost = _cost(level, margins, scale)
        seen = (together * cost).sum(axis=(1, 2))
        chance = (margins[:, :, None] * margins[:, None, :] * cost).sum(axis=(1, 2))
        return _one_less(seen, chance / np.maximum(total - 1.0, 1.0))

    own = None if clusters is None else clusters[kept]
    flat = coincidences.reshape(len(counts), c * c)
    return _estimate(flat, alpha, own, keys, n_resamples, seed, confidence)


def _category_counts(ratings: Ratings, c: int) -> Floats:
    """Return how many ratings of each unit fall in each category (units, C)."""
    n = len(ratings)
    row, column = np.nonzero(ratings >= 0)
    cells = row * c + ratings[row, column]
    return np.bincount(cells, minlength=n * c).reshape(n, c).astype(np.float64)


def _cost(level: Level, margins: Floats, values: Floats) -> Floats:
    """Return squared category distances (resamples or 1, C, C); ordinal ones depend on the
    margins.
    """
    c = margins.shape[1]
    if level == "nominal":
        return 1.0 - np.eye(c)[None]
    if level == "interval":
        return np.subtract.outer(values, values)[None] ** 2
    # Half of both ends and all between: the difference of mid-ranks.
    middle = np.cumsum(margins, axis=1) - margins / 2.0
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def _one_less(seen: Floats, expected: Floats) -> Floats:
    """Return 1 - seen / expected disagreement; NaN where the expected disagreement is 0."""
    return np.where(
        expected > 1e-12, 1.0 - seen / np.where(expected > 1e-12, expected, 1.0), np.nan
    )


def _estimate(
    columns: Floats,
    reduce: _Reduce,
    clusters: NDArray[np.integer] | None,
    keys: SharedKeys | None,
    n_resamples: int,
    seed: int,
    confidence: float,
) -> Estimate:
    """Return the coefficient of all units with a percentile interval.

    Units or whole clusters are resampled. Where the ``keys`` of clusters overlap, the sums are
    sampled from a normal distribution with the covariance over all pairs of units that share a
    cluster key.
    """
    n = len(columns)
    value = float(reduce(columns.sum(axis=0, keepdims=True))[0]) if n else float("nan")
    low = high = float("nan")
    made_by = "none"
    if clusters is not None and keys is not None and keys.groups is not None:
        clusters = keys.groups[clusters]
    dependence = Dependence.of(n, clusters, keys)
    groups = dependence.groups
    rng = generator(seed, _PURPOSE)
    if clusters is not None and keys is not None and keys.groups is None:
        drawn = reduce(_normal_sums(columns, dependence, n_resamples, rng))
        how = f"normal approximation to sums over shared pairs, {n_resamples} samples, seed {seed}"
    else:
        blocks = columns if clusters is None else cluster_sums(columns, clusters)
        groups = float(len(blocks))
        drawn = np.zeros(0)
        if groups >= 2.0:
            drawn = bootstrapped(
                len(blocks), lambda counts: reduce(counts @ blocks), n_resamples, rng
            )
        how = f"bootstrap, percentile, {n_resamples} resamples, seed {seed}"
    if groups >= 2.0:
        made_by = how
        low, high = percentiles(drawn, confidence)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        population="agreement on units like these",
        made_by=made_by,
        resampled="units" if clusters is None else "clusters",
        effective_n=groups,
        flags=group_flags(n, groups),
    )


def _normal_sums(
    columns: Floats, dependence: Dependence, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return sums of ``columns`` sampled from their normal approximation (resamples, C), floored at
    0.
    """
    root = dependence.moments(columns - columns.mean(axis=0)).root()
    noise = rng.standard_normal((n_resamples, len(root))) @ root.T
    return np.asarray(np.maximum(columns.sum(axis=0) + noise, 0.0))


# A judge compared with people: accuracy per label.


class Confusion(Struct, frozen=True, kw_only=True):
    """Confusion matrix: ``counts[i][j]`` records have label i from people and label j from the
    judge.

    ``left_out`` records lack one of the two labels. ``accuracy`` is the share on the diagonal. For
    each label, ``recall`` is the share of people's records with it to which the judge gives it.
    ``precision`` is the share of the judge's records with it to which people give it. All have the
    interval of ``interval_of_means``.
    """

    counts: tuple[tuple[int, ...], ...]
    accuracy: Estimate
    recall: tuple[Estimate, ...]
    precision: tuple[Estimate, ...]
    left_out: int


def confuse(
    people: NDArray[np.integer],
    judge: NDArray[np.integer],
    n_labels: int,
    *,
    unit: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    confidence: float = 0.95,
) -> Confusion:
    """Return the confusion matrix of two columns of label codes (records), negative where missing.

    ``unit`` (records) gives the item of each record by its index in ``keys``.
    """
    kept = (people >= 0) & (judge >= 0)
    first, second = people[kept].astype(np.int64), judge[kept].astype(np.int64)
    dependence = Dependence.of(len(first), None if unit is None else unit[kept], keys)
    counts = np.bincount(first * n_labels + second, minlength=n_labels**2)
    label = np.arange(n_labels)
    rows, columns = first[:, None] == label, second[:, None] == label
    sets = np.hstack([np.ones((len(first), 1)), rows, columns])
    found = _shares(sets, (first == second).astype(np.float64), dependence, confidence)
    return Confusion(
        counts=tuple(tuple(row) for row in counts.reshape(n_labels, n_labels).tolist()),
        accuracy=found[0],
        recall=tuple(found[1 : n_labels + 1]),
        precision=tuple(found[n_labels + 1 :]),
        left_out=int((~kept).sum()),
    )


def _shares(
    sets: Floats, agree: Floats, dependence: Dependence, confidence: float
) -> list[Estimate]:
    """Return the share of agreeing records in each set (records, sets)."""
    values, found = dependence.shares(sets, agree, confidence)
    return [
        Estimate(
            value=float(values[place]),
            n=n,
            low=float(found.low[place]),
            high=float(found.high[place]),
            level=confidence,
            population="records like these",
            made_by=found.made_by[place] if n else "none",
            resampled="items" if dependence.is_shared else "records",
            effective_n=dependence.among(sets[:, place] > 0).groups,
            flags=() if n else ("no-scores",),
        )
        for place, n in enumerate(sets.sum(axis=0).astype(int).tolist())
    ]


# A judge's rate on many records, corrected by people's labels on a few (prediction-powered).

# Filter bias: is a model-filtered benchmark harder or easier for the model that filtered it?
#
# Items were kept or dropped by the answers of the filter's model (usually kept where it failed), so
# its accuracy on the filtered items is biased. Where an unfiltered sample was asked too, the bias
# is a difference of differences. It is the change of the filter's model from unfiltered to filtered
# items, less the mean change of the others. All models share items. So the bias is the mean lead of
# the filter's model over the others on filtered items, less its mean lead on unfiltered ones.


class FilterBias(Struct, frozen=True, kw_only=True):
    """Filter ``bias``; below 0 where the filter lowers its own models' scores more than the
    others'.

    ``own`` and ``others`` are the changes from unfiltered to filtered items, on the items where
    both kinds of models have scores. The rest are numbers of items and models.
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
    population: Population = "domain",
    confidence: float = 0.95,
) -> FilterBias:
    """Return the bias against the models ``own`` (m) in ``values`` (U units, m; NaN where missing).

    ``is_filtered`` (U) marks the items that passed the filter, ``is_unfiltered`` (U) a sample of
    all items before it. An item may be in both. Items that lack a model's score are left out.
    Raises BadUsage where all models or none belong to the filter.
    """
    if not own.any() or own.all():
        raise BadUsage(
            "filter bias: expected at least one model of the filter and one other, got "
            f"{int(own.sum())} and {int((~own).sum())}",
            hint="run models that were not used by the filter on the same items",
        )
    complete = ~np.isnan(values).any(axis=1)
    mine, theirs = values[:, own].mean(axis=1), values[:, ~own].mean(axis=1)
    columns = np.stack([mine - theirs, mine, theirs], axis=1)
    before = np.where((complete & is_unfiltered)[:, None], columns, np.nan)
    after = np.where((complete & is_filtered)[:, None], columns, np.nan)
    # Treated as two samples of items, even if they overlap: a filter selects items and does not
    # change them, so pairing would compare an item with itself.
    found = measure_contrasts(before, after, keys, population, paired=False)
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
    """A mean label estimated from people, from a judge, and from both.

    ``corrected`` is PPI++. ``people_only`` uses the labeled units alone. ``judge_only`` uses the
    judge everywhere; its interval does not cover the judge's bias. ``bias`` is the judge's mean
    less people's on the units that both labeled. ``trust`` in [0, 1] is the weight of the judge
    (lambda in PPI++). ``labels_saved`` is how many more labels from people would give an equally
    narrow interval; 0 where the judge does not help. ``agreement`` is the correlation of both over
    the labeled units.
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
    """Return the mean label over all records, of which people labeled a random sample.

    ``people`` and ``judge_on_same`` (n) are of the same records, ``judge_elsewhere`` (N) of the
    rest. ``unit`` (n + N, people's first) gives the item of each record by its index in ``keys``;
    by default each record is an item.

    The mean is ``people + trust * (judge elsewhere - judge on the same)``. ``trust`` minimizes its
    variance: cov(a, b) / var(b), clipped to [0, 1], with people's mean a and the judge's difference
    b. For independent records this is cov(people, judge) / ((1 + n / N) var(judge)) (Angelopoulos,
    Duchi and Zrnic 2023, equation 9). The interval is Student's t on people's effective groups less
    one, or Wilson's at these where nothing varies. Valid only where people's records, or whole
    items, were sampled at random.
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
        corrected=_corrected_estimate(mean, variance, n, n_more, seen.groups, confidence, "PPI++"),
        people_only=_corrected_estimate(
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
    """Return each value's contribution to the error of the mean, then zeros for ``n_more``
    others.
    """
    n = len(values)
    left = (values - values.mean()) / n if n else values
    return np.concatenate([left, np.zeros(n_more)])


def _covariance(dependence: Dependence, seen: Dependence, first: Floats, second: Floats) -> float:
    """Return the covariance of two errors, with the correction for people's groups (the fewest).

    A variance is floored at that of independent items.
    """
    found = dependence.moments(np.column_stack([first, second]), groups=seen.groups)
    covariance = float(found.covariance[0, 1])
    return max(covariance, float(found.alone[0, 1])) if first is second else covariance


def _correlation(first: Floats, second: Floats) -> float:
    scale = float(first.std() * second.std())
    covariance = float(((first - first.mean()) * (second - second.mean())).mean())
    return covariance / scale if scale > 0 else float("nan")


def _corrected_estimate(
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
        if variance <= 0.0:  # all values equal: each group counts as one answer
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
        population="units like these, as labeled by people",
        made_by=made_by if groups >= 2.0 else "none",
        resampled="labeled records" if not n_more else "labeled and judged records",
        effective_n=groups,
        flags=flags,
    )

"""Agreement between judges, annotators and keys, beyond what chance gives, with intervals; and
what a judge adds to the labels of people (prediction-powered inference).

Every coefficient here is a function of sums over units, so that its bootstrap over units is a
matrix product and no loop. Ratings are codes of categories (units, raters), -1 where there is none.
``clusters`` (units) says which units are of one item, ``keys`` what those items share.
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


# Sums over units in each draw (draws, columns) become a coefficient a draw.
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
    """Cohen's kappa of two raters (1960), or weighted (1968); units that one left out count not.

    1 - observed over expected disagreement, disagreement between categories i and j being 1, their
    distance, or its square. NaN where both use one and the same category only.
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
    """Fleiss' kappa (1971), Gwet's AC1 (2008) or plain pairwise agreement of any number of raters.

    Observed: the mean over units of the share of pairs of their ratings that agree; a unit of one
    rating counts for the frequencies of categories only. By chance: sum of p**2 for Fleiss, sum of
    p (1 - p) / (categories - 1) for AC1, which stays high where one category holds nearly all.
    ``n_categories``: those that could have been used, by default those up to the highest seen.
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
    """Krippendorff's alpha for any raters and missing ratings (2019, chapter 12).

    ``level``: categories that only differ, that have an order (codes ascend), or that have
    ``values`` (categories; by default their codes). Units of fewer than two ratings tell nothing.
    """
    if level not in {"nominal", "ordinal", "interval"}:
        raise BadUsage(f"{level!r} is no level of measurement", hint="nominal, ordinal or interval")
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
    """How often each unit was given each category (units, C)."""
    n = len(ratings)
    row, column = np.nonzero(ratings >= 0)
    cells = row * c + ratings[row, column]
    return np.bincount(cells, minlength=n * c).reshape(n, c).astype(np.float64)


def _cost(level: Level, margins: Floats, values: Floats) -> Floats:
    """Squared distances of categories (draws or 1, C, C); ordinal ones depend on the margins."""
    c = margins.shape[1]
    if level == "nominal":
        return 1.0 - np.eye(c)[None]
    if level == "interval":
        return np.subtract.outer(values, values)[None] ** 2
    # Half of both ends and all between: the difference of mid-ranks.
    middle = np.cumsum(margins, axis=1) - margins / 2.0
    return (middle[:, :, None] - middle[:, None, :]) ** 2


def _one_less(seen: Floats, expected: Floats) -> Floats:
    """1 - seen / expected disagreement, NaN where none could be expected."""
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
    """The coefficient of all units, with percentiles over draws of units, or of whole clusters;
    where ``keys`` of clusters overlap, over draws of the sums from a normal law with the covariance
    over all pairs of units that share any."""
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
        how = f"normal law of sums over shared pairs, {n_resamples} draws, seed {seed}"
    else:
        blocks = columns if clusters is None else cluster_sums(columns, clusters)
        groups = float(len(blocks))
        drawn = np.zeros(0)
        if groups >= 2.0:
            drawn = bootstrapped(
                len(blocks), lambda counts: reduce(counts @ blocks), n_resamples, rng
            )
        how = f"bootstrap, percentile, {n_resamples} draws, seed {seed}"
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
    """Sums of ``columns`` as they would vary (draws, C); none below 0."""
    root = dependence.moments(columns - columns.mean(axis=0)).root()
    noise = rng.standard_normal((n_resamples, len(root))) @ root.T
    return np.asarray(np.maximum(columns.sum(axis=0) + noise, 0.0))


# A judge against people: who was right, label by label.


class Confusion(Struct, frozen=True, kw_only=True):
    """``counts[i][j]``: records that people label i and the judge j; ``left_out`` lack one of
    both.

    ``accuracy`` is the share on the diagonal. For each label, ``recall`` is the share of people's
    records with it that the judge gives it too, ``precision`` the share of the judge's that people
    give it too; all with the interval of ``interval_of_means``.
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
    """The table of two columns of label codes (records), negative where there is none. ``unit``
    (records) says which are of one item, by its place in ``keys``."""
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
    """How many agree of each set of records (records, sets)."""
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


# A rate that a judge gave to many, corrected by people's labels of a few: prediction-powered.

# Whether a benchmark that a model filtered is harder for that model, or easier, than for others.
#
# Items were kept or dropped by what the filter's model answered (as a rule those that it failed),
# so on the filtered items its accuracy is no longer that of a model among others. Where a sample
# that no filter saw was asked too, the bias is a difference of differences: what the filter's model
# loses from unfiltered to filtered items, less what the others lose on average. Items are shared by
# all models, so the bias is one mean over filtered items less one over unfiltered ones, of each
# item's lead of the filter's model over the others.


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
    population: Population = "domain",
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
        population="units like these, as people label them",
        made_by=made_by if groups >= 2.0 else "none",
        resampled="labelled records" if not n_more else "labelled and judged records",
        effective_n=groups,
        flags=flags,
    )

"""Agreement between judges, annotators and keys, beyond what chance gives, with intervals.

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
from proofstone.records.runs import Estimate
from proofstone.stats.clusters import Dependence, SharedKeys, cluster_sums
from proofstone.stats.flags import group_flags
from proofstone.stats.intervals import percentiles
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
    n_draws: int = 2_000,
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
    return _estimate(cells, kappa, own, keys, n_draws, seed, confidence)


def agreement(
    ratings: Ratings,
    coefficient: Coefficient,
    *,
    n_categories: int | None = None,
    clusters: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    n_draws: int = 2_000,
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
    return _estimate(columns[kept], coefficient_of, own, keys, n_draws, seed, confidence)


def krippendorff_alpha(
    ratings: Ratings,
    level: Level = "nominal",
    *,
    values: Floats | None = None,
    clusters: NDArray[np.integer] | None = None,
    keys: SharedKeys | None = None,
    n_draws: int = 2_000,
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
    return _estimate(flat, alpha, own, keys, n_draws, seed, confidence)


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
    n_draws: int,
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
        drawn = reduce(_normal_sums(columns, dependence, n_draws, rng))
        how = f"normal law of sums over shared pairs, {n_draws} draws, seed {seed}"
    else:
        blocks = columns if clusters is None else cluster_sums(columns, clusters)
        groups = float(len(blocks))
        drawn = np.zeros(0)
        if groups >= 2.0:
            drawn = bootstrapped(len(blocks), lambda counts: reduce(counts @ blocks), n_draws, rng)
        how = f"bootstrap, percentile, {n_draws} draws, seed {seed}"
    if groups >= 2.0:
        made_by = how
        low, high = percentiles(drawn, confidence)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand="agreement on units like these",
        made_by=made_by,
        resampled="units" if clusters is None else "clusters",
        effective_n=groups,
        flags=group_flags(n, groups),
    )


def _normal_sums(
    columns: Floats, dependence: Dependence, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Sums of ``columns`` as they would vary (draws, C); none below 0."""
    root = dependence.moments(columns - columns.mean(axis=0)).root()
    noise = rng.standard_normal((n_draws, len(root))) @ root.T
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
            estimand="records like these",
            made_by=found.made_by[place] if n else "none",
            resampled="items" if dependence.is_shared else "records",
            effective_n=dependence.among(sets[:, place] > 0).groups,
            flags=() if n else ("no-scores",),
        )
        for place, n in enumerate(sets.sum(axis=0).astype(int).tolist())
    ]

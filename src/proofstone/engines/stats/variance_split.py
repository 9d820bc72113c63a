"""How much of a mean's uncertainty comes from which items there are, and how much from sampling."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["VarianceSplit", "chance_correlation", "split_variance"]

Floats = NDArray[np.float64]


class VarianceSplit(Struct, frozen=True, kw_only=True):
    """The variance of one answer's score: ``items`` between items, ``samples`` within an item.

    ``repeatability = items / (items + samples)``: how far an item's answers go together; NaN where
    nothing varies. Standard errors of the mean over independent items: ``error`` as asked, with
    one sample an item, and the least that any number of samples reaches. One-way random effects by
    the analysis of variance (Searle, Casella and McCulloch 1992, section 3.6), ``items`` floored
    at 0. NaN with fewer than two units, or no unit of two samples.
    """

    items: float
    samples: float
    repeatability: float
    error: float
    error_of_one: float
    error_at_best: float
    n_units: int
    mean_samples: float


def split_variance(scores: Floats) -> VarianceSplit:
    """The split of one respondent's ``scores`` (units, samples), NaN where there is none."""
    number = (~np.isnan(scores)).sum(axis=1)
    scores, number = scores[number > 0], number[number > 0]
    n, total = len(number), int(number.sum())
    if n < 2 or total <= n:
        return _unknown(n, total / n if n else 0.0)
    means = np.nansum(scores, axis=1) / number
    within = float(np.nansum((scores - means[:, None]) ** 2) / (total - n))
    grand = float(np.nansum(scores)) / total
    between = float((number * (means - grand) ** 2).sum() / (n - 1))
    typical = (total - float((number**2).sum()) / total) / (n - 1)
    items = max((between - within) / typical, 0.0)
    # Units weigh the same in a mean, whatever their samples.
    own = items + within * float((1.0 / number).mean())
    return VarianceSplit(
        items=items,
        samples=within,
        repeatability=items / (items + within) if items + within > 0 else float("nan"),
        error=float(np.sqrt(own / n)),
        error_of_one=float(np.sqrt((items + within) / n)),
        error_at_best=float(np.sqrt(items / n)),
        n_units=n,
        mean_samples=total / n,
    )


def chance_correlation(first: Floats, second: Floats) -> float:
    """How far two respondents' chances go together over items: the correlation of their means,
    freed of sampling noise, within [-1, 1].

    Both are (units, samples). Their covariance over units, through the ``items`` variance of each
    (Spearman 1904). NaN where either has none. With `VarianceSplit.repeatability` it is what
    `Assumed` takes for planning the next test.
    """
    a, b = (_unit_means(scores) for scores in (first, second))
    both = ~np.isnan(a) & ~np.isnan(b)
    scale = split_variance(first[both]).items * split_variance(second[both]).items
    if both.sum() < 2 or not scale > 0:
        return float("nan")
    covariance = float(np.cov(a[both], b[both])[0, 1])
    return float(np.clip(covariance / np.sqrt(scale), -1.0, 1.0))


def _unit_means(scores: Floats) -> Floats:
    number = (~np.isnan(scores)).sum(axis=1)
    return np.where(number > 0, np.nansum(scores, axis=1) / np.maximum(number, 1), np.nan)


def _unknown(n: int, mean_samples: float) -> VarianceSplit:
    nan = float("nan")
    return VarianceSplit(
        items=nan,
        samples=nan,
        repeatability=nan,
        error=nan,
        error_of_one=nan,
        error_at_best=nan,
        n_units=n,
        mean_samples=mean_samples,
    )

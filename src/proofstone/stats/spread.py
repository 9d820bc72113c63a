"""The spread of mean scores over groups of items, and how much of it is sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MOST_WORK = 1_000_000_000  # scores read by the permutations, where 2,000 do not need more
_FEWEST, _MOST = 2_000, 10_000
_NARROWEST = 0.01  # bandwidth of a density of scores from 0 to 1


@dataclass(frozen=True, slots=True)
class GroupSpread:
    """The mean scores of one model by group, and their spread; each group counts the same.

    ``sampling_sd`` is the root of the mean variance of a group's score by the numbers of its items.
    ``between_sd`` is the root of the variance that is left, 0 if none is (method of moments,
    DerSimonian and Laird 1986 with equal weights). ``p`` is that of ``n_permutations`` random
    assignments of items to groups with a spread at least as large.
    """

    scores: tuple[float, ...]
    mean: float
    median: float
    sd: float
    sampling_sd: float
    between_sd: float
    p: float
    n_permutations: int


def spread_of_groups(
    values: Floats,
    codes: NDArray[np.int64],
    *,
    seed: int = 0,
    n_permutations: int | None = None,
) -> list[GroupSpread]:
    """Return the spread of each model, from ``values`` (items, models) and the items' groups.

    ``codes`` are 0 to groups - 1, each with 2 items or more. There are 2 groups or more. Without
    ``n_permutations`` there are 2,000 to 10,000, by the size of ``values``.
    """
    order = np.argsort(codes, kind="stable")
    values, sizes = values[order], np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    means = np.add.reduceat(values, starts) / sizes[:, None]
    rest = values - np.repeat(means, sizes, axis=0)
    variances = np.add.reduceat(rest**2, starts) / (sizes * (sizes - 1))[:, None]
    sampling = variances.mean(axis=0)
    total = means.var(axis=0, ddof=1)
    n = n_permutations or int(np.clip(_MOST_WORK // max(1, values.size), _FEWEST, _MOST))
    rng = np.random.default_rng(seed)
    larger = np.zeros(values.shape[1], dtype=np.int64)
    for _ in range(n):
        mixed = np.add.reduceat(values[rng.permutation(len(values))], starts) / sizes[:, None]
        larger += mixed.var(axis=0, ddof=1) >= total * (1 - 1e-9)
    return [
        GroupSpread(
            scores=tuple(means[:, at].tolist()),
            mean=float(means[:, at].mean()),
            median=float(np.median(means[:, at])),
            sd=float(np.sqrt(total[at])),
            sampling_sd=float(np.sqrt(sampling[at])),
            between_sd=float(np.sqrt(max(0.0, total[at] - sampling[at]))),
            p=float((1 + larger[at]) / (1 + n)),
            n_permutations=n,
        )
        for at in range(values.shape[1])
    ]


def density(scores: Sequence[float], n: int = 101) -> tuple[list[float], list[float]]:
    """Return a Gaussian density of scores on n places from 0 to 1, reflected at both ends.

    The bandwidth is Silverman's (1986, equation 3.31), at least one point. The area is 1.
    """
    values = np.asarray(scores, dtype=np.float64)
    low, high = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std(ddof=1)), float(high - low) / 1.34) if len(values) > 1 else 0.0
    width = max(0.9 * spread * len(values) ** -0.2, _NARROWEST)
    places = np.linspace(0, 1, n)
    mirrored = np.concatenate([values, -values, 2 - values])
    far = (places[:, None] - mirrored) / width
    heights = np.exp(-(far**2) / 2).sum(axis=1) / (len(values) * width * np.sqrt(2 * np.pi))
    return places.tolist(), heights.tolist()

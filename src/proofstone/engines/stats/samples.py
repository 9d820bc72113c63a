"""The same items asked several times: AVG@k, the mean of k samples' means and their spread."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

__all__ = ["AverageAtK", "average_at_k"]


class AverageAtK(Struct, frozen=True, kw_only=True):
    """AVG@k: ``mean`` over the means ``by_sample`` of k samples, ``sd`` over them with k - 1.

    ``sd`` is NaN for k = 1: one sample says nothing of another. ``sd_population`` divides by k, as
    some papers print it.
    """

    k: int
    mean: float
    sd: float
    sd_population: float
    by_sample: tuple[float, ...]


def average_at_k(sample: NDArray[np.integer], counted: NDArray[np.float64]) -> AverageAtK:
    """AVG@k of one respondent's scores; parallel arrays, NaN in ``counted`` left out.

    Each sample weighs the same, also where one has fewer counted scores. No score: k = 0 and NaN.
    """
    kept = ~np.isnan(counted)
    _, code, sizes = np.unique(sample[kept], return_inverse=True, return_counts=True)
    means = np.bincount(code, weights=counted[kept]) / sizes if len(sizes) else np.empty(0)
    k = len(means)
    return AverageAtK(
        k=k,
        mean=float(means.mean()) if k else float("nan"),
        sd=float(means.std(ddof=1)) if k > 1 else float("nan"),
        sd_population=float(means.std()) if k else float("nan"),
        by_sample=tuple(means.tolist()),
    )

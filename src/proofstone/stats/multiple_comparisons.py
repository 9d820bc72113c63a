"""P-values of many tests at once, adjusted: Holm, and Benjamini and Hochberg."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proofstone.stats.intervals import Floats


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values, in the order of ``p``; an empty family stays empty.

    Below a level, the chance of any false claim is at most that level, whatever the dependence
    (Holm 1979).
    """
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's adjusted p-values, in the order of ``p``.

    Below a level q, at most the share q of the claims is expected to be false, where the tests are
    independent or positively dependent (1995; Benjamini and Yekutieli 2001).
    """
    order = np.argsort(p, kind="stable")[::-1]
    stepped = p[order] * len(p) / np.arange(len(p), 0, -1)
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped), 1.0)
    return adjusted


def over_known(correct: Callable[[Floats], Floats], p: Floats) -> Floats:
    """``holm`` or ``benjamini_hochberg`` over the tests that were made; NaN stays."""
    adjusted = np.full_like(p, np.nan)
    made = ~np.isnan(p)
    adjusted[made] = correct(p[made])
    return adjusted

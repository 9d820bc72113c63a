"""Adjusted p-values for multiple tests: Holm, and Benjamini-Hochberg."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from proofstone.stats.intervals import Floats


def holm(p: Floats) -> Floats:
    """Return Holm's adjusted p-values, in the order of ``p``; an empty family stays empty.

    Rejecting below a level keeps the family-wise error rate at or below it, under any dependence
    (Holm 1979).
    """
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """Return Benjamini-Hochberg adjusted p-values (q-values), in the order of ``p``.

    Rejecting below a level q keeps the expected share of false discoveries at or below q, where the
    tests are independent or positively dependent (1995; Benjamini and Yekutieli 2001).
    """
    order = np.argsort(p, kind="stable")[::-1]
    stepped = p[order] * len(p) / np.arange(len(p), 0, -1)
    adjusted = np.empty_like(stepped)
    adjusted[order] = np.minimum(np.minimum.accumulate(stepped), 1.0)
    return adjusted


def over_known(correct: Callable[[Floats], Floats], p: Floats) -> Floats:
    """Return ``holm`` or ``benjamini_hochberg`` over the tests that have a p-value; NaN stays
    NaN.
    """
    adjusted = np.full_like(p, np.nan)
    made = ~np.isnan(p)
    adjusted[made] = correct(p[made])
    return adjusted

"""What each shared fact does to the questions that hold it: its ease, and whom it favours.

A composed question rests on several statements, so no single score is about one of them. Over all
questions that hold a statement the others differ, and what is left is its own: a wrong statement
makes its questions harder than the rest, most of all for those who know better.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray
from scipy import sparse, special

from proofstone.engines.stats.clusters import SharedKeys
from proofstone.engines.stats.item_analysis import one_sided_p, row_correlations
from proofstone.engines.stats.multiplicity import benjamini_hochberg

__all__ = ["KEY_FLAGS", "KeyFlag", "KeyStatistics", "describe_keys"]

Floats = NDArray[np.float64]
KeyFlag = Literal["harder-than-the-rest", "weak-beat-strong", "probably-wrong"]

KEY_FLAGS: dict[KeyFlag, str] = {
    "harder-than-the-rest": "questions that hold it are missed more than the others",
    "weak-beat-strong": "on questions that hold it the weak do better than the strong",
    "probably-wrong": "its questions are missed more, and the strong gain nothing on them",
}

_FEWEST_RESPONDENTS = 8


class KeyStatistics(Struct, frozen=True, kw_only=True):
    """One key by the ``n_units`` units that hold it.

    ``mean`` is the mean score on them, ``lift`` how far it lies above the mean on all units, over
    the respondents that have them; ``p`` tests a lift of 0. ``discrimination`` is the correlation
    over respondents of their mean on these units with that on all others, ``p_low`` the chance of
    one as low where there is none. NaN where that cannot be told.
    """

    key: int
    n_units: int
    mean: float
    lift: float
    p: float
    discrimination: float
    p_low: float
    flags: tuple[KeyFlag, ...] = ()


def describe_keys(
    values: Floats, keys: SharedKeys, *, fewest_units: int = 2, false_share: float = 0.1
) -> tuple[KeyStatistics, ...]:
    """Statistics of every key that at least ``fewest_units`` units hold, by key.

    ``values`` (units, respondents), NaN where a cell is missing. The test of a lift takes units as
    independent, with one variance for all; Benjamini and Hochberg let ``false_share`` of the flags
    be so by chance. "probably-wrong": harder than the rest, and a discrimination not above 0, from
    eight respondents on.
    """
    incidence, codes = _holders(keys)
    n_units = np.asarray(incidence.sum(axis=1)).ravel().astype(np.int64)
    chosen = np.flatnonzero(n_units >= fewest_units)
    incidence, codes, n_units = incidence[chosen], codes[chosen], n_units[chosen]
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    sums, held = incidence @ scores, incidence @ there.astype(np.float64)
    own = _ratio(sums, held)
    others = _ratio(scores.sum(axis=0) - sums, there.sum(axis=0) - held)
    lift, p = _lifts(incidence, values, n_units)
    both = ~np.isnan(own) & ~np.isnan(others)
    discrimination = row_correlations(own, np.where(both, others, np.nan))
    n = both.sum(axis=1)
    p_low = one_sided_p(discrimination, n)
    harder = (lift < 0) & (_adjusted(p) < false_share)
    weak_beat = (_adjusted(p_low) < false_share) & (n >= _FEWEST_RESPONDENTS)
    wrong = harder & (discrimination <= 0) & (n >= _FEWEST_RESPONDENTS)
    found: dict[KeyFlag, NDArray[np.bool_]] = {
        "harder-than-the-rest": harder,
        "weak-beat-strong": weak_beat,
        "probably-wrong": wrong,
    }
    total = held.sum(axis=1)
    means = _ratio(sums.sum(axis=1), total)
    return tuple(
        KeyStatistics(
            key=int(codes[row]),
            n_units=int(n_units[row]),
            mean=float(means[row]),
            lift=float(lift[row]),
            p=float(p[row]),
            discrimination=float(discrimination[row]),
            p_low=float(p_low[row]),
            flags=tuple(flag for flag, rows in found.items() if rows[row]),
        )
        for row in range(len(codes))
    )


def _holders(keys: SharedKeys) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """A sparse matrix (keys, units) of ones, each edge once, and the keys' codes."""
    codes, row = np.unique(keys.key, return_inverse=True)
    edges = np.unique(row.astype(np.int64) * max(keys.n_units, 1) + keys.unit)
    row, unit = np.divmod(edges, max(keys.n_units, 1))
    shape = (len(codes), keys.n_units)
    return sparse.csr_matrix((np.ones(len(edges)), (row, unit)), shape=shape), codes


def _lifts(
    incidence: NDArray[np.float64], values: Floats, n_units: NDArray[np.int64]
) -> tuple[Floats, Floats]:
    """The mean residual of each key's units, and its two-sided p-value (normal).

    A unit's residual is the mean over respondents of what it scores above their own level, so that
    a unit that only the strong were asked is not taken for an easy one.
    """
    there = ~np.isnan(values)
    scores = np.where(there, values, 0.0)
    level = _ratio(scores.sum(axis=0), there.sum(axis=0))
    above = np.where(there, values - level, 0.0)
    residual = _ratio(above.sum(axis=1), there.sum(axis=1))
    known = ~np.isnan(residual)
    number = incidence @ known.astype(np.float64)
    lift = _ratio(incidence @ np.where(known, residual, 0.0), number)
    deviation = float(residual[known].std(ddof=1)) if known.sum() > 1 else 0.0
    if deviation == 0.0:
        return lift, np.full(len(lift), np.nan)
    return lift, np.asarray(2.0 * special.ndtr(-np.abs(lift) * np.sqrt(number) / deviation))


def _ratio(sums: Floats, number: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
    return np.asarray(sums / np.where(number > 0, number, np.nan))


def _adjusted(p: Floats) -> Floats:
    known = ~np.isnan(p)
    adjusted = np.ones(len(p))
    adjusted[known] = benjamini_hochberg(p[known])
    return adjusted

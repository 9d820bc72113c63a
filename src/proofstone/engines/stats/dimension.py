"""Do strata rank respondents differently, more than chance says?"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats.resampling import generator
from proofstone.errors import BadUsage

__all__ = ["DimensionCheck", "check_dimension"]

Floats = NDArray[np.float64]

_PURPOSE = 5
_MOST_AT_ONCE = 4_000_000


class DimensionCheck(Struct, frozen=True, kw_only=True):
    """How far respondents' profiles over strata are their own, against shuffled strata.

    ``interaction`` is the standard deviation of what is left of the stratum means of respondents
    after the respondent's and the stratum's own level, weighted by items; ``by_chance`` its mean
    where items are put into strata at random, ``p`` the share of such draws that reach it. The
    root of ``interaction**2 - by_chance**2`` is ``corrected``, 0 where chance is all of it. NaN
    with fewer than two strata, two respondents, or any item that all have.
    """

    interaction: float
    by_chance: float
    corrected: float
    p: float
    n_units: int
    n_strata: int
    n_draws: int
    seed: int


def check_dimension(
    values: Floats, strata: NDArray[np.integer], *, n_draws: int = 500, seed: int = 0
) -> DimensionCheck:
    """The check over ``strata`` codes (units) of ``values`` (units, respondents), on the units that
    all have. Units count as exchangeable: shared facts are not looked at."""
    if n_draws < 1:
        raise BadUsage("no draws say nothing", hint="give 1 or more")
    whole = ~np.isnan(values).any(axis=1)
    values, strata = values[whole], strata[whole]
    _, code, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    n, m = values.shape
    seen, chance, p = float("nan"), float("nan"), float("nan")
    if len(sizes) > 1 and m > 1:
        # A respondent's level and a unit's ease drop out of every interaction of their means.
        left = values - values.mean(axis=0)
        left = left - left.mean(axis=1, keepdims=True)
        seen = float(_interactions(left, code[None, :], sizes)[0])
        drawn = _shuffled(left, code, sizes, n_draws, generator(seed, _PURPOSE))
        chance = float(np.sqrt((drawn**2).mean()))
        # Single precision: equal draws may differ in their seventh digit.
        p = float(((drawn >= seen * (1.0 - 1e-5)).sum() + 1) / (n_draws + 1))
    return DimensionCheck(
        interaction=seen,
        by_chance=chance,
        corrected=float(np.sqrt(max(seen**2 - chance**2, 0.0))) if m > 1 else float("nan"),
        p=p,
        n_units=n,
        n_strata=len(sizes),
        n_draws=n_draws,
        seed=seed,
    )


def _shuffled(
    left: Floats,
    code: NDArray[np.intp],
    sizes: NDArray[np.intp],
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    narrow = code.astype(np.int32)
    block = max(1, _MOST_AT_ONCE // (len(code) * len(sizes)))
    parts = []
    for start in range(0, n_draws, block):
        number = min(block, n_draws - start)
        codes = rng.permuted(np.broadcast_to(narrow, (number, len(code))), axis=1)
        parts.append(_interactions(left, codes, sizes))
    return np.concatenate(parts)


def _interactions(left: Floats, codes: NDArray[np.integer], sizes: NDArray[np.intp]) -> Floats:
    """The weighted deviation of stratum means from 0, for each row of ``codes`` (draws, units)."""
    member = (codes[:, None, :] == np.arange(len(sizes))[None, :, None]).astype(np.float32)
    means = (member @ left.astype(np.float32)).astype(np.float64) / sizes[None, :, None]
    squares = (means**2).mean(axis=2) @ (sizes / sizes.sum())
    return np.asarray(np.sqrt(squares))

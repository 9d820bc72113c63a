"""Do strata rank respondents differently, more than chance says?"""

from __future__ import annotations

from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.runs import Estimate
from proofstone.stats.clusters import Dependence, SharedKeys, partner_sums
from proofstone.stats.estimates import DrawnMeans
from proofstone.stats.intervals import percentiles, quadratic_p
from proofstone.stats.ranks import FEWEST_MODELS, models_drawn, weighted_correlation
from proofstone.stats.resampling import generator

# What two benchmarks would correlate if both had endless items.
#
# Noise of the items hides agreement: the correlation of observed means is the true one times the
# root of the product of both reliabilities (Spearman 1904). Dividing by that root undoes it, and
# may give more than 1 where noise happens to agree; the value is shown as it comes out.

Floats = NDArray[np.float64]


# Below this reliability of either there is too little left to divide by.
_LEAST_RELIABLE = 0.1


class Disattenuated(Struct, frozen=True, kw_only=True):
    """Pearson's correlation of the means as ``observed``, and freed of the items' noise: with
    intervals over ``models`` and over ``items`` (NaN where a reliability is below 0.1).

    ``reliability`` of the first and the second benchmark, by their noise over items.
    """

    observed: float
    reliability: tuple[float, float]
    models: Estimate
    items: Estimate
    n_models: int


def disattenuate(
    first: DrawnMeans,
    second: DrawnMeans,
    *,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Disattenuated:
    """The correlation of the same m models on two benchmarks of other items; models without a mean
    on one of them are left out."""
    kept = ~np.isnan(first.means) & ~np.isnan(second.means)
    m = int(kept.sum())
    x, y = first.means[kept, None], second.means[kept, None]
    noise = first.noise(), second.noise()
    once = np.ones((m, 1))
    reliable = tuple(float(_reliability(v, n, once)[0]) for v, n in zip((x, y), noise, strict=True))
    observed = float(weighted_correlation(x, y, once)[0]) if m > 1 else float("nan")
    value = float(_corrected(x, y, noise, once)[0]) if m > 1 else float("nan")
    counts = models_drawn(m, n_draws, seed).T
    number = min(first.drawn.shape[1], second.drawn.shape[1])
    drawn = first.drawn[kept, :number], second.drawn[kept, :number]
    # A draw of items holds the noise twice: once as there, once again.
    twice = 2.0 * noise[0], 2.0 * noise[1]
    over_models = _corrected(x, y, noise, counts)
    over_items = _corrected(*drawn, twice, np.ones((m, number)))
    enough = m >= FEWEST_MODELS
    return Disattenuated(
        observed=observed,
        reliability=(reliable[0], reliable[1]),
        models=_estimate(
            value,
            over_models if enough else np.full(1, np.nan),
            m,
            confidence,
            estimand="models like these, on these items",
            made_by=f"bootstrap, percentile, {n_draws} draws, seed {seed}" if enough else "none",
            resampled="models" if enough else "",
        ),
        items=_estimate(
            value,
            over_items,
            m,
            confidence,
            estimand="these models, on items like these",
            made_by=first.made_by,
            resampled=first.resampled,
        ),
        n_models=m,
    )


def _variance(x: Floats, w: Floats) -> Floats:
    """The variance over models (by their number less 1) of each column, with counts ``w``."""
    total = w.sum(axis=0)
    centred = x - (w * x).sum(axis=0) / np.maximum(total, 1.0)
    return np.asarray((w * centred**2).sum(axis=0) / np.maximum(total - 1.0, 1.0))


def _reliability(x: Floats, noise: float, w: Floats) -> Floats:
    variance = _variance(x, w)
    varies = variance > 1e-20
    return np.where(varies, 1.0 - noise / np.where(varies, variance, 1.0), np.nan)


def _corrected(x: Floats, y: Floats, noise: tuple[float, float], w: Floats) -> Floats:
    """The correlation in each column over the root of both reliabilities; NaN where either is
    too low."""
    if not len(x):
        return np.full(1, np.nan)
    a, b = _reliability(x, noise[0], w), _reliability(y, noise[1], w)
    enough = (a >= _LEAST_RELIABLE) & (b >= _LEAST_RELIABLE)
    root = np.sqrt(np.where(enough, a * b, 1.0))
    return np.where(enough, weighted_correlation(x, y, w) / root, np.nan)


def _estimate(
    value: float, drawn: Floats, m: int, confidence: float, *, estimand: str, made_by: str,
    resampled: str,
) -> Estimate:  # fmt: skip
    low, high = percentiles(drawn, confidence)
    known = not np.isnan(value)
    return Estimate(
        value=value,
        n=m,
        low=min(low, value) if known else float("nan"),
        high=max(high, value) if known else float("nan"),
        level=confidence,
        estimand=estimand,
        made_by=made_by,
        resampled=resampled,
        effective_n=float(m),
        flags=() if m >= FEWEST_MODELS else ("too-few-models",),
    )


Codes = NDArray[np.integer]


Chance = Literal["items", "groups", "shared pairs"]


_PURPOSE = 5


_MOST_AT_ONCE = 4_000_000


class DimensionCheck(Struct, frozen=True, kw_only=True):
    """How far respondents' profiles over strata are their own, against what chance makes them.

    ``interaction`` is the standard deviation of what is left of the stratum means of respondents
    after the respondent's and the stratum's own level, weighted by items; ``by_chance`` its root
    mean square where strata mean nothing, ``p`` how often that reaches it. The root of
    ``interaction**2 - by_chance**2`` is ``corrected``, 0 where chance is all of it. NaN with fewer
    than two strata, two respondents, or any item that all have.

    ``chance`` says what was exchanged, which has to be exchangeable: items, where they share
    nothing; whole groups of items that share a key, where keys part the items and each group lies
    in one stratum. Where keys overlap, or a group lies in several strata, nothing can be exchanged:
    then ``p`` compares the sum of squares with its moments by the covariance over all pairs of
    items that share any key ("shared pairs"), and ``n_draws`` is 0. ``groups`` is the effective
    number of independent groups of items.
    """

    interaction: float
    by_chance: float
    corrected: float
    p: float
    n_units: int
    n_strata: int
    groups: float
    chance: Chance
    n_draws: int
    seed: int


def check_dimension(
    values: Floats,
    strata: NDArray[np.integer],
    *,
    keys: SharedKeys | None = None,
    n_draws: int = 500,
    seed: int = 0,
) -> DimensionCheck:
    """The check over ``strata`` codes (units) of ``values`` (units, respondents), on the units that
    all have; ``keys`` say which units share what, by default nothing."""
    if n_draws < 1:
        raise BadUsage("no draws say nothing", hint="give 1 or more")
    whole = np.flatnonzero(~np.isnan(values).any(axis=1))
    keys = (keys or SharedKeys.none(len(values))).among(whole)
    values, strata = values[whole], strata[whole]
    _, code, sizes = np.unique(strata, return_inverse=True, return_counts=True)
    n, m = values.shape
    groups = Dependence.of(n, keys=keys).groups
    blocks, chance_of = _exchangeable(keys, code)
    seen, chance, p = float("nan"), float("nan"), float("nan")
    if len(sizes) > 1 and m > 1:
        # A respondent's level and a unit's ease drop out of every interaction of their means.
        left = values - values.mean(axis=0)
        left = left - left.mean(axis=1, keepdims=True)
        seen = float(_interactions(left, code[None, :], len(sizes))[0])
        if blocks is None:
            square, p = _by_pairs(left, code, sizes, keys, groups, seen**2)
            chance = square**0.5
        else:
            drawn = _shuffled(left, code, blocks, n_draws, generator(seed, _PURPOSE))
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
        groups=groups,
        chance=chance_of,
        n_draws=n_draws if blocks is not None else 0,
        seed=seed,
    )


def _exchangeable(keys: SharedKeys, code: Codes) -> tuple[Codes | None, Chance]:
    """Which block each unit belongs to (units, codes without gaps), and what these are; None where
    keys leave none."""
    group = keys.groups
    if group is None:
        return None, "shared pairs"
    _, block = np.unique(group, return_inverse=True)
    n_blocks = int(block.max(initial=-1)) + 1
    if n_blocks == len(code):
        return block, "items"
    first = np.zeros(n_blocks, dtype=np.int64)
    first[block] = code
    if not (first[block] == code).all():
        return None, "shared pairs"
    return block, "groups"


def _by_pairs(
    left: Floats, code: Codes, sizes: Codes, keys: SharedKeys, groups: float, seen: float
) -> tuple[float, float]:
    """The mean of the weighted sum of squares where strata mean nothing, and how often chance
    reaches ``seen``: from the covariance of all stratum means (strata x respondents of them),
    column by column, so that memory stays bounded."""
    n, m = left.shape
    correction = groups / (groups - 1.0) if groups >= 2.0 else 1.0
    weights = np.sqrt(sizes / n / m)
    trace = square = 0.0
    for stratum, size in enumerate(sizes.tolist()):
        # What each unit adds to this stratum's means: all of them lie around 0 over all units.
        parts = left * ((code == stratum) / size - 1.0 / n)[:, None]
        partners = correction * partner_sums(keys, parts) * weights[stratum]
        trace += weights[stratum] * float((parts * partners).sum())
        overall = left.T @ partners / n
        for other, other_size in enumerate(sizes.tolist()):
            inside = code == other
            block = left[inside].T @ partners[inside] / other_size - overall
            square += float(((weights[other] * block) ** 2).sum())
    return max(trace, 0.0), quadratic_p(seen, trace, square, groups)


def _shuffled(
    left: Floats, code: Codes, block: Codes, n_draws: int, rng: np.random.Generator
) -> Floats:
    """The statistic of draws (n_draws) in which strata are dealt to whole blocks anew."""
    stratum = np.zeros(int(block.max()) + 1, dtype=np.int32)
    stratum[block] = code
    n_strata = int(code.max()) + 1
    number = max(1, _MOST_AT_ONCE // (len(code) * n_strata))
    parts = []
    for start in range(0, n_draws, number):
        size = min(number, n_draws - start)
        dealt = rng.permuted(np.broadcast_to(stratum, (size, len(stratum))), axis=1)
        parts.append(_interactions(left, dealt[:, block], n_strata))
    return np.concatenate(parts)


def _interactions(left: Floats, codes: Codes, n_strata: int) -> Floats:
    """The weighted deviation of stratum means from 0, for each row of ``codes`` (draws, units)."""
    member = (codes[:, None, :] == np.arange(n_strata)[None, :, None]).astype(np.float32)
    sizes = np.maximum(member.sum(axis=2, dtype=np.float64), 1.0)
    sums = (member @ left.astype(np.float32)).astype(np.float64)
    squares = ((sums / sizes[:, :, None]) ** 2).mean(axis=2)
    return np.asarray(np.sqrt((squares * sizes).sum(axis=1) / codes.shape[1]))

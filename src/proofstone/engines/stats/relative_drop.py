"""How much of an accuracy is lost between two ways of asking the same items."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.flags import Estimand, Flag, estimand_name
from proofstone.engines.stats.resampling import (
    Strata,
    blocks_of_draws,
    bootstrap_counts,
    generator,
)
from proofstone.records.results import Estimate

__all__ = ["drop_between", "relative_drop"]

Floats = NDArray[np.float64]

_PURPOSE = 9
_FEW_GROUPS = 50
_ESTIMAND: Estimand = "knowledge"


def drop_between(before: float, after: float) -> float:
    """``(before - after) / before``; below 0 where it rose, NaN where there was nothing to lose."""
    return (before - after) / before if before else float("nan")


def relative_drop(
    before: Floats,
    after: Floats,
    *,
    clusters: NDArray[np.integer] | None = None,
    n_draws: int = 2_000,
    seed: int = 0,
    confidence: float = 0.95,
) -> Estimate:
    """``drop_between`` of the means of two columns of values on the same n items, as a share.

    The interval is by percentiles of ``n_draws`` bootstrap draws of whole clusters (codes of the
    items; each item is its own without them), both columns together, each draw one cluster fewer
    than there are and rescaled (Rao and Wu 1988). Draws in which nothing stands before are left
    out. The share lost has no least value: it is below 0 where accuracy rose. No items, or nothing
    right before: NaN. Fewer than two clusters bound nothing, and fewer than 50 are flagged.
    """
    n = len(before)
    value = drop_between(float(before.mean()), float(after.mean())) if n else float("nan")
    _, block = np.unique(np.arange(n) if clusters is None else clusters, return_inverse=True)
    n_blocks = int(block.max(initial=-1)) + 1
    sums = np.zeros((n_blocks, 2))
    np.add.at(sums, block, np.stack([before, after], axis=1))
    low, high = _percentiles(_drawn(sums, n_draws, seed), confidence)
    return Estimate(
        value=value,
        n=n,
        low=low,
        high=high,
        level=confidence,
        estimand=estimand_name(_ESTIMAND),
        made_by=f"bootstrap, percentile, {n_draws} draws, seed {seed}" if n_blocks > 1 else "none",
        resampled="items" if clusters is None else "clusters",
        effective_n=float(n_blocks),
        flags=_flags(n, n_blocks),
    )


def _drawn(sums: Floats, n_draws: int, seed: int) -> Floats:
    """The drop in each draw that has one; nothing of fewer than two blocks."""
    if len(sums) < 2:
        return np.empty(0)
    strata, rng = Strata.of(None, len(sums)), generator(seed, _PURPOSE)
    found = []
    for number in blocks_of_draws(len(sums), n_draws):
        counts = bootstrap_counts(strata, number, rng, one_less=True).astype(np.float64)
        before, after = (counts @ sums[strata.order]).T
        has_some = before > 0
        found.append((before[has_some] - after[has_some]) / before[has_some])
    return np.concatenate(found)


def _percentiles(drawn: Floats, confidence: float) -> tuple[float, float]:
    if not len(drawn):
        return float("nan"), float("nan")
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(drawn, [tail, 1.0 - tail]).tolist()
    return low, high


def _flags(n: int, n_blocks: int) -> tuple[Flag, ...]:
    if not n:
        return ("no-scores",)
    if n_blocks >= _FEW_GROUPS:
        return ()
    return ("one-group",) if n_blocks < 2 else ("few-groups",)

"""Whether a difference between two estimates is carried by their intervals."""

from __future__ import annotations

import math

from proofstone.engines.stats import t_quantile
from proofstone.records.results import Estimate

__all__ = ["is_above"]


def is_above(first: Estimate, second: Estimate, comparisons: int = 1) -> bool:
    """Whether ``first`` is above ``second`` beyond its interval, where it is the most striking of
    ``comparisons`` that were looked at (Bonferroni).

    Half an interval over its quantile is taken for a standard error, and the two as independent;
    estimates of the same entities mostly rise together, so that for them the answer is on the safe
    side. False where either has no interval, or stands on fewer than two groups.
    """
    groups = min(first.effective_n, second.effective_n)
    ends = (first.low, first.high, second.low, second.high)
    if groups < 2.0 or any(map(math.isnan, ends)) or not first.value > second.value:
        return False
    level = min(first.level, second.level)
    usual = t_quantile(groups - 1.0, level)
    error = math.hypot(first.high - first.low, second.high - second.low) / (2.0 * usual)
    needed = t_quantile(groups - 1.0, 1.0 - (1.0 - level) / max(comparisons, 1))
    return bool(first.value - second.value > needed * error)

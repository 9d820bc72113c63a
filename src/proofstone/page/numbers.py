"""Numbers as people read them: points out of 100, an interval beside each, a dash for missing."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence

from proofstone.records.runs import Estimate
from proofstone.stats.ranks import RankInterval

MISSING = "\u2014"


def points(share: float) -> str:
    """A share or a difference of shares as points with one decimal: ``62.1``; a dash for NaN.
    What rounds to zero has no sign."""
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}"


def shown_share(share: float) -> str:
    """A share with its percent sign: ``3.3%``; a dash for NaN."""
    return MISSING if math.isnan(share) else f"{100 * share:z.1f}%"


def shown_interval(low: float, high: float) -> str:
    """``[7.9, 26.1]``; a dash for NaN."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"[{points(low)}, {points(high)}]"


def shown_estimate(estimate: Estimate) -> str:
    """``62.1 [59.8, 64.4]``."""
    if math.isnan(estimate.value):
        return MISSING
    low, high = points(estimate.low), points(estimate.high)
    return f"{points(estimate.value)} [{low}, {high}]"


def shown_rank(rank: RankInterval | None) -> str:
    """``1``, or ``1-3`` where the data leave ranks 1 to 3 open; a dash where there is no rank."""
    if rank is None:
        return MISSING
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low}-{rank.high}"


def two_digits(count: float) -> int:
    """A count that is only foreseen, rounded up to two significant digits; at least 1."""
    whole = max(math.ceil(count), 1)
    unit = int(10 ** max(len(str(whole)) - 2, 0))
    return math.ceil(whole / unit) * unit


def tie_letters(tie: int) -> str:
    """a to z, then aa, ab, ...: the name of the tied run of that number, from 0."""
    name = ""
    while tie >= 0:
        tie, place = divmod(tie, 26)
        name, tie = string.ascii_lowercase[place] + name, tie - 1
    return name


def tie_lanes(ties: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """A lane for each tied run, so that runs that overlap stand side by side."""
    free_from: list[int] = []
    chosen = []
    for first, last in ties:
        lane = next((i for i, start in enumerate(free_from) if start <= first), len(free_from))
        free_from[lane : lane + 1] = [last + 1]
        chosen.append(lane)
    return tuple(chosen)

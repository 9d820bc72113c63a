"""The dots with intervals beside a leaderboard: places along their axis in percent of its width."""

from __future__ import annotations

import math
from typing import Literal

from msgspec import Struct

from proofstone.page.numbers import points, shown_estimate
from proofstone.results.board import Standings
from proofstone.wording.messages import say

Anchor = Literal["start", "middle", "end"]


# Room at both ends of the axis, so that dots and end labels are not cut.
_MARGIN = 2.0


_MOST_TICKS = 6


class Tick(Struct, frozen=True):
    """A place on the axis with its text, and how the text hangs on it."""

    x: float
    text: str
    anchor: Anchor = "middle"


class Dot(Struct, frozen=True):
    """One respondent: its dot, the two ends of its interval, and its value in words."""

    label: str
    x: float
    low: float
    high: float
    text: str


class DotPlot(Struct, frozen=True):
    """All dots of one group in order, the axis, and the chance line where there is one."""

    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    chance: Tick | None


def dot_plot(group: Standings) -> DotPlot | None:
    """The figure of a group's ranked rows; None where no row has an interval."""
    rows = [row for row in group.ranked if not math.isnan(row.estimate.low)]
    if not rows:
        return None
    shown = [row.estimate.low for row in rows] + [row.estimate.high for row in rows]
    ends = _axis([share for share in (*shown, group.chance) if not math.isnan(share)])
    dots = [
        Dot(
            label=row.label,
            x=_place(row.estimate.value, ends),
            low=_place(row.estimate.low, ends),
            high=_place(row.estimate.high, ends),
            text=shown_estimate(row.estimate),
        )
        for row in rows
    ]
    return DotPlot(tuple(dots), _ticks(ends), _chance_line(group.chance, ends))


def _axis(shares: list[float]) -> tuple[float, float]:
    """The nearest tenths around all ``shares``; a tenth apart at least."""
    low = math.floor(min(shares) * 10 + 1e-9) / 10
    return low, max(math.ceil(max(shares) * 10 - 1e-9) / 10, low + 0.1)


def _place(share: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return round(_MARGIN + (100 - 2 * _MARGIN) * (share - low) / (high - low), 2)


def _ticks(ends: tuple[float, float]) -> tuple[Tick, ...]:
    """A tick each tenth; each fifth where those would be too many; a middle one where too few."""
    low, high = (round(end * 20) for end in ends)
    step = next(step for step in (1, 2, 4, 10) if (high - low) // step < _MOST_TICKS)
    shares = [twentieth / 20 for twentieth in range(low, high + 1, step)]
    return tuple(Tick(_place(share, ends), f"{100 * share:g}") for share in shares)


def _chance_line(chance: float, ends: tuple[float, float]) -> Tick | None:
    """The chance level, its text inside the figure also on a narrow screen."""
    if math.isnan(chance):
        return None
    x = _place(chance, ends)
    anchor: Anchor = "start" if x < 15 else "end" if x > 85 else "middle"
    return Tick(x, say("chance {points}", points=points(chance)), anchor)

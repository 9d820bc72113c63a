"""What a row of filters left of what entered, in counts: no text of what was dropped."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Funnel", "FunnelStep"]


class FunnelStep(Struct, frozen=True, gc=False):
    """How many rows a reason took, by group, in the order of the funnel's groups."""

    reason: str
    dropped: tuple[int, ...]


class Funnel(Struct, frozen=True, gc=False, kw_only=True):
    """Each row counts once: at the first reason that took it, or among those left.

    ``filters`` names the filters and their version. Counts are by ``groups`` of rows (correct and
    falsified statements); every reason is listed in its order, also where it took none.
    ``changed`` counts rows that are left with a text changed.
    """

    filters: str
    groups: tuple[str, ...]
    entered: tuple[int, ...]
    steps: tuple[FunnelStep, ...]
    changed: tuple[int, ...]

    @property
    def left(self) -> tuple[int, ...]:
        """The rows that no reason took, by group."""
        dropped = [sum(counts) for counts in zip(*(s.dropped for s in self.steps), strict=True)]
        return tuple(n - gone for n, gone in zip(self.entered, dropped, strict=True))

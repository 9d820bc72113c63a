"""What steps have done so far: counters that the flow raises and a display reads."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["StepProgress"]


@dataclass(slots=True)
class StepProgress:
    """Counters of one step in this process. ``done`` rows were worked on here, ``from_before`` are
    those whose outcome was known; ``kept`` counts rows that came out; ``failed`` rows, by kind, are
    tried again next time."""

    name: str
    entered: int = 0
    from_before: int = 0
    done: int = 0
    kept: int = 0
    in_flight: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str) -> None:
        """Counts a dropped row."""
        self.dropped[reason] += 1

    def fail(self, kind: str, times: int) -> None:
        """Counts a row that could not be worked on, as often as it came."""
        self.failed[kind] += times

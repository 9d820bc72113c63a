"""The plan that runs of a leaderboard were made under, as a record."""

from __future__ import annotations

from msgspec import Struct


class PlanMark(Struct, frozen=True, kw_only=True):
    """A plan in force. ``n_runs`` runs stand under it, of ``n_after`` of them it was made after the
    first reply; ``n_unplanned`` others have no such plan. ``resolves`` is a share."""

    id: str
    made_at: str
    measure: str
    estimand: str
    level: str
    confidence: float
    comparisons: tuple[tuple[str, str], ...]
    exclusions: tuple[str, ...]
    n_items: int
    samples: int
    stopping: str
    resolves: float | None
    n_runs: int
    n_after: int = 0
    n_unplanned: int = 0

"""A plan: what will be looked at and when to stop, frozen before anything is asked."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, structs

from proofstone.identity import content_id

__all__ = ["Plan", "plan_id"]


class Plan(Struct, frozen=True, gc=False, kw_only=True):
    """The analysis of a form's or a bank's runs, and what it can find.

    ``comparisons`` are pairs of respondents by name; ``exclusions`` and ``stopping`` are rules in
    words. ``resolves`` is the smallest true difference, as a share, that ``n_items`` of ``samples``
    answers find with ``power``, each of the comparisons corrected for all; NaN with too few. It
    rests on what is ``assumed``: accuracy, repeatability, correlation and design effect. ``at`` is
    when it was frozen.
    """

    id: bytes = b""
    kind: Literal["form", "bank"]
    target: bytes
    measure: str
    estimand: Literal["bank", "knowledge"]
    level: str = "sample"
    confidence: float = 0.95
    power: float = 0.8
    comparisons: tuple[tuple[str, str], ...] = ()
    exclusions: tuple[str, ...] = ()
    n_items: int
    samples: int = 1
    stopping: str
    assumed: dict[str, float] = {}
    resolves: float | None = None
    at: float


def plan_id(plan: Plan) -> bytes:
    """The id of a plan: all its fields, the time among them."""
    fields = structs.asdict(plan)
    del fields["id"]
    return content_id("plan", fields)

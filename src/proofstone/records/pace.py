"""How many questions were answered, and how fast replies came."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Pace"]


class Pace(Struct, frozen=True, gc=False, kw_only=True):
    """``n_questions`` have a reply (an item asked twice is two); half of the replies looked at came
    within ``median_latency_s`` seconds a call, None where no call is known."""

    n_questions: int = 0
    median_latency_s: float | None = None

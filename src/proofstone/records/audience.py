"""Who a report is for."""

from __future__ import annotations

from typing import Literal, get_args

__all__ = ["AUDIENCES", "Audience"]

# "public" holds no text of an item, a passage or a reply.
Audience = Literal["internal", "public"]
AUDIENCES: tuple[Audience, ...] = get_args(Audience)

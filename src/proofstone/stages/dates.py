"""Times as people read them, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

__all__ = ["day", "minute"]


def day(seconds: float) -> str:
    """The date of a time in seconds since 1970: ``2026-03-01``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def minute(seconds: float) -> str:
    """The date and time of day: ``2026-03-01 14:05 UTC``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")

"""Times as people read them, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def day(seconds: float) -> str:
    """The date of a time in seconds since 1970: ``2026-03-01``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def minute(seconds: float) -> str:
    """The date and time of day: ``2026-03-01 14:05 UTC``."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def at_date(text: str) -> tuple[str, float | None]:
    """``NAME@2026-03-01`` as the name and the end of that day in seconds since 1970, with a time
    of day (``@2026-03-01T14:05``) that time; UTC where it names no zone. Else the text and None."""
    name, mark, date = text.rpartition("@")
    if not mark or not name:
        return text, None
    try:
        moment = datetime.fromisoformat(date)
    except ValueError:
        return text, None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if len(date) <= len("2026-03-01"):
        moment += timedelta(days=1)
    return name, moment.timestamp()

"""How long an endpoint asks one to wait, from its headers."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite

__all__ = ["read_retry_after"]


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from ``now`` (since the epoch), 0 or more; None where the endpoint does not say.

    Reads ``Retry-After`` in seconds or as an HTTP date, and the finer ``Retry-After-Ms``.
    """
    milliseconds = _number(headers.get("Retry-After-Ms", ""))
    if milliseconds is not None:
        return max(0.0, milliseconds / 1000)
    text = headers.get("Retry-After", "").strip()
    seconds = _number(text)
    if seconds is None and text:
        seconds = _until(text, now)
    return None if seconds is None else max(0.0, seconds)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _until(text: str, now: float) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp() - now
    except (ValueError, OverflowError):
        return None

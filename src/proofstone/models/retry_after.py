"""How long an endpoint asks one to wait: from its headers, else from the words of its error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from math import isfinite

# Google's RetryInfo; OpenAI's "Please try again in 1m26.604s"; Azure's "Please retry after 7
# seconds"; Gemini's "Please retry in 25.46s".
_RETRY_INFO = re.compile(rb'"retryDelay"\s*:\s*"(\d{1,9}(?:\.\d{1,9})?)s"')


_ASKED = re.compile(
    rb"(?:try again in|retry after|retry in) (?=\d)((?:[\d.]{1,12} ?[a-z]{1,12} ?){1,4})"
)


_PART = re.compile(rb"([\d.]+) ?([a-z]+)")


_UNITS = {
    **dict.fromkeys((b"ms", b"millisecond", b"milliseconds"), 0.001),
    **dict.fromkeys((b"s", b"sec", b"second", b"seconds"), 1.0),
    **dict.fromkeys((b"m", b"min", b"minute", b"minutes"), 60.0),
    **dict.fromkeys((b"h", b"hour", b"hours"), 3600.0),
}


_SEARCHED = 8192  # an error's words; nothing longer is one


def read_retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds from ``now`` (since the epoch), 0 or more; None where the endpoint does not say.

    Reads ``Retry-After`` in seconds or as an HTTP date, and the finer ``Retry-After-Ms``, unless
    that says 0 where the former asks for a wait.
    """
    milliseconds = _number(headers.get("Retry-After-Ms", ""))
    if milliseconds is not None and milliseconds > 0:
        return milliseconds / 1000
    text = headers.get("Retry-After", "").strip()
    seconds = _number(text)
    if seconds is None and text:
        seconds = _until(text, now)
    if seconds is None:
        return None if milliseconds is None else 0.0
    return max(0.0, seconds)


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


def delay_in_body(raw: bytes) -> float | None:
    """Seconds that a limit's error asks for in its words; None where it names none.

    Only for errors that a limit or a busy server made: other words may quote a prompt.
    """
    start = raw[:_SEARCHED]
    info = _RETRY_INFO.search(start)
    if info is not None:
        return float(info[1])
    asked = _ASKED.search(start.lower())
    if asked is None:
        return None
    total, known = 0.0, False
    for count, unit in _PART.findall(asked[1]):
        seconds = _number(count.decode())
        if unit not in _UNITS or seconds is None:
            break
        total, known = total + seconds * _UNITS[unit], True
    return total if known else None

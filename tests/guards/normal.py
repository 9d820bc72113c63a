"""Takes out of what was printed whatever differs from one recording to the next, and no more."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["Normal"]

_RULES = (
    # Progress is written as fast as it is made, of several runs in the order in which they get on.
    (r"^2> \d+/\d+  \d+%.*\n", ""),
    # Times: of rows and pages, within JSON, and in the footer that a page's style sheet holds.
    (r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: UTC)?", "TIME"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d[\d:.]*(?:Z|\+00:00)?", "TIME"),
    (r"\d{4}\\2d \d\d\\2d \d\d\\20 \d\d\\3a \d\d", "TIME"),
    (r"\b1[789]\d{8}\.\d+", "TIME"),
    (r"\b\d+ days old", "N days old"),
    (r'"age_days": \d+', '"age_days": DAYS'),
    # The port of the endpoint.
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    # Durations: what a check took, what a dry run foresees from what calls took.
    (r"  \d+\.\d\d s  ", "  DURATION  "),
    (r" +<?\d+ s(?: \[<?\d+ s, <?\d+ s\])?$", "  DURATION"),
    # Seconds that replies took, in the cells of a page: all other numbers there have one decimal,
    # or an interval.
    (r'data-sort="\d\.[\de-]+">\d\.\d\d<', 'data-sort="SECONDS">SECONDS<'),
    # The version, which is to be raised without a word here; a page's own digest of its style
    # sheet, which holds time and version.
    (r"proofstone 0\.\d+\.\d+", "proofstone VERSION"),
    (r"proofstone\\20 0\\2e \d+\\2e \d+", "proofstone VERSION"),
    (r"style-src &#39;sha256-[\w+/=]+&#39;", "style-src DIGEST"),
    # Columns are as wide as the folder's name is long.
    (r"FOLDER +(?=\S)", "FOLDER  "),
)
# Names of what holds its time or a person: their digits differ each time. All others are made of
# what they name, and stay.
_NAMES = (
    r"\b(build|plan|scoring):([0-9a-f]{8})",
    r"\b(actor) ([0-9a-f]{8})",
    r"(?<=  )(Anna|Ben) +\d+  ([0-9a-f]{16})$",
)
_LONG = re.compile(r"(?<![\w.])-?\d+\.\d{9,}(?:e[-+]?\d+)?")


class Normal:
    """Numbers what has a name of its own in the order in which it is first met."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names: dict[str, str] = {}
        self._days = {datetime.now(UTC).date().isoformat()}

    def text(self, text: str) -> str:
        """``text`` without what differs."""
        text = text.replace(str(self._folder.resolve()), "FOLDER")
        for pattern in _NAMES:
            for kind, digits in re.findall(pattern, text, re.MULTILINE):
                self._names.setdefault(digits, f"<{kind} {len(self._names) + 1}>")
        for digits, name in self._names.items():
            text = re.sub(rf"\b{digits}[0-9a-f]*", name, text)
        for pattern, instead in _RULES:
            text = re.sub(pattern, instead, text, flags=re.MULTILINE)
        for day in self._days | {datetime.now(UTC).date().isoformat()}:
            text = text.replace(day, "TODAY")
        # The last digits of a float are the machine's.
        return _LONG.sub(_rounded, text)


def _rounded(found: re.Match[str]) -> str:
    """Six digits; what is zero but for rounding is zero."""
    value = float(found[0])
    return "0.0" if abs(value) < 1e-12 else repr(float(f"{value:.6g}"))

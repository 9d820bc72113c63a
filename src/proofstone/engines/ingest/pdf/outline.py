"""A PDF's outline: which headings it has on which page, and their levels."""

from __future__ import annotations

from itertools import islice
from typing import Any

from proofstone.engines.ingest.pdf.headings import plain_title

__all__ = ["outline_of"]

_MOST_ENTRIES = 50_000
_MOST_LEVELS = 12
_LEVELS = 6
_LONGEST = 400


def outline_of(document: Any) -> dict[int, dict[str, int]]:
    """The titles by page (from 0), as ``plain_title`` gives them, each with its level from 1.

    Empty where there is no outline, or only one entry.
    """
    pages: dict[int, dict[str, int]] = {}
    n = 0
    for entry in islice(document.get_toc(max_depth=_MOST_LEVELS), _MOST_ENTRIES):
        target = entry.get_dest()
        page = target.get_index() if target else None
        title = plain_title((entry.get_title() or "")[:_LONGEST])
        if page is None or page < 0 or not title:
            continue
        n += 1
        pages.setdefault(page, {}).setdefault(title, min(_LEVELS, entry.level + 1))
    return pages if n > 1 else {}

"""The items won and lost as rows for a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofstone.report.between.compared import Compared

__all__ = ["moved_rows"]


def moved_rows(compared: Compared) -> Iterator[dict[str, Any]]:
    """One row an item and pair: won ones first, then lost ones, with both scores."""
    for pair in compared.pairs:
        for word, items in (("won", pair.won), ("lost", pair.lost)):
            for item in items:
                yield {
                    "moved": word,
                    "item": item.item,
                    "a": pair.before.label,
                    "b": pair.after.label,
                    "score_a": item.before,
                    "score_b": item.after,
                    "ended_a": item.before_ended,
                    "ended_b": item.after_ended,
                    "text": item.text,
                }

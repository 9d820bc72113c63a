"""What a method may have besides, so that people can review its facts in sheets."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from proofstone.records import Fact, ReviewText

__all__ = ["Reviews"]


@runtime_checkable
class Reviews(Protocol):
    """What a reviewer is shown of a fact, and which field a new wording goes into."""

    def review_text(self, fact: Fact) -> ReviewText:
        """The fact as a reviewer reads it; nothing of what it is meant to be stands in ``text``."""

"""What several sections are made from is made once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from proofstone.report.sections.section import Evidence

__all__ = ["once_each"]

Made = TypeVar("Made")


def once_each(make: Callable[[Evidence], Made]) -> Callable[[Evidence], Made]:
    """``make``, called once for each evidence and kept for as long as that lives."""
    kept: WeakKeyDictionary[Evidence, Made] = WeakKeyDictionary()

    @wraps(make)
    def made(evidence: Evidence) -> Made:
        if evidence not in kept:
            kept[evidence] = make(evidence)
        return kept[evidence]

    return made

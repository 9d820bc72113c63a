"""Looks at a pair: what a gate has seen before of the same run and baseline.

A look is the same pair again where one of the two has all items of the other, each with the same
scores on both sides: more questions were asked of the same two runs. With another score on any of
them it is another candidate, and so a comparison of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from msgspec import Struct

from proofstone.report.between.side import Side, common_items

__all__ = ["Look", "earlier_looks", "look_at"]

_SIZE = 8  # bytes of an item's mark


class Look(Struct, frozen=True, kw_only=True):
    """One look: when it was made, at how many items, and a mark of each item with its two scores
    (8 bytes each, sorted). ``single`` is one that was planned as the only one."""

    at: float
    n: int
    marks: bytes
    single: bool = False

    def _set(self) -> frozenset[bytes]:
        marks = self.marks
        return frozenset(marks[at : at + _SIZE] for at in range(0, len(marks), _SIZE))

    def is_nested_in(self, other: Look) -> bool:
        """Return True where the other has all items of this one, with the same scores."""
        return self._set() <= other._set()


def look_at(baseline: Side, run: Side, *, at: float, single: bool = False) -> Look:
    """Return the look at two sides of one respondent each: their common items with both scores."""
    common = common_items(baseline, run)
    first = baseline.sheet.values[common.before, 0]
    second = run.sheet.values[common.after, 0]
    names = [run.item_names[place] for place in common.after.tolist()]
    marks = [
        blake2b(f"{name}\0{a!r}\0{b!r}".encode(), digest_size=_SIZE).digest()
        for name, a, b in zip(names, first.tolist(), second.tolist(), strict=True)
        if not (np.isnan(a) or np.isnan(b))
    ]
    return Look(at=at, n=len(marks), marks=b"".join(sorted(marks)), single=single)


def earlier_looks(look: Look, known: Iterable[Look]) -> tuple[Look, ...]:
    """Return the other looks at the same pair, oldest first; the same look again is none."""
    same_pair = [
        other
        for other in known
        if other.n and other.n != look.n and (other.is_nested_in(look) or look.is_nested_in(other))
    ]
    return tuple(sorted(same_pair, key=lambda other: other.at))

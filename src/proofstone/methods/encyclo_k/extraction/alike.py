"""Statements that say nearly the same in nearly the same words: the first of them stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.engines.retrieval import near_duplicates
from proofstone.methods.encyclo_k.extraction.rows import Draft
from proofstone.ports import BatchRows, BatchStep, Drop, Kept, StepContext

__all__ = ["alike_step"]

_SAME = "same as another"


def alike_step(least: float) -> BatchStep:
    """Drops near-duplicates, the first in the order of the rows stays."""

    def check(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        texts: Sequence[str] = [row.text for row in rows]
        found = near_duplicates(texts, least)
        return {place: Drop(_SAME, texts[first]) for place, first in found.items()}

    return BatchStep(
        name="near-duplicates",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SAME,),
        config={"least": least},
    )

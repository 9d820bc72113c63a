"""How much of a statement stands in its passage's own words, and the filters of M2."""

from __future__ import annotations

from msgspec import structs

from proofstone.engines.ingest.terms import terms
from proofstone.methods.encyclo_k.extraction.rows import Draft
from proofstone.methods.encyclo_k.extraction.speaking import SPEAKING_VERSION, speaks_of_passage
from proofstone.methods.encyclo_k.filters import FILTERS_VERSION, REASONS_OF_TRUE, sift_row
from proofstone.ports import Drop, Kept, Row, Step, StepContext
from proofstone.records import SiftedRow

__all__ = ["filter_step", "overlap", "overlap_step"]

_OF_PASSAGE = "speaks of its passage"


def overlap(statement: str, passage: str) -> float:
    """The share of a statement's words (numbers too; of Chinese its pairs of characters) that stand
    in the passage, in [0, 1]; 0 where it has none."""
    wanted = terms(statement)
    there = terms(passage)
    return sum(term in there for term in wanted) / len(wanted) if wanted else 0.0


def overlap_step(least: float) -> Step:
    """Drops statements of which less than ``least`` stands in their passage's words: a paraphrase
    that far off, or knowledge that the model brought along."""

    def check(row: Draft, _context: StepContext) -> Kept:
        found = overlap(row.text, row.ground.text)
        return row if found >= least else Drop("not in its passage's words", f"{found:.2f}")

    return Step(
        name="overlap",
        version=1,
        takes=Draft,
        work=check,
        reasons=("not in its passage's words",),
        config={"least": least},
    )


def filter_step() -> Step:
    """The cleaner and the filters for statements as they come from a book, and a filter for what
    only models write: statements on the passage rather than its subject."""

    def check(row: Draft, _context: StepContext) -> Kept:
        if found := speaks_of_passage(row.text):
            return Drop(_OF_PASSAGE, found)
        sifted = sift_row(Row("", {"text": row.text, "correct": True}))
        if not isinstance(sifted, SiftedRow):
            return row
        if sifted.reason:
            return Drop(sifted.reason, sifted.found)
        return structs.replace(row, text=str(sifted.row.values["text"]))

    return Step(
        name="filters",
        version=FILTERS_VERSION,
        takes=Draft,
        work=check,
        reasons=(_OF_PASSAGE, *REASONS_OF_TRUE),
        config={"speaking": SPEAKING_VERSION},
    )

"""What reviewers are shown of a statement: its text alone, and apart from it what it is meant to
be."""

from __future__ import annotations

from proofstone.methods.encyclo_k.payloads import Statement
from proofstone.records import Fact, ReviewText

__all__ = ["review_text"]


def review_text(fact: Fact) -> ReviewText:
    """A statement; its reason is asked about only where it was falsified."""
    statement: Statement = fact.payload
    return ReviewText(
        text=statement.text,
        field="text",
        claim="true" if statement.correct else "false",
        key_field="correct",
        because="" if statement.correct else statement.reason,
    )

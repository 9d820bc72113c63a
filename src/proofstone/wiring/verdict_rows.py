"""Verified triples of stored runs as rows of a file, which people fill and hand back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofstone.methods.bequ.verification import verdict_row
from proofstone.records.triples import VerifiedRuns

__all__ = ["verdict_rows"]


def verdict_rows(verified: VerifiedRuns) -> Iterator[dict[str, Any]]:
    """A row a triple, in the columns of ``verify-triples``, with the reply that it stands in and
    the passage that a reference triple was taken from."""
    for found in verified.read():
        row = verdict_row(found, verified.groups, verified.entities)
        yield {
            **row,
            "known_from": found.known.text,
            "known_title": found.known.title,
            "known_url": found.known.url,
            "page": verified.entities[found.entity].page,
            "response": found.response,
        }

"""Ingesting: documents into sources and passages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from proofstone.engines.ingest import read_documents
from proofstone.engines.store import Store

__all__ = ["Ingested", "ingest_paths"]


class Ingested(Struct, frozen=True):
    """A source that was read: its id, title and number of passages."""

    id: bytes
    title: str
    n_passages: int


def ingest_paths(store: Store, paths: Sequence[Path]) -> list[Ingested]:
    """Reads every document of ``paths`` and stores it; BadInput with the problems of a file."""
    taken = []
    for path in paths:
        for document in read_documents(path):
            store.knowledge.add_passages(document.source, document.passages)
            taken.append(
                Ingested(document.source.id, document.source.title, len(document.passages))
            )
    return taken

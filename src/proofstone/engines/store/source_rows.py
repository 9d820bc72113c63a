"""Rows of sources and passages: into the database, and back to records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection

from proofstone.engines.store import schema
from proofstone.engines.store.rows import insert_missing
from proofstone.engines.store.tombstones import fill_again, refuse_purged
from proofstone.identity import canonical_json
from proofstone.records import Passage, Source, Stratum

__all__ = ["insert_passages", "insert_sources", "passage_of", "source_of"]

_SOURCE = (
    "hash", "kind", "title", "language", "licence", "authors", "year", "content", "origin",
    "discipline", "field", "subfield", "book",
)  # fmt: skip
_PASSAGE = (
    "hash", "source_id", "page", "start_at", "end_at", "text", "language", "heading",
)  # fmt: skip


def insert_sources(connection: Connection, sources: Iterable[Source]) -> dict[bytes, int]:
    """The keys of sources, after inserting those that are not there. Raises SourcePurged."""
    sources = list(sources)
    refuse_purged(connection, sources)
    rows = {source.id: _source_row(source) for source in sources}
    return insert_missing(connection, schema.source, _SOURCE, rows)


def insert_passages(
    connection: Connection, passages: Sequence[Passage], sources: Mapping[bytes, int]
) -> dict[bytes, int]:
    """The keys of passages, after inserting those that are not there; what was purged of them and
    may come back has its text again."""
    rows = {p.id: _passage_row(p, sources[p.source]) for p in passages}
    keys = insert_missing(connection, schema.passage, _PASSAGE, rows)
    texts = {p.id: {"text": p.text, "heading": p.heading} for p in passages}
    fill_again(connection, schema.passage, "text", texts)
    return keys


def _source_row(source: Source) -> tuple[Any, ...]:
    stratum = source.stratum
    return (
        source.id, source.kind, source.title, source.language, source.licence,
        canonical_json(source.authors), source.year, source.content, source.origin,
        stratum.discipline, stratum.field, stratum.subfield, stratum.book,
    )  # fmt: skip


def source_of(row: Any) -> Source:
    """The source of a row of its table."""
    return Source(
        id=row.hash, kind=row.kind, title=row.title, language=row.language, licence=row.licence,
        authors=tuple(msgspec.json.decode(row.authors)), year=row.year, content=row.content,
        origin=row.origin, stratum=Stratum(row.discipline, row.field, row.subfield, row.book),
    )  # fmt: skip


def _passage_row(passage: Passage, source: int) -> tuple[Any, ...]:
    return (
        passage.id, source, passage.page, passage.start, passage.end, passage.text,
        passage.language, passage.heading,
    )  # fmt: skip


def passage_of(row: Any) -> Passage:
    """The passage of a row that also has its source's hash as ``source_hash``."""
    return Passage(
        id=row.hash, source=row.source_hash, page=row.page, start=row.start_at,
        end=row.end_at, text=row.text, language=row.language, heading=row.heading,
    )  # fmt: skip

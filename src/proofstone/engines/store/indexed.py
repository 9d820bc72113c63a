"""What an index of passages is made from: which sources have any, and which hold now."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import Struct
from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.pages import newest_pages

__all__ = ["IndexedRows", "IndexedSource"]


class IndexedSource(Struct, frozen=True, gc=False):
    """A source with passages: its id, and what tells editions of one document apart from others.
    ``authors`` are as they are stored."""

    id: bytes
    kind: str
    title: str
    language: str
    authors: bytes
    year: int | None
    origin: str


class IndexedRows:
    """Reads ids alone, so that it is quickly told whether anything has changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sources(self, only: Collection[bytes] | None = None) -> list[IndexedSource]:
        """The sources (of ``only`` these few) with a passage that has text, in the order in which
        they came."""
        table = schema.source.c
        held = select(schema.passage.c.source_id).where(schema.passage.c.text != "")
        columns = (
            table.hash, table.kind, table.title, table.language, table.authors, table.year,
            table.origin,
        )  # fmt: skip
        query = select(*columns).where(table.id.in_(held)).order_by(table.id)
        if only is not None:
            query = query.where(table.hash.in_(only))
        with self._database.reading() as connection:
            return [IndexedSource(*row) for row in connection.execute(query)]

    def passage_ids(self, source: bytes) -> list[bytes]:
        """The passages of ``KnowledgeStore.passages_of``, in its order."""
        table, link = schema.passage, schema.page_passage
        newest = newest_pages(source)
        current = table.c.id.in_(select(link.c.passage_id).where(link.c.page_id.in_(newest)))
        query = (
            select(table.c.hash)
            .join(schema.source, schema.source.c.id == table.c.source_id)
            .where(schema.source.c.hash == source, table.c.text != "")
            .where(current | ~newest.exists())
            .order_by(table.c.id)
        )
        with self._database.reading() as connection:
            return list(connection.scalars(query))

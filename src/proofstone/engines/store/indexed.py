"""What an index of passages is made from: which sources have any, and which hold now."""

from __future__ import annotations

from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.pages import newest_pages

__all__ = ["IndexedRows"]


class IndexedRows:
    """Reads ids alone, so that it is quickly told whether anything has changed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def sources(self) -> list[bytes]:
        """The sources with a passage that has text, in the order in which they came."""
        held = select(schema.passage.c.source_id).where(schema.passage.c.text != "")
        query = select(schema.source.c.hash).where(schema.source.c.id.in_(held))
        with self._database.reading() as connection:
            return list(connection.scalars(query.order_by(schema.source.c.id)))

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

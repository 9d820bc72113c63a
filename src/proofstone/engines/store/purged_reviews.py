"""What of reviews goes when a source is purged: reasons and new texts, which quote what they speak
of. Who decided what, and when, stays."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import Connection, update

from proofstone.engines.store import schema
from proofstone.engines.store.rows import chunks

__all__ = ["empty_reviews"]

_CHUNK = 4000


def empty_reviews(connection: Connection, facts: Iterable[int], items: Iterable[int]) -> None:
    """Takes the texts out of the reviews of these facts and items, in the transaction at hand."""
    table = schema.review
    for column, keys in ((table.c.fact_id, facts), (table.c.item_id, items)):
        for chunk in chunks(keys, _CHUNK):
            emptied = update(table).where(column.in_(chunk)).values(reason="", payload=b"")
            connection.execute(emptied)

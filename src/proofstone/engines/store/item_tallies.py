"""The scores of a scoring, counted by the item that they are of."""

from __future__ import annotations

import msgspec
from sqlalchemy import func, select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.records import OUTCOMES

__all__ = ["ItemTallies", "ItemTally"]


class ItemTally(msgspec.Struct, frozen=True, gc=False):
    """How many scores of a measure an item has with an outcome (those of its samples, and of the
    units found in them), and their sum."""

    item: bytes
    outcome: str
    n: int
    total: float


class ItemTallies:
    """Counts scores without loading one."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, scoring: int, measure: str) -> list[ItemTally]:
        """Those of a measure in a scoring, in the order of items; none of an item without any."""
        score, unit, item = schema.score, schema.unit, schema.item
        columns = (item.c.id, item.c.hash, score.c.outcome)
        query = (
            select(*columns, func.count(), func.sum(score.c.value))
            .select_from(score)
            .join(unit, unit.c.id == score.c.unit_id)
            .join(item, item.c.id == unit.c.item_id)
            .where(score.c.scoring_id == scoring, score.c.measure == measure)
            .group_by(*columns)
            .order_by(item.c.id, score.c.outcome)
        )
        with self._database.reading() as connection:
            return [
                ItemTally(identity, OUTCOMES[outcome], n, float(total or 0.0))
                for _key, identity, outcome, n, total in connection.execute(query)
            ]

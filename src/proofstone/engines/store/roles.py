"""Who had a hand in which items: by the facts that they rest on, and in whole item sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import insert_rows, key_of
from proofstone.records import Role

__all__ = ["RoleStore"]


class RoleStore:
    """Adds roles in item sets, and reads those of their items. Facts bring theirs with them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_to_set(self, item_set: bytes, roles: Iterable[Role]) -> None:
        """Stores roles that models had in a whole set; those known already stay."""
        table, columns = schema.item_set_role, ("item_set_id", "role", "model")
        with self._database.writing() as connection:
            key = key_of(connection, schema.item_set, item_set)
            rows = [(key, role.role, role.model) for role in sorted(set(roles))]
            insert_rows(connection, table, columns, rows, or_ignore=True)

    def of_set(self, item_set: bytes) -> tuple[Role, ...]:
        """The roles in a whole set, in order."""
        table = schema.item_set_role
        query = (
            select(table.c.role, table.c.model)
            .join(schema.item_set, schema.item_set.c.id == table.c.item_set_id)
            .where(schema.item_set.c.hash == item_set)
        )
        with self._database.reading() as connection:
            return tuple(sorted(Role(role, model) for role, model in connection.execute(query)))

    def of_items(self, item_sets: Sequence[bytes]) -> dict[Role, set[bytes]]:
        """Each role in these sets with the ids of the items that it touches, in order."""
        held, member, item = schema.fact_role, schema.item_set_item, schema.item
        rests = schema.item_fact
        by_fact = (
            select(held.c.role, held.c.model, item.c.hash)
            .distinct()
            .join(rests, rests.c.fact_id == held.c.fact_id)
            .join(item, item.c.id == rests.c.item_id)
            .join(member, member.c.item_id == item.c.id)
            .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
            .where(schema.item_set.c.hash.in_(item_sets))
        )
        whole = schema.item_set_role
        by_set = (
            select(whole.c.role, whole.c.model, item.c.hash)
            .join(member, member.c.item_set_id == whole.c.item_set_id)
            .join(item, item.c.id == member.c.item_id)
            .join(schema.item_set, schema.item_set.c.id == whole.c.item_set_id)
            .where(schema.item_set.c.hash.in_(item_sets))
        )
        found: dict[Role, set[bytes]] = {}
        with self._database.reading() as connection:
            for query in (by_fact, by_set):
                for role, model, identity in connection.execute(query):
                    found.setdefault(Role(role, model), set()).add(identity)
        return dict(sorted(found.items()))

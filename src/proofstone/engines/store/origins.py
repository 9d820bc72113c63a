"""Where the questions of an item set come from: sources, books, or the bank alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from sqlalchemy import ColumnElement, func, select, true

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import chunks

__all__ = ["DocumentRow", "Origin", "OriginRows", "origin_columns", "with_sources"]


class Origin(Struct, frozen=True, order=True):
    """What questions rest on: a source's title, else the book's, else the bank's or the set's
    name. ``names`` are all names a rule may know it by; ``n_items`` questions rest on it."""

    title: str
    licence: str = ""
    n_items: int = 0
    names: tuple[str, ...] = ()


class DocumentRow(Struct, frozen=True):
    """An item that rests on a fact from a source, or such a fact itself: the ids of ``of`` and the
    source, the source's title, and the page in it (empty where it is not known)."""

    of: bytes
    source: bytes
    title: str
    page: str


class OriginRows:
    """Reads origins. Facts that name a passage and no source are of the passage's source."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def of_set(self, item_set: bytes, n_items: int | None = None) -> list[Origin]:
        """The origins of a set's first ``n_items`` items (of all, where None), by title."""
        position = schema.item_set_item.c.position
        return self._of_set(item_set, true() if n_items is None else position < n_items)

    def of_positions(self, item_set: bytes, positions: Sequence[int]) -> list[Origin]:
        """The origins of a set's items at so few positions that they fit into one statement."""
        return self._of_set(item_set, schema.item_set_item.c.position.in_(positions))

    def _of_set(self, item_set: bytes, here: ColumnElement[bool]) -> list[Origin]:
        with self._database.reading() as connection:
            query = (
                select(
                    schema.item_set.c.id,
                    func.coalesce(schema.bank.c.name, schema.item_set.c.name),
                )
                .outerjoin(schema.bank, schema.bank.c.id == schema.item_set.c.bank_id)
                .where(schema.item_set.c.hash == item_set)
            )
            key, name = connection.execute(query).one()
            return _gather(connection.execute(_of_items(key, here)), name)

    def documents_of_set(self, item_set: bytes) -> list[DocumentRow]:
        """The sources and pages of a set's items, by item and in the order of its facts; items
        whose facts have no source are left out."""
        member, edge = schema.item_set_item, schema.item_fact
        query = (
            _documents(schema.item.c.hash)
            .join(schema.item, schema.item.c.id == member.c.item_id)
            .join(edge, edge.c.item_id == member.c.item_id)
            .join(schema.fact, schema.fact.c.id == edge.c.fact_id)
            .order_by(member.c.position, edge.c.position)
        )
        return self._document_rows(query, item_set)

    def documents_of_shared(self, item_set: bytes) -> list[DocumentRow]:
        """The sources and pages of the facts that are keys of a set's units, by fact: of a
        falsified statement that is the true one that it came from."""
        member, unit, edge = schema.item_set_item, schema.unit, schema.unit_cluster
        query = (
            _documents(schema.fact.c.hash)
            .join(unit, unit.c.item_id == member.c.item_id)
            .join(edge, edge.c.unit_id == unit.c.id)
            .join(schema.cluster, schema.cluster.c.id == edge.c.cluster_id)
            .join(schema.fact, schema.fact.c.hash == schema.cluster.c.key)
            .distinct()
        )
        return self._document_rows(query, item_set)

    def _document_rows(self, query: Any, item_set: bytes) -> list[DocumentRow]:
        own = (schema.item_set.c.hash == item_set, schema.source.c.id.is_not(None))
        with self._database.reading() as connection:
            return [
                DocumentRow(of, source, title, page or ("" if number is None else str(number)))
                for of, source, title, page, number in connection.execute(
                    with_sources(query).where(*own)
                )
            ]

    def passages_of_set(self, item_set: bytes) -> set[bytes]:
        """The passages that the facts of a set's items name."""
        query = (
            _facts_of_set(item_set, schema.passage.c.hash)
            .join(schema.passage, schema.passage.c.id == schema.fact.c.passage_id)
            .distinct()
        )
        with self._database.reading() as connection:
            return set(connection.scalars(query))

    def facts_without_passage(self, item_set: bytes) -> set[bytes]:
        """The facts of a set's items that name none."""
        query = _facts_of_set(item_set, schema.fact.c.hash).distinct()
        with self._database.reading() as connection:
            return set(connection.scalars(query.where(schema.fact.c.passage_id.is_(None))))

    def of_passages(self, passages: Iterable[bytes]) -> list[Origin]:
        """The sources of passages, by title; ``n_items`` counts passages."""
        source, passage = schema.source, schema.passage
        query = (
            select(source.c.title, source.c.licence, func.count(passage.c.id))
            .join(passage, passage.c.source_id == source.c.id)
            .group_by(source.c.title, source.c.licence)
        )
        found: Counter[tuple[str, str]] = Counter()
        with self._database.reading() as connection:
            for chunk in chunks(passages, 4000):
                for title, licence, n in connection.execute(query.where(passage.c.hash.in_(chunk))):
                    found[title, licence] += n
        return [
            Origin(title, licence, n, (title,)) for (title, licence), n in sorted(found.items())
        ]

    def of_facts(self, facts: list[bytes], otherwise: str) -> list[Origin]:
        """The origins of facts; of one without source and book it is ``otherwise``."""
        found: list[Any] = []
        with self._database.reading() as connection:
            for chunk in chunks(facts, 4000):
                found += connection.execute(_of_facts(chunk)).all()
        return _gather(found, otherwise)


def _documents(of: Any) -> Any:
    """The columns of ``DocumentRow`` and the number of the passage's page, from a set's members."""
    source, member = schema.source, schema.item_set_item
    return (
        select(of, source.c.hash, source.c.title, schema.fact.c.page, schema.passage.c.page)
        .select_from(schema.item_set)
        .join(member, member.c.item_set_id == schema.item_set.c.id)
    )


def _facts_of_set(item_set: bytes, column: Any) -> Any:
    """A column of the facts that a set's items rest on."""
    member, edge = schema.item_set_item, schema.item_fact
    return (
        select(column)
        .select_from(schema.item_set)
        .join(member, member.c.item_set_id == schema.item_set.c.id)
        .join(edge, edge.c.item_id == member.c.item_id)
        .join(schema.fact, schema.fact.c.id == edge.c.fact_id)
        .where(schema.item_set.c.hash == item_set)
    )


def origin_columns() -> list[Any]:
    """title, licence and book of a fact, empty where there is none."""
    source = schema.source
    return [
        func.coalesce(source.c.title, "").label("title"),
        func.coalesce(source.c.licence, "").label("licence"),
        func.coalesce(schema.fact.c.book, "").label("book"),
    ]


def with_sources(query: Any) -> Any:
    """A query over facts, joined with their sources: their passages' where they name none."""
    source = func.coalesce(schema.fact.c.source_id, schema.passage.c.source_id)
    return query.outerjoin(
        schema.passage, schema.passage.c.id == schema.fact.c.passage_id
    ).outerjoin(schema.source, schema.source.c.id == source)


def _of_items(item_set: int, here: ColumnElement[bool]) -> Any:
    """(item, title, licence, book), each once."""
    member, edge = schema.item_set_item, schema.item_fact
    query = (
        select(member.c.item_id, *origin_columns())
        .select_from(member)
        .outerjoin(edge, edge.c.item_id == member.c.item_id)
        .outerjoin(schema.fact, schema.fact.c.id == edge.c.fact_id)
    )
    return with_sources(query).where(member.c.item_set_id == item_set, here).distinct()


def _of_facts(facts: list[bytes]) -> Any:
    query = select(schema.fact.c.id.label("item_id"), *origin_columns()).select_from(schema.fact)
    return with_sources(query).where(schema.fact.c.hash.in_(facts))


def _gather(rows: Any, otherwise: str) -> list[Origin]:
    items: dict[tuple[str, str], set[int]] = {}
    names: dict[tuple[str, str], set[str]] = {}
    for item, title, licence, book in rows:
        origin = (title or book or otherwise, licence)
        items.setdefault(origin, set()).add(item)
        names.setdefault(origin, set()).update({origin[0], book or origin[0]})
    return [
        Origin(title, licence, len(found), tuple(sorted(names[title, licence])))
        for (title, licence), found in sorted(items.items())
    ]

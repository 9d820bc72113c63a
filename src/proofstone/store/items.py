"""Store items and item sets: added whole, read in pages."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import zstandard
from sqlalchemy import Connection, bindparam, delete, func, insert, literal, select

from proofstone.errors import BadUsage
from proofstone.records.ids import canonical_json
from proofstone.records.items import (
    Item,
    ItemLabel,
    ItemSet,
    LoadedItem,
    OwnPrompt,
    identified_item,
)
from proofstone.records.knowledge import Fact, Stratum
from proofstone.records.runs import OUTCOMES
from proofstone.store import schema
from proofstone.store.calls import decompress
from proofstone.store.database import Database
from proofstone.store.knowledge import KnowledgeStore
from proofstone.store.payloads import Payloads
from proofstone.store.rows import (
    StorePart,
    bank_versions,
    chunks,
    insert_missing,
    insert_new,
    insert_record,
    insert_rows,
    keys_by,
    record_of,
)

_FACTS_KEPT = 8192  # facts cached in decoded form between pages; bounds memory for any bank size


class StoredItem(msgspec.Struct, frozen=True, gc=False):
    """An item of a set: its integer key, its position in the set, and the item with its facts."""

    key: int
    position: int
    loaded: LoadedItem


class ItemStore(StorePart):
    """Add and read items and item sets."""

    def __init__(self, database: Database, payloads: Payloads, knowledge: KnowledgeStore) -> None:
        super().__init__(database)
        self._payloads = payloads
        self._knowledge = knowledge
        self._set_keys: dict[bytes, int] = {}
        self._labelled: dict[int, bool] = {}
        self._facts: OrderedDict[int, Fact] = OrderedDict()
        self._facts_lock = threading.Lock()  # pages of several runs are read in threads

    def add_set(
        self,
        item_set: ItemSet,
        items: Iterable[Item],
        now: float,
        labels: Sequence[ItemLabel] = (),
    ) -> bool:
        """Store a set with its items in order, in one transaction; False if it existed.

        Items without an id get that of their content. ``labels`` are theirs, in the same order; a
        set that corrects another inherits its labels by default. Raises BadUsage for two different
        items with one id.
        """
        with self._database.writing() as connection:
            if keys_by(connection, schema.item_set, ("hash",), [item_set.id]):
                return False
            placed: list[int] = []
            seen: dict[bytes, int] = {}
            identified = (item if item.id else identified_item(item) for item in items)
            for chunk in chunks(identified, 2000):
                placed += self._items(connection, chunk, seen)
            key = insert_record(
                connection, schema.item_set, item_set, {"bank_id": item_set.bank},
                recipe=canonical_json(item_set.recipe), n_items=len(placed), created_at=now,
            )  # fmt: skip
            members = [(key, place, item) for place, item in enumerate(placed)]
            insert_rows(connection, schema.item_set_item, members)
            if item_set.corrects is not None:
                former = keys_by(connection, schema.item_set, ("hash",), [item_set.corrects])
                edge = (key, former[item_set.corrects])
                insert_rows(connection, schema.corrected_set, [edge])
                labels = labels or _labels_in_order(connection, edge[1], len(placed))
            _insert_labels(connection, key, placed, labels)
        return True

    def forget(self) -> None:
        """Drop cached facts, whose texts may have been purged."""
        self._labelled.clear()
        with self._facts_lock:
            self._facts.clear()

    def item_set(self, identity: bytes) -> ItemSet:
        """Return the item set with this id; KeyError if there is none."""
        table, made, former = schema.item_set, schema.corrected_set, schema.item_set.alias("former")
        query = (
            select(
                table,
                schema.bank.c.hash.label("bank"),
                former.c.hash.label("corrects"),
            )
            .outerjoin(schema.bank, schema.bank.c.id == table.c.bank_id)
            .outerjoin(made, made.c.item_set_id == table.c.id)
            .outerjoin(former, former.c.id == made.c.corrects_id)
            .where(table.c.hash == identity)
        )
        row = self._one(query, identity)
        return record_of(ItemSet, row, recipe=msgspec.json.decode(row.recipe))

    def sets_of_bank(self, bank: bytes) -> list[bytes]:
        """Return the ids of the item sets composed from a bank, oldest first.

        Includes those from a bank that it corrects, and corrected versions.
        """
        table = schema.item_set
        query = select(table.c.hash).where(table.c.bank_id.in_(bank_versions(bank)))
        return self._scalars(query.order_by(table.c.id))

    def superseded(self, item_sets: Sequence[bytes]) -> set[bytes]:
        """Return the sets that another one of them corrects."""
        made, former = schema.corrected_set, schema.item_set.alias("former")
        query = (
            select(former.c.hash, schema.item_set.c.hash)
            .select_from(made)
            .join(former, former.c.id == made.c.corrects_id)
            .join(schema.item_set, schema.item_set.c.id == made.c.item_set_id)
        )
        chosen = set(item_sets)
        newer = {row[1]: row[0] for row in self._rows(query)}
        gone: set[bytes] = set()
        for identity in chosen:  # also through versions that are not among these
            while (identity := newer.get(identity, b"")) != b"":
                gone.add(identity)
        return gone & chosen

    def within(self, item_set: bytes, kind: str, keys: Sequence[int]) -> list[int]:
        """Return the keys of the set's items that are among ``keys``, or use facts that are, in
        order.

        ``kind`` is "item" or "fact".
        """
        member, rests = schema.item_set_item, schema.item_fact
        resting = select(rests.c.item_id).where(rests.c.fact_id.in_(keys))
        chosen = member.c.item_id.in_(resting if kind == "fact" else keys)
        query = (
            select(member.c.item_id)
            .where(member.c.item_set_id == self._set_key(item_set), chosen)
            .order_by(member.c.position)
        )
        return self._scalars(query)

    def sets_with(self, kind: str, key: int) -> list[tuple[bytes, int]]:
        """Return the sets with an item, or with items that use a fact, each with their number.

        Oldest first; ``kind`` is "item" or "fact".
        """
        member, rests = schema.item_set_item, schema.item_fact
        resting = select(rests.c.item_id).where(rests.c.fact_id == key)
        chosen = member.c.item_id.in_(resting) if kind == "fact" else member.c.item_id == key
        query = (
            select(schema.item_set.c.hash, func.count(member.c.item_id.distinct()))
            .join(member, member.c.item_set_id == schema.item_set.c.id)
            .where(chosen)
            .group_by(schema.item_set.c.id, schema.item_set.c.hash)
            .order_by(schema.item_set.c.id)
        )
        return [(identity, n) for identity, n in self._rows(query)]

    def count_items(self, item_sets: Sequence[bytes]) -> int:
        """Return the number of different items in these sets."""
        member, owner = schema.item_set_item, schema.item_set
        query = select(member.c.item_id).distinct().join(owner, owner.c.id == member.c.item_set_id)
        return len({row.item_id for row in self._among(query, owner.c.hash, item_sets)})

    def sets_resting_on(self, facts: Iterable[int]) -> list[tuple[bytes, int]]:
        """Return the sets with items that use any of these facts, each with their number, oldest
        first.
        """
        member, rests, owner = schema.item_set_item, schema.item_fact, schema.item_set
        query = (
            select(owner.c.id, owner.c.hash, member.c.item_id)
            .distinct()
            .join(member, member.c.item_set_id == owner.c.id)
            .join(rests, rests.c.item_id == member.c.item_id)
        )
        found: dict[tuple[int, bytes], set[int]] = {}
        for key, identity, item in self._among(query, rests.c.fact_id, facts):
            found.setdefault((key, identity), set()).add(item)
        return [(identity, len(items)) for (_key, identity), items in sorted(found.items())]

    def places(self, item_set: bytes, after: int, limit: int) -> list[tuple[int, int]]:
        """Return up to ``limit`` (position, item key) of a set, after position ``after``."""
        member = schema.item_set_item
        query = (
            select(member.c.position, member.c.item_id)
            .where(_within(self._set_key(item_set), after, limit))
            .order_by(member.c.position)
        )
        return [(position, key) for position, key in self._rows(query)]

    def keys_within(self, item_set: bytes, after: int, limit: int) -> Any:
        """Return the keys of the items at the ``limit`` positions after ``after``, as a
        subquery.
        """
        here = _within(self._set_key(item_set), after, limit)
        return select(schema.item_set_item.c.item_id).where(here)

    def uses(self, item_set: bytes) -> list[int]:
        """Return how often a set uses each of its facts, rarest first."""
        member, edge = schema.item_set_item, schema.item_fact
        query = (
            select(func.count())
            .select_from(edge)
            .join(member, member.c.item_id == edge.c.item_id)
            .where(member.c.item_set_id == self._set_key(item_set))
            .group_by(edge.c.fact_id)
        )
        return sorted(self._scalars(query))

    def pages(self, item_set: bytes, size: int = 256) -> Iterator[list[StoredItem]]:
        """Yield the items of a set in order, in pages; no transaction stays open between them."""
        after = -1
        while page := self.page(item_set, after, size):
            yield page
            after = page[-1].position

    def page(self, item_set: bytes, after: int, limit: int) -> list[StoredItem]:
        """Return up to ``limit`` items of a set with their facts, after position ``after``.

        Uses ranges of positions, never lists of keys: writing a list of hundreds into a statement
        costs more than reading the rows.
        """
        place = {"item_set": self._set_key(item_set), "after": after, "last": after + limit}
        with self._database.reading() as connection:
            rows = connection.execute(_PAGE_ITEMS, place).all()
            edges = connection.execute(_PAGE_FACTS, place).all()
            labels = self._labels(connection, place["item_set"], [row[0] for row in rows])
        return self._stored(rows, edges, labels)

    def one(self, key: int) -> LoadedItem:
        """Return the item with this key, with its facts."""
        edge = schema.item_fact
        facts = (
            select(edge.c.item_id, edge.c.fact_id)
            .where(edge.c.item_id == key)
            .order_by(edge.c.position)
        )
        with self._database.reading() as connection:
            query = _select_items(literal(0)).where(schema.item.c.id == key)
            row = connection.execute(query).one()
            edges = connection.execute(facts).all()
            labels = _labels_of(connection, schema.item_label.c.item_id == key)
        return self._stored([row], edges, labels)[0].loaded

    def keys_of(self, items: Iterable[bytes]) -> dict[bytes, int]:
        """Return the keys of those of these items that are stored."""
        return self._keys_of(schema.item, items)

    def ids(self, item_set: bytes) -> list[bytes]:
        """Return the ids of a set's items in order."""
        member, item = schema.item_set_item, schema.item
        query = (
            select(item.c.hash)
            .join(member, member.c.item_id == item.c.id)
            .where(member.c.item_set_id == self._set_key(item_set))
            .order_by(member.c.position)
        )
        return self._scalars(query)

    def labels_of_sets(self, item_sets: Sequence[bytes]) -> dict[bytes, ItemLabel]:
        """Return the labels of these sets' items, by item id; only items that have one."""
        table, item = schema.item_label, schema.item
        owners = [self._set_key(identity) for identity in item_sets]
        query = (
            select(item.c.hash, table.c.name, table.c.metadata)
            .join(item, item.c.id == table.c.item_id)
            .where(table.c.item_set_id.in_(owners))
            .order_by(table.c.item_set_id)
        )
        return {row[0]: _label(row[1], row[2]) for row in self._rows(query)}

    def _labels(
        self, connection: Connection, item_set: int, items: Sequence[int]
    ) -> dict[int, ItemLabel]:
        """Return the labels of a set's items by key; a set without any is queried once."""
        table = schema.item_label
        if item_set not in self._labelled:
            query = select(table.c.item_id).where(table.c.item_set_id == item_set).limit(1)
            self._labelled[item_set] = connection.execute(query).first() is not None
        if not self._labelled[item_set] or not items:
            return {}
        here = (table.c.item_set_id == item_set) & table.c.item_id.in_(items)
        return _labels_of(connection, here)

    def _stored(
        self,
        rows: Sequence[Sequence[Any]],
        edges: Sequence[Sequence[int]],
        labels: Mapping[int, ItemLabel],
    ) -> list[StoredItem]:
        """Return the items of rows of ``_select_items``, in order."""
        facts: dict[int, list[int]] = {}
        for owner, fact in edges:
            facts.setdefault(owner, []).append(fact)
        known = self._load_facts({fact for _owner, fact in edges})
        decode = self._payloads.decode
        stored = []
        for (
            key, identity, kind, version, payload, language, discipline, field, subfield, book,
            number, corrects, position,
        ) in rows:  # fmt: skip
            rests_on = tuple([known[fact] for fact in facts.get(key, ())])
            item = Item(
                id=identity, kind=kind, payload=decode(kind, version, payload),
                facts=tuple([fact.id for fact in rests_on]), language=language,
                stratum=Stratum(discipline, field, subfield, book), number=number,
                corrects=corrects,
            )  # fmt: skip
            label = labels.get(key, _UNLABELLED)
            stored.append(StoredItem(key, position, LoadedItem(item, rests_on, label=label)))
        return stored

    def set_key(self, item_set: bytes) -> int:
        """Return the integer key of a set."""
        return self._set_key(item_set)

    def _set_key(self, item_set: bytes) -> int:
        key = self._set_keys.get(item_set)
        if key is None:
            key = self._keys_of(schema.item_set, [item_set])[item_set]
            self._set_keys[item_set] = key
        return key

    def _load_facts(self, keys: set[int]) -> dict[int, Fact]:
        kept = self._facts
        with self._facts_lock:
            found = {key: kept[key] for key in keys if key in kept}
            for key in found:
                kept.move_to_end(key)
        missing = [key for key in keys if key not in found]
        if missing:
            found |= self._knowledge.facts_by_key(missing)
        with self._facts_lock:
            kept.update((key, found[key]) for key in missing)
            while len(kept) > _FACTS_KEPT:
                kept.popitem(last=False)
        return found

    def _items(
        self, connection: Connection, items: list[Item], seen: dict[bytes, int]
    ) -> list[int]:
        """Return the keys of ``items``, storing new ones; ``seen`` maps ids to the content so
        far.
        """
        corrected = keys_by(
            connection, schema.item, ("hash",), {i.corrects for i in items if i.corrects}
        )
        rows = {}
        for item in items:
            rows[item.id] = row = self._item_row(item, corrected)
            content = hash((row, item.facts))
            if seen.setdefault(item.id, content) != content:
                raise BadUsage(
                    f"{item.kind}: two different items have one id",
                    hint="leave Item.id empty, it is computed; check the method with "
                    "proofstone.testing.check_method",
                )
        known, new = insert_new(connection, schema.item, rows)
        facts = keys_by(
            connection, schema.fact, ("hash",), {f for i in items if i.id in new for f in i.facts}
        )
        edges = [
            (known[item.id], position, facts[fact])
            for item in {item.id: item for item in items if item.id in new}.values()
            for position, fact in enumerate(item.facts)
        ]
        insert_rows(connection, schema.item_fact, edges)
        return [known[item.id] for item in items]

    def _item_row(self, item: Item, corrected: dict[Any, int]) -> tuple[Any, ...]:
        version, payload = self._payloads.encode(item.kind, item.payload)
        stratum = item.stratum
        return (
            item.id, item.kind, version, payload, item.language, stratum.discipline,
            stratum.field, stratum.subfield, stratum.book, item.number,
            corrected[item.corrects] if item.corrects else None,
        )  # fmt: skip


def _select_items(position: Any) -> Any:
    """Select items with a position, as ``ItemStore._stored`` unpacks them."""
    item, corrected = schema.item.c, schema.item.alias("corrected")
    return (
        select(
            item.id, item.hash, item.kind, item.version, item.payload, item.language,
            item.discipline, item.field, item.subfield, item.book, item.number,
            corrected.c.hash.label("corrects_hash"), position.label("position"),
        )
        .select_from(schema.item)
        .outerjoin(corrected, corrected.c.id == item.corrects_id)
    )  # fmt: skip


def _within(item_set: int, after: int, limit: int) -> Any:
    """Return the condition for the ``limit`` positions after ``after``; positions have no gaps."""
    member = schema.item_set_item
    last = after + limit
    return (
        (member.c.item_set_id == item_set)
        & (member.c.position > after)
        & (member.c.position <= last)
    )


def _page_statements() -> tuple[Any, Any]:
    """Return the statements for a page's items and facts, cached: building costs more than the
    rows.
    """
    member, edge = schema.item_set_item, schema.item_fact
    here = (
        (member.c.item_set_id == bindparam("item_set"))
        & (member.c.position > bindparam("after"))
        & (member.c.position <= bindparam("last"))
    )
    items = (
        _select_items(member.c.position)
        .join(member, member.c.item_id == schema.item.c.id)
        .where(here)
        .order_by(member.c.position)
    )
    facts = (
        select(edge.c.item_id, edge.c.fact_id)
        .join(member, member.c.item_id == edge.c.item_id)
        .where(here)
        .order_by(edge.c.item_id, edge.c.position)
    )
    return items, facts


_PAGE_ITEMS, _PAGE_FACTS = _page_statements()


_UNLABELLED = ItemLabel()


def _labels_of(connection: Connection, condition: Any) -> dict[int, ItemLabel]:
    table = schema.item_label
    query = select(table.c.item_id, table.c.name, table.c.metadata).where(condition)
    return {
        row[0]: _label(row[1], row[2])
        for row in connection.execute(query.order_by(table.c.item_set_id))
    }


def _label(name: str, metadata: bytes) -> ItemLabel:
    return ItemLabel(name, msgspec.json.decode(metadata) if metadata else {})


def _labels_in_order(connection: Connection, item_set: int, n: int) -> list[ItemLabel]:
    """Return the labels of a set by item position; empty if it has none."""
    member = schema.item_set_item
    found = _labels_of(connection, schema.item_label.c.item_set_id == item_set)
    if not found:
        return []
    query = select(member.c.position, member.c.item_id).where(member.c.item_set_id == item_set)
    labels = [_UNLABELLED] * n
    for position, item in connection.execute(query):
        labels[position] = found.get(item, _UNLABELLED)
    return labels


def _insert_labels(
    connection: Connection, item_set: int, items: Sequence[int], labels: Sequence[ItemLabel]
) -> None:
    if labels and len(labels) != len(items):
        raise ValueError(f"expected a label for each of {len(items)} items, got {len(labels)}")
    rows = {
        item: (item_set, item, label.name, canonical_json(dict(label.metadata)))
        for item, label in zip(items, labels, strict=False)
        if label
    }
    insert_rows(connection, schema.item_label, list(rows.values()))


# Scores of a scoring, counted by item.


class ItemTally(msgspec.Struct, frozen=True, gc=False):
    """Number and sum of an item's scores with an outcome, over its samples and units."""

    item: bytes
    outcome: str
    n: int
    total: float


class ItemTallies(StorePart):
    """Count scores in the database without loading them."""

    def of(self, scoring: int, measure: str) -> list[ItemTally]:
        """Return those of a measure in a scoring, in item order; items without scores are left
        out.
        """
        score, unit, item = schema.score, schema.unit, schema.item
        columns = (item.c.id, item.c.hash, score.c.outcome)
        query = (
            select(*columns, func.count(), func.sum(score.c.value))
            .select_from(score.join(unit).join(item))
            .where(score.c.scoring_id == scoring, score.c.measure == measure)
            .group_by(*columns)
            .order_by(item.c.id, score.c.outcome)
        )
        return [
            ItemTally(identity, OUTCOMES[outcome], n, float(total or 0.0))
            for _key, identity, outcome, n, total in self._rows(query)
        ]


# Users' prompt templates, stored among the prompts by the hash of their text.

_FILE = "prompt file "  # in the workspace's own rows, which are specific to this machine


class OwnPromptStore(StorePart):
    """Add and read templates; purged and merged like prompts."""

    def keep(self, prompt: OwnPrompt) -> None:
        """Store a template's text if new, and the location of its file."""
        row = (prompt.hash, zstandard.ZstdCompressor(level=1).compress(prompt.text.encode()))
        with self._database.writing() as connection:
            insert_missing(connection, schema.prompt, {prompt.hash: row})
            if prompt.file:
                table, key = schema.workspace, _FILE + prompt.hash.hex()
                connection.execute(delete(table).where(table.c.key == key))
                connection.execute(insert(table).values(key=key, value=prompt.file))

    def file(self, identity: bytes) -> Path | None:
        """Return where a template's file was last read on this machine, or None."""
        table = schema.workspace
        query = select(table.c.value).where(table.c.key == _FILE + identity.hex())
        found = self._scalar(query)
        return None if found is None else Path(found)

    def text(self, identity: bytes) -> str | None:
        """Return the text of a template; None if it is missing or purged."""
        query = select(schema.prompt.c.body).where(schema.prompt.c.hash == identity)
        body = self._scalar(query)
        return decompress(body).decode() if body else None

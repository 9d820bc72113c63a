"""Store sources with their pages and passages, facts and banks.

A page may be read several times by different readers. Each reading is a row, and the newest
applies.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, Row, Select, and_, bindparam, func, select, true

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.ids import canonical_json, short
from proofstone.records.knowledge import (
    Bank,
    BuiltFact,
    Fact,
    Passage,
    Role,
    Source,
    Stratum,
    TaxonomyLabel,
    bank_id,
    identified_fact,
)
from proofstone.records.pages import Page
from proofstone.store import schema
from proofstone.store.database import Database
from proofstone.store.payloads import Payloads, is_purged
from proofstone.store.purge import fill_again, refuse_emptied, refuse_purged
from proofstone.store.rows import (
    StorePart,
    among,
    bank_versions,
    chunks,
    insert_dicts,
    insert_missing,
    insert_record,
    insert_rows,
    keys_by,
    record_of,
    row_of,
    stratum_of,
    with_ids,
)

# Rows of sources and passages: into the database, and back to records.


def insert_sources(connection: Connection, sources: Iterable[Source]) -> dict[bytes, int]:
    """Return the keys of sources, inserting new ones. Raises SourcePurged."""
    sources = list(sources)
    refuse_purged(connection, sources)
    rows = {source.id: _source_row(source) for source in sources}
    return insert_missing(connection, schema.source, rows)


def insert_passages(
    connection: Connection, passages: Sequence[Passage], sources: Mapping[bytes, int]
) -> dict[bytes, int]:
    """Return the keys of passages, inserting new ones.

    Purged ones that may come back get their text again.
    """
    rows = {p.id: _passage_row(p, sources[p.source]) for p in passages}
    keys = insert_missing(connection, schema.passage, rows)
    texts = {p.id: {"text": p.text, "heading": p.heading} for p in passages}
    fill_again(connection, schema.passage, "text", texts)
    return keys


def _source_row(source: Source) -> tuple[Any, ...]:
    levels = msgspec.structs.asdict(source.stratum)
    authors = canonical_json(source.authors)
    return tuple(row_of(schema.source, source, authors=authors, **levels).values())


def source_of(row: Any) -> Source:
    """Return the source of a row of its table."""
    authors = tuple(msgspec.json.decode(row.authors))
    return record_of(Source, row, authors=authors, stratum=stratum_of(row))


def _passage_row(passage: Passage, source: int) -> tuple[Any, ...]:
    return (
        passage.id, source, passage.page, passage.start, passage.end, passage.text,
        passage.language, passage.heading,
    )  # fmt: skip


def select_passages() -> Select[Any]:
    """Select passages, as ``passage_of`` unpacks them."""
    return with_ids(schema.passage, source="source_id")


def passage_of(row: Any) -> Passage:
    """Return the passage of a row of ``select_passages``."""
    return Passage(
        id=row.hash, source=row.source, page=row.page, start=row.start_at, end=row.end_at,
        text=row.text, language=row.language, heading=row.heading,
    )  # fmt: skip


_BATCH = 200


_FROM_IMAGES = "ocr "  # prefix of such readers' names


class ReadPage(msgspec.Struct, frozen=True, gc=False):
    """A page with its passages in order."""

    page: Page
    passages: tuple[Passage, ...] = ()


class PlacedPassage(msgspec.Struct, frozen=True, gc=False):
    """A passage with the newest reading of its page."""

    passage: Passage
    page: Page


class PageCount(msgspec.Struct, frozen=True, kw_only=True):
    """Number of pages and passages of a source, and unread pages by reason."""

    pages: int
    passages: int
    unread: dict[str, tuple[int, ...]]


class PageStore(StorePart):
    """Add and read pages. Adding existing ones changes nothing."""

    def add(self, source: Source, read: Sequence[ReadPage], now: float) -> int:
        """Store a source with pages and their passages; return the number of new pages.

        Raises SourcePurged if the source was purged here.
        """
        with self._database.writing() as connection:
            sources = insert_sources(connection, [source])
            passages = [passage for each in read for passage in each.passages]
            keys = insert_passages(connection, passages, sources)
            own = {"source_id": sources[source.id], "read_at": now}
            rows = {each.page.id: row_of(schema.page, each.page, **own) for each in read}
            pages, new = insert_dicts(connection, schema.page, rows)
            texts = {
                each.page.id: {"text": each.page.text, "layout": each.page.layout} for each in read
            }
            fill_again(connection, schema.page, "text", texts)
            places = [
                (pages[each.page.id], position, keys[passage.id], _kinds(each.page, passage))
                for each in read
                for position, passage in enumerate(each.passages)
            ]
            insert_rows(connection, schema.page_passage, places, or_ignore=True)
        return len(new)

    def count(self, source: bytes) -> PageCount:
        """Return the page count of a source's newest readings; zeros for sources without pages."""
        newest = newest_pages(source)
        page, link = schema.page, schema.page_passage
        pages = select(page.c.number, page.c.state, page.c.reason).where(page.c.id.in_(newest))
        passages = select(func.count()).select_from(link).where(link.c.page_id.in_(newest))
        with self._database.reading() as connection:
            rows = connection.execute(pages.order_by(page.c.number)).all()
            n_passages = int(connection.execute(passages).scalar_one())
        unread: dict[str, list[int]] = {}
        for number, state, reason in rows:
            if state == "unread":
                unread.setdefault(reason, []).append(number or 0)
        return PageCount(
            pages=sum(row.number is not None for row in rows),
            passages=n_passages,
            unread={reason: tuple(numbers) for reason, numbers in unread.items()},
        )

    def readers(self, source: bytes) -> dict[int, str]:
        """Return the newest reader of each page, by page number; unread pages are left out."""
        page = schema.page
        query = select(page.c.number, page.c.reader).where(
            page.c.id.in_(newest_pages(source)), page.c.state == "read", page.c.number.is_not(None)
        )
        return {row.number: row.reader for row in self._rows(query)}

    def confidences(self, source: bytes) -> dict[int, float]:
        """Return the mean confidence of pages read from images, by page number, in order.

        Pages without lines are left out.
        """
        from_images = schema.page.c.reader.startswith(_FROM_IMAGES)
        return {
            page.number: page.confidence
            for page in self._newest(source, from_images)
            if page.number is not None and page.layout
        }

    def sources_of(self, content: bytes) -> list[Source]:
        """Return the sources with this content that have passages here, oldest first.

        Other metadata may differ.
        """
        table, passage = schema.source, schema.passage
        with_text = (passage.c.source_id == table.c.id) & (passage.c.text != "")
        query = (
            select(table)
            .where(table.c.content == content, select(passage.c.id).where(with_text).exists())
            .order_by(table.c.id)
        )
        return [source_of(row) for row in self._rows(query)]

    def stored(self, pages: Iterable[bytes]) -> set[bytes]:
        """Return which of these page readings are stored."""
        return set(self._keys_of(schema.page, pages))

    def pages(self, source: bytes) -> Iterator[Page]:
        """Yield the newest reading of each page, in page order."""
        return self._newest(source, true())

    def _newest(self, source: bytes, wanted: ColumnElement[bool]) -> Iterator[Page]:
        page = schema.page
        place = func.coalesce(page.c.number, 0).label("place")
        query = _pages().where(page.c.id.in_(newest_pages(source)), wanted).add_columns(place)
        for rows in self._pages(query, place, size=_BATCH):
            yield from map(_page, rows)

    def page(self, source: bytes, number: int) -> Page | None:
        """Return the newest reading of the page with this number, or None."""
        table = schema.page
        query = _pages().where(table.c.id.in_(newest_pages(source)), table.c.number == number)
        row = self._row(query)
        return None if row is None else _page(row)

    def passages_on(self, page: bytes) -> tuple[Passage, ...]:
        """Return the passages of one reading of a page, in order."""
        link, table, passage = schema.page_passage, schema.page, schema.passage
        query = (
            select_passages()
            .join(link, link.c.passage_id == passage.c.id)
            .join(table, table.c.id == link.c.page_id)
            .where(table.c.hash == page)
            .order_by(link.c.position)
        )
        return tuple(map(passage_of, self._rows(query)))

    def placed(self, passages: Iterable[bytes]) -> dict[bytes, PlacedPassage]:
        """Return passages with their newest page; those without a page are left out."""
        found: dict[bytes, PlacedPassage] = {}
        link, page, passage = schema.page_passage, schema.page, schema.passage
        with self._database.reading() as connection:
            for identity in passages:
                query = (
                    _pages()
                    .join(link, link.c.page_id == page.c.id)
                    .join(passage, passage.c.id == link.c.passage_id)
                    .where(passage.c.hash == identity)
                    .order_by(page.c.read_at.desc(), page.c.id.desc())
                    .limit(1)
                )
                row = connection.execute(query).one_or_none()
                if row is not None:
                    text = connection.execute(
                        select_passages().where(passage.c.hash == identity)
                    ).one()
                    found[identity] = PlacedPassage(passage_of(text), _page(row))
        return found


def newest_pages(source: bytes) -> Select[tuple[int]]:
    """Select the keys of the newest readings of a source's pages."""
    page, later = schema.page, schema.page.alias("later")
    same = and_(
        later.c.source_id == page.c.source_id,
        func.coalesce(later.c.number, 0) == func.coalesce(page.c.number, 0),
    )
    after = (later.c.read_at > page.c.read_at) | (
        (later.c.read_at == page.c.read_at) & (later.c.id > page.c.id)
    )
    return (
        select(page.c.id)
        .join(schema.source, schema.source.c.id == page.c.source_id)
        .outerjoin(later, and_(same, after))
        .where(schema.source.c.hash == source, later.c.id.is_(None))
    )


def _pages() -> Select[Any]:
    return with_ids(schema.page, source="source_id")


def _page(row: Any) -> Page:
    return record_of(Page, row, layout=bytes(row.layout))


def _kinds(page: Page, passage: Passage) -> str:
    """Return a passage's content kinds unless it is plain text: ``table``, ``text equation``."""
    kinds = page.places.kinds(passage.start, passage.end)
    return " ".join(kinds)


class StoredBank:
    """A bank for composers: its facts in the order of their ids, read once."""

    def __init__(self, store: KnowledgeStore, row: Row[Any]) -> None:
        self._store = store
        self._key: int = row.id
        self._facts: list[Fact] | None = None
        self.id: bytes = row.hash
        self.name: str = row.name
        self.method: str = row.method

    def facts(self) -> Sequence[Fact]:
        """Return all facts, in the order of their ids."""
        if self._facts is None:
            self._facts = self._store.facts_of_bank(self._key)
        return self._facts

    def readable_facts(self) -> Sequence[Fact]:
        """Return the facts whose text was not purged, in the same order."""
        return self._store.facts_of_bank(self._key, readable=True)

    def n_facts(self) -> int:
        """Return the number of facts, without reading them."""
        return self._store.size_of_bank(self._key)

    def kinds(self) -> list[str]:
        """Return the kinds of its facts (``method.kind``), sorted."""
        return self._store.kinds_of_bank(self._key)


class KnowledgeStore(StorePart):
    """Add and read sources, passages, facts and banks. Adding existing ones changes nothing."""

    def __init__(self, database: Database, payloads: Payloads) -> None:
        super().__init__(database)
        self._payloads = payloads

    def add_sources(self, sources: Iterable[Source]) -> None:
        """Store sources by id."""
        with self._database.writing() as connection:
            insert_sources(connection, sources)

    def add_passages(self, source: Source, passages: Iterable[Passage]) -> None:
        """Store a source and its passages."""
        with self._database.writing() as connection:
            keys = insert_sources(connection, [source])
            insert_passages(connection, list(passages), keys)

    def add_bank(
        self, name: str, method: str, built: Sequence[BuiltFact], now: float
    ) -> tuple[Bank, bool]:
        """Store facts with their sources and roles as one bank; equal facts give the same bank.

        Returns the bank, under its stored name, and True if it is new. Raises BadInput if facts
        refer to a missing passage or corrected fact; then nothing is stored.
        """
        built = _identified(built)
        by_id: dict[bytes, Fact] = {}
        is_sound = all(by_id.setdefault(b.fact.id, b.fact) == b.fact for b in built)
        facts = tuple(sorted(by_id))
        if not is_sound:
            raise BadUsage(
                f"{method}: two different facts have one id",
                hint="leave Fact.id empty, it is computed; check the method with "
                "proofstone.testing.check_method",
            )
        bank = Bank(id=bank_id(method, facts), name=name, method=method, facts=facts)
        with self._database.writing() as connection:
            keys = self._facts(connection, built)
            query = select(schema.bank.c.name).where(schema.bank.c.hash == bank.id)
            known = connection.execute(query).scalar_one_or_none()
            if known is not None:
                return msgspec.structs.replace(bank, name=known), False
            row = (bank.id, name, method, now)
            key = insert_missing(connection, schema.bank, {bank.id: row})[bank.id]
            places = [(key, place, keys[fact]) for place, fact in enumerate(facts)]
            insert_rows(connection, schema.bank_fact, places)
        return bank, True

    def add_facts(self, built: Sequence[BuiltFact]) -> None:
        """Store facts with their sources and roles, in no bank. Raises as ``add_bank``."""
        with self._database.writing() as connection:
            self._facts(connection, _identified(built))

    def correct_bank(self, bank: Bank, former: bytes) -> None:
        """Record that a stored bank corrects another; repeating it changes nothing."""
        with self._database.writing() as connection:
            keys = keys_by(connection, schema.bank, ("hash",), [bank.id, former])
            row = (keys[bank.id], keys[former])
            insert_rows(connection, schema.corrected_bank, [row], or_ignore=True)

    def versions_of_bank(self, bank: bytes) -> list[bytes]:
        """Return a bank and those that it corrects, directly or not; oldest first."""
        table = schema.bank
        query = select(table.c.hash).where(table.c.id.in_(bank_versions(bank)))
        return self._scalars(query.order_by(table.c.id))

    def banks_with(self, facts: Sequence[bytes]) -> list[bytes]:
        """Return the banks with one of these facts that no other bank corrects, oldest first."""
        held, made = schema.bank_fact, schema.corrected_bank
        query = (
            select(schema.bank.c.hash)
            .distinct()
            .select_from(schema.bank.join(held).join(schema.fact))
            .outerjoin(made, made.c.corrects_id == schema.bank.c.id)
            .where(schema.fact.c.hash.in_(facts), made.c.bank_id.is_(None))
        )
        return sorted(self._scalars(query))

    def bank(self, identity: bytes) -> StoredBank:
        """Return the bank with this id; KeyError if there is none."""
        query = select(schema.bank).where(schema.bank.c.hash == identity)
        return StoredBank(self, self._one(query, identity))

    def has_bank(self, identity: bytes) -> bool:
        """Return True if there is a bank with this id."""
        return bool(self._keys_of(schema.bank, [identity]))

    def facts_of_bank(self, key: int, *, readable: bool = False) -> list[Fact]:
        """Return the facts of a bank in order.

        ``readable`` skips those whose text was purged, which otherwise raise TextPurged.
        """
        table = schema.bank_fact
        query = (
            _select_facts()
            .join(table, table.c.fact_id == schema.fact.c.id)
            .where(table.c.bank_id == key)
            .order_by(table.c.position)
        )
        rows = self._rows(query)
        return [self._fact(row) for row in rows if not (readable and is_purged(row.payload))]

    def readable_facts_of_set(self, item_set: bytes) -> tuple[list[Fact], int]:
        """Return the facts of a set's items, each once in item order, and how many others were
        purged.
        """
        member, rests = schema.item_set_item, schema.item_fact
        query = (
            select(rests.c.fact_id)
            .join(member, member.c.item_id == rests.c.item_id)
            .join(schema.item_set, schema.item_set.c.id == member.c.item_set_id)
            .where(schema.item_set.c.hash == item_set)
            .order_by(member.c.position, rests.c.position)
        )
        keys = list(dict.fromkeys(self._scalars(query)))
        found = self._facts_by_key(keys, readable=True)
        return [found[key] for key in keys if key in found], len(keys) - len(found)

    def size_of_bank(self, key: int) -> int:
        """Return the number of facts in a bank."""
        table = schema.bank_fact
        query = select(func.count()).select_from(table).where(table.c.bank_id == key)
        return int(self._scalar(query))

    def kinds_of_bank(self, key: int) -> list[str]:
        """Return the kinds of a bank's facts, sorted."""
        table, kind = schema.bank_fact, schema.fact.c.kind
        query = select(kind).join(table, table.c.fact_id == schema.fact.c.id)
        return list(self._scalars(query.where(table.c.bank_id == key).distinct().order_by(kind)))

    def pages_of_bank(self, key: int, size: int = 1000) -> Iterator[list[Fact]]:
        """Yield the facts of a bank in order, in pages; no transaction stays open between them."""
        table = schema.bank_fact
        query = _select_facts().join(table, table.c.fact_id == schema.fact.c.id)
        query = query.where(table.c.bank_id == key).order_by(table.c.position)
        start = 0
        while True:
            places = table.c.position.between(start, start + size - 1)
            page = [self._fact(row) for row in self._rows(query.where(places))]
            if not page:
                return
            yield page
            start += size

    def facts_by_key(self, keys: Iterable[int]) -> dict[int, Fact]:
        """Return facts by integer key. Raises TextPurged."""
        return self._facts_by_key(keys, readable=False)

    def facts_by_id(
        self, identities: Iterable[bytes], *, readable: bool = False
    ) -> dict[bytes, Fact]:
        """Return facts by id, without those not stored.

        ``readable`` also skips those whose text was purged, which otherwise raise TextPurged.
        """
        keys = self._keys_of(schema.fact, identities)
        found = self._facts_by_key(keys.values(), readable=readable)
        return {fact.id: fact for fact in found.values()}

    def _facts_by_key(self, keys: Iterable[int], *, readable: bool) -> dict[int, Fact]:
        found: dict[int, Fact] = {}
        with self._database.reading() as connection:
            for chunk in chunks(keys, 4000):
                rows = connection.execute(_FACTS_BY_KEY, {"keys": chunk}).all()
                kept = (row for row in rows if not (readable and is_purged(row.payload)))
                found |= {row[0]: self._fact(row) for row in kept}
        return found

    def fact_keys(self, identities: Iterable[bytes]) -> list[int]:
        """Return the integer keys of stored facts."""
        return list(self._keys_of(schema.fact, identities).values())

    def facts_of_source(self, source: bytes) -> list[Fact]:
        """Return all facts from a source, every version, oldest first."""
        query = _select_facts().where(schema.source.c.hash == source).order_by(schema.fact.c.id)
        return [self._fact(row) for row in self._rows(query)]

    def built_facts(self, facts: Sequence[Fact]) -> list[BuiltFact]:
        """Return facts with their sources and roles, as they were passed in."""
        wanted = {fact.source for fact in facts if fact.source is not None}
        sources = self.sources(wanted)
        roles = self._roles(fact.id for fact in facts)
        return [
            BuiltFact(
                fact, sources[fact.source] if fact.source else None, tuple(roles.get(fact.id, ()))
            )
            for fact in facts
        ]

    def sources(self, identities: Iterable[bytes]) -> dict[bytes, Source]:
        """Return the sources with these ids, without those not stored."""
        with self._database.reading() as connection:
            return {source.id: source for source in _sources_by_id(connection, identities)}

    def sources_of_book(self, book: str) -> list[Source]:
        """Return the sources that ever had this book, as stated or by a taxonomy label, oldest
        first.
        """
        placed = select(schema.taxonomy_label.c.source_id).where(
            schema.taxonomy_label.c.book == book
        )
        said = (schema.source.c.book == book) | schema.source.c.id.in_(placed)
        query = select(schema.source).where(said)
        rows = self._rows(query.order_by(schema.source.c.id))
        return [source_of(row) for row in rows]

    def passage(self, identity: bytes) -> Passage | None:
        """Return the passage with this id, or None."""
        row = self._row(select_passages().where(schema.passage.c.hash == identity))
        return None if row is None else passage_of(row)

    def passages(self, identities: Iterable[bytes]) -> dict[bytes, Passage]:
        """Return the passages with these ids, without those not stored; purged ones have no
        text.
        """
        rows = self._among(select_passages(), schema.passage.c.hash, identities)
        return {row.hash: passage_of(row) for row in rows}

    def passages_of(self, source: bytes, size: int = 500) -> Iterator[Passage]:
        """Yield the passages of a source's newest reading in order, in batches; none if purged."""
        query = select_passages().where(*_is_current(source))
        for page in self._pages(query, schema.passage.c.id, size=size):
            yield from map(passage_of, page)

    def _roles(self, identities: Iterable[bytes]) -> dict[bytes, list[Role]]:
        table, fact = schema.fact_role, schema.fact
        query = (
            select(fact.c.hash, table.c.role, table.c.model)
            .join(fact, fact.c.id == table.c.fact_id)
            .order_by(table.c.role, table.c.model)
        )
        found: dict[bytes, list[Role]] = {}
        for identity, role, model in self._among(query, fact.c.hash, identities):
            found.setdefault(identity, []).append(Role(role, model))
        return found

    def _facts(self, connection: Connection, built: Sequence[BuiltFact]) -> dict[bytes, int]:
        """Store facts, corrected ones before their corrections. Raises BadInput."""
        known = {b.source.id: b.source for b in built if b.source}
        # Facts that are only referred to are stored already, with their source passages.
        named = {b.fact.source for b in built if b.fact.source} - known.keys()
        sources = insert_sources(connection, [*known.values(), *_sources_by_id(connection, named)])
        passages = keys_by(
            connection, schema.passage, ("hash",), {b.fact.passage for b in built if b.fact.passage}
        )
        corrected = {b.fact.corrects for b in built if b.fact.corrects}
        keys: dict[Any, int] = keys_by(connection, schema.fact, ("hash",), corrected)
        refuse_absent(built, sources, passages, keys)
        refuse_emptied(connection, (b.fact for b in built))
        for group in generations(built):
            for some in chunks(group, 4000):  # not all rows of a million facts together
                rows = {fact.id: self._fact_row(fact, sources, passages, keys) for fact in some}
                keys |= insert_missing(connection, schema.fact, rows)
                texts = {key: {"version": row[2], "payload": row[3]} for key, row in rows.items()}
                fill_again(connection, schema.fact, "payload", texts)
        roles = [(keys[b.fact.id], role.role, role.model) for b in built for role in b.roles]
        insert_rows(connection, schema.fact_role, roles, or_ignore=True)
        return keys

    def _fact_row(
        self,
        fact: Fact,
        sources: dict[bytes, int],
        passages: dict[Any, int],
        facts: dict[Any, int],
    ) -> tuple[Any, ...]:
        version, payload = self._payloads.encode(fact.kind, fact.payload)
        return (
            fact.id, fact.kind, version, payload, fact.language, *_levels(fact.stratum),
            sources[fact.source] if fact.source else None,
            passages[fact.passage] if fact.passage else None, fact.page,
            facts[fact.corrects] if fact.corrects else None,
        )  # fmt: skip

    def _fact(self, row: Sequence[Any]) -> Fact:
        (
            _key, identity, kind, version, payload, language, discipline, field, subfield, book,
            page, source, passage, corrects,
        ) = row  # fmt: skip
        return Fact(
            id=identity, kind=kind, payload=self._payloads.decode(kind, version, payload),
            language=language, stratum=Stratum(discipline, field, subfield, book), source=source,
            passage=passage, page=page, corrects=corrects,
        )  # fmt: skip


def _is_current(source: bytes) -> tuple[Any, ...]:
    """Return the condition that a passage is in a source's newest reading and not purged."""
    table, link, newest = schema.passage, schema.page_passage, newest_pages(source)
    read = table.c.id.in_(select(link.c.passage_id).where(link.c.page_id.in_(newest)))
    return schema.source.c.hash == source, table.c.text != "", read | ~newest.exists()


def _identified(built: Sequence[BuiltFact]) -> Sequence[BuiltFact]:
    """Return the facts, with content ids for those without an id."""
    if all(each.fact.id for each in built):
        return built
    return [
        each if each.fact.id else msgspec.structs.replace(each, fact=identified_fact(each.fact))
        for each in built
    ]


def _select_facts() -> Any:
    """Select facts, as ``KnowledgeStore._fact`` unpacks them."""
    fact, corrected = schema.fact.c, schema.fact.alias("corrected")
    return (
        select(
            fact.id, fact.hash, fact.kind, fact.version, fact.payload, fact.language,
            fact.discipline, fact.field, fact.subfield, fact.book, fact.page,
            schema.source.c.hash.label("source_hash"),
            schema.passage.c.hash.label("passage_hash"),
            corrected.c.hash.label("corrects_hash"),
        )
        .select_from(schema.fact)
        .outerjoin(schema.source, schema.source.c.id == fact.source_id)
        .outerjoin(schema.passage, schema.passage.c.id == fact.passage_id)
        .outerjoin(corrected, corrected.c.id == fact.corrects_id)
    )  # fmt: skip


# Cached: pages of questions use it repeatedly.
_FACTS_BY_KEY = _select_facts().where(schema.fact.c.id.in_(bindparam("keys", expanding=True)))


def _levels(stratum: Stratum) -> tuple[str, str, str, str]:
    return stratum.discipline, stratum.field, stratum.subfield, stratum.book


def _sources_by_id(connection: Connection, identities: Iterable[bytes]) -> list[Source]:
    return list(
        map(source_of, among(connection, select(schema.source), schema.source.c.hash, identities))
    )


# Input of a passage index: sources with passages, and their current passages.


class IndexedSource(Struct, frozen=True, gc=False):
    """A source with passages: its id, and the fields that distinguish editions of one document.

    ``authors`` are as stored.
    """

    id: bytes
    kind: str
    title: str
    language: str
    authors: bytes
    year: int | None
    origin: str


class IndexedRows(StorePart):
    """Read ids only, to detect changes quickly."""

    def sources(self, only: Collection[bytes] | None = None) -> list[IndexedSource]:
        """Return the sources (of ``only`` these) with a passage that has text, in insertion
        order.
        """
        table = schema.source.c
        held = select(schema.passage.c.source_id).where(schema.passage.c.text != "")
        columns = (
            table.hash, table.kind, table.title, table.language, table.authors, table.year,
            table.origin,
        )  # fmt: skip
        query = select(*columns).where(table.id.in_(held)).order_by(table.id)
        if only is not None:
            query = query.where(table.hash.in_(only))
        return [IndexedSource(*row) for row in self._rows(query)]

    def passage_ids(self, source: bytes) -> list[bytes]:
        """Return the ids of the passages of ``KnowledgeStore.passages_of``, in order."""
        table = schema.passage
        query = select(table.c.hash).join(schema.source).where(*_is_current(source))
        return self._scalars(query.order_by(table.c.id))


# Taxonomy labels of sources: added, never changed; the newest of a source applies.


class TaxonomyLabelStore(StorePart):
    """Add and read taxonomy labels."""

    def add(self, taxonomy_labels: Sequence[TaxonomyLabel]) -> None:
        """Store labels of stored sources in one transaction; existing ones are kept."""
        with self._database.writing() as connection:
            for one in taxonomy_labels:
                insert_record(
                    connection, schema.taxonomy_label, one,
                    {"source_id": one.source, "build_id": one.build, "actor_id": one.actor,
                     "follows_id": one.follows},
                    models=canonical_json(one.models), **msgspec.structs.asdict(one.stratum),
                )  # fmt: skip

    def of_source(self, source: bytes) -> list[TaxonomyLabel]:
        """Return the labels of a source, oldest first."""
        return list(
            map(_taxonomy_label, self._rows(_select().where(schema.source.c.hash == source)))
        )

    def in_force(self, sources: Iterable[bytes]) -> dict[bytes, TaxonomyLabel]:
        """Return the newest label of each of these sources that has one."""
        found = map(_taxonomy_label, self._among(_select(), schema.source.c.hash, sources))
        return {taxonomy_label.source: taxonomy_label for taxonomy_label in found}


def _select() -> Any:
    table = schema.taxonomy_label
    query = with_ids(
        table, source="source_id", build="build_id", actor="actor_id", follows="follows_id"
    )
    return query.order_by(table.c.created_at, table.c.hash)


def _taxonomy_label(row: Row[Any]) -> TaxonomyLabel:
    models = msgspec.json.decode(row.models, type=tuple[str, ...])
    return record_of(TaxonomyLabel, row, stratum=stratum_of(row), models=models)


def refuse_absent(
    built: Sequence[BuiltFact],
    sources: Mapping[bytes, int],
    passages: Mapping[Any, int],
    facts: Mapping[Any, int],
) -> None:
    """Raise BadInput if a fact refers to a source, passage or fact that is neither stored nor
    new.
    """
    coming = {b.fact.id for b in built}
    problems = []
    for fact in (b.fact for b in built):
        place = f"fact {short(fact.id)}"
        if fact.source and fact.source not in sources:
            what = f"source {short(fact.source)} is not in this workspace"
            problems.append(Problem(place, what))
        if fact.passage and fact.passage not in passages:
            what = f"passage {short(fact.passage)} is not in this workspace"
            problems.append(Problem(place, what))
        if fact.corrects and fact.corrects not in facts and fact.corrects not in coming:
            what = f"the fact {short(fact.corrects)} that it corrects is not in this workspace"
            problems.append(Problem(place, what))
    if problems:
        raise BadInput(
            "these facts refer to missing rows; nothing was stored",
            problems,
            hint="ingest the documents of the passages first, and import the corrected facts",
        )


def generations(built: Sequence[BuiltFact]) -> Iterator[list[Fact]]:
    """Yield the facts in groups, each after the group with the facts that it corrects.

    Ids are content hashes that include the corrected fact, so there are no cycles.
    """
    waiting = {b.fact.id: b.fact for b in built}
    while waiting:
        ready = [fact for fact in waiting.values() if fact.corrects not in waiting]
        yield ready
        for fact in ready:
            del waiting[fact.id]

"""Pages of sources: what was read on them, and which passages they were cut into.

A page may be read more than once, by other readers; each reading is a row, and the newest holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, and_, func, select, true

from proofstone.records.ids import canonical_json
from proofstone.records.knowledge import Passage, Source
from proofstone.records.pages import Page
from proofstone.store import schema
from proofstone.store.purge import fill_again, refuse_purged
from proofstone.store.rows import (
    StorePart,
    insert_dicts,
    insert_missing,
    insert_rows,
    keys_by,
    record_of,
    row_of,
    stratum_of,
    with_ids,
)

# Rows of sources and passages: into the database, and back to records.

_PASSAGE = (
    "hash", "source_id", "page", "start_at", "end_at", "text", "language", "heading",
)  # fmt: skip


def insert_sources(connection: Connection, sources: Iterable[Source]) -> dict[bytes, int]:
    """The keys of sources, after inserting those that are not there. Raises SourcePurged."""
    sources = list(sources)
    refuse_purged(connection, sources)
    rows = {source.id: _source_row(source) for source in sources}
    columns = tuple(column.name for column in schema.source.columns if column.name != "id")
    return insert_missing(connection, schema.source, columns, rows)


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
    levels = msgspec.structs.asdict(source.stratum)
    authors = canonical_json(source.authors)
    return tuple(row_of(schema.source, source, authors=authors, **levels).values())


def source_of(row: Any) -> Source:
    """The source of a row of its table."""
    authors = tuple(msgspec.json.decode(row.authors))
    return record_of(Source, row, authors=authors, stratum=stratum_of(row))


def _passage_row(passage: Passage, source: int) -> tuple[Any, ...]:
    return (
        passage.id, source, passage.page, passage.start, passage.end, passage.text,
        passage.language, passage.heading,
    )  # fmt: skip


def select_passages() -> Select[Any]:
    """Passages, as ``passage_of`` takes them."""
    return with_ids(schema.passage, source="source_id")


def passage_of(row: Any) -> Passage:
    """The passage of a row of ``select_passages``."""
    return Passage(
        id=row.hash, source=row.source, page=row.page, start=row.start_at, end=row.end_at,
        text=row.text, language=row.language, heading=row.heading,
    )  # fmt: skip


_BATCH = 200


_FROM_IMAGES = "ocr "  # how the names of such readers begin


class ReadPage(msgspec.Struct, frozen=True, gc=False):
    """A page with its passages in order."""

    page: Page
    passages: tuple[Passage, ...] = ()


class PlacedPassage(msgspec.Struct, frozen=True, gc=False):
    """A passage with the newest reading of a page that it stands on."""

    passage: Passage
    page: Page


class PageCount(msgspec.Struct, frozen=True, kw_only=True):
    """How many pages of a source there are, how many passages on them, and which are unread, by
    the reason."""

    pages: int
    passages: int
    unread: dict[str, tuple[int, ...]]


class PageStore(StorePart):
    """Adds and reads pages. Adding what is there changes nothing."""

    def add(self, source: Source, read: Sequence[ReadPage], now: float) -> int:
        """Stores a source with pages of it and their passages; how many pages were new.

        Raises SourcePurged where the source was purged here.
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
            columns = ("page_id", "position", "passage_id", "kinds")
            insert_rows(connection, schema.page_passage, columns, places, or_ignore=True)
        return len(new)

    def count(self, source: bytes) -> PageCount:
        """The pages of a source as they were read last; none of what came without pages."""
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
        """What read each page last, by the page's number; pages that stayed unread are left out."""
        page = schema.page
        query = select(page.c.number, page.c.reader).where(
            page.c.id.in_(newest_pages(source)), page.c.state == "read", page.c.number.is_not(None)
        )
        return {row.number: row.reader for row in self._rows(query)}

    def confidences(self, source: bytes) -> dict[int, float]:
        """How sure their reader was of the pages that were read from images, by number, in order of
        the pages; those without a line are left out."""
        from_images = schema.page.c.reader.startswith(_FROM_IMAGES)
        return {
            page.number: page.confidence
            for page in self._newest(source, from_images)
            if page.number is not None and page.layout
        }

    def sources_of(self, content: bytes) -> list[Source]:
        """The sources of this very content that have passages here, with whatever was stated of
        them, oldest first."""
        table, passage = schema.source, schema.passage
        with_text = (passage.c.source_id == table.c.id) & (passage.c.text != "")
        query = (
            select(table)
            .where(table.c.content == content, select(passage.c.id).where(with_text).exists())
            .order_by(table.c.id)
        )
        return [source_of(row) for row in self._rows(query)]

    def stored(self, pages: Iterable[bytes]) -> set[bytes]:
        """Those of these readings of pages that are here."""
        with self._database.reading() as connection:
            return set(keys_by(connection, schema.page, ("hash",), pages))

    def pages(self, source: bytes) -> Iterator[Page]:
        """The newest reading of each page, in the order of the pages."""
        return self._newest(source, true())

    def _newest(self, source: bytes, wanted: ColumnElement[bool]) -> Iterator[Page]:
        page = schema.page
        place = func.coalesce(page.c.number, 0).label("place")
        query = _pages().where(page.c.id.in_(newest_pages(source)), wanted).add_columns(place)
        for rows in self._pages(query, place, size=_BATCH):
            yield from map(_page, rows)

    def page(self, source: bytes, number: int) -> Page | None:
        """The newest reading of the page with this number, or None."""
        table = schema.page
        query = _pages().where(table.c.id.in_(newest_pages(source)), table.c.number == number)
        row = self._row(query)
        return None if row is None else _page(row)

    def passages_on(self, page: bytes) -> tuple[Passage, ...]:
        """The passages of one reading of a page, in order."""
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
        """Passages with the newest page that they stand on; those without a page are missing."""
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
    """The keys of the newest readings of a source's pages."""
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
    """What a passage is made of, where it is not all plain text: ``table``, ``text equation``."""
    kinds = page.places.kinds(passage.start, passage.end)
    return " ".join(kinds)

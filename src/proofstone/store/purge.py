"""Purge a source: its passages, and everything made from its text.

Sources with the same content under another title or license are copies, and are purged together.
Derived from a source are:

- its passages, and facts from it or them;
- facts that correct such a fact or refer to one in their payload (a false statement refers to its
  true one);
- facts without a source, and items, that quote it or what builds made of it (imported exports);
- items that use such facts, and rows of builds;
- the prompts and responses for these items and rows.

In addition every stored prompt and response is searched for the texts, because few-shot examples
and builders quote them.
"""

from __future__ import annotations

import re
import sqlite3
from base64 import b64decode
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import msgspec
from sqlalchemy import Connection, Table, func, select, update

from proofstone.errors import Problem, SourcePurged, WorkspaceInUse
from proofstone.records.ids import canonical_json, content_id, short
from proofstone.records.knowledge import Fact, Source
from proofstone.records.pages import requests_named
from proofstone.records.reviews import Person
from proofstone.store import schema
from proofstone.store.calls import decompress
from proofstone.store.database import Database, Readable, sqlite_file, users_of
from proofstone.store.lookup import Found
from proofstone.store.payloads import Finder, ids_in, is_purged, said_in, sentences, strings_of
from proofstone.store.rows import (
    StorePart,
    among,
    chunks,
    empty_verdicts,
    insert_record,
    insert_rows,
    paged,
    record_of,
    with_ids,
)

# Tombstones (deletion records): purged sources, by whom, when and why; they block re-ingestion.
#
# A tombstone of kind ``lifted`` ends the one before it. Rows are never removed.


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """Record that a source was purged, or that its tombstone was lifted.

    ``content`` is the source's own hash of its bytes; ``actor`` is a random id, ``name`` the
    person's if known here; ``removed`` counts texts by kind.
    """

    kind: Literal["purged", "lifted"]
    source: bytes
    content: bytes
    actor: bytes
    name: str
    reason: str
    made_at: float
    removed: dict[str, int] = {}

    def __str__(self) -> str:
        when = datetime.fromtimestamp(self.made_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
        who = self.name or f"actor {short(self.actor)}"
        return f"{self.kind} on {when} by {who}: {self.reason}"


class TombstoneRows(StorePart):
    """Read tombstones."""

    def of_source(self, source: bytes) -> list[Tombstone]:
        """Return the tombstones of a source, oldest first."""
        return [stone for stone in self.every() if stone.source == source]

    def in_force(self) -> list[Tombstone]:
        """Return the newest tombstone of each currently purged source."""
        with self._database.reading() as connection:
            return list(_in_force(connection).values())

    def every(self) -> list[Tombstone]:
        """Return all tombstones, oldest first."""
        with self._database.reading() as connection:
            return _every(connection)

    def newest(self, connection: Connection, source: bytes) -> Tombstone | None:
        """Return the newest tombstone of a source."""
        return {stone.source: stone for stone in _every(connection)}.get(source)

    def add(
        self,
        connection: Connection,
        kind: Literal["purged", "lifted"],
        source: int,
        who: Person,
        reason: str,
        now: float,
        removed: Mapping[str, int] = {},
    ) -> Tombstone:
        """Store a tombstone in the open transaction."""
        row = connection.execute(select(schema.source).where(schema.source.c.id == source)).one()
        stone = Tombstone(
            kind=kind, source=row.hash, content=row.content, actor=who.actor, name=who.name,
            reason=reason, made_at=now, removed=dict(removed),
        )  # fmt: skip
        key = [kind, row.hash, row.content, who.actor, reason, now]
        identity = content_id("tombstone", key)
        given = {"source_hash": row.hash, "removed": canonical_json(stone.removed)}
        refers = {"actor_id": who.actor}
        insert_record(connection, schema.tombstone, stone, refers, hash=identity, **given)
        return stone


def refuse_purged(connection: Connection, sources: Iterable[Source]) -> None:
    """Raise SourcePurged, naming each tombstone, if one of ``sources`` was purged here.

    Sources are identified by id, or by the hash of their content under any title.
    """
    stones = _in_force(connection)
    if not stones:
        return
    by_content = {stone.content: stone for stone in stones.values()}
    problems = []
    for source in sources:
        stone = stones.get(source.id) or by_content.get(source.content)
        if stone is not None:
            problems.append(Problem(source.title, f"source:{short(stone.source)} was {stone}"))
    if problems:
        raise SourcePurged(
            "purged sources cannot be added again; nothing was stored",
            problems,
            hint="leave it out, or lift the tombstone: proofstone workspace purge SOURCE --lift "
            "--reason WHY",
        )


def purged_there(origin: Readable, target: Readable) -> list[Tombstone]:
    """Return tombstones in force in ``target`` for sources that ``origin`` still contains.

    Merging ``origin`` would restore their texts.
    """
    with target.reading() as connection:
        stones = _in_force(connection)
    with origin.reading() as connection:
        gone = _in_force(connection)
        sources = connection.execute(select(schema.source.c.hash, schema.source.c.content)).all()
    by_content = {stone.content: stone for stone in stones.values()}
    found = [
        stone
        for identity, content in sources
        if identity not in gone and (stone := stones.get(identity) or by_content.get(content))
    ]
    return list({stone.source: stone for stone in found}.values())


def refuse_emptied(connection: Connection, facts: Iterable[Fact]) -> None:
    """Raise SourcePurged if a fact without a source was purged as derived from another one."""
    stones = _in_force(connection)
    if not stones:
        return
    table = schema.fact
    named = (fact.id for fact in facts if fact.source is None)
    empty = _is_empty(table, "payload")
    emptied = sorted(_where_in(connection, table.c.hash, table.c.hash, named, empty))
    if emptied:
        purged = ", ".join(f"source:{short(source)}" for source in stones)
        raise SourcePurged(
            "facts derived from a purged source cannot be added again; nothing was stored",
            [Problem(f"fact {short(fact)}", "was purged") for fact in emptied],
            hint=f"purged here: {purged}; 'proofstone show SOURCE' says who, when and why",
        )


def fill_again(
    connection: Connection, table: Any, mark: str, rows: Mapping[bytes, Mapping[str, Any]]
) -> None:
    """Restore the values of purged rows (column ``mark`` is empty) once no tombstone refuses them.

    Does nothing in a workspace without tombstones.
    """
    if connection.execute(select(schema.tombstone.c.id).limit(1)).first() is None:
        return
    empty = _is_empty(table, mark)
    for identity in _where_in(connection, table.c.hash, table.c.hash, rows, empty):
        statement = update(table).where(table.c.hash == identity)
        connection.execute(statement.values(dict(rows[identity])))


def _is_empty(table: Any, mark: str) -> Any:
    """Return the condition that a row was purged; see ``payloads.is_purged``."""
    if mark == "text":
        return table.c.text == ""
    return (table.c.payload == b"") | (func.substr(table.c.payload, 1, 1) != b"{")


def _in_force(connection: Connection) -> dict[bytes, Tombstone]:
    newest = {stone.source: stone for stone in _every(connection)}
    return {source: stone for source, stone in newest.items() if stone.kind == "purged"}


def _every(connection: Connection) -> list[Tombstone]:
    table, person = schema.tombstone, schema.person
    query = (
        with_ids(table, actor="actor_id")
        .add_columns(person.c.name)
        .outerjoin(person, person.c.actor_id == table.c.actor_id)
        .order_by(table.c.made_at, table.c.id)
    )
    return [
        record_of(
            Tombstone, row, source=row.source_hash, name=row.name or "",
            removed=msgspec.json.decode(row.removed),
        )
        for row in connection.execute(query)
    ]  # fmt: skip


# Build data purged with a source: rows that entered from it or refer to it, rows made from them,
# and the calls made for them.

_CHUNK = 4000


_PAGE = 500  # payloads in memory during the search


def derived_build_rows(
    connection: Connection, sources: Collection[int], ids: frozenset[bytes], finder: Finder
) -> set[int]:
    """Return the keys of rows derived from the sources, and of everything steps made from these.

    Derived rows entered from the sources, refer to one of ``ids`` (theirs, their passages', their
    facts') or quote their texts.
    """
    entered = schema.build_input
    query = select(entered.c.row_id).where(entered.c.source_id.in_(sources)).distinct()
    found = set(connection.scalars(query))
    for key, payload in _bodies_of(connection, schema.build_row.c.id, schema.build_row.c.payload):
        if key not in found and payload and _speaks_of(payload, ids, finder):
            found.add(key)
    output = schema.build_output
    return _closure(connection, output.c.output_id, output.c.row_id, found)


def calls_for_rows(connection: Connection, rows: Iterable[int]) -> set[int]:
    """Return the keys of the calls that steps made for these rows."""
    made = schema.build_call
    return _where_in(connection, made.c.call_id, made.c.row_id, rows)


def empty_build_rows(connection: Connection, rows: Iterable[int]) -> None:
    """Remove the texts of rows, quotes in their outcomes, and the judges' words in their verdicts.

    Such a row, and a build that it entered, get another hash, so they are distinct if their source
    ever comes back.
    """
    row, outcome, entered = schema.build_row, schema.build_outcome, schema.build_input
    rows = list(rows)
    empty_verdicts(connection, schema.build_verdict.c.row_id, rows)
    builds: set[int] = set()
    for chunk in chunks(rows, _CHUNK):
        quotes = outcome.c.row_id.in_(chunk)
        connection.execute(update(outcome).where(quotes).values(found=""))
        query = select(row.c.id, row.c.hash).where(row.c.id.in_(chunk), row.c.payload != b"")
        full = connection.execute(query).all()
        builds |= _where_in(connection, entered.c.build_id, entered.c.row_id, (k for k, _ in full))
        for key, identity in full:
            emptied = {"payload": b"", "hash": content_id("purged-build_row", identity)}
            connection.execute(update(row).where(row.c.id == key).values(emptied))
    build = schema.build
    for key in sorted(builds):
        identity = connection.execute(select(build.c.hash).where(build.c.id == key)).scalar_one()
        renamed = content_id("purged-build", identity)
        connection.execute(update(build).where(build.c.id == key).values(hash=renamed))


def _speaks_of(payload: bytes, ids: frozenset[bytes], finder: Finder) -> bool:
    if not ids.isdisjoint(ids_in(payload)):
        return True
    return any(finder.finds(text) for text in strings_of(payload))


def _bodies_of(connection: Connection, key: Any, body: Any) -> Iterator[tuple[int, bytes]]:
    """Yield the bodies of all rows of a table by key, in batches."""
    for page in paged(_reader(connection), select(key, body), [key], _PAGE):
        yield from ((row[0], row[1]) for row in page)


def _reader(connection: Connection) -> Callable[[Any], Sequence[Any]]:
    return lambda query: connection.execute(query).all()


def _where_in(
    connection: Connection, wanted: Any, column: Any, values: Iterable[Any], *more: Any
) -> set[Any]:
    """Return ``wanted`` of the rows whose ``column`` has one of these values."""
    query = select(wanted).where(*more).distinct()
    return {row[0] for row in among(connection, query, column, values)}


def _closure(connection: Connection, wanted: Any, column: Any, found: set[int]) -> set[int]:
    """Return ``found`` and, transitively, ``wanted`` of the rows whose ``column`` has one of
    them.
    """
    more = found
    while more:
        more = _where_in(connection, wanted, column, more) - found
        found |= more
    return found


# Images purged with a source: those in purged prompts, and those of its pages that entered a build.

_PROMPTS = 400  # rows whose bodies are in memory together


_NAMED = re.compile(rb'"digest":"([A-Za-z0-9+/]{43}=)","media_type":"image/')  # keys are sorted


def images_in(
    connection: Connection, prompts: Iterable[int], rows: Iterable[bytes] = ()
) -> Iterator[int]:
    """Yield the keys of stored images in these prompts and bodies of build rows."""
    prompt = schema.prompt
    for chunk in chunks(prompts, _PROMPTS):
        bodies = connection.scalars(select(prompt.c.body).where(prompt.c.id.in_(chunk))).all()
        yield from _here(connection, map(decompress, bodies))
    yield from _here(connection, rows)


def _here(connection: Connection, bodies: Iterable[bytes]) -> Iterator[int]:
    image = schema.image
    named = {b64decode(name) for body in bodies for name in _NAMED.findall(body)}
    yield from _where_in(connection, image.c.id, image.c.hash, named, func.length(image.c.body) > 0)


_WORDS_OF_LINE = 5  # words of a line in a document without a final mark: more than a heading


_WORDS_OF_TEXT = 10  # words of any other text without one: more than an organization's name


_ASKED_BY_ALL = 3  # facts that ask the same question without a common origin: a common phrase


_QUESTION_ENDS = ("?", "？")


class PurgePlan(msgspec.Struct, frozen=True):
    """Keys of the rows whose texts are purged.

    ``facts``, ``items`` and ``units`` are all that come from the source. ``texts_of_...`` are those
    of them that still hold text, plus units that quote it. ``verdicts`` are other units whose
    verdict quotes it.
    """

    passages: frozenset[int]
    facts: frozenset[int]
    texts_of_facts: frozenset[int]
    items: frozenset[int]
    texts_of_items: frozenset[int]
    units: frozenset[int]
    texts_of_units: frozenset[int]
    prompts: frozenset[int]
    responses: frozenset[int]
    images: frozenset[int] = frozenset()
    rows: frozenset[int] = frozenset()
    texts_of_rows: frozenset[int] = frozenset()
    pages: frozenset[int] = frozenset()
    verdicts: frozenset[int] = frozenset()

    def counts(self) -> dict[str, int]:
        """Return the number of purged texts of each kind."""
        pages = {"pages": len(self.pages)} if self.pages else {}
        texts = {
            **pages,
            "passages": len(self.passages),
            "facts": len(self.texts_of_facts),
            "item texts": len(self.texts_of_items) + len(self.texts_of_units),
            "prompts": len(self.prompts),
            "responses": len(self.responses),
        }
        rare = {
            "images": len(self.images),
            "rows of builds": len(self.texts_of_rows),
            "verdicts": len(self.verdicts),
        }
        return texts | {kind: n for kind, n in rare.items() if n}


def copies_of(connection: Connection, source: int) -> list[Found]:
    """Return a source, then the others with the same content."""
    table = schema.source
    content = select(table.c.content).where(table.c.id == source).scalar_subquery()
    query = select(table.c.id, table.c.hash, table.c.title).where(table.c.content == content)
    rows = connection.execute(query.order_by(table.c.id != source, table.c.id))
    return [Found("source", *row) for row in rows]


def plan_purge(connection: Connection, sources: Collection[int]) -> PurgePlan:
    """Return what still holds text of the sources with these keys, which are copies of each
    other.
    """
    passage, page, fact = schema.passage, schema.page, schema.fact
    passages = _texts(connection, passage, passage.c.text, passage.c.source_id.in_(sources))
    pages = _texts(connection, page, page.c.text, page.c.source_id.in_(sources))
    facts = _derived_facts(connection, sources, set(passages))
    payloads = _bodies_by_key(connection, fact, facts)
    texts = {
        part
        for text in (*passages.values(), *pages.values())
        for part in said_in(text, words=_WORDS_OF_LINE)
    }
    texts |= _made_texts(payloads.values()) - _asked_by_all(connection, facts)
    own = _own_texts(connection, texts, facts, sources)
    finder = Finder(own)
    rows = derived_build_rows(
        connection, sources, _ids(connection, sources, passages, facts), finder
    )
    if made := _made_texts(_bodies_by_key(connection, schema.build_row, rows).values()):
        finder = Finder(own | _own_texts(connection, made, facts, sources))
    copies = _without_source(connection, _quoting(connection, fact, fact.c.id, finder) - facts)
    facts |= copies
    payloads |= _bodies_by_key(connection, fact, copies)
    items = _items_on(connection, facts)
    items |= _quoting(connection, schema.item, schema.item.c.id, finder)
    items |= _quoting(
        connection, schema.item_label, schema.item_label.c.item_id, finder, body="metadata"
    )
    units = _where_in(connection, schema.unit.c.id, schema.unit.c.item_id, items)
    rows |= derived_build_rows(
        connection, sources, _ids(connection, sources, passages, facts), finder
    )
    asked = _calls_on(connection, items) | calls_for_rows(connection, rows)
    asked |= _calls_reading(connection, sources)
    prompts, responses = _bodies(connection, asked, finder)
    of_rows = _bodies_by_key(connection, schema.build_row, rows)
    quoting = _quoting(connection, schema.unit, schema.unit.c.id, finder)
    verdicts = _quoting(connection, schema.score_verdict, schema.score_verdict.c.unit_id, finder)
    return PurgePlan(
        passages=frozenset(key for key, text in passages.items() if text),
        facts=frozenset(facts),
        texts_of_facts=frozenset(key for key, body in payloads.items() if not is_purged(body)),
        items=frozenset(items),
        texts_of_items=frozenset(_with_text(_bodies_by_key(connection, schema.item, items))),
        units=frozenset(units),
        texts_of_units=frozenset(
            _with_text(_bodies_by_key(connection, schema.unit, units)) | quoting
        ),
        prompts=frozenset(prompts),
        responses=frozenset(responses),
        images=frozenset(images_in(connection, prompts, of_rows.values())),
        rows=frozenset(rows),
        texts_of_rows=frozenset(key for key, body in of_rows.items() if body),
        pages=frozenset(key for key, text in pages.items() if text),
        verdicts=frozenset(verdicts - units),
    )


def derived_rows(connection: Connection, source: int) -> tuple[frozenset[int], frozenset[int]]:
    """Return the keys of the facts and items from a source, purged or not."""
    passage = schema.passage
    passages = set(connection.scalars(select(passage.c.id).where(passage.c.source_id == source)))
    facts = _derived_facts(connection, [source], passages)
    return frozenset(facts), frozenset(_items_on(connection, facts))


def _ids(
    connection: Connection, sources: Iterable[int], passages: Iterable[int], facts: Iterable[int]
) -> frozenset[bytes]:
    """Return the ids by which rows refer to sources and what was made from them."""
    s = schema
    named = ((s.source, sources), (s.passage, passages), (s.fact, facts))
    return frozenset(
        identity
        for table, keys in named
        for identity in _where_in(connection, table.c.hash, table.c.id, keys)
    )


def _derived_facts(
    connection: Connection, sources: Collection[int], passages: set[int]
) -> set[int]:
    """Return the keys of all facts derived from the sources, transitively."""
    fact = schema.fact
    query = select(
        fact.c.id, fact.c.hash, fact.c.source_id, fact.c.passage_id, fact.c.corrects_id,
        fact.c.payload,
    )  # fmt: skip
    found: set[int] = set()
    hashes: set[bytes] = set()
    named: dict[int, tuple[int | None, frozenset[bytes]]] = {}
    identity: dict[int, bytes] = {}
    for row in connection.execute(query):
        identity[row.id] = row.hash
        if row.source_id in sources or row.passage_id in passages:
            found.add(row.id)
            hashes.add(row.hash)
        else:
            named[row.id] = (row.corrects_id, frozenset(ids_in(row.payload)))
    while True:
        more = {
            key
            for key, (corrects, ids) in named.items()
            if corrects in found or not hashes.isdisjoint(ids)
        }
        if not more:
            return found
        found |= more
        hashes |= {identity[key] for key in more}
        for key in more:
            del named[key]


def _items_on(connection: Connection, facts: set[int]) -> set[int]:
    """Return items that use these facts, and those that correct such items."""
    rests, item = schema.item_fact, schema.item
    found = _where_in(connection, rests.c.item_id, rests.c.fact_id, facts)
    return _closure(connection, item.c.id, item.c.corrects_id, found)


def _calls_on(connection: Connection, items: set[int]) -> set[int]:
    """Return the calls that asked these items, answered or not."""
    found: set[int] = set()
    for table in (schema.response, schema.failure, schema.pilot_call):
        found |= _where_in(connection, table.c.call_id, table.c.item_id, items)
    return found


def _calls_reading(connection: Connection, sources: Collection[int]) -> set[int]:
    """Return the calls that asked models to read pages of the sources."""
    page, call = schema.page, schema.call
    details = connection.scalars(select(page.c.detail).where(page.c.source_id.in_(sources)))
    named = {request for detail in details for request in requests_named(detail)}
    return _where_in(connection, call.c.id, call.c.request_hash, sorted(named))


def _without_source(connection: Connection, facts: Iterable[int]) -> set[int]:
    """Return the facts without a source, such as a re-imported export that lost it."""
    fact = schema.fact
    return _where_in(connection, fact.c.id, fact.c.id, facts, fact.c.source_id.is_(None))


def _quoting(
    connection: Connection, table: Table, key: Any, finder: Finder, *, body: str = "payload"
) -> set[int]:
    """Return the keys of rows whose payloads contain the texts, such as reference triples and
    verdicts.
    """
    primary = list(table.primary_key.columns)
    query = select(*primary, key.label("of"), table.c[body].label("body"))
    found: set[int] = set()
    for page in paged(_reader(connection), query, primary, _PAGE):
        found |= {row.of for row in page if row.body and _holds(finder, row.body)}
    return found


def _made_texts(bodies: Iterable[bytes]) -> set[str]:
    """Return the whole sentences in payloads; category names and the like are not distinctive."""
    return {
        part
        for body in bodies
        if body
        for text in strings_of(body)
        for part in said_in(text, words=_WORDS_OF_TEXT)
    }


def _asked_by_all(connection: Connection, facts: set[int]) -> set[str]:
    """Return questions that several facts ask without a common origin, as "Which of these is
    true?".

    Such questions are common phrases; only their options are distinctive.
    """
    fact = schema.fact
    first: dict[int | bytes, int | bytes] = {}  # a fact by hash or key, and its original fact
    asking: dict[str, set[int | bytes]] = {}
    for chunk in chunks(sorted(facts), _CHUNK):
        columns = (fact.c.id, fact.c.hash, fact.c.corrects_id, fact.c.payload)
        query = select(*columns).where(fact.c.id.in_(chunk)).order_by(fact.c.id)
        for key, identity, corrects, body in connection.execute(query):
            named = corrects if corrects is not None else next(ids_in(body), key)
            first[key] = first[identity] = first.get(named, named)
            for part in _made_texts([body]):
                if part.rstrip().endswith(_QUESTION_ENDS):
                    asking.setdefault(part, set()).add(first[key])
    return {part for part, begun in asking.items() if len(begun) >= _ASKED_BY_ALL}


def _own_texts(
    connection: Connection, texts: Iterable[str], facts: set[int], sources: Collection[int]
) -> set[str]:
    """Return the sentences that only these sources contain; shared ones are not purged.

    Facts without a source do not count as another source.
    """
    own = set(texts)
    fact = schema.fact
    stated = select(fact.c.id, fact.c.payload).where(fact.c.source_id.is_not(None))
    for key, body in connection.execute(stated):
        if key not in facts and body:
            own.difference_update(part for s in strings_of(body) for part in sentences(s))
    for table in (schema.passage, schema.page):
        query = select(table.c.text).where(table.c.source_id.not_in(sources))
        for text in connection.scalars(query):
            own.difference_update(sentences(text))
    return own


def _bodies(connection: Connection, asked: set[int], finder: Finder) -> tuple[set[int], set[int]]:
    """Return the prompts and calls whose bodies are purged: those ``asked``, and any with the
    texts.
    """
    prompt, call = schema.prompt, schema.call
    prompts = _where_in(connection, call.c.prompt_id, call.c.id, asked)
    for key, body in _bodies_of(connection, prompt.c.id, prompt.c.body):
        if key not in prompts and _holds(finder, decompress(body)):
            prompts.add(key)
    responses = asked | _where_in(connection, call.c.id, call.c.prompt_id, prompts)
    for key, raw in _bodies_of(connection, call.c.id, call.c.raw):
        if key not in responses and _holds(finder, decompress(raw)):
            responses.add(key)
    full = (func.length(call.c.raw) > 0) | (call.c.detail != "")
    return (
        _where_in(connection, prompt.c.id, prompt.c.id, prompts, func.length(prompt.c.body) > 0),
        _where_in(connection, call.c.id, call.c.id, responses, full),
    )


def _holds(finder: Finder, body: bytes) -> bool:
    return any(finder.finds(text) for text in strings_of(body)) if body else False


def _texts(connection: Connection, table: Any, column: Any, condition: Any) -> dict[int, str]:
    query = select(table.c.id, column).where(condition)
    return {row[0]: row[1] for row in connection.execute(query)}


def _bodies_by_key(connection: Connection, table: Any, keys: Iterable[int]) -> dict[int, bytes]:
    query = select(table.c.id, table.c.payload)
    return dict(map(tuple, among(connection, query, table.c.id, keys)))


def _with_text(payloads: dict[int, bytes]) -> set[int]:
    """Return payloads that hold words; a question with only indexes holds none."""
    return {key for key, body in payloads.items() if body and any(strings_of(body))}


# Review data purged with a source: reasons and new texts, which quote it. Who decided what and when
# is kept.


def empty_reviews(connection: Connection, facts: Iterable[int], items: Iterable[int]) -> None:
    """Remove the texts from the reviews of these facts and items, in the open transaction."""
    table = schema.review
    for column, keys in ((table.c.fact_id, facts), (table.c.item_id, items)):
        _empty(connection, table, keys, by=column, reason="", payload=b"")


# Purging deletes texts permanently; hashes, scores, usage and costs are kept.
#
# An empty text marks a purged row, or a payload that is not an object. The hash of a purged prompt
# or image is hashed once more, so that the same one can be stored again if its source ever comes
# back.

_LONGEST_LABEL = 16  # a longer extracted answer is not a label but words of the response


# A printed page number: 12, xiv, 12-14, A-3.
_NUMBER = re.compile(r"[A-Za-z]?[-.]?[0-9ivxlcIVXLC]+([-–,. ]+[0-9ivxlcIVXLC]+)*")


_EMPTIED = (
    "item_label", "passage", "page", "fact", "item", "unit", "prompt", "image", "call", "score",
    "build_row", "build_outcome", "review", "build_verdict", "score_verdict",
)  # fmt: skip


def empty_rows(connection: Connection, plan: PurgePlan) -> None:
    """Remove the texts of a plan from their rows, in the open transaction."""
    _empty(connection, schema.passage, plan.passages, text="", heading="")
    _empty(connection, schema.page, plan.pages, text="", layout=b"")
    _empty_facts(connection, plan.texts_of_facts)
    _empty_places(connection, plan.facts)
    _empty(connection, schema.item, plan.texts_of_items, payload=b"")
    label = schema.item_label
    _empty(connection, label, plan.items, by=label.c.item_id, metadata=b"")
    _empty(connection, schema.unit, plan.texts_of_units, payload=b"")
    _empty(connection, schema.call, plan.responses, raw=b"", detail="")
    for chunk in chunks(plan.units | plan.texts_of_units, _CHUNK):
        table = schema.score
        long = table.c.unit_id.in_(chunk) & (func.length(table.c.answer) > _LONGEST_LABEL)
        connection.execute(update(table).where(long).values(answer=""))
    units = plan.units | plan.verdicts | plan.texts_of_units
    empty_verdicts(connection, schema.score_verdict.c.unit_id, units)
    empty_reviews(connection, plan.facts, plan.items)
    _empty_named(connection, schema.prompt, plan.prompts)
    _empty_named(connection, schema.image, plan.images)
    empty_build_rows(connection, plan.rows)


def _empty_named(connection: Connection, table: Table, keys: Iterable[int]) -> None:
    """Empty bodies identified by their hash, and give the rows another hash."""
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.hash).where(table.c.id.in_(chunk))
        for key, identity in connection.execute(query).all():
            emptied = {"body": b"", "hash": content_id(f"purged-{table.name}", identity)}
            connection.execute(update(table).where(table.c.id == key).values(emptied))


def rewrite(database: Database) -> None:
    """Rewrite the whole database, so that no emptied text is left in its files.

    Raises WorkspaceInUse if another process keeps an older state of it open. The rows are then
    empty, and the log still holds the texts until this is repeated.
    """
    file = sqlite_file(database.url)
    if file is None:
        with database.reading() as connection:
            free = connection.execution_options(isolation_level="AUTOCOMMIT")
            for name in _EMPTIED:
                free.exec_driver_sql(f'VACUUM FULL "{name}"')
        return
    with closing(sqlite3.connect(file, isolation_level=None, timeout=5.0)) as raw:
        raw.execute("PRAGMA secure_delete=ON")
        try:
            raw.execute("VACUUM")
            (is_busy, _log, _moved) = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            is_busy = 1
    if is_busy:
        raise WorkspaceInUse(
            f"the rows are empty, but {file} is open in "
            f"{users_of(file) or 'another process'}, and its log still holds the texts",
            hint="close that process, then repeat the command: it finishes the work",
        )


def _empty_facts(connection: Connection, keys: Iterable[int]) -> None:
    """Empty facts except for the ids in their payloads, which record what they were derived
    from.
    """
    table = schema.fact
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.payload).where(table.c.id.in_(chunk))
        named = {row[0]: list(ids_in(row[1])) for row in connection.execute(query)}
        _empty(connection, table, named, payload=b"")
        for key, ids in named.items():
            if ids:
                _empty(connection, table, [key], payload=canonical_json(ids))


def _empty_places(connection: Connection, keys: Iterable[int]) -> None:
    """Remove the keys of a table's rows from its facts if they hold other sources' pages.

    Page numbers are kept.
    """
    table = schema.fact
    for chunk in chunks(keys, _CHUNK):
        query = select(table.c.id, table.c.page).where(table.c.id.in_(chunk), table.c.page != "")
        named = [row[0] for row in connection.execute(query) if not _NUMBER.fullmatch(row[1])]
        _empty(connection, table, named, page="")


def _empty(
    connection: Connection, table: Table, keys: Iterable[int], by: Any = None, **values: Any
) -> None:
    """Set columns of the rows with these keys, or whose column ``by`` is one of them."""
    column = table.c.id if by is None else by
    for chunk in chunks(keys, _CHUNK):
        connection.execute(update(table).where(column.in_(chunk)).values(values))


# Files with texts of this workspace that commands wrote, so that a purge finds them.


class WrittenFile(msgspec.Struct, frozen=True):
    """A file with texts of rows (sources, banks, forms, runs, builds).

    ``is_same``: it has not changed since it was written.
    """

    path: str
    is_same: bool


class WrittenFiles(StorePart):
    """Record files, and find those with texts of some rows."""

    def add(self, path: Path, kind: str, targets: Iterable[bytes], now: float) -> None:
        """Record a file that was just written with texts of rows of one kind."""
        place, content = str(path.resolve()), sha256(path.read_bytes()).digest()
        rows = [(place, kind, target, content, now) for target in targets]
        with self._database.writing() as connection:
            insert_rows(connection, schema.written_file, rows)

    def holding(self, targets: Collection[bytes]) -> list[WrittenFile]:
        """Return existing files last written with texts of one of these rows, by path."""
        table = schema.written_file
        query = select(table.c.path, table.c.target_hash, table.c.digest, table.c.written_at)
        newest: dict[str, tuple[float, bytes]] = {}
        held: dict[str, float] = {}
        for path, target, content, written_at in self._rows(query):
            newest[path] = max(newest.get(path, (0.0, b"")), (written_at, content))
            if target in targets:
                held[path] = max(held.get(path, 0.0), written_at)
        found = []
        for path in sorted(held):
            written_at, content = newest[path]
            file = Path(path)
            if held[path] < written_at or not file.is_file():
                continue  # overwritten, or gone
            found.append(WrittenFile(path, sha256(file.read_bytes()).digest() == content))
        return found

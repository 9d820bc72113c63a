"""Trace rows: from a score back to its sources, and which source data was sent where."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

import msgspec
import zstandard
from msgspec import Struct
from sqlalchemy import ColumnElement, Connection, and_, func, literal, select, true, union

from proofstone.records.knowledge import Role
from proofstone.records.runs import OUTCOMES
from proofstone.records.verdicts import PanelVerdict
from proofstone.store import schema
from proofstone.store.calls import decompress
from proofstone.store.rows import StorePart, chunks, insert_rows, key_of, record_of
from proofstone.store.scores import verdicts_on

# Origins of an item set's questions: sources, books, or the bank only.


class Origin(Struct, frozen=True, order=True):
    """Hold the origin of questions: the title of a source or book, or the name of a bank or set.

    ``names`` are all names by which a rule may refer to it; ``n_items`` questions come from it.
    """

    title: str
    license: str = ""
    n_items: int = 0
    names: tuple[str, ...] = ()


class DocumentRow(Struct, frozen=True):
    """An item with a fact from a source, or such a fact.

    ``of`` and ``source`` are ids; ``page`` is empty if unknown.
    """

    of: bytes
    source: bytes
    title: str
    page: str


class OriginRows(StorePart):
    """Read origins. Facts with a passage but no source belong to the passage's source."""

    def of_set(self, item_set: bytes, n_items: int | None = None) -> list[Origin]:
        """Return the origins of a set's first ``n_items`` items (all if None), by title."""
        position = schema.item_set_item.c.position
        return self._of_set(item_set, true() if n_items is None else position < n_items)

    def of_positions(self, item_set: bytes, positions: Sequence[int]) -> list[Origin]:
        """Return the origins of a set's items at positions few enough for one statement."""
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
        """Return the sources and pages of a set's items, by item in fact order.

        Items whose facts have no source are left out.
        """
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
        """Return the sources and pages of the facts that are keys of a set's units, by fact.

        For a false statement this is the true one that it came from.
        """
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
        return [
            DocumentRow(of, source, title, page or ("" if number is None else str(number)))
            for of, source, title, page, number in self._rows(with_sources(query).where(*own))
        ]

    def passages_of_set(self, item_set: bytes) -> set[bytes]:
        """Return the passages of the facts of a set's items."""
        query = (
            _facts_of_set(item_set, schema.passage.c.hash)
            .join(schema.passage, schema.passage.c.id == schema.fact.c.passage_id)
            .distinct()
        )
        return set(self._scalars(query))

    def facts_without_passage(self, item_set: bytes) -> set[bytes]:
        """Return the facts of a set's items without a passage."""
        query = _facts_of_set(item_set, schema.fact.c.hash).distinct()
        return set(self._scalars(query.where(schema.fact.c.passage_id.is_(None))))

    def of_passages(self, passages: Iterable[bytes]) -> list[Origin]:
        """Return the sources of passages, by title; ``n_items`` counts passages."""
        source, passage = schema.source, schema.passage
        query = (
            select(source.c.title, source.c.license, func.count(passage.c.id))
            .join(passage, passage.c.source_id == source.c.id)
            .group_by(source.c.title, source.c.license)
        )
        found: Counter[tuple[str, str]] = Counter()
        for title, license, n in self._among(query, passage.c.hash, passages):
            found[title, license] += n
        return [
            Origin(title, license, n, (title,)) for (title, license), n in sorted(found.items())
        ]

    def of_facts(self, facts: list[bytes], otherwise: str) -> list[Origin]:
        """Return the origins of facts; ``otherwise`` for one without source and book."""
        fact = schema.fact
        query = with_sources(
            select(fact.c.id.label("item_id"), *origin_columns()).select_from(fact)
        )
        return _gather(self._among(query, fact.c.hash, facts), otherwise)


def _documents(of: Any) -> Any:
    """Return the columns of ``DocumentRow`` and the passage's page number, from a set's members."""
    source, member = schema.source, schema.item_set_item
    return select(
        of, source.c.hash, source.c.title, schema.fact.c.page, schema.passage.c.page
    ).select_from(schema.item_set.join(member))


def _facts_of_set(item_set: bytes, column: Any) -> Any:
    """Return a column of the facts of a set's items."""
    member, edge = schema.item_set_item, schema.item_fact
    return (
        select(column)
        .select_from(schema.item_set.join(member))
        .join(edge, edge.c.item_id == member.c.item_id)
        .join(schema.fact, schema.fact.c.id == edge.c.fact_id)
        .where(schema.item_set.c.hash == item_set)
    )


def origin_columns() -> list[Any]:
    """Return title, license and book of a fact, empty if missing."""
    source = schema.source
    return [
        func.coalesce(source.c.title, "").label("title"),
        func.coalesce(source.c.license, "").label("license"),
        func.coalesce(schema.fact.c.book, "").label("book"),
    ]


def with_sources(query: Any) -> Any:
    """Return a query over facts joined with their sources, or their passages' sources."""
    source = func.coalesce(schema.fact.c.source_id, schema.passage.c.source_id)
    return query.outerjoin(
        schema.passage, schema.passage.c.id == schema.fact.c.passage_id
    ).outerjoin(schema.source, schema.source.c.id == source)


def _of_items(item_set: int, here: ColumnElement[bool]) -> Any:
    """Return distinct (item, title, license, book)."""
    member, edge = schema.item_set_item, schema.item_fact
    query = (
        select(member.c.item_id, *origin_columns())
        .select_from(member)
        .outerjoin(edge, edge.c.item_id == member.c.item_id)
        .outerjoin(schema.fact, schema.fact.c.id == edge.c.fact_id)
    )
    return with_sources(query).where(member.c.item_set_id == item_set, here).distinct()


def _gather(rows: Any, otherwise: str) -> list[Origin]:
    items: dict[tuple[str, str], set[int]] = {}
    names: dict[tuple[str, str], set[str]] = {}
    for item, title, license, book in rows:
        origin = (title or book or otherwise, license)
        items.setdefault(origin, set()).add(item)
        names.setdefault(origin, set()).update({origin[0], book or origin[0]})
    return [
        Origin(title, license, len(found), tuple(sorted(names[title, license])))
        for (title, license), found in sorted(items.items())
    ]


# Models' roles in items: through their facts, and in whole item sets.


class RoleStore(StorePart):
    """Add roles in item sets, and read those of items. Facts have their own roles."""

    def add_to_set(self, item_set: bytes, roles: Iterable[Role]) -> None:
        """Store models' roles in a whole set; known ones are kept."""
        table, _columns = schema.item_set_role, ("item_set_id", "role", "model")
        with self._database.writing() as connection:
            key = key_of(connection, schema.item_set, item_set)
            rows = [(key, role.role, role.model) for role in sorted(set(roles))]
            insert_rows(connection, table, rows, or_ignore=True)

    def of_set(self, item_set: bytes) -> tuple[Role, ...]:
        """Return the roles in a whole set, in order."""
        table = schema.item_set_role
        query = (
            select(table.c.role, table.c.model)
            .join(schema.item_set, schema.item_set.c.id == table.c.item_set_id)
            .where(schema.item_set.c.hash == item_set)
        )
        return tuple(sorted(Role(role, model) for role, model in self._rows(query)))

    def of_items(self, item_sets: Sequence[bytes]) -> dict[Role, set[bytes]]:
        """Return each role in these sets with the ids of its items, in order."""
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
        for role, model, identity in (*self._rows(by_fact), *self._rows(by_set)):
            found.setdefault(Role(role, model), set()).add(identity)
        return dict(sorted(found.items()))


# Banks, forms and runs that contain parts of a purged source.

_CHUNK = 4000


class HeldBy(msgspec.Struct, frozen=True):
    """A bank, form, run or source with ``n`` of its ``total`` parts from the source.

    The parts are facts, questions, responses or passages.
    """

    kind: str
    id: bytes
    name: str
    n: int
    total: int


def held_by(
    connection: Connection, facts: frozenset[int], items: frozenset[int]
) -> Iterator[HeldBy]:
    """Yield banks, then forms, then runs, each oldest first, that contain any of these rows."""
    s = schema
    yield from _holders(
        connection, "bank", s.bank, s.bank.c.name, s.bank_fact.c.bank_id, s.bank_fact.c.fact_id,
        facts,
    )  # fmt: skip
    member = s.item_set_item
    yield from _holders(
        connection, "form", s.item_set, s.item_set.c.name, member.c.item_set_id, member.c.item_id,
        items,
    )  # fmt: skip
    name = s.run.c.respondent + " " + s.run.c.prompt_method
    yield from _holders(
        connection, "run", s.run, name, s.response.c.run_id, s.response.c.item_id, items
    )


def sources_sharing(connection: Connection, sources: Collection[int]) -> Iterator[HeldBy]:
    """Yield other sources with identical passages; ``n`` and ``total`` count passages."""
    own, other, source = schema.passage.alias(), schema.passage.alias(), schema.source
    query = (
        select(other.c.source_id, func.count(other.c.id.distinct()))
        .join(own, own.c.text == other.c.text)
        .where(own.c.source_id.in_(sources), own.c.text != "", other.c.source_id.not_in(sources))
        .group_by(other.c.source_id)
        .order_by(other.c.source_id)
    )
    for key, n in connection.execute(query).all():
        row = connection.execute(select(source.c.hash, source.c.title).where(source.c.id == key))
        total = select(func.count()).where(schema.passage.c.source_id == key)
        yield HeldBy("source", *row.one(), n, connection.scalar(total) or 0)


def _holders(
    connection: Connection,
    kind: str,
    table: Any,
    name: Any,
    owner: Any,
    member: Any,
    keys: frozenset[int],
) -> Iterator[HeldBy]:
    found: dict[int, int] = {}
    for chunk in chunks(keys, _CHUNK):
        query = select(owner, func.count()).where(member.in_(chunk)).group_by(owner)
        for key, n in connection.execute(query):
            found[key] = found.get(key, 0) + n
    for key in sorted(found):
        total = connection.scalar(select(func.count()).where(owner == key))
        row = connection.execute(select(table.c.hash, name).where(table.c.id == key)).one()
        yield HeldBy(kind, row[0], row[1], found[key], total or 0)


class ResponseTrace(msgspec.Struct, frozen=True):
    """A response: the ids of its run and item, its sample and step, and the key of its call.

    ``is_last``: its step finishes the item.
    """

    run: bytes
    item: bytes
    sample: int
    step: str
    is_last: bool
    call: int


class CallTrace(msgspec.Struct, frozen=True):
    """A call by its key, its request's hash, and its number among the calls of that request."""

    key: int
    request: bytes
    number: int
    of: int


class ScoreTrace(msgspec.Struct, frozen=True, kw_only=True):
    """A score with the ids of its scoring, run and item.

    ``unit`` is the kind of the scored unit, ``unit_key`` distinguishes units of an item (empty if
    the unit is the item). ``verdict`` is that of the judges, if any.
    """

    scoring: bytes
    run: bytes
    item: bytes
    sample: int
    measure: str
    unit: str
    unit_key: bytes
    outcome: str
    value: float | None
    answer: str
    basis: str
    flags: str
    answer_key: str
    n_choices: int
    verdict: PanelVerdict | None = None


class FactTrace(msgspec.Struct, frozen=True):
    """A fact whose payload is left as stored bytes; empty if purged."""

    id: bytes
    payload: bytes
    page: str
    source: bytes | None
    passage: bytes | None
    corrects: bytes | None


class TraceRows(StorePart):
    """Find rows by the rows they come from or lead to."""

    def responses(self, run: int, item: int) -> list[ResponseTrace]:
        """Return the responses to an item in a run, by sample and in order of arrival."""
        table = schema.response
        query = _responses().where(table.c.run_id == run, table.c.item_id == item)
        return [_response(row) for row in self._rows(query.order_by(table.c.sample, table.c.id))]

    def reported_by(self, call: int, limit: int) -> list[ResponseTrace]:
        """Return up to ``limit`` responses from a call, oldest first."""
        table = schema.response
        query = _responses().where(table.c.call_id == call).order_by(table.c.id).limit(limit)
        return [_response(row) for row in self._rows(query)]

    def failed_calls(self, run: int, item: int) -> list[int]:
        """Return the keys of an item's failed calls in a run, oldest first."""
        table = schema.failure
        query = select(table.c.call_id).where(table.c.run_id == run, table.c.item_id == item)
        return [row[0] for row in self._rows(query.order_by(table.c.id))]

    def calls(self, low: bytes, high: bytes, limit: int = 33) -> list[CallTrace]:
        """Return calls whose request hash is in [low, high], by hash and start."""
        table = schema.call
        same = table.c.request_hash
        order = (table.c.attempt, table.c.started_at, table.c.id)
        query = (
            select(
                table.c.id,
                table.c.request_hash,
                (func.row_number().over(order_by=order, partition_by=same) - 1).label("number"),
                func.count().over(partition_by=same).label("of"),
            )
            .where(table.c.request_hash >= low, table.c.request_hash <= high)
            .order_by(table.c.request_hash, "number")
            .limit(limit)
        )
        return [CallTrace(*row) for row in self._rows(query)]

    def call(self, key: int) -> CallTrace:
        """Return the call with this key, numbered."""
        query = select(schema.call.c.request_hash).where(schema.call.c.id == key)
        request = self._rows(query)[0][0]
        return next(call for call in self.calls(request, request, 10_000) if call.key == key)

    def scores(self, scoring: int, item: int) -> list[ScoreTrace]:
        """Return the scores of an item in a scoring, by unit, sample and measure."""
        score, unit = schema.score, schema.unit
        query = (
            select(
                score, unit.c.kind.label("unit"), unit.c.key.label("unit_key"), unit.c.answer_key,
                unit.c.n_choices, schema.item.c.hash.label("item"),
                schema.scoring.c.hash.label("scoring"), schema.run.c.hash.label("run"),
            ).select_from(score.join(unit).join(schema.item).join(schema.scoring).join(schema.run))
            .where(score.c.scoring_id == scoring, unit.c.item_id == item)
            .order_by(unit.c.id, score.c.sample, score.c.measure)
        )  # fmt: skip
        with self._database.reading() as connection:
            said = verdicts_on(connection, scoring, [item])
            rows = connection.execute(query).all()
        return [
            record_of(
                ScoreTrace, row, outcome=OUTCOMES[row.outcome],
                verdict=said.get((row.unit_id, row.sample, row.measure)),
            )
            for row in rows
        ]  # fmt: skip

    def facts_of_item(self, item: int) -> list[FactTrace]:
        """Return the facts that an item uses, in its order."""
        edge = schema.item_fact
        query = (
            _facts()
            .join(edge, edge.c.fact_id == schema.fact.c.id)
            .where(edge.c.item_id == item)
            .order_by(edge.c.position)
        )
        return [FactTrace(*row) for row in self._rows(query)]

    def fact(self, identity: bytes) -> FactTrace | None:
        """Return the fact with this id, or None."""
        found = self._rows(_facts().where(schema.fact.c.hash == identity))
        return FactTrace(*found[0]) if found else None

    def forms_of_item(self, item: int) -> list[tuple[bytes, str]]:
        """Return the ids and names of the sets that contain an item, oldest first."""
        table, member = schema.item_set, schema.item_set_item
        query = (
            select(table.c.hash, table.c.name)
            .join(member, member.c.item_set_id == table.c.id)
            .where(member.c.item_id == item)
            .order_by(table.c.id)
        )
        return [(row[0], row[1]) for row in self._rows(query)]

    def item_id(self, item: int) -> bytes:
        """Return the id of the item with this key."""
        found: bytes = self._rows(select(schema.item.c.hash).where(schema.item.c.id == item))[0][0]
        return found

    def corrected_item(self, item: int) -> bytes | None:
        """Return the id of the item that an item corrects, or None."""
        before = schema.item.alias("before")
        query = (
            select(before.c.hash)
            .join(schema.item, schema.item.c.corrects_id == before.c.id)
            .where(schema.item.c.id == item)
        )
        found = self._rows(query)
        return found[0][0] if found else None


def _responses() -> Any:
    table = schema.response
    return (
        select(
            schema.run.c.hash.label("run_hash"), schema.item.c.hash.label("item_hash"),
            table.c.sample, table.c.step, and_(table.c.step == schema.run.c.last_step),
            table.c.call_id,
        ).select_from(table.join(schema.run).join(schema.item))
    )  # fmt: skip


def _response(row: Any) -> ResponseTrace:
    run, item, sample, step, is_last, call = row
    return ResponseTrace(run, item, sample, step, bool(is_last), call)


def _facts() -> Any:
    fact, corrected = schema.fact, schema.fact.alias("corrected")
    return (
        select(
            fact.c.hash, fact.c.payload, fact.c.page, schema.source.c.hash.label("source_hash"),
            schema.passage.c.hash.label("passage_hash"), corrected.c.hash.label("corrects_hash"),
        )
        .select_from(fact)
        .outerjoin(schema.source, schema.source.c.id == fact.c.source_id)
        .outerjoin(schema.passage, schema.passage.c.id == fact.c.passage_id)
        .outerjoin(corrected, corrected.c.id == fact.c.corrects_id)
    )  # fmt: skip


# Outbound data: calls and the bytes of their prompts by model, and the sources behind them.
#
# Read from the calls themselves, so that it includes calls from before a policy, or merged from
# another workspace. A prompt's size is read from the head of its compressed body.

_HEAD_BYTES = 18  # longest header of a zstd frame


_DIGEST = re.compile(rb'"digest":"([A-Za-z0-9+/_=-]{43,44})"')


class SentCalls(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Data sent to one model at one endpoint.

    Stored calls, attempts (each retry counts), and bytes of their prompts as canonical JSON with
    images in base64. ``purged`` counts calls whose prompts are gone and not part of the bytes.
    ``not_sent`` calls never reached the endpoint and count nowhere else. Times are seconds since
    the epoch, 0 if nothing was sent.
    """

    endpoint: str
    model: str
    calls: int = 0
    attempts: int = 0
    n_bytes: int = 0
    purged: int = 0
    not_sent: int = 0
    first_at: float = 0.0
    last_at: float = 0.0


class SentSource(msgspec.Struct, frozen=True, gc=False, order=True):
    """A source with data sent to an endpoint.

    ``n_items`` counts questions from it, or its rows that entered a build; 0 if it may only have
    been used in few-shot examples.
    """

    endpoint: str
    title: str
    license: str
    n_items: int


class SentRows(StorePart):
    """Read where calls were sent. Simulated ones are excluded."""

    def calls(self, not_sent: Collection[str]) -> list[SentCalls]:
        """Return calls by endpoint and model. Errors in ``not_sent`` never reached an endpoint."""
        call, profile = schema.call, schema.profile
        query = (
            select(
                profile.c.endpoint, profile.c.model, call.c.prompt_id,
                call.c.error.in_(list(not_sent)).label("lost"), func.count().label("n"),
                func.sum(call.c.attempts).label("attempts"),
                func.min(call.c.started_at).label("first"),
                func.max(call.c.started_at).label("last"),
            )
            .join(profile, profile.c.id == call.c.profile_id)
            .where(profile.c.simulated.is_(False))
            .group_by(profile.c.endpoint, profile.c.model, call.c.prompt_id, "lost")
        )  # fmt: skip
        found: dict[tuple[str, str], SentCalls] = {}
        with self._database.reading() as connection:
            sizes = _prompt_sizes(connection)
            for row in connection.execute(query):
                place = (row.endpoint, row.model)
                known = found.get(place, SentCalls(endpoint=row.endpoint, model=row.model))
                found[place] = _added(known, row, sizes[row.prompt_id])
        return [found[place] for place in sorted(found)]

    def checks(self) -> list[SentCalls]:
        """Return the small test requests of ``models check``, which contain no workspace data."""
        table = schema.model_check
        query = (
            select(
                table.c.endpoint, table.c.model, func.count(), func.min(table.c.checked_at),
                func.max(table.c.checked_at),
            )
            .where(table.c.endpoint != "")
            .group_by(table.c.endpoint, table.c.model)
            .order_by(table.c.endpoint, table.c.model)
        )  # fmt: skip
        return [
            SentCalls(endpoint=endpoint, model=model, calls=n, first_at=first, last_at=last)
            for endpoint, model, n, first, last in self._rows(query)
        ]

    def sources(self, not_sent: Collection[str]) -> list[SentSource]:
        """Return the sources of what was sent to each endpoint, in order."""
        with self._database.reading() as connection:
            rows = connection.execute(_asked_items(not_sent)).all()
            queries = _asked_with_shots(rows) if rows else []
            shots = [row for query in queries for row in connection.execute(query)]
            built = connection.execute(_built(not_sent)).all()
        entered = [SentSource(*row) for row in sorted(tuple(row) for row in built)]
        return [*_counted(rows), *_examples(rows, shots), *entered]


def _added(known: SentCalls, row: Any, size: int | None) -> SentCalls:
    if row.lost:
        return msgspec.structs.replace(known, not_sent=known.not_sent + row.n)
    attempts = int(row.attempts)
    return msgspec.structs.replace(
        known,
        calls=known.calls + row.n,
        attempts=known.attempts + attempts,
        n_bytes=known.n_bytes + (size or 0) * attempts,
        purged=known.purged + (row.n if size is None else 0),
        first_at=min(known.first_at or row.first, row.first),
        last_at=max(known.last_at, row.last),
    )


def _prompt_sizes(connection: Connection) -> dict[int, int | None]:
    """Return the bytes of each prompt by key; None if its text was purged."""
    images = {
        b64encode(row.hash).rstrip(b"="): (row.n + 2) // 3 * 4
        for row in connection.execute(
            select(schema.image.c.hash, func.length(schema.image.c.body).label("n"))
        )
    }
    body = schema.prompt.c.body
    taken = body if images else func.substr(body, 1, _HEAD_BYTES)
    rows = connection.execute(select(schema.prompt.c.id, taken))
    # SQLite: a substring of an empty body is NULL.
    return {key: _size(bytes(data or b""), images) for key, data in rows}


def _size(data: bytes, images: dict[bytes, int]) -> int | None:
    if not data:
        return None
    size = int(zstandard.frame_content_size(data))
    if not images and size >= 0:
        return size
    text = decompress(data)
    pictures = (found.rstrip(b"=") for found in _DIGEST.findall(text))
    return len(text) + sum(images.get(name, 0) for name in pictures)


def _asked_items(not_sent: Collection[str]) -> Any:
    """Select distinct (endpoint, run, item_id, otherwise, title, license, book).

    Pilot requests have no run; the negative of the item set's key replaces it.
    """
    asked = union(
        _asked(schema.response, not_sent), _asked(schema.failure, not_sent), _piloted(not_sent)
    ).subquery()
    edge = schema.item_fact
    query = (
        select(asked.c.endpoint, asked.c.run, asked.c.item_id, asked.c.otherwise, *origin_columns())
        .select_from(asked)
        .outerjoin(edge, edge.c.item_id == asked.c.item_id)
        .outerjoin(schema.fact, schema.fact.c.id == edge.c.fact_id)
    )
    return with_sources(query).distinct()


def _built(not_sent: Collection[str]) -> Any:
    """Select (endpoint, title, license, rows) of sources with rows in builds that called there."""
    made, call, profile = schema.build_call, schema.call, schema.profile
    stage, entered, source = schema.build_stage, schema.build_input, schema.source
    asked = (
        select(profile.c.endpoint, made.c.step_id)
        .select_from(made.join(call).join(profile))
        .where(profile.c.simulated.is_(False), call.c.error.not_in(list(not_sent)))
        .distinct()
        .subquery()
    )
    title, license = func.coalesce(source.c.title, ""), func.coalesce(source.c.license, "")
    return (
        select(asked.c.endpoint, title, license, func.count(entered.c.row_id.distinct()))
        .join(stage, stage.c.step_id == asked.c.step_id)
        .join(entered, entered.c.build_id == stage.c.build_id)
        .join(source, source.c.id == entered.c.source_id)
        .group_by(asked.c.endpoint, title, license)
    )


def _asked(table: Any, not_sent: Collection[str]) -> Any:
    run, item_set = schema.run, schema.item_set
    query = _of_calls(table, run.c.id, not_sent).join(run, run.c.id == table.c.run_id)
    return _named(query.join(item_set, item_set.c.id == run.c.item_set_id))


def _piloted(not_sent: Collection[str]) -> Any:
    table, item_set = schema.pilot_call, schema.item_set
    query = _of_calls(table, -table.c.item_set_id, not_sent)
    return _named(query.join(item_set, item_set.c.id == table.c.item_set_id))


def _of_calls(table: Any, run: Any, not_sent: Collection[str]) -> Any:
    call, profile = schema.call, schema.profile
    name = func.coalesce(schema.bank.c.name, schema.item_set.c.name)
    return (
        select(profile.c.endpoint, run.label("run"), table.c.item_id, name.label("otherwise"))
        .select_from(table)
        .join(call, call.c.id == table.c.call_id)
        .join(profile, profile.c.id == call.c.profile_id)
        .where(profile.c.simulated.is_(False), call.c.error.not_in(list(not_sent)))
    )


def _named(query: Any) -> Any:
    return query.outerjoin(schema.bank, schema.bank.c.id == schema.item_set.c.bank_id)


def _asked_with_shots(rows: Iterable[Any]) -> list[Any]:
    """Return the queries for (run, settings, otherwise, title, license, book) of the banks behind
    these runs and pilots.
    """
    run, pilot = schema.run, schema.pilot_call
    runs = {row.run for row in rows}
    of_runs = (
        _of_banks(run.c.id, run.c.settings, run)
        .join(schema.item_set, schema.item_set.c.id == run.c.item_set_id)
        .where(run.c.id.in_(runs))
    )
    settings = literal(b'{"shots":1}')
    of_pilots = (
        _of_banks(-pilot.c.item_set_id, settings, pilot)
        .join(schema.item_set, schema.item_set.c.id == pilot.c.item_set_id)
        .where((-pilot.c.item_set_id).in_(runs), pilot.c.shots > 0)
    )
    return [_with_facts(of_runs), _with_facts(of_pilots)]


def _of_banks(run: Any, settings: Any, table: Any) -> Any:
    columns = (
        run.label("run"), settings.label("settings"), schema.bank.c.name.label("otherwise"),
        literal(0).label("item_id"), *origin_columns(),
    )  # fmt: skip
    return select(*columns).select_from(table)


def _with_facts(query: Any) -> Any:
    member = schema.bank_fact
    joined = (
        query.join(schema.bank, schema.bank.c.id == schema.item_set.c.bank_id)
        .join(member, member.c.bank_id == schema.bank.c.id)
        .join(schema.fact, schema.fact.c.id == member.c.fact_id)
    )
    return with_sources(joined).distinct()


def _counted(rows: Iterable[Any]) -> list[SentSource]:
    items: dict[tuple[str, str, str], set[int]] = {}
    for row in rows:
        title = row.title or row.book or row.otherwise
        items.setdefault((row.endpoint, title, row.license), set()).add(row.item_id)
    return [SentSource(*place, len(found)) for place, found in sorted(items.items())]


def _examples(rows: Iterable[Any], shots: Iterable[Any]) -> list[SentSource]:
    """Return the sources of banks that supplied few-shot examples, beyond the questions' own."""
    endpoints: dict[int, set[str]] = {}
    for row in rows:
        endpoints.setdefault(row.run, set()).add(row.endpoint)
    asked = {(row.endpoint, row.title or row.book or row.otherwise, row.license) for row in rows}
    drawn = {
        (endpoint, row.title or row.book or row.otherwise, row.license)
        for row in shots
        if msgspec.json.decode(row.settings).get("shots")
        for endpoint in endpoints[row.run]
    }
    return [SentSource(*place, 0) for place in sorted(drawn - asked)]

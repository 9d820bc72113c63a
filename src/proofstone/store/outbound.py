"""What was ever sent: calls and the bytes of their prompts by model, and the sources behind them.

Read from the calls themselves, so that it holds for calls of before a policy, or merged from
another workspace. A prompt's size is read from the head of its compressed body.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Collection, Iterable
from typing import Any

import msgspec
import zstandard
from sqlalchemy import Connection, func, literal, select, union

from proofstone.store import schema
from proofstone.store.calls import decompress
from proofstone.store.provenance import origin_columns, with_sources
from proofstone.store.rows import StorePart

_HEAD_BYTES = 18  # the longest head of a zstd frame


_DIGEST = re.compile(rb'"digest":"([A-Za-z0-9+/_=-]{43,44})"')


class SentCalls(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """What went to one model at one endpoint: stored calls, attempts (each retry counts), bytes of
    their prompts as canonical JSON with images in base64. ``purged`` calls' prompts are no longer
    here, and their bytes not counted. ``not_sent`` calls never reached it and count nowhere else.
    Times are seconds since the epoch, 0 where nothing was sent."""

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
    """A source of which something went to an endpoint: questions that rest on it, or rows of it
    that entered a build, 0 where it may only have stood in worked examples."""

    endpoint: str
    title: str
    licence: str
    n_items: int


class SentRows(StorePart):
    """Reads what calls say of where they went. Simulated ones went nowhere and are left out."""

    def calls(self, not_sent: Collection[str]) -> list[SentCalls]:
        """By endpoint and model. Calls that ended with an error of ``not_sent`` reached nobody."""
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
        """The tiny questions of ``models check``, which hold nothing of a workspace."""
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
        """The sources behind what was asked at each endpoint, in order."""
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
    """Bytes of each prompt by its key; None where its text was purged."""
    images = {
        b64encode(row.hash).rstrip(b"="): (row.n + 2) // 3 * 4
        for row in connection.execute(
            select(schema.image.c.hash, func.length(schema.image.c.body).label("n"))
        )
    }
    body = schema.prompt.c.body
    taken = body if images else func.substr(body, 1, _HEAD_BYTES)
    rows = connection.execute(select(schema.prompt.c.id, taken))
    # SQLite: a part of an empty body is NULL.
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
    """(endpoint, run, item_id, otherwise, title, licence, book), each once. What pilots asked is of
    no run, and has the negative of the item set's key in its place."""
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
    """(endpoint, title, licence, rows) of the sources of which rows entered builds whose steps
    asked there."""
    made, call, profile = schema.build_call, schema.call, schema.profile
    stage, entered, source = schema.build_stage, schema.build_input, schema.source
    asked = (
        select(profile.c.endpoint, made.c.step_id)
        .select_from(made.join(call).join(profile))
        .where(profile.c.simulated.is_(False), call.c.error.not_in(list(not_sent)))
        .distinct()
        .subquery()
    )
    title, licence = func.coalesce(source.c.title, ""), func.coalesce(source.c.licence, "")
    return (
        select(asked.c.endpoint, title, licence, func.count(entered.c.row_id.distinct()))
        .join(stage, stage.c.step_id == asked.c.step_id)
        .join(entered, entered.c.build_id == stage.c.build_id)
        .join(source, source.c.id == entered.c.source_id)
        .group_by(asked.c.endpoint, title, licence)
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
    """The queries for (run, settings, otherwise, title, licence, book) of the banks behind these
    runs and pilots."""
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
        items.setdefault((row.endpoint, title, row.licence), set()).add(row.item_id)
    return [SentSource(*place, len(found)) for place, found in sorted(items.items())]


def _examples(rows: Iterable[Any], shots: Iterable[Any]) -> list[SentSource]:
    """The sources of banks from which worked examples were drawn, beyond those asked about."""
    endpoints: dict[int, set[str]] = {}
    for row in rows:
        endpoints.setdefault(row.run, set()).add(row.endpoint)
    asked = {(row.endpoint, row.title or row.book or row.otherwise, row.licence) for row in rows}
    drawn = {
        (endpoint, row.title or row.book or row.otherwise, row.licence)
        for row in shots
        if msgspec.json.decode(row.settings).get("shots")
        for endpoint in endpoints[row.run]
    }
    return [SentSource(*place, 0) for place in sorted(drawn - asked)]

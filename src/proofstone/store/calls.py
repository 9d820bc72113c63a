"""Store calls as rows: encoded and compressed by the writer, read back as records.

The raw response and the prompt are zstd-compressed (level 1). A prompt is stored once by its hash.
What all calls of a run share (model, endpoint, settings) is stored once as a profile.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
import zstandard
from msgspec import Struct
from sqlalchemy import Row, bindparam, case, func, insert, select, union, update

from proofstone.errors import NotFound
from proofstone.records.calls import CallRecord, ImagePart, image_part
from proofstone.records.ids import canonical_json, short
from proofstone.records.runs import Spent, Usage
from proofstone.store import schema
from proofstone.store.database import Database, holder_is_gone
from proofstone.store.rows import LOOKUPS, StorePart, chunks, insert_missing, record_of

# Images, each stored once by the hash of its bytes; prompts and items refer to them.


class ImageStore(StorePart):
    """Add and read images."""

    def add(self, data: bytes, where: str = "the image") -> ImagePart:
        """Store an image, checked by ``image_part``, and return the part that refers to it."""
        part = image_part(data, where)
        with self._database.writing() as connection:
            row = (part.digest, part.media_type, data)
            insert_missing(connection, schema.image, {part.digest: row})
        return part

    def image(self, digest: bytes) -> bytes:
        """Return the bytes of an image. Raises NotFound."""
        query = select(schema.image.c.body).where(schema.image.c.hash == digest)
        body = self._scalar(query)
        if body is None:
            raise NotFound(
                f"image {short(digest)} is not in this workspace",
                hint="it comes from another workspace: merge that one, or import its source again",
            )
        return bytes(body)


CALL = (
    "id", "profile_id", "prompt_id", "request_hash", "attempt", "purpose", "sample", "state",
    "error", "detail", "status", "raw", "prompt_tokens", "completion_tokens", "reasoning_tokens",
    "cached_tokens", "cost_usd", "reported_model", "fingerprint", "latency_s", "attempts",
    "started_at", "reference", "estimated_tokens",
)  # fmt: skip


_USUAL_BYTES = 16384


_decompressor = zstandard.ZstdDecompressor()


def decompress(data: bytes) -> bytes:
    """Return the decompressed bytes; empty stays empty."""
    return _decompressor.decompress(data) if data else b""


class EncodedCall(msgspec.Struct, frozen=True, gc=False):
    """A call encoded for the writer: ``values`` are those of CALL from request_hash on."""

    prompt_hash: bytes
    prompt: bytes
    profile: tuple[Any, ...]
    values: tuple[Any, ...]


class CallEncoder:
    """Encode calls a group at a time, on one thread (a zstd compressor is not thread-safe).

    All bodies of a group are compressed in one call. A call that releases the GIL costs its thread
    ten times its work to reacquire it from a busy loop (measured: 80 instead of 8 microseconds per
    body).
    """

    def __init__(self) -> None:
        # With a size hint, the compressor clears a table of that size only: twice as fast.
        parameters = zstandard.ZstdCompressionParameters.from_level(1, source_size=_USUAL_BYTES)
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters)
        self._profiles: dict[tuple[str, str], tuple[tuple[Any, ...], tuple[Any, ...]]] = {}

    def encode(self, calls: Sequence[CallRecord]) -> list[EncodedCall]:
        """Return the rows of calls, compressed."""
        bodies = self._compress([body for call in calls for body in (call.prompt, call.raw)])
        return [
            EncodedCall(call.prompt_hash, prompt, self._profile(call), _values(call, raw))
            for call, prompt, raw in zip(calls, bodies[::2], bodies[1::2], strict=True)
        ]

    def _compress(self, bodies: Sequence[bytes]) -> list[bytes]:
        """Return each body compressed; an empty one stays empty."""
        full = [body for body in bodies if body]
        if not full:
            return list(bodies)
        if hasattr(self._compressor, "multi_compress_to_buffer"):
            segments: Any = self._compressor.multi_compress_to_buffer(list[Any](full))
            done = (segment.tobytes() for segment in segments)
        else:  # zstandard without its C backend
            done = (self._compressor.compress(body) for body in full)
        return [next(done) if body else b"" for body in bodies]

    def _profile(self, call: CallRecord) -> tuple[Any, ...]:
        """Return the row of what all calls of a run share; hashed once, not once per call."""
        settings = (call.settings_asked, call.settings_sent, call.settings_dropped)
        known = self._profiles.get((call.model, call.endpoint))
        if known is not None and known[0] == settings:
            return known[1]
        encoded = canonical_json(settings)
        named = f"{call.model}\0{call.endpoint}\0{call.wire}\0{call.simulated}\0".encode()
        identity = sha256(named + encoded).digest()
        row = (identity, call.model, call.endpoint, call.wire, call.simulated, encoded)
        self._profiles[call.model, call.endpoint] = (settings, row)
        return row


def _values(call: CallRecord, raw: bytes) -> tuple[Any, ...]:
    usage = call.usage
    return (
        call.request_hash, call.attempt, call.purpose, call.sample, call.state, call.error,
        call.detail, call.status, raw, usage.prompt, usage.completion, usage.reasoning,
        usage.cached, call.cost_usd, call.reported_model, call.fingerprint, call.latency_s,
        call.attempts, call.started_at, call.reference, call.estimated_tokens,
    )  # fmt: skip


def read_call(row: Row[Any]) -> CallRecord:
    """Return the record of a row of ``select_calls``."""
    asked, sent, dropped = msgspec.json.decode(row.settings)
    usage = Usage(row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens)
    return record_of(
        CallRecord, row, usage=usage, prompt=decompress(row.prompt_body), raw=decompress(row.raw),
        settings_asked=asked, settings_sent=sent, settings_dropped=tuple(dropped),
    )  # fmt: skip


@cache
def _complete_among(size: int) -> Any:
    """Return the statement of ``find_calls`` for ``size`` hashes, cached.

    Building it costs more than fetching the rows, and a corrected form takes thousands of responses
    from the cache.
    """
    table = schema.call
    wanted: list[Any] = [bindparam(f"wanted{place}") for place in range(size)]
    return (
        select_calls()
        .where(table.c.request_hash.in_(wanted), table.c.state == "complete")
        .where(func.length(table.c.raw) > 0)  # a purged response is not reused
        .order_by(table.c.id)
    )


def select_calls() -> Any:
    """Select every column that ``read_call`` needs."""
    return select(
        schema.call,
        schema.profile.c.model,
        schema.profile.c.endpoint,
        schema.profile.c.wire,
        schema.profile.c.simulated,
        schema.profile.c.settings,
        schema.prompt.c.hash.label("prompt_hash"),
        schema.prompt.c.body.label("prompt_body"),
    ).select_from(schema.call.join(schema.profile).join(schema.prompt))


class HashFilter:
    """Filter of hashes that may be stored, by their first eight bytes.

    8 MB for a million calls, and 2 microseconds per lookup, where a query costs hundreds.
    """

    def __init__(self, hashes: Iterable[bytes]) -> None:
        self._heads = array("Q", sorted(int.from_bytes(h[:8], "big") for h in hashes))

    def __contains__(self, identity: object) -> bool:
        if not isinstance(identity, bytes):
            return False
        head = int.from_bytes(identity[:8], "big")
        place = bisect_left(self._heads, head)
        return place < len(self._heads) and self._heads[place] == head


class CallRows(StorePart):
    """The cache: complete calls by request hash (``CallStore``)."""

    def __init__(self, database: Database, images: ImageStore) -> None:
        super().__init__(database)
        self.image = images.image

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        """Return the newest complete call of each hash that has one, with its key."""
        found: dict[bytes, tuple[int, CallRecord]] = {}
        with self._database.reading() as connection:
            for chunk in chunks(request_hashes, LOOKUPS[-1]):
                size = next(size for size in LOOKUPS if size >= len(chunk))
                filled = chunk + [chunk[-1]] * (size - len(chunk))
                wanted = {f"wanted{place}": each for place, each in enumerate(filled)}
                newest = {
                    row.request_hash: row
                    for row in connection.execute(_complete_among(size), wanted)
                }
                found |= {each: (row.id, read_call(row)) for each, row in newest.items()}
        return found

    def attempts(self, request_hash: bytes) -> list[CallRecord]:
        """Return all stored attempts of a request, oldest first, including unusable ones."""
        query = (
            select_calls()
            .where(schema.call.c.request_hash == request_hash, schema.call.c.state != "submitted")
            .order_by(schema.call.c.id)
        )
        return [read_call(row) for row in self._rows(query)]

    def known_hashes(self, model: str) -> HashFilter:
        """Return a filter of the hashes of this model's complete calls."""
        table = schema.call
        query = (
            select(table.c.request_hash)
            .join(schema.profile, schema.profile.c.id == table.c.profile_id)
            .where(schema.profile.c.model == model, table.c.state == "complete")
        )
        return HashFilter(self._scalars(query))

    def newest_reported(self, model: str, endpoint: str) -> str:
        """Return the model version reported by the newest complete call at this endpoint, or ""."""
        call, profile = schema.call, schema.profile
        query = (
            select(call.c.reported_model)
            .join(profile, profile.c.id == call.c.profile_id)
            .where(profile.c.model == model, profile.c.endpoint == endpoint)
            .where(call.c.state == "complete", call.c.reported_model != "")
            .order_by(call.c.id.desc())
            .limit(1)
        )
        return self._scalar(query) or ""

    def call(self, key: int) -> CallRecord:
        """Return the call with this key."""
        with self._database.reading() as connection:
            query = select_calls().where(schema.call.c.id == key)
            return read_call(connection.execute(query).one())


# Cost of stored calls, by run and by purpose.


class SpentRows(StorePart):
    """Sum the charges of calls, without those of simulated models."""

    def of_runs(self, runs: Sequence[int]) -> Spent:
        """Return the cost of all calls behind the responses and failures of runs, each once.

        Attempts that were billed but unusable count. A cached response has its original price.
        """
        call = schema.call
        asked = union(
            *(
                select(call.c.request_hash)
                .join(table, table.c.call_id == call.c.id)
                .where(table.c.run_id.in_(runs))
                for table in (schema.response, schema.failure)
            )
        )
        query = totals().where(call.c.request_hash.in_(asked))
        return spent_of(self._row(query))

    def by_purpose(self) -> dict[str, Spent]:
        """Return the cost of all calls by purpose (ask, control, ...), in alphabetical order."""
        purpose = schema.call.c.purpose
        query = totals(purpose).group_by(purpose).order_by(purpose)
        return {row.purpose: spent_of(row) for row in self._rows(query)}


def totals(*columns: Any) -> Any:
    """Return the query that sums calls, to be filtered; simulated ones are excluded."""
    call, profile = schema.call, schema.profile
    estimated = call.c.estimated_tokens
    is_more = call.c.cached_tokens > call.c.prompt_tokens  # some count cached ones apart
    cached = case((is_more, call.c.prompt_tokens), else_=call.c.cached_tokens)
    counted = func.coalesce(call.c.prompt_tokens, 0) + func.coalesce(call.c.completion_tokens, 0)
    return (
        select(
            *columns,
            func.count().label("calls"),
            func.coalesce(func.sum(call.c.prompt_tokens), 0).label("prompt_tokens"),
            func.coalesce(func.sum(call.c.completion_tokens), 0).label("completion_tokens"),
            func.coalesce(func.sum(call.c.reasoning_tokens), 0).label("reasoning_tokens"),
            func.coalesce(func.sum(cached), 0).label("cached_tokens"),
            func.coalesce(
                func.sum(case((call.c.cached_tokens.is_not(None), call.c.prompt_tokens), else_=0)),
                0,
            ).label("cacheable_tokens"),
            func.coalesce(func.sum(call.c.cost_usd), 0.0).label("cost_usd"),
            (func.count() - func.count(call.c.cost_usd)).label("unpriced"),
            func.count(estimated).label("estimated_calls"),
            func.coalesce(func.sum(estimated - counted), 0).label("estimated_tokens"),
            func.coalesce(
                func.sum(case((estimated.is_not(None), call.c.cost_usd), else_=0.0)), 0.0
            ).label("estimated_usd"),
        )
        .select_from(call.join(profile))
        .where(call.c.state != "submitted", profile.c.simulated.is_(False))
    )


def spent_of(row: Row[Any]) -> Spent:
    """Return the cost from a row of ``totals``."""
    return Spent(
        calls=row.calls,
        prompt_tokens=int(row.prompt_tokens),
        completion_tokens=int(row.completion_tokens),
        reasoning_tokens=int(row.reasoning_tokens),
        cached_tokens=int(row.cached_tokens),
        cacheable_tokens=int(row.cacheable_tokens),
        cost_usd=float(row.cost_usd),
        unpriced=row.unpriced,
        estimated_calls=row.estimated_calls,
        estimated_tokens=int(row.estimated_tokens),
        estimated_usd=float(row.estimated_usd),
    )


# Single responses: the call that answers an item in a run, or why there is none.


class StoredResponse(msgspec.Struct, frozen=True, gc=False):
    """Keys of one response: its run, item and call, with the sample."""

    run: int
    item: int
    sample: int
    call: int


class ResponseStore(StorePart):
    """Find the last-step responses of an item."""

    def of_item(self, run: int, item: int, step: str) -> list[StoredResponse]:
        """Return the responses of an item in a run at a step, one per sample, in order."""
        table = schema.response
        query = (
            select(table.c.run_id, table.c.item_id, table.c.sample, table.c.call_id)
            .where(table.c.run_id == run, table.c.item_id == item, table.c.step == step)
            .order_by(table.c.sample)
        )
        return [StoredResponse(*row) for row in self._rows(query)]

    def error_of_item(self, run: int, item: int, sample: int) -> str:
        """Return the error kind of the newest failed call of an (item, sample); "" if none
        failed.
        """
        table = schema.failure
        query = (
            select(schema.call.c.error)
            .join(table, table.c.call_id == schema.call.c.id)
            .where(table.c.run_id == run, table.c.item_id == item, table.c.sample == sample)
            .order_by(table.c.id.desc())
            .limit(1)
        )
        return str(self._scalar(query) or "")

    def is_asked(self, run: int, item: int) -> bool:
        """Return True if an item belongs to the set of a run."""
        member = schema.item_set_item
        query = (
            select(member.c.item_id)
            .join(schema.run, schema.run.c.item_set_id == member.c.item_set_id)
            .where(schema.run.c.id == run, member.c.item_id == item)
            .limit(1)
        )
        return self._row(query) is not None


# Unrecorded expenses: what running commands may be billed for without a stored row yet.
#
# Each command has one row. While it works, the row bounds its exposure: calls in flight, and calls
# whose rows are not committed. The command sets it to 0 when it ends. The next command finds the
# rows of killed processes.

ALIVE_S = (
    60.0  # time after which a row of another host's process that was not renewed counts as dead
)


class Expense(Struct, frozen=True, kw_only=True):
    """A command's row of unrecorded expenses.

    ``exposed`` is in tokens or picodollars, by ``unit``; None if the command had no budget, so only
    the number of calls is bounded. Times are seconds since the epoch.
    """

    owner: str
    runs: str
    unit: str
    budget: int | None
    started_at: float
    exposed_calls: int
    exposed: int | None


class ExpenseStore(StorePart):
    """Open, renew and end commands' rows, and find those of dead processes."""

    def begin(self, expense: Expense) -> int:
        """Open a command's row and return its key."""
        values = msgspec.structs.asdict(expense)
        statement = insert(schema.expense).values(**values, until=expense.started_at + ALIVE_S)
        with self._database.writing() as connection:
            (key,) = connection.execute(statement).inserted_primary_key or (0,)
        return int(key)

    def allow(self, key: int, calls: int, amount: int | None, now: float) -> None:
        """Set the bound of a running command; on disk when it returns."""
        self._update(key, exposed_calls=calls, exposed=amount, until=now + ALIVE_S)

    def end(self, key: int, calls: int, amount: int | None, now: float) -> None:
        """End a command's row with its unrecorded expenses: 0 unless writing failed."""
        self._update(key, exposed_calls=calls, exposed=amount, ended_at=now)

    def find_dead(self, now: float) -> list[Expense]:
        """Return the expenses of processes that died since the last call; each is returned once."""
        table = schema.expense
        open_ones = self._rows(select(table).where(table.c.ended_at.is_(None)))
        dead = [row for row in open_ones if holder_is_gone(row.owner) or row.until < now]
        for row in dead:
            self._update(row.id, ended_at=now)
        return [record_of(Expense, row) for row in dead if row.exposed_calls]

    def lost(self) -> list[Expense]:
        """Return all unrecorded expenses, oldest first."""
        table = schema.expense
        query = select(table).where(table.c.ended_at.is_not(None), table.c.exposed_calls > 0)
        return [record_of(Expense, row) for row in self._rows(query.order_by(table.c.id))]

    def _update(self, key: int, **values: float | None) -> None:
        table = schema.expense
        with self._database.writing() as connection:
            connection.execute(update(table).where(table.c.id == key).values(values))


# Recent failures and row counts, for error reports.


class TroubleRows(StorePart):
    """Read failed calls and count rows."""

    def last_failed(self, limit: int) -> list[CallRecord]:
        """Return the newest failed calls, newest first."""
        query = (
            select_calls()
            .where(schema.call.c.state == "failed")
            .order_by(schema.call.c.id.desc())
            .limit(limit)
        )
        return [read_call(row) for row in self._rows(query)]

    def errors(self) -> dict[str, int]:
        """Return how many calls ended with each kind of error."""
        call = schema.call
        query = (
            select(call.c.error, func.count().label("n"))
            .where(call.c.error != "")
            .group_by(call.c.error)
            .order_by(call.c.error)
        )
        return {row.error: row.n for row in self._rows(query)}

    @property
    def schema(self) -> str:
        """Return the schema version: an open database has the newest."""
        return schema.HEAD

    def counts(self) -> dict[str, int]:
        """Return the number of rows of every table, by name."""
        return {
            name: int(self._scalar(select(func.count()).select_from(table)))
            for name, table in sorted(schema.metadata.tables.items())
        }

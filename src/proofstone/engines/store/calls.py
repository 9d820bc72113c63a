"""Calls as rows: encoded and compressed by the writer, read back as records.

The raw reply and the prompt are zstd-compressed (level 1); a prompt is stored once by its hash, and
what all calls of a run have in common (model, endpoint, settings) once as a profile.
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
from sqlalchemy import Row, bindparam, func, select

from proofstone.engines.store import schema
from proofstone.engines.store.images import ImageStore
from proofstone.engines.store.opening import Database
from proofstone.engines.store.rows import LOOKUPS, chunks
from proofstone.identity import canonical_json
from proofstone.ports import CallRecord
from proofstone.records import Usage

__all__ = [
    "CALL",
    "PROFILE",
    "PROMPT",
    "CallEncoder",
    "CallRows",
    "EncodedCall",
    "HashFilter",
    "decompress",
    "read_call",
    "select_calls",
]

PROMPT = ("hash", "body")
PROFILE = ("hash", "model", "endpoint", "wire", "simulated", "settings")
CALL = (
    "id", "profile_id", "prompt_id", "request_hash", "attempt", "purpose", "sample", "state",
    "error", "detail", "status", "raw", "prompt_tokens", "completion_tokens", "reasoning_tokens",
    "cached_tokens", "cost_usd", "served_model", "fingerprint", "latency_s", "attempts",
    "started_at", "reference", "estimated_tokens",
)  # fmt: skip

_USUAL_BYTES = 16384
_decompressor = zstandard.ZstdDecompressor()


def decompress(data: bytes) -> bytes:
    """The bytes that were compressed; empty stays empty."""
    return _decompressor.decompress(data) if data else b""


class EncodedCall(msgspec.Struct, frozen=True, gc=False):
    """A call as the writer takes it: ``values`` are CALL's from request_hash on."""

    prompt_hash: bytes
    prompt: bytes
    profile: tuple[Any, ...]
    values: tuple[Any, ...]


class CallEncoder:
    """Encodes calls a group at a time, on one thread (a zstd compressor serves one).

    One compression of all bodies of a group, because a call that gives up the interpreter lock
    costs its thread ten times its work to get it back from a busy loop (measured: 80 microseconds
    instead of 8 a body).
    """

    def __init__(self) -> None:
        # Told the usual size, the compressor clears a table of that size: twice as fast.
        parameters = zstandard.ZstdCompressionParameters.from_level(1, source_size=_USUAL_BYTES)
        self._compressor = zstandard.ZstdCompressor(compression_params=parameters)
        self._profiles: dict[tuple[str, str], tuple[tuple[Any, ...], tuple[Any, ...]]] = {}

    def encode(self, calls: Sequence[CallRecord]) -> list[EncodedCall]:
        """The rows of calls, compressed."""
        bodies = self._compress([body for call in calls for body in (call.prompt, call.raw)])
        return [
            EncodedCall(call.prompt_hash, prompt, self._profile(call), _values(call, raw))
            for call, prompt, raw in zip(calls, bodies[::2], bodies[1::2], strict=True)
        ]

    def _compress(self, bodies: Sequence[bytes]) -> list[bytes]:
        """Each body compressed; an empty one stays empty."""
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
        """The row of what all calls of a run have in common; hashed once, not once a call."""
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
        usage.cached, call.cost_usd, call.served_model, call.fingerprint, call.latency_s,
        call.attempts, call.started_at, call.reference, call.estimated_tokens,
    )  # fmt: skip


def read_call(row: Row[Any]) -> CallRecord:
    """The record of a row of ``select_calls``."""
    asked, sent, dropped = msgspec.json.decode(row.settings)
    return CallRecord(
        request_hash=row.request_hash, attempt=row.attempt, purpose=row.purpose, model=row.model,
        endpoint=row.endpoint, wire=row.wire, prompt_hash=row.prompt_hash,
        prompt=decompress(row.prompt_body), sample=row.sample, settings_asked=asked,
        settings_sent=sent, settings_dropped=tuple(dropped), state=row.state,
        simulated=row.simulated, error=row.error, detail=row.detail, status=row.status,
        raw=decompress(row.raw),
        usage=Usage(
            row.prompt_tokens, row.completion_tokens, row.reasoning_tokens, row.cached_tokens
        ),
        cost_usd=row.cost_usd, served_model=row.served_model, fingerprint=row.fingerprint,
        latency_s=row.latency_s, attempts=row.attempts, started_at=row.started_at,
        reference=row.reference, estimated_tokens=row.estimated_tokens,
    )  # fmt: skip


@cache
def _complete_among(size: int) -> Any:
    """The statement of ``find_calls`` for ``size`` hashes, built once: building it costs more than
    the rows, and a corrected form takes thousands of replies from the cache."""
    table = schema.call
    wanted: list[Any] = [bindparam(f"wanted{place}") for place in range(size)]
    return (
        select_calls()
        .where(table.c.request_hash.in_(wanted), table.c.state == "complete")
        .where(func.length(table.c.raw) > 0)  # a purged reply is nobody's answer any more
        .order_by(table.c.id)
    )


def select_calls() -> Any:
    """Every column that ``read_call`` takes."""
    return (
        select(
            schema.call,
            schema.profile.c.model,
            schema.profile.c.endpoint,
            schema.profile.c.wire,
            schema.profile.c.simulated,
            schema.profile.c.settings,
            schema.prompt.c.hash.label("prompt_hash"),
            schema.prompt.c.body.label("prompt_body"),
        )
        .join(schema.profile, schema.profile.c.id == schema.call.c.profile_id)
        .join(schema.prompt, schema.prompt.c.id == schema.call.c.prompt_id)
    )


class HashFilter:
    """Which hashes may be stored, by their first eight bytes: 8 MB for a million calls, and 2
    microseconds a question, where a query costs hundreds."""

    def __init__(self, hashes: Iterable[bytes]) -> None:
        self._heads = array("Q", sorted(int.from_bytes(h[:8], "big") for h in hashes))

    def __contains__(self, identity: object) -> bool:
        if not isinstance(identity, bytes):
            return False
        head = int.from_bytes(identity[:8], "big")
        place = bisect_left(self._heads, head)
        return place < len(self._heads) and self._heads[place] == head


class CallRows:
    """The cache: complete calls by request hash (``ports.CallStore``)."""

    def __init__(self, database: Database, images: ImageStore) -> None:
        self._database = database
        self.image = images.image

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        """The newest complete call of each of these hashes that has one, with its key."""
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
        """All that is kept of a request, oldest first: its reply, and what was of no use before."""
        query = (
            select_calls()
            .where(schema.call.c.request_hash == request_hash, schema.call.c.state != "submitted")
            .order_by(schema.call.c.id)
        )
        with self._database.reading() as connection:
            return [read_call(row) for row in connection.execute(query)]

    def known_hashes(self, model: str) -> HashFilter:
        """A filter of the hashes of this model's complete calls."""
        table = schema.call
        query = (
            select(table.c.request_hash)
            .join(schema.profile, schema.profile.c.id == table.c.profile_id)
            .where(schema.profile.c.model == model, table.c.state == "complete")
        )
        with self._database.reading() as connection:
            return HashFilter(connection.execute(query).scalars())

    def newest_served(self, model: str, endpoint: str) -> str:
        """The model that the newest complete call at this endpoint says answered it, or ""."""
        call, profile = schema.call, schema.profile
        query = (
            select(call.c.served_model)
            .join(profile, profile.c.id == call.c.profile_id)
            .where(profile.c.model == model, profile.c.endpoint == endpoint)
            .where(call.c.state == "complete", call.c.served_model != "")
            .order_by(call.c.id.desc())
            .limit(1)
        )
        with self._database.reading() as connection:
            return connection.execute(query).scalar_one_or_none() or ""

    def call(self, key: int) -> CallRecord:
        """The call with this key."""
        with self._database.reading() as connection:
            query = select_calls().where(schema.call.c.id == key)
            return read_call(connection.execute(query).one())

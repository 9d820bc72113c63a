"""Which stored replies still stand for a model: those of the version that its endpoint serves now.

A name such as ``gpt-4o`` is an alias that a provider moves. The request stays the same, so its hash
does too, and a reply from before the move would be served from the cache beside fresh ones of
another model. So a stored reply serves only where the model named in it is

- one that the endpoint named in a fresh reply since this asker was made, or,
- as long as nothing was asked yet, the one named in the newest stored reply.

A set, not the last one: during a move an endpoint names both, now this and now that. A reply that
names no model (a filter's refusal) serves always: nothing speaks against it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Literal

from proofstone.records.calls import CallRecord, CallStore, Model, ModelRequest
from proofstone.records.ids import content_id

CacheUse = Literal["same", "any"]


class ServedVersions:
    """Says of stored replies of one model whether they serve; ``use`` "any" takes them all."""

    def __init__(self, store: CallStore, model: Model, use: CacheUse = "same") -> None:
        self._store = store
        self._model = model
        self._takes_any = use == "any"
        self._fresh: set[str] = set()
        self._newest: str | None = None

    def saw(self, served_model: str) -> None:
        """A fresh reply named this model."""
        if served_model:
            self._fresh.add(served_model)

    def allow(self, row: CallRecord) -> bool:
        """Whether a stored reply may serve again."""
        if self._takes_any or not row.served_model:
            return True
        if self._fresh:
            return row.served_model in self._fresh
        if self._newest is None:
            model = self._model
            self._newest = self._store.newest_served(model.name, model.endpoint)
        return row.served_model == self._newest


# Looking for stored calls: those that are wanted within one turn of the loop, with one query.

Found = tuple[int, CallRecord]


class StoredCalls:
    """Complete calls by request hash, on one event loop.

    A query costs several times what one row more in it does, and a run that is answered from the
    cache has as many questions at once as it has workers.
    """

    def __init__(self, store: CallStore) -> None:
        self._store = store
        self._wanted: dict[bytes, list[asyncio.Future[Found | None]]] = {}

    async def find(self, identity: bytes) -> Found | None:
        """The key and row of the newest complete call with this hash, or None."""
        loop = asyncio.get_running_loop()
        if not self._wanted:
            loop.call_soon(self._search)
        waiting: asyncio.Future[Found | None] = loop.create_future()
        self._wanted.setdefault(identity, []).append(waiting)
        return await waiting

    def _search(self) -> None:
        wanted, self._wanted = self._wanted, {}
        try:
            found = self._store.find_calls(list(wanted))
        except Exception as error:  # noqa: BLE001 - raised again to each that waits
            for each in (future for futures in wanted.values() for future in futures):
                if not each.done():
                    each.set_exception(error)
            return
        for identity, futures in wanted.items():
            for each in futures:
                if not each.done():  # whoever wanted it may be gone
                    each.set_result(found.get(identity))


# The identity of a request: two with the same hash are one question to the same model.


def request_hash(model: Model, request: ModelRequest, sent: Mapping[str, Any]) -> bytes:
    """SHA-256 of wire format, endpoint identity, model name sent, prompt hash, the settings that
    reach the model, sample, re-ask and replicate.

    Time limits, concurrency, prices and headers are not in it: they change no reply.
    """
    where = [model.wire, model.endpoint, model.served_as]
    what = [request.prompt_hash, sent, request.sample, request.reask, request.replicate]
    return content_id("request", where + what)

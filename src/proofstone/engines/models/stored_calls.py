"""Looking for stored calls: those that are wanted within one turn of the loop, with one query."""

from __future__ import annotations

import asyncio

from proofstone.ports import CallRecord, CallStore

__all__ = ["Found", "StoredCalls"]

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

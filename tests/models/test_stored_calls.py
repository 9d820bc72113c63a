"""Stored calls that are wanted together are looked for together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from proofstone.errors import StoreFailed
from proofstone.models.ask import StoredCalls
from proofstone.records.calls import CallRecord


def call(identity: bytes) -> CallRecord:
    return CallRecord(
        request_hash=identity, model="lab/a", endpoint="e", wire="w", prompt_hash=b"p",
        state="complete",
    )  # fmt: skip


class Store:
    """Calls by hash, and the look-ups that were made."""

    def __init__(self, *known: bytes, error: Exception | None = None) -> None:
        self.known = known
        self.error = error
        self.asked: list[list[bytes]] = []

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        self.asked.append(list(request_hashes))
        if self.error is not None:
            raise self.error
        return {h: (n, call(h)) for n, h in enumerate(self.known) if h in request_hashes}


async def test_what_is_wanted_at_once_is_one_look_up() -> None:
    """Each gets its own, who wants what is not there gets None, and one wanted twice is asked
    once."""
    store = Store(b"a", b"b")
    calls = StoredCalls(store)  # type: ignore[arg-type]
    found = await asyncio.gather(*(calls.find(each) for each in (b"a", b"b", b"x", b"a")))
    assert [None if each is None else each[0] for each in found] == [0, 1, None, 0]
    assert store.asked == [[b"a", b"b", b"x"]]
    assert (await calls.find(b"b")) == (1, call(b"b"))
    assert len(store.asked) == 2


async def test_who_gives_up_takes_nothing_from_the_others() -> None:
    store = Store(b"a")
    calls = StoredCalls(store)  # type: ignore[arg-type]
    gone, stays = (asyncio.create_task(calls.find(b"a")) for _ in range(2))
    await asyncio.sleep(0)
    gone.cancel()
    assert (await stays) == (0, call(b"a"))
    with pytest.raises(asyncio.CancelledError):
        await gone


async def test_a_store_that_fails_fails_for_each_and_may_be_asked_again() -> None:
    store = Store(b"a", error=StoreFailed("the disk is gone"))
    calls = StoredCalls(store)  # type: ignore[arg-type]
    both = await asyncio.gather(calls.find(b"a"), calls.find(b"b"), return_exceptions=True)
    assert [type(each) for each in both] == [StoreFailed, StoreFailed]
    store.error = None
    assert (await calls.find(b"a")) == (0, call(b"a"))

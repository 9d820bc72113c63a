"""Asking: cache, bounded retries, what is recorded and charged, and what stops a model's work."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from random import Random
from typing import Any

import msgspec
import pytest

from proofstone.models.ask import Asker, request_hash
from proofstone.models.concurrency import Limiter
from proofstone.models.responses import read_response
from proofstone.models.retries import Retries
from proofstone.records.calls import (
    Attempt,
    CallRecord,
    Limits,
    Message,
    Model,
    ModelRequest,
    Ticket,
)
from proofstone.records.ids import canonical_json
from proofstone.records.models import Price
from proofstone.records.runs import Usage
from scripted_server import completion
from serving import settled

PRICE = Price(input=2.0, output=10.0, date="2025-11-01", source="https://example.com")
GOOD_RAW = json.dumps(completion("Answer: A", prompt_tokens=100, completion_tokens=5)).encode()
GOOD = Attempt(
    raw=GOOD_RAW, status=200, response=read_response("openai-chat", GOOD_RAW), latency_s=0.25
)
LIMITED = Attempt(status=429, error="rate_limited", detail="slow down")
BUSY = Attempt(status=503, error="overloaded", detail="busy")
BROKEN = Attempt(raw=GOOD_RAW[:-1], status=200, error="unreadable", detail="not JSON")
FILTERED = Attempt(
    raw=b'{"error": {"code": "content_filter"}}',
    status=400,
    response=read_response("openai-chat", b'{"error": {"code": "content_filter"}}'),
    error="content_filter",
    detail="filtered",
)


@dataclass
class ScriptedModel:
    """A ``Model`` whose attempts come from a list, the last one for ever; ``gate`` holds them."""

    attempts: Sequence[Attempt]
    name: str = "acme/m"
    simulated: bool = False
    wire: str = "openai-chat"
    endpoint: str = "https://acme.example/v1"
    reported_as: str = "m"
    limits: Limits = field(default_factory=Limits)
    reference: str = ""
    asked: list[ModelRequest] = field(default_factory=list)
    gate: asyncio.Event | None = None
    closed: bool = False

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        sent = {name: value for name, value in asked.items() if name != "shoe_size"}
        return sent, tuple(name for name in asked if name == "shoe_size")

    async def submit(self, request: ModelRequest) -> Ticket:
        return Ticket(request, b"", self.reference)

    async def collect(self, ticket: Ticket) -> Attempt:
        number = len(self.asked)
        self.asked.append(ticket.request)
        if self.gate is not None:
            await self.gate.wait()
        return self.attempts[min(number, len(self.attempts) - 1)]

    async def close(self) -> None:
        self.closed = True


@dataclass
class TestClock:
    """Time that passes only in ``sleep``, which takes none; ``slept`` lists how long."""

    __test__ = False
    time: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)
    wakes: asyncio.Event | None = None

    def now(self) -> float:
        return self.time

    def monotonic(self) -> float:
        return self.time

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        if self.wakes is not None:
            await self.wakes.wait()
        self.time += seconds


class Calls:
    """A ``CallStore`` in memory, and the recorder that fills it."""

    def __init__(self) -> None:
        self.rows: list[CallRecord] = []

    async def record(self, row: CallRecord) -> None:
        self.rows.append(row)

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        return {
            row.request_hash: (key, row)
            for key, row in enumerate(self.rows)
            if row.request_hash in request_hashes and row.state == "complete"
        }

    def image(self, digest: bytes) -> bytes:
        raise KeyError(digest)

    def newest_reported(self, model: str, endpoint: str) -> str:
        named = [row.reported_model for row in self.rows if row.state == "complete"]
        return next((name for name in reversed(named) if name), "")

    def known_hashes(self, model: str) -> Container[bytes]:
        return {row.request_hash for row in self.rows if row.model == model}


def request(text: str = "Which?", **fields: Any) -> ModelRequest:
    messages = (Message("user", text),)
    prompt = canonical_json(messages)
    return ModelRequest(
        messages=messages, prompt=prompt, prompt_hash=sha256(prompt).digest(), **fields
    )


def asker(
    model: Model,
    *,
    calls: Calls | None = None,
    clock: TestClock | None = None,
    limiter: Limiter | None = None,
    **fields: Any,
) -> Asker:
    return Asker(
        model,
        limiter or Limiter(8),
        store=calls or Calls(),
        clock=clock or TestClock(),
        rng=Random(1),
        **fields,
    )


async def test_a_good_reply_comes_with_its_whole_row_unrecorded() -> None:
    calls, model = Calls(), ScriptedModel([GOOD])
    asking = asker(model, calls=calls, price=PRICE)
    wanted = request(settings={"seed": 1, "shoe_size": 44}, sample=2)
    asked = await asking.ask(wanted, calls.record)
    assert asked.response == GOOD.response
    assert asked.key is None
    assert calls.rows == []
    assert asked.record == CallRecord(
        request_hash=request_hash(model, wanted, {"seed": 1}),
        model="acme/m",
        endpoint="https://acme.example/v1",
        wire="openai-chat",
        prompt_hash=wanted.prompt_hash,
        prompt=wanted.prompt,
        sample=2,
        settings_asked={"seed": 1, "shoe_size": 44},
        settings_sent={"seed": 1},
        settings_dropped=("shoe_size",),
        state="complete",
        status=200,
        raw=GOOD_RAW,
        usage=Usage(100, 5),
        cost_usd=(100 * 2.0 + 5 * 10.0) / 1e6,
        reported_model="scripted-1",
        fingerprint="fp_scripted",
        latency_s=0.25,
        attempts=1,
        started_at=1_000_000.0,
    )


async def test_a_stored_complete_call_is_served_without_a_request() -> None:
    calls, model = Calls(), ScriptedModel([GOOD])
    first = await asker(model, calls=calls).ask(request(), calls.record)
    await calls.record(first.record)
    again = await asker(model, calls=calls).ask(request(), calls.record)
    assert (again.key, again.record, again.response) == (0, first.record, first.response)
    assert len(model.asked) == 1
    assert len(calls.rows) == 1


@pytest.mark.parametrize("change", [{"sample": 1}, {"reask": 1}, {"replicate": "b"}])
async def test_another_sample_reask_or_replicate_is_asked_afresh(change: dict[str, Any]) -> None:
    calls, model = Calls(), ScriptedModel([GOOD])
    await calls.record((await asker(model, calls=calls).ask(request(), calls.record)).record)
    assert (await asker(model, calls=calls).ask(request(**change), calls.record)).key is None
    assert len(model.asked) == 2


async def test_failed_calls_and_unreadable_ones_serve_nobody() -> None:
    calls, model = Calls(), ScriptedModel([GOOD])
    row = (await asker(model, calls=calls).ask(request(), calls.record)).record
    await calls.record(msgspec.structs.replace(row, state="failed"))
    await calls.record(msgspec.structs.replace(row, raw=b"{}"))
    assert (await asker(model, calls=calls).ask(request(), calls.record)).key is None


async def test_transient_failures_are_retried_and_counted_in_the_row() -> None:
    calls, clock, model = Calls(), TestClock(), ScriptedModel([LIMITED, BUSY, GOOD])
    asked = await asker(model, calls=calls, clock=clock).ask(request(), calls.record)
    assert asked.record.state == "complete"
    assert asked.record.attempts == 3
    assert calls.rows == []
    assert len(clock.slept) == 2


async def test_retries_are_bounded_and_the_last_failure_is_the_row() -> None:
    calls, clock, model = Calls(), TestClock(), ScriptedModel([BUSY])
    rules = Retries(most=4, first_s=1.0, longest_s=3.0)
    asked = await asker(model, calls=calls, clock=clock, retries=rules).ask(request(), calls.record)
    assert asked.response is None
    assert (asked.record.state, asked.record.error) == ("failed", "overloaded")
    assert (asked.record.detail, asked.record.attempts) == ("busy", 1 + 4)
    assert len(model.asked) == 1 + 4
    bounds = [1.0, 2.0, 3.0, 3.0]
    assert all(0 <= slept <= most for slept, most in zip(clock.slept, bounds, strict=True))


@pytest.mark.parametrize("kind", ["bad_request", "too_long", "invalid_request", "never_heard_of"])
async def test_a_final_failure_is_not_retried_and_stops_nothing(kind: str) -> None:
    calls, model = Calls(), ScriptedModel([Attempt(status=400, error=kind, detail="no"), GOOD])
    asking = asker(model, calls=calls, price=PRICE)
    asked = await asking.ask(request(), calls.record)
    assert (asked.record.state, asked.record.error, asked.record.attempts) == ("failed", kind, 1)
    assert asked.record.cost_usd == 0.0
    assert asking.stopped is None
    assert (await asking.ask(request("next"), calls.record)).response == GOOD.response


async def test_a_content_filters_refusal_is_complete_and_cached() -> None:
    calls, model = Calls(), ScriptedModel([FILTERED])
    asked = await asker(model, calls=calls).ask(request(), calls.record)
    assert (asked.record.state, asked.record.error) == ("complete", "content_filter")
    await calls.record(asked.record)
    again = await asker(model, calls=calls).ask(request(), calls.record)
    assert again.response is not None
    assert again.response.finish == "content_filter"
    assert len(model.asked) == 1


async def test_each_billed_body_that_cannot_be_read_is_recorded_and_charged() -> None:
    calls, model = Calls(), ScriptedModel([BUSY, BROKEN, LIMITED, BROKEN, GOOD])
    asked = await asker(model, calls=calls, price=PRICE).ask(request(), calls.record)
    assert [row.state for row in calls.rows] == ["failed", "failed"]
    assert [row.attempt for row in (*calls.rows, asked.record)] == [0, 1, 2]
    assert [row.attempts for row in (*calls.rows, asked.record)] == [2, 2, 1]
    assert all(row.raw == BROKEN.raw for row in calls.rows)
    assert all(row.cost_usd == (100 * 2.0 + 5 * 10.0) / 1e6 for row in calls.rows)
    assert {row.request_hash for row in calls.rows} == {asked.record.request_hash}


async def test_retry_after_is_waited_for_with_a_little_jitter() -> None:
    told = msgspec.structs.replace(LIMITED, retry_after_s=20.0)
    calls, clock = Calls(), TestClock()
    await asker(ScriptedModel([told, GOOD]), clock=clock).ask(request(), calls.record)
    (slept,) = clock.slept
    assert 20.0 <= slept <= 20.0 + 0.5


async def test_an_endpoint_that_asks_for_too_long_a_wait_is_not_waited_for() -> None:
    told = msgspec.structs.replace(LIMITED, retry_after_s=3600.0)
    calls, clock = Calls(), TestClock()
    asked = await asker(ScriptedModel([told, GOOD]), clock=clock).ask(request(), calls.record)
    assert asked.record.error == "rate_limited"
    assert clock.slept == []


async def test_who_waits_for_a_retry_holds_no_slot() -> None:
    """One slot in all; the first request sleeps before its retry, and the others go through."""
    told = msgspec.structs.replace(LIMITED, retry_after_s=60.0)
    calls, clock = Calls(), TestClock(wakes=asyncio.Event())
    model = ScriptedModel([told, GOOD])
    asking = asker(model, clock=clock, limiter=Limiter(1))
    first = asyncio.create_task(asking.ask(request("first"), calls.record))
    await settled()
    others = [await asking.ask(request(f"other {n}"), calls.record) for n in range(5)]
    assert all(other.response is not None for other in others)
    assert not first.done()
    assert clock.wakes is not None
    clock.wakes.set()
    assert (await first).record.attempts == 2


@pytest.mark.parametrize("attempt", [LIMITED, BUSY, Attempt(error="timeout")])
async def test_an_endpoint_that_pushes_back_is_asked_less_at_once(attempt: Attempt) -> None:
    calls, limiter = Calls(), Limiter(16)
    await asker(ScriptedModel([attempt, GOOD]), limiter=limiter).ask(request(), calls.record)
    assert limiter.limit == 16 / 2
    assert limiter.in_flight == 0


def test_max_connections_is_the_limiters_maximum() -> None:
    assert asker(ScriptedModel([GOOD]), limiter=Limiter(5)).max_connections == 5


# ---------------------------------------------------------------- identity and cost

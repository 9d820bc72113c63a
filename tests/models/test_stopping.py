"""What stops a model, a wait or a request, and what it leaves behind."""

from __future__ import annotations

import asyncio

import pytest

from models.test_asking import GOOD, LIMITED, Calls, ScriptedModel, TestClock, asker, request
from proofstone.errors import CallFailed
from proofstone.models.concurrency import Limiter
from proofstone.models.retries import Stopped
from proofstone.records.calls import Attempt
from serving import PATIENCE_S, settled


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("bad_key", "ACME_KEY"),
        ("no_credit", "ACME_KEY"),
        ("unknown_model", "https://acme.example/v1"),
        ("unsupported_parameter", "[providers.acme]"),
        ("not_an_api", "base_url"),
        ("bad_certificate", "certificate"),
    ],
)
async def test_a_hopeless_failure_stops_the_model_and_says_what_to_do(
    kind: str, advice: str
) -> None:
    calls, model = Calls(), ScriptedModel([Attempt(status=401, error=kind, detail="their words")])
    asking = asker(model, hints={"key": "ACME_KEY", "entry": "[providers.acme] of x.toml"})
    asked = await asking.ask(request(), calls.record)
    assert (asked.record.state, asked.record.error) == ("failed", kind)
    assert asking.stopped is not None
    assert asking.stopped.message == f"acme/m: {kind}: their words"
    assert advice in asking.stopped.hint
    with pytest.raises(CallFailed) as caught:
        await asking.ask(request("next"), calls.record)
    assert caught.value.kind == kind
    assert len(model.asked) == 1


async def test_stopping_a_model_wakes_those_who_queue_and_those_who_sleep() -> None:
    """Of two slots one request sleeps before a retry, one is refused for good, and three queue."""
    refused = Attempt(status=401, error="bad_key", detail="no")
    calls, clock = Calls(), TestClock(wakes=asyncio.Event())
    model = ScriptedModel([LIMITED, refused], gate=asyncio.Event())
    asking = asker(model, clock=clock, limiter=Limiter(2))
    tasks = [asyncio.create_task(asking.ask(request(f"{n}"), calls.record)) for n in range(5)]
    await settled()
    assert len(model.asked) == 2
    assert model.gate is not None
    model.gate.set()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE_S)
    kinds = [error.kind for error in done if isinstance(error, CallFailed)]
    assert kinds == ["bad_key"] * 4
    assert len(model.asked) == 2


async def test_one_models_stop_leaves_others_at_work() -> None:
    limiter, calls = Limiter(4), Calls()
    refused = ScriptedModel([Attempt(status=402, error="no_credit", detail="empty")])
    bad, good = asker(refused, limiter=limiter), asker(ScriptedModel([GOOD]), limiter=limiter)
    await bad.ask(request(), calls.record)
    assert bad.stopped is not None
    assert (await good.ask(request(), calls.record)).response == GOOD.response


async def test_a_page_from_an_endpoint_that_has_answered_is_a_passing_fault() -> None:
    page = Attempt(status=200, error="not_an_api", detail="an HTML page")
    calls, model = Calls(), ScriptedModel([GOOD, page, GOOD])
    asking = asker(model)
    await asking.ask(request("1"), calls.record)
    assert (await asking.ask(request("2"), calls.record)).response == GOOD.response
    model.attempts = [page]
    assert (await asking.ask(request("3"), calls.record)).response is None
    assert asking.stopped is None


async def test_an_endpoint_that_was_never_reached_stops_the_model_after_two_more_tries() -> None:
    gone = Attempt(error="unreachable", detail="refused")
    calls, model = Calls(), ScriptedModel([gone])
    asking = asker(model)
    asked = await asking.ask(request(), calls.record)
    assert asked.record.attempts == 3
    assert asking.stopped is not None
    late = ScriptedModel([GOOD, gone])
    asking = asker(late)
    await asking.ask(request("1"), calls.record)
    assert (await asking.ask(request("2"), calls.record)).record.attempts == 1 + 5
    assert asking.stopped is None


async def test_the_stop_event_ends_waits_at_once_and_lets_what_is_in_flight_finish() -> None:
    stop, calls = asyncio.Event(), Calls()
    clock = TestClock(wakes=asyncio.Event())
    model = ScriptedModel([LIMITED, GOOD], gate=asyncio.Event())
    asking = asker(model, clock=clock, limiter=Limiter(2), stop=stop)
    tasks = [asyncio.create_task(asking.ask(request(f"{n}"), calls.record)) for n in range(4)]
    await settled()
    assert len(model.asked) == 2
    stop.set()
    await settled()
    assert [task.done() for task in tasks] == [False, False, True, True]
    assert model.gate is not None
    model.gate.set()
    done = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), PATIENCE_S)
    assert [isinstance(result, Stopped) for result in done] == [True, False, True, True]
    with pytest.raises(Stopped):
        await asking.ask(request("late"), calls.record)
    assert len(model.asked) == 2
    await asking.close()
    assert model.closed


async def test_a_stop_wakes_who_sleeps_before_a_retry() -> None:
    stop, calls = asyncio.Event(), Calls()
    clock = TestClock(wakes=asyncio.Event())
    asking = asker(ScriptedModel([LIMITED]), clock=clock, stop=stop)
    task = asyncio.create_task(asking.ask(request(), calls.record))
    await settled()
    assert clock.slept
    stop.set()
    with pytest.raises(Stopped):
        await asyncio.wait_for(task, PATIENCE_S)
    await asking.close()


async def test_a_cancelled_request_gives_its_slot_back() -> None:
    calls, limiter = Calls(), Limiter(1)
    asking = asker(ScriptedModel([GOOD], gate=asyncio.Event()), limiter=limiter)
    task = asyncio.create_task(asking.ask(request(), calls.record))
    await settled()
    assert limiter.in_flight == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert limiter.in_flight == 0


async def test_a_request_that_outlives_its_connection_is_recorded_before_it_is_waited_for() -> None:
    calls = Calls()
    asked = await asker(ScriptedModel([GOOD], reference="batch-7")).ask(request(), calls.record)
    assert [(row.state, row.reference) for row in calls.rows] == [("submitted", "batch-7")]
    assert asked.record.state == "complete"

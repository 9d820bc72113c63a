"""Recorded errors of eight providers and of gateways: their kind, and what becomes of a call."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from test_asking import Calls, TestClock, request
from test_chat_endpoint import client

from proofstone.models.ask import Asker
from proofstone.models.concurrency import Limiter
from proofstone.models.failures import classify, treatment
from proofstone.models.responses import UnreadableResponseError, read_response
from proofstone.models.retries import Retries, delay_in_body
from recorded import PROVIDERS, Recorded, recorded
from scripted_server import ScriptedServer

ALL = recorded()


def named(row: Recorded) -> str:
    return f"{row.kind}-{row.status}-{row.raw[:40].decode(errors='replace')}"


@pytest.mark.parametrize("row", ALL, ids=named)
def test_a_recorded_body_means_its_kind(row: Recorded) -> None:
    assert classify(row.status, row.raw).kind == row.kind


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_provider_is_recorded_with_what_matters(provider: str) -> None:
    rows = recorded(provider)
    kinds = Counter(row.kind for row in rows)
    assert len(rows) >= 8
    assert kinds["bad_key"]
    assert len(kinds) >= 5
    assert all(row.source.startswith("https://") for row in rows)


@pytest.mark.parametrize("row", ALL, ids=named)
async def test_what_becomes_of_a_call_that_is_answered_so(row: Recorded) -> None:
    """Through the socket and the retries: a filter's refusal is a reply; what stops a model is
    asked once; what may pass is tried a bounded number of times, each after a pause with jitter."""
    calls, clock = Calls(), TestClock()
    async with ScriptedServer(row.act()) as server, client(server.url) as model:
        asking = Asker(
            model, Limiter(4), store=calls, clock=clock, rng=Random(1), retries=Retries(most=2)
        )
        asked = await asking.ask(request(), calls.record)
        await asking.close()
    known = treatment(row.kind)
    if row.kind == "content_filter":
        assert asked.response is not None
        assert asked.response.finish == "content_filter"
        assert (
            read_response(model.wire, asked.record.raw) == asked.response
        )  # as a scorer reads it later
        assert (server.requests, asking.stopped) == (1, None)
        return
    assert asked.response is None
    assert asked.record.error == row.kind
    assert (asking.stopped is not None) == known.stops
    if known.stops:
        assert asking.stopped is not None
        assert asking.stopped.hint
    wait = delay_in_body(row.raw) or 0.0
    is_waited_for = known.retried and wait <= Retries().patience_s
    assert server.requests == (3 if is_waited_for else 1)
    assert len(clock.slept) == server.requests - 1
    assert all(wait <= pause <= wait + 1.0 for pause in clock.slept)


@pytest.mark.parametrize(
    ("words", "seconds"),
    [
        (b"Please try again in 26.604s. Visit", 26.604),
        (b"Please try again in 644ms.", 0.644),
        (b"Please try again in 1m30.5s.", 90.5),
        (b"Please try again in 1h2m.", 3720.0),
        (b"Please retry after 86400 seconds. Please", 86400.0),
        (b"Try again in 30 seconds.", 30.0),
        (b"Please retry in 25.465784708s.", 25.465784708),
        (b'{"retryDelay": "25s"}', 25.0),
        (b"try again in a while", None),
        (b"try again in 3 moons", None),
        (b"try again in 1.2.3s", None),
        (b"", None),
    ],
)
def test_a_wait_is_read_from_the_words(words: bytes, seconds: float | None) -> None:
    found = delay_in_body(words)
    assert found == (None if seconds is None else pytest.approx(seconds))


def test_a_broken_reply_about_moderation_is_no_refusal() -> None:
    """A body cut off within the model's own words must not read as the endpoint's filter."""
    raw = b'{"choices": [{"message": {"content": "the content management policy says'
    with pytest.raises(UnreadableResponseError):
        read_response("openai-chat", raw)


def test_a_sign_in_page_that_speaks_of_content_is_no_refusal() -> None:
    raw = b"<html><title>Blocked</title>inappropriate content</html>"
    with pytest.raises(UnreadableResponseError):
        read_response("openai-chat", raw)
    assert classify(200, raw).kind == "not_an_api"


async def test_a_filters_refusal_in_plain_text_is_a_reply() -> None:
    row = Recorded("content_filter", 400, {}, "Content Exists Risk", "https://x", "words")
    async with ScriptedServer(row.act()) as server, client(server.url) as model:
        attempt = await model.collect(await model.submit(request()))
    assert attempt.response is not None
    assert attempt.response.refusal == "Content Exists Risk"


def test_a_stream_without_an_error_is_malformed() -> None:
    """A model wrote it, so it is billed: asking again would stream again."""
    raw = b'data: {"choices": [{"delta": {"content": "about an error"}}]}\n\ndata: [DONE]\n\n'
    assert classify(200, raw).kind == "malformed"


def test_comments_of_a_stream_and_broken_events_are_passed_over() -> None:
    raw = b': processing\n\ndata: {"error\ndata: {"error": {"message": "x", "code": 503}}\n\n'
    assert classify(200, raw) == ("overloaded", "x")


def test_a_router_that_quotes_what_nobody_knows_speaks_for_itself() -> None:
    raw = b'{"error": {"code": 429, "message": "Provider error", "metadata": {"raw": "{}"}}}'
    assert classify(200, raw).kind == "rate_limited"
    raw = b'{"error": {"code": 429, "message": "no", "metadata": {"raw": "{broken"}}}'
    assert classify(200, raw) == ("rate_limited", "no: {broken")

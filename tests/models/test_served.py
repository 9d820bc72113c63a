"""Stored replies serve only for the model that answers now: known from what is fresh, or newest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_asking import Calls, ScriptedModel, asker, request

from proofstone.models.responses import read_response
from proofstone.records.calls import Attempt
from scripted_server import completion


def said_by(model: str) -> Attempt:
    raw = json.dumps(completion("Answer: A", model=model)).encode()
    return Attempt(raw=raw, status=200, response=read_response("openai-chat", raw))


async def stored(calls: Calls, *reported: tuple[str, str]) -> None:
    """Keeps a call for each (question, model that answered it), in this order."""
    for text, model in reported:
        asked = await asker(ScriptedModel([said_by(model)])).ask(request(text), calls.record)
        await calls.record(asked.record)


async def ask_in_turn(
    calls: Calls, now: list[str], texts: list[str], **fields: Any
) -> tuple[list[str], int]:
    """The model behind each reply, and how often the endpoint, which answers ``now``, was asked."""
    model = ScriptedModel([said_by(name) for name in now])
    asking = asker(model, calls=calls, **fields)
    names = [
        (await asking.ask(request(text), calls.record)).record.reported_model for text in texts
    ]
    return names, len(model.asked)


async def test_nothing_asked_yet_the_newest_stored_model_counts() -> None:
    calls = Calls()
    await stored(calls, ("old", "m-1"), ("new", "m-2"))
    names, asked = await ask_in_turn(calls, ["m-2"], ["new"])
    assert (names, asked) == (["m-2"], 0)
    names, asked = await ask_in_turn(calls, ["m-2"], ["old"])
    assert (names, asked) == (["m-2"], 1)


async def test_a_fresh_reply_of_another_model_ends_the_use_of_stored_ones() -> None:
    calls = Calls()
    await stored(calls, ("a", "m-1"), ("b", "m-1"))
    names, asked = await ask_in_turn(calls, ["m-2"], ["a", "fresh", "b", "a"])
    assert names == ["m-1", "m-2", "m-2", "m-2"]
    assert asked == 3


async def test_while_a_provider_moves_an_alias_both_models_serve() -> None:
    calls = Calls()
    await stored(calls, ("a", "m-1"), ("b", "m-2"))
    names, asked = await ask_in_turn(calls, ["m-2", "m-1"], ["x", "y", "a", "b"])
    assert (names, asked) == (["m-2", "m-1", "m-1", "m-2"], 2)


async def test_asked_for_any_stored_reply_serves() -> None:
    calls = Calls()
    await stored(calls, ("a", "m-1"))
    names, asked = await ask_in_turn(calls, ["m-2"], ["x", "a"], cache="any")
    assert (names, asked) == (["m-2", "m-1"], 1)


async def test_a_refusal_that_names_no_model_serves_always() -> None:
    calls = Calls()
    refused = read_response("openai-chat", b'{"error": {"code": "content_filter"}}')
    assert refused.model == ""
    await stored(calls, ("a", "m-1"))
    calls.rows[0] = replace(calls.rows[0], reported_model="")
    names, asked = await ask_in_turn(calls, ["m-2"], ["x", "a"])
    assert (names, asked) == (["m-2", ""], 1)


async def test_an_endpoint_that_names_no_model_says_nothing_against_any() -> None:
    calls = Calls()
    await stored(calls, ("a", "m-1"))
    names, asked = await ask_in_turn(calls, [""], ["x", "a"])
    assert (names, asked) == (["", "m-1"], 1)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@given(
    kept=st.lists(st.sampled_from(["m-1", "m-2", "m-3"]), min_size=1, max_size=6),
    now=st.sampled_from(["m-1", "m-2", "m-3"]),
)
def test_behind_a_fresh_reply_every_reply_is_of_its_model(kept: list[str], now: str) -> None:
    """Whatever is stored: after one fresh reply, what comes next was answered by the same model."""
    import asyncio  # noqa: PLC0415

    async def check() -> None:
        calls = Calls()
        await stored(calls, *[(str(n), model) for n, model in enumerate(kept)])
        names, asked = await ask_in_turn(calls, [now], ["x", *map(str, range(len(kept)))])
        assert set(names) == {now}
        assert asked == 1 + sum(model != now for model in kept)

    asyncio.run(check())

"""Text completions for base models: what is sent, what is read, what is left out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from proofstone.errors import BadUsage
from proofstone.models.ask import request_hash
from proofstone.models.check import CONTROL_SETTINGS
from proofstone.models.client import CompletionsEndpoint
from proofstone.models.config import Endpoint, ModelConfig, resolve
from proofstone.models.entries import Entry, read_tables
from proofstone.models.local import open_local
from proofstone.models.names import parse_model_name
from proofstone.models.registry import open_model
from proofstone.models.responses import UnreadableResponseError, read_response
from proofstone.models.retries import SystemClock
from proofstone.models.wire import checked_stop
from proofstone.records.calls import Attempt, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json, digest
from proofstone.records.models import Card
from proofstone.records.runs import Usage
from scripted_server import Act, ScriptedServer, answer, error, half, text_answer

TEXT = "Question: Which?\n(A) (B)\nAnswer:"


def request(*messages: Message, **settings: Any) -> ModelRequest:
    messages = messages or (Message("user", TEXT),)
    prompt = canonical_json(messages)
    return ModelRequest(
        messages=messages, prompt=prompt, prompt_hash=digest(prompt), settings=settings
    )


@asynccontextmanager
async def client(url: str, **fields: Any) -> AsyncIterator[Model]:
    entry = Entry(base_url=url, wire="openai-completions", **fields)
    config = ModelConfig(providers={"acme": entry}, models={}, environment={})
    model = await open_model("acme/base-1", config, clock=SystemClock())
    assert isinstance(model, CompletionsEndpoint)
    try:
        yield model
    finally:
        await model.close()


async def ask(act: Act, *messages: Message, **settings: Any) -> tuple[Attempt, Any, str]:
    async with ScriptedServer(act) as server, client(server.url) as model:
        attempt = await model.collect(await model.submit(request(*messages, **settings)))
        return attempt, server.seen[0].json, server.seen[0].path


async def test_a_sole_user_message_is_the_prompt_as_it_is() -> None:
    attempt, body, path = await ask(
        text_answer(" B"), max_tokens=8, temperature=0, stop=["\n\n", "\nQuestion:"], seed=3
    )
    assert path == "/v1/completions"
    assert body == {
        "model": "base-1",
        "prompt": TEXT,
        "max_tokens": 8,
        "temperature": 0.0,
        "stop": ["\n\n", "\nQuestion:"],
        "seed": 3,
    }
    assert attempt.response is not None
    assert (attempt.response.text, attempt.response.finish) == (" B", "stop")
    assert attempt.response.usage == Usage(100, 2)
    assert attempt.response.model == "scripted-1"
    assert attempt.response.mean_logprob == (-0.25 + -0.75) / 2


async def test_a_conversation_becomes_blocks_with_an_open_answer() -> None:
    turns = [
        Message("system", "Be brief."),
        Message("user", "Two and two?"),
        Message("assistant", "Four."),
        Message("user", "Three and three?"),
    ]
    _attempt, body, _path = await ask(text_answer(), *turns)
    assert body["prompt"] == (
        "Be brief.\n\nQuestion: Two and two?\n\nAnswer: Four.\n\n"
        "Question: Three and three?\n\nAnswer:"
    )


@pytest.mark.parametrize(
    ("asked", "sent"),
    [
        ({"logprobs": True}, {"logprobs": 1}),
        ({"logprobs": True, "top_logprobs": 5}, {"logprobs": 5}),
        ({"logprobs": True, "top_logprobs": 0}, {"logprobs": 0}),
        ({"logprobs": False}, {}),
        ({"logprobs": 3}, {"logprobs": 3}),
        ({"top_logprobs": 5}, {}),
    ],
)
async def test_log_probabilities_are_a_number_here(
    asked: dict[str, Any], sent: dict[str, Any]
) -> None:
    async with client("http://h/v1") as model:
        once, dropped = model.sent_settings(asked)
        assert (once, dropped) == (sent, ())
        assert model.sent_settings(once)[0] == sent  # a local model's go through twice


async def test_what_only_a_chat_has_is_left_out_and_named() -> None:
    async with client("http://h/v1", unsupported=("seed",)) as model:
        sent, dropped = model.sent_settings(
            {"schema": {"type": "object"}, "reasoning_effort": "low", "seed": 1, "top_p": 1}
        )
    assert sent == {"top_p": 1.0}
    assert dropped == ("reasoning_effort", "schema", "seed")


@pytest.mark.parametrize("path", ["", "/", "/completions", "/chat/completions"])
async def test_the_address_is_completed(path: str) -> None:
    async with ScriptedServer(text_answer()) as server, client(server.url + path) as model:
        await model.collect(await model.submit(request()))
    assert server.seen[0].path == "/v1/completions"


async def test_it_is_another_request_than_the_same_words_in_a_chat() -> None:
    chat = Entry(base_url="http://h/v1")
    config = ModelConfig(providers={"acme": chat}, models={}, environment={})
    as_chat = await open_model("acme/base-1", config, clock=SystemClock())
    async with client("http://h/v1") as as_text:
        assert request_hash(as_chat, request(), {}) != request_hash(as_text, request(), {})


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (error(404, {"error": {"message": "The model `x` does not exist."}}), "unknown_model"),
        (half(), "dropped"),
        (answer("a chat's reply"), "malformed"),
        (Act(b'{"choices": []}'), "unreadable"),
        (Act(json.dumps({"choices": [{"text": "", "finish_reason": "error"}]}).encode()),
         "unreadable"),
        (Act(json.dumps({"choices": [{"text": "", "error": {"code": 502}}]}).encode()),
         "overloaded"),
    ],
)  # fmt: skip
async def test_faults_are_those_of_the_chat(act: Act, kind: str) -> None:
    attempt, _body, _path = await ask(act)
    assert (attempt.response, attempt.error) == (None, kind)


async def test_a_filters_refusal_is_a_reply() -> None:
    attempt, _body, _path = await ask(error(400, {"error": {"code": "content_filter"}}))
    assert attempt.response is not None
    assert attempt.response.finish == "content_filter"


def test_thinking_of_a_base_model_is_no_answer() -> None:
    raw = text_answer("<think>B or C</think>A", finish="length").body
    response = read_response("openai-completions", raw)
    assert (response.text, response.reasoning, response.finish) == ("A", "B or C", "length")


def test_a_broken_body_names_what_it_lacks() -> None:
    with pytest.raises(UnreadableResponseError, match="its first choice has no text"):
        read_response("openai-completions", b'{"choices": [{"index": 0}]}')
    with pytest.raises(UnreadableResponseError, match="not JSON"):
        read_response("local-completions", b'{"choices": [')


async def test_a_local_file_is_asked_for_completions_too(tmp_path: Path) -> None:
    """The wire, and so each hash, is another than that of its chat."""
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + bytes(64))
    entry = Entry(wire="openai-completions")
    model = await open_local(str(path), entry=entry, command=("never-started",))
    assert model.wire == "local-completions"
    assert model.sent_settings(dict(CONTROL_SETTINGS))[0]["logprobs"] == 1
    plain = await open_local(str(path), command=("never-started",))
    assert plain.wire == "local"


def test_an_unknown_wire_is_refused_where_it_stands() -> None:
    _tables, (problem,) = read_tables("x.toml", '[models."a/b"]\nwire = "telegraph"\n')
    assert str(problem) == (
        "x.toml, [models.\"a/b\"]: wire: Invalid enum value 'telegraph' - at `wire`"
    )


def test_a_card_says_what_the_entry_leaves_open() -> None:
    """A base model is asked for completions, and takes what its card says; the entry wins."""

    def asked(text: str) -> Endpoint:
        tables, problems = read_tables("x.toml", text)
        assert problems == []
        config = ModelConfig(providers={}, models=tables.models, environment={})
        return resolve(parse_model_name("a/b"), config)

    entry = '[models."a/b"]\nbase_url = "http://h/v1"\n'
    card = "card = { kind = 'base', window = 4096, images = false }\n"
    known = asked(entry + card)
    assert (known.wire, known.window, known.images) == ("openai-completions", 4096, False)
    own = asked(entry + 'wire = "openai-chat"\nwindow = 8192\nimages = true\n' + card)
    assert (own.wire, own.window, own.images) == ("openai-chat", 8192, True)
    blank = asked(entry)
    assert (blank.wire, blank.window, blank.images) == ("openai-chat", None, None)


async def test_a_local_file_with_the_card_of_a_base_model_too(tmp_path: Path) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(b"GGUF" + bytes(64))
    entry = Entry(card=Card(kind="base"))
    config = ModelConfig(providers={}, models={f"local/{path}": entry}, environment={})
    model = await open_model(f"local/{path}", config, clock=SystemClock())
    assert model.wire == "local-completions"


def test_a_window_is_above_nothing() -> None:
    _tables, (problem,) = read_tables("x.toml", '[models."a/b"]\nwindow = 0\n')
    assert "window: must be above 0" in str(problem)
    _tables, (problem,) = read_tables("x.toml", '[models."a/b"]\ncard = { window = -1 }\n')
    assert "card.window: must be above 0" in str(problem)


@pytest.mark.parametrize(
    ("value", "texts"), [(None, ()), ("\n", ("\n",)), (["a", "b"], ("a", "b")), ([], ())]
)
def test_stop_sequences_are_texts(value: Any, texts: tuple[str, ...]) -> None:
    assert checked_stop(value) == texts


@pytest.mark.parametrize("value", ["", ["a", ""], 3, [1], {"a": 1}])
def test_what_ends_no_reply_or_every_one_is_refused(value: Any) -> None:
    with pytest.raises(BadUsage, match="stop takes texts"):
        checked_stop(value)

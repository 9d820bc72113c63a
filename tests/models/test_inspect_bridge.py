"""Models through Inspect's providers: its mock model, and the providers' own packages where they
are installed, against the scripted server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import msgspec
import pytest
from test_opening import KEY, NoCalls, request

from proofstone.errors import BadUsage, ExtraMissing, NotFound
from proofstone.models.ask import Asked, Asker
from proofstone.models.concurrency import Limiters
from proofstone.models.config import ModelConfig, load_config
from proofstone.models.entries import Entry
from proofstone.models.names import Destination, parse_model_name
from proofstone.models.registry import leaves_to, list_models, open_asker, open_model
from proofstone.models.responses import UnreadableResponseError, read_response
from proofstone.models.retries import Retries, SystemClock
from proofstone.records.calls import ModelRequest
from proofstone.records.models import Price
from proofstone.records.runs import Usage
from proofstone.run.prompts import check_tools
from scripted_acts import streamed_message
from scripted_server import Act, Script, ScriptedServer, answer, error, in_turn

pytest.importorskip("inspect_ai")

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessageAssistant,
    ContentReasoning,
    ContentText,
    ModelOutput,
    ModelUsage,
)

# Of Inspect's own dependencies and the providers' packages.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MOCK = "inspect/mockllm/model"
CHAT = "inspect/openai-api/acme/m"
SEARCHING = {"tools": "web-search", "blocked_hosts": "bank.example, B.example"}
QUICK = Retries(most=3, first_s=0.001, longest_s=0.01)
PAGES = ("https://a.example/tin", "https://b.example/lead")
PRICE = Price(input=1.0, output=2.0, date="2026-11-01", source="https://acme.example")


def config_of(url: str, name: str, **fields: Any) -> ModelConfig:
    entry = Entry(base_url=url, api_key_env="ACME_KEY", price=PRICE, **fields)
    return ModelConfig(providers={}, models={name: entry}, environment={"ACME_KEY": KEY})


@asynccontextmanager
async def asking(url: str, name: str, calls: NoCalls, **fields: Any) -> AsyncIterator[Asker]:
    asker = await open_asker(
        name, config_of(url, name, **fields), store=calls, clock=SystemClock(), rng=Random(1),
        limiters=Limiters(), retries=QUICK,
    )  # fmt: skip
    try:
        yield asker
    finally:
        await asker.close()


def with_settings(**settings: Any) -> ModelRequest:
    return msgspec.structs.replace(request("What melts first?"), settings=settings)


async def asked_once(
    name: str, script: Script | Act, path: str = "", settings: Mapping[str, Any] | None = None,
    **fields: Any,
) -> tuple[Asked, ScriptedServer]:  # fmt: skip
    calls = NoCalls()
    async with (
        ScriptedServer(script) as server,
        asking(server.url.removesuffix("/v1") + path, name, calls, **fields) as asker,
    ):
        asked = await asker.ask(with_settings(**(settings or {})), calls.record)
    return asked, server


def output(**fields: Any) -> ModelOutput:
    message = ChatMessageAssistant(
        content=[
            ContentReasoning(reasoning="Tin melts at 232 C."),
            ContentReasoning(reasoning="zz", summary="It compares.", redacted=True),
            ContentText(text="Answer: B"),
        ],
    )
    usage = ModelUsage(
        input_tokens=40, output_tokens=9, total_tokens=79, input_tokens_cache_read=20,
        input_tokens_cache_write=10, reasoning_tokens=6,
    )  # fmt: skip
    choice = ChatCompletionChoice(message=message, stop_reason=fields.pop("stop_reason", "stop"))
    return ModelOutput(model="mock-7", choices=[choice], usage=fields.pop("usage", usage), **fields)


async def mocked(*outputs: Any) -> Any:
    """Return the model of Inspect's mock that gives these outputs in turn."""
    model = await open_model(MOCK, load_config(environ={}), clock=SystemClock())
    model._model.api.outputs = iter(outputs)  # type: ignore[attr-defined]
    return model


async def attempt_of(*outputs: Any, **settings: Any) -> Any:
    model = await mocked(*outputs)
    return await model.collect(await model.submit(with_settings(**settings)))


async def test_the_mock_model_is_simulated_and_needs_no_address() -> None:
    config = load_config(environ={})
    model = await open_model(MOCK, config, clock=SystemClock())
    assert model.simulated
    assert model.wire == "inspect"
    assert leaves_to(MOCK, config) is None
    await model.close()


async def test_thoughts_usage_and_finish_of_inspects_output_are_kept() -> None:
    attempt = await attempt_of(output())
    response = attempt.response
    assert response.text == "Answer: B"
    assert response.reasoning == "Tin melts at 232 C.\nIt compares."
    assert response.usage == Usage(prompt=70, completion=9, reasoning=6, cached=20)
    assert (response.finish, response.model, response.searches) == ("stop", "mock-7", 0)
    assert read_response("inspect", attempt.raw) == response
    assert msgspec.json.decode(attempt.raw)["bodies"]


@pytest.mark.parametrize(("reason", "finish"), [
    ("max_tokens", "length"), ("content_filter", "content_filter"), ("tool_calls", "tool_calls"),
    ("unknown", "other"), ("model_length", "length"),
])  # fmt: skip
async def test_each_stop_reason_has_its_finish(reason: str, finish: str) -> None:
    attempt = await attempt_of(output(stop_reason=reason))
    assert attempt.response.finish == finish
    assert attempt.response.text == "Answer: B"


async def test_an_error_that_inspect_made_an_answer_of_is_none() -> None:
    too_long = ModelOutput.from_content("m", "prompt is too long", stop_reason="model_length")
    model = await mocked(too_long)
    model._model.api._ensure_default_usage = no_usage
    attempt = await model.collect(await model.submit(request("x")))
    assert (attempt.response, attempt.error) == (None, "too_long")
    filtered = ModelOutput.from_content("m", "I cannot.", stop_reason="content_filter")
    model = await mocked(filtered)
    model._model.api._ensure_default_usage = no_usage
    response = (await model.collect(await model.submit(request("x")))).response
    assert (response.text, response.refusal) == ("", "I cannot.")


async def no_usage(*_: Any) -> None:
    """Report none, as providers do with an error."""


async def test_settings_reach_inspect_by_its_names_and_others_are_named_as_dropped() -> None:
    seen: list[Any] = []

    def answers(_input: Any, _tools: Any, _choice: Any, config: Any) -> ModelOutput:
        seen.append(config)
        return output()

    model = await mocked()
    model._model.api.outputs = answers
    asked = {
        "max_tokens": 32_000, "reasoning_effort": "medium", "stop": ["\n\n"], "min_p": 0.1,
        "schema": {"title": "x"}, "temperature": None,
    }  # fmt: skip
    await model.collect(await model.submit(with_settings(**asked)))
    assert (seen[0].max_tokens, seen[0].reasoning_effort) == (32_000, "medium")
    assert seen[0].stop_seqs == ["\n\n"]
    assert seen[0].temperature is None
    assert seen[0].max_retries == 0
    sent, dropped = model.sent_settings(asked)
    assert dropped == ("min_p", "schema")
    assert sent.keys() == {"max_tokens", "reasoning_effort", "stop"}


async def test_a_likelihood_is_no_answer() -> None:
    assert (await attempt_of(output(), likelihood=True)).error == "no_logprobs"


async def test_exceptions_of_a_provider_are_failures_and_never_answers() -> None:
    attempt = await attempt_of()  # the mock has no output left: an exception of the provider
    assert attempt.response is None
    assert attempt.error == "bad_request"
    assert "custom_outputs" in attempt.detail


async def test_what_inspect_does_not_open_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SystemClock()
    with pytest.raises(NotFound, match="unknown provider 'inspect/nobody'") as missing:
        await open_model("inspect/nobody/m", load_config(environ={}), clock=clock)
    assert '[providers."inspect/nobody"]' in missing.value.hint
    nobody = config_of("http://127.0.0.1:1", "inspect/nobody/m")
    with pytest.raises(BadUsage, match="does not open"):
        await open_model("inspect/nobody/m", nobody, clock=clock)
    wrong = config_of("http://127.0.0.1:1", CHAT, body={"max_retries": 9, "reasonings": 1})
    with pytest.raises(BadUsage, match="takes no max_retries, reasonings in body"):
        await open_model(CHAT, wrong, clock=clock)
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.model._providers.openai", None)
    with pytest.raises(BadUsage):
        await open_model(CHAT, config_of("http://127.0.0.1:1", CHAT), clock=clock)
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.model", None)
    with pytest.raises(ExtraMissing) as extra:
        await open_model(MOCK, load_config(environ={}), clock=clock)
    assert extra.value.hint == "pip install 'proofstone[inspect]'"


def test_prompts_leave_to_the_address_that_is_passed_to_inspect() -> None:
    config = load_config(environ={"ANTHROPIC_API_KEY": KEY})
    assert leaves_to("inspect/anthropic/claude", config) == Destination("api.anthropic.com", 443)
    listed = {each.name: each for each in list_models(config, [MOCK])}
    assert listed["inspect/anthropic/..."].problem == ""
    assert listed["inspect/openai/..."].unset == ("OPENAI_API_KEY",)
    assert listed[MOCK].endpoint == "this machine"
    assert parse_model_name("inspect/anthropic/claude").provider == "inspect"


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"output":{"choices":[],"error":"none came"}}'])
def test_a_body_without_a_choice_is_unreadable(body: bytes) -> None:
    with pytest.raises(UnreadableResponseError):
        read_response("inspect", body)


# Inspect's OpenAI-compatible provider, with OpenAI's package.


async def test_the_openai_compatible_provider_asks_our_server() -> None:
    pytest.importorskip("openai")
    settings = {"max_tokens": 50, "temperature": None}
    asked, server = await asked_once(CHAT, answer("Answer: C"), "/v1", settings)
    assert asked.response is not None
    assert asked.response.text == "Answer: C"
    assert asked.response.usage.prompt == 100
    assert asked.record.cost_usd == pytest.approx((100 * 1.0 + 5 * 2.0) / 1e6)
    (seen,) = server.seen
    assert seen.json["model"] == "m"
    assert "temperature" not in seen.json
    assert KEY.encode() not in asked.record.raw


async def test_busy_is_asked_again_and_a_wrong_key_is_not() -> None:
    pytest.importorskip("openai")
    busy = error(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})
    asked, server = await asked_once(CHAT, in_turn(busy, answer("Answer: C")), "/v1")
    assert asked.response is not None
    assert server.requests >= 2
    wrong = error(401, {"error": {"message": "invalid api key", "code": "invalid_api_key"}})
    asked, server = await asked_once(CHAT, wrong, "/v1")
    assert (asked.response, asked.record.error, asked.record.status) == (None, "bad_key", 401)
    assert server.requests == 1


# The providers' own search, as their interfaces document its replies.


def scripted(body: Any) -> Act:
    return Act(msgspec.json.encode(body))


def of_anthropic() -> Act:
    found = [
        {"type": "web_search_result", "url": url, "title": "T", "encrypted_content": "e",
         "page_age": None}
        for url in PAGES
    ]  # fmt: skip
    cited = [
        {"type": "web_search_result_location", "url": url, "title": "T", "encrypted_index": "i",
         "cited_text": "It melts."}
        for url in PAGES
    ]  # fmt: skip
    content: list[dict[str, Any]] = []
    for number in (1, 2):
        use = f"srvtoolu_{number}"
        query = {"query": f"melting point {number}"}
        content += [
            {"type": "server_tool_use", "id": use, "name": "web_search", "input": query},
            {"type": "web_search_tool_result", "tool_use_id": use, "content": found},
        ]
    content.append({"type": "text", "text": "Answer: D", "citations": cited})
    usage = {"input_tokens": 90, "output_tokens": 12, "cache_read_input_tokens": 8,
             "server_tool_use": {"web_search_requests": 2}}  # fmt: skip
    return scripted({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4",
        "content": content, "stop_reason": "end_turn", "stop_sequence": None, "usage": usage,
    })  # fmt: skip


def of_openai() -> Act:
    cited = [
        {"type": "url_citation", "url": url, "title": "T", "start_index": 0, "end_index": 6}
        for url in PAGES
    ]
    calls = [
        {"type": "web_search_call", "id": f"ws_{n}", "status": "completed",
         "action": {"type": kind} | said}
        for n, (kind, said) in enumerate([
            ("search", {"query": "tin"}), ("open_page", {"url": PAGES[0]}),
            ("search", {"query": "lead"}),
        ])
    ]  # fmt: skip
    text = {"type": "output_text", "text": "Answer: D", "annotations": cited, "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
               "content": [text]}  # fmt: skip
    usage = {"input_tokens": 98, "output_tokens": 12, "total_tokens": 110,
             "input_tokens_details": {"cached_tokens": 8},
             "output_tokens_details": {"reasoning_tokens": 4}}  # fmt: skip
    return scripted({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "model": "gpt-5", "output": [*calls, message], "usage": usage, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "tools": [],
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "top_p": 1.0,
    })  # fmt: skip


def of_google() -> Act:
    leads = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
    chunks = [{"web": {"uri": f"{leads}{url[8]}", "title": url}} for url in PAGES]
    grounding = {
        "webSearchQueries": ["tin", "lead"], "groundingChunks": chunks,
        "groundingSupports": [{
            "segment": {"startIndex": 0, "endIndex": 9, "text": "Answer: D"},
            "groundingChunkIndices": [0, 1],
        }],
    }  # fmt: skip
    candidate = {
        "content": {"role": "model", "parts": [{"text": "Answer: D"}]}, "index": 0,
        "finishReason": "STOP", "groundingMetadata": grounding,
    }  # fmt: skip
    usage = {"promptTokenCount": 98, "candidatesTokenCount": 8, "thoughtsTokenCount": 4,
             "cachedContentTokenCount": 8, "totalTokenCount": 110}  # fmt: skip
    return scripted({
        "candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-pro",
        "responseId": "r1",
    })  # fmt: skip


SEARCHES = {
    "anthropic": ("inspect/anthropic/claude-sonnet-4-5", "", of_anthropic, SEARCHING),
    "openai": ("inspect/openai/gpt-5", "/v1", of_openai, SEARCHING),
    "google.genai": ("inspect/google/gemini-2.5-pro", "", of_google, SEARCHING),
}


@pytest.mark.parametrize("package", SEARCHES)
async def test_a_providers_search_is_asked_for_counted_and_its_citations_kept(
    package: str,
) -> None:
    pytest.importorskip(package)
    name, path, reply, settings = SEARCHES[package]
    asked, server = await asked_once(name, reply(), path, {"max_tokens": 999, **settings})
    assert asked.response is not None, (asked.record.error, asked.record.detail)
    assert asked.response.text == "Answer: D"
    assert asked.response.searches == 2
    assert asked.response.citations == PAGES
    assert (asked.response.usage.prompt, asked.response.usage.completion) == (98, 12)
    assert asked.response.usage.cached == 8
    sent = server.seen[-1].json
    assert "search" in str(sent["tools"]).lower()
    assert "max_uses" not in str(sent["tools"])
    blocks = package == "anthropic"
    assert ("['b.example', 'bank.example']" in str(sent["tools"])) is blocks
    assert asked.record.settings_dropped == (() if blocks else ("blocked_hosts",))


async def test_a_search_that_pauses_goes_on_and_all_of_it_is_counted() -> None:
    """Anthropic ends a long turn of searches early, and is asked to continue it."""
    pytest.importorskip("anthropic")
    whole = msgspec.json.decode(of_anthropic().body)
    paused = whole | {"stop_reason": "pause_turn", "content": whole["content"][:2],
                      "usage": {"input_tokens": 50, "output_tokens": 5}}  # fmt: skip
    rest = whole | {"content": whole["content"][2:]}
    asked, server = await asked_once(
        "inspect/anthropic/claude-sonnet-4-5", in_turn(scripted(paused), scripted(rest)), "",
        {"max_tokens": 999, **SEARCHING},
    )  # fmt: skip
    assert asked.response is not None
    assert server.requests == 2
    assert (asked.response.text, asked.response.searches) == ("Answer: D", 2)
    assert (asked.response.usage.prompt, asked.response.usage.completion) == (148, 17)
    assert asked.record.cost_usd == pytest.approx((148 * 1.0 + 17 * 2.0) / 1e6)


async def test_a_reasoning_budget_is_sent_or_named_as_not_supported() -> None:
    asked = {"reasoning_effort": "medium", "reasoning_tokens": 16_384}
    model = await mocked()
    assert model.sent_settings(asked) == (asked, ())
    name = "inspect/openai-api/acme/m"
    config = config_of("http://127.0.0.1:1", name, unsupported=("reasoning_tokens",))
    pytest.importorskip("openai")
    known = await open_model(name, config, clock=SystemClock())
    assert known.sent_settings(asked) == ({"reasoning_effort": "medium"}, ("reasoning_tokens",))


async def test_a_long_response_with_a_search_is_streamed_and_read_the_same() -> None:
    """As the published settings have it; Anthropic's package streams long responses."""
    pytest.importorskip("anthropic")
    act = streamed_message(msgspec.json.decode(of_anthropic().body))
    settings = {"max_tokens": 32_768, "reasoning_tokens": 16_384, **SEARCHING}
    asked, server = await asked_once("inspect/anthropic/claude-sonnet-4-5", act, "", settings)
    assert server.seen[-1].json["stream"] is True
    assert asked.response is not None
    assert (asked.response.text, asked.response.searches) == ("Answer: D", 2)
    assert asked.response.citations == PAGES
    assert (asked.response.usage.prompt, asked.response.usage.completion) == (98, 12)


async def test_a_run_names_a_tool_that_its_model_has_and_hosts_of_a_search() -> None:
    config = load_config(environ={})
    mock = await open_model(MOCK, config, clock=SystemClock())
    check_tools(mock, {"tools": "web-search", "blocked_hosts": "bank.example,b.example"})
    check_tools(mock, {})
    for settings, said in [
        ({"tools": "python"}, "expected tools web-search, got 'python'"),
        ({"blocked_hosts": "bank.example"}, "without a search"),
        ({"tools": "web-search", "blocked_hosts": "https://a.b/c,bank.example,x"},
         "https://a.b/c, x: expected hosts"),
    ]:  # fmt: skip
        with pytest.raises(BadUsage, match=said):
            check_tools(mock, settings)
    with pytest.raises(BadUsage, match="has no web search of its provider here") as caught:
        check_tools(
            await open_model("sim/ann", config, clock=SystemClock()), {"tools": "web-search"}
        )
    assert "inspect/anthropic/MODEL" in caught.value.hint


async def test_the_search_of_a_run_joins_the_options_of_the_models_entry() -> None:
    name = "inspect/mockllm/model"
    model = await open_model(name, load_config(environ={}), clock=SystemClock())
    sent, dropped = model.sent_settings({"tools": "web-search", "blocked_hosts": "a.example"})
    assert (sent, dropped) == ({"web_search": True}, ("blocked_hosts",))
    seen: list[Any] = []

    def answers(_input: Any, tools: Any, _choice: Any, _config: Any) -> ModelOutput:
        seen.extend(tools)
        return output()

    model._model.api.outputs = answers  # type: ignore[attr-defined]
    await model.collect(await model.submit(with_settings(tools="web-search")))
    assert [tool.name for tool in seen] == ["web_search"]
    await model.collect(await model.submit(with_settings()))
    assert len(seen) == 1

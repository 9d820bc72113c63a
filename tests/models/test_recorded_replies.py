"""Recorded replies of providers, replayed over a socket: what is read, charged, tried again.

All of them where they lie beside the repository, else the carried ones.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from test_asking import PRICE, Calls, TestClock, request
from test_chat_endpoint import client, endpoint

from proofstone.errors import EndpointUnusable, NotAsked
from proofstone.models.ask import Asker
from proofstone.models.budget import Spending, read_budget
from proofstone.models.client import CompletionsEndpoint
from proofstone.models.concurrency import Limiter
from proofstone.models.config import load_config, resolve
from proofstone.models.embeddings import EmbeddingsEndpoint, UnreadableVectorsError, read_vectors
from proofstone.models.failures import treatment
from proofstone.models.names import parse_model_name
from proofstone.models.retries import Retries, SystemClock
from proofstone.records.models import Price
from proofstone.records.runs import Usage
from recorded import ALL_RESPONSES, RecordedResponse, recorded_responses, responses_by_name
from scripted_server import Act, ScriptedServer, in_turn
from serving import HurriedClock

CHAT = responses_by_name("chat")
EMBEDDINGS = responses_by_name("embeddings")
OTHERS = recorded_responses("anthropic", "google", "batch", "wiki", "wikidata", "search")
# Base64 of signed bytes, and of float64.
NO_FLOAT32 = {"embeddings/perplexity-int8", "embeddings/perplexity-int8-three-texts",
              "embeddings/vllm"}  # fmt: skip


def named(response: RecordedResponse) -> str:
    return response.name


def usage_of(expected: dict[str, Any]) -> Usage:
    """The tokens that a careful reader counts: what the total has beyond prompt and reply is hidden
    reasoning, and the reply's."""
    prompt, completion, reasoning, cached = expected["tokens"]
    total = expected["total_tokens"]
    if total is not None:
        completion = max(completion or 0, total - prompt)
    return Usage(prompt, completion, reasoning, cached)


async def asked(
    response: RecordedResponse, *, price: Price | None = PRICE, most: int = 2
) -> tuple[Any, Asker, int, TestClock]:
    """What a request comes to that is always answered so, the asker, the requests and the waits."""
    clock, calls = TestClock(), Calls()
    is_text = (
        response.request["url"].endswith("/completions") and "chat" not in response.request["url"]
    )
    async with ScriptedServer(response.act()) as server, client(server.url) as chat:
        model = CompletionsEndpoint(endpoint(server.url), clock=SystemClock()) if is_text else chat
        asker = Asker(
            model, Limiter(4), store=calls, clock=clock, rng=Random(1), price=price,
            retries=Retries(most=most),
        )  # fmt: skip
        found = await asker.ask(request(settings={"max_tokens": 5000}), calls.record)
        await asker.close()
    return found, asker, server.requests, clock


@pytest.mark.parametrize("response", CHAT.values(), ids=named)
async def test_a_chat_reply_is_read_as_a_careful_reader_does(response: RecordedResponse) -> None:
    """And charged by the total where that is larger; what cannot be read is not billed again."""
    found, _asker, n_requests, _clock = await asked(response)
    expected = dict(response.expected)
    assert n_requests == 1
    if expected.get("unreadable"):
        assert found.response is None
        assert found.record.error in {"malformed", "bad_request"}
        return
    read = found.response
    assert (read.text, read.finish, read.refusal) == (
        expected["text"], expected["finish"], expected["refusal"],
    )  # fmt: skip
    assert len(read.reasoning) == expected["reasoning_characters"]
    assert read.thinking_unclosed == expected["thinking_unclosed"]
    assert read.usage == usage_of(expected)
    if read.usage.prompt is not None:
        cost = read.usage.prompt * PRICE.input + read.usage.completion * PRICE.output
        assert found.record.cost_usd == pytest.approx(cost / 1e6)
        assert found.record.estimated_tokens is None


@pytest.mark.parametrize("response", recorded_responses("chat_errors"), ids=named)
async def test_an_error_means_its_kind_and_is_asked_again_only_where_it_may_pass(
    response: RecordedResponse,
) -> None:
    found, _asker, n_requests, clock = await asked(response)
    assert found.response is None
    assert found.record.error in response.expected["kind"]
    assert n_requests == (3 if treatment(found.record.error).retried else 1)
    assert found.record.cost_usd == 0.0
    if "retry-after" in response.headers:
        asked_for = float(response.headers["retry-after"])
        assert clock.slept
        assert all(asked_for <= slept for slept in clock.slept)


@pytest.mark.parametrize("response", OTHERS, ids=named)
async def test_a_reply_of_another_interface_is_an_error(response: RecordedResponse) -> None:
    """Not an empty answer; JSON of another interface stops the model with the advice to check the
    address, without another request."""
    found, asker, n_requests, _clock = await asked(response)
    assert found.response is None
    if found.record.error == "not_an_api":
        assert n_requests == 1
        assert asker.stopped is not None
        assert "base_url" in asker.stopped.hint
    else:
        assert found.record.error in {"unreadable", "bad_request", "unknown_model"}


# ---------------------------------------------------------------- what is charged


async def test_hidden_reasoning_is_charged_and_a_budget_holds() -> None:
    """Gemini told 66 + 6 tokens of 100: 28 were thought. 1,000 such replies at 2 and 10 USD a
    million are told as (66 x 2 + 6 x 10) / 1000 = 0.192 USD and cost (66 x 2 + 34 x 10) / 1000."""
    response = CHAT["chat/gemini-openai-address"]
    found, *_ = await asked(response)
    assert found.record.usage == Usage(66, 34)
    assert found.record.cost_usd == pytest.approx((66 * 2 + 34 * 10) / 1e6)

    spending = Spending(read_budget("0.01USD"))
    calls = Calls()
    async with ScriptedServer(response.act()) as server, client(server.url) as model:
        asker = Asker(
            model, Limiter(4), store=calls, clock=TestClock(), rng=Random(1), price=PRICE,
            spending=spending,
        )  # fmt: skip
        with pytest.raises(NotAsked):
            for sample in range(100):
                await asker.ask(request(settings={"max_tokens": 100, "seed": sample}), calls.record)
        await asker.close()
    each = (66 * 2 + 34 * 10) * 10**6  # picodollars
    assert spending.spent == server.requests * each
    assert spending.spent <= spending.budget.amount
    assert spending.budget.amount < spending.spent + each + 10**9 * 5  # the last one did not fit


async def test_reasoning_that_a_provider_counts_beside_the_reply_is_charged() -> None:
    """xAI: 204 of the prompt, 1 of the reply and 82 of reasoning make 287."""
    batch = json.loads(responses_by_name("batch")["batch/xai-results"].raw)
    results = batch["results"][0]["batch_result"]["response"]["chat_get_completion"]
    act = Act(json.dumps(results).encode())
    async with ScriptedServer(act) as server, client(server.url) as model:
        attempt = await model.collect(await model.submit(request()))
    assert attempt.response is not None
    assert (attempt.response.usage.prompt, attempt.response.usage.completion) == (204, 1 + 82)
    assert attempt.response.usage.reasoning == 82


# ---------------------------------------------------------------- what is asked again


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"choices": [{"index": 0, "finish_reason": "stop"}], "usage": {"completion_tokens": 9}},
         "malformed"),
        ({"choices": [{"message": None}]}, "malformed"),
        ({"choices": []}, "unreadable"),
        ({"choices": [{"message": {"content": "x"}, "error": {"code": 502, "message": "no"}}],
          "usage": {"completion_tokens": 9}}, "malformed"),
        ({"choices": [{"message": {"content": ""}, "error": {"code": 502, "message": "no"}}],
          "usage": {"completion_tokens": 0}}, "overloaded"),
    ],
)  # fmt: skip
async def test_a_reply_that_was_billed_is_not_asked_for_again(body: Any, kind: str) -> None:
    response = RecordedResponse("", "", {"url": "/chat/completions"}, 200, {}, body)
    found, _asker, n_requests, _clock = await asked(response)
    assert found.record.error == kind
    assert n_requests == (1 if kind == "malformed" else 3)


async def test_an_error_behind_the_start_of_a_stream_is_not_asked_again() -> None:
    """Before a word was written, it is: nothing was billed."""
    chunk = b'data: {"choices": [{"delta": {"content": "We"}}]}\n\n'
    failed = b'data: {"error": {"message": "busy", "code": 503}}\n\n'
    for body, kind in ((chunk + failed, "malformed"), (b": wait\n\n" + failed, "overloaded")):
        response = RecordedResponse("", "", {"url": "/chat/completions"}, 200, {}, body.decode())
        found, _asker, n_requests, _clock = await asked(response)
        assert (found.record.error, n_requests) == (kind, 1 if kind == "malformed" else 3)


async def test_the_key_is_to_be_checked_only_where_there_is_one() -> None:
    response = responses_by_name("chat_errors")["chat_errors/openai-401-wrong-key"]
    hints = {"KEY": "check the key in KEY", "": "no key is set", "the headers": "in the headers"}
    for key, words in hints.items():
        async with ScriptedServer(response.act()) as server, client(server.url) as model:
            asker = Asker(
                model, Limiter(4), store=Calls(), clock=TestClock(), rng=Random(1),
                hints={"key": key, "entry": "[providers.acme]"},
            )  # fmt: skip
            await asker.ask(request(), Calls().record)
            await asker.close()
        assert asker.stopped is not None
        assert words in asker.stopped.hint
        assert ("check the key" in asker.stopped.hint) == bool(key)


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], ""),
        (['api_key_env = "KEY"'], "KEY"),
        (['headers = { x-api-key = "$KEY" }'], "the headers"),
        (['headers = { http-referer = "https://example.org" }'], ""),
    ],
)
def test_where_a_key_comes_from(tmp_path: Path, lines: list[str], told: str) -> None:
    text = ["[providers.acme]", 'base_url = "http://127.0.0.1:9/v1"', *lines]
    (tmp_path / "proofstone.toml").write_text("\n".join(text), encoding="utf-8")
    config = load_config(tmp_path, environ={"KEY": "s-123456"}, user_folder=tmp_path / "none")
    assert resolve(parse_model_name("acme/m"), config).key_from == told


# ---------------------------------------------------------------- embeddings


def embedding_model(url: str, folder: Path, *lines: str) -> EmbeddingsEndpoint:
    text = ['[models."acme/embed"]', f'base_url = "{url}"', *lines]
    (folder / "proofstone.toml").write_text("\n".join(text), encoding="utf-8")
    config = load_config(folder, environ={}, user_folder=folder / "none")
    known = resolve(parse_model_name("acme/embed"), config)
    return EmbeddingsEndpoint(known, clock=HurriedClock(), rng=Random(0))


async def embedded(folder: Path, act: Any, n_texts: int, *lines: str) -> tuple[Any, ScriptedServer]:
    async with ScriptedServer(act) as server:
        model = embedding_model(server.url, folder, *lines)
        try:
            return await model.embed([f"text {n}" for n in range(n_texts)]), server
        finally:
            await model.close()


@pytest.mark.parametrize("response", EMBEDDINGS.values(), ids=named)
async def test_vectors_are_numbers_or_float32_and_all_else_is_refused(
    response: RecordedResponse, tmp_path: Path
) -> None:
    asked_for = response.request["body"]["input"]
    n_texts = len(asked_for) if isinstance(asked_for, list) else 1
    if response.status != 200:
        with pytest.raises(EndpointUnusable, match="unknown_model"):
            await embedded(tmp_path, response.act(), n_texts)
        return
    if response.name in NO_FLOAT32:
        with pytest.raises(EndpointUnusable, match="is not float32"):
            await embedded(tmp_path, response.act(), n_texts)
        return
    vectors, server = await embedded(tmp_path, response.act(), n_texts)
    rows = json.loads(response.raw)["data"]
    for row, vector in zip(sorted(rows, key=lambda row: row["index"]), vectors, strict=True):
        said = row["embedding"]
        said = np.frombuffer(b64decode(said), "<f4") if isinstance(said, str) else np.array(said)
        np.testing.assert_allclose(vector, said / np.linalg.norm(said), rtol=1e-5, atol=1e-8)
        assert len(vector) == response.request["body"].get("dimensions", len(vector))
    (seen,) = server.seen
    assert seen.json["encoding_format"] == "float"


async def test_an_embedding_of_another_length_than_was_asked_for_is_refused(
    tmp_path: Path,
) -> None:
    response = EMBEDDINGS["embeddings/openai-base64-128"]
    vectors, _server = await embedded(tmp_path, response.act(), 1, "body = { dimensions = 128 }")
    assert vectors.shape == (1, 128)
    with pytest.raises(EndpointUnusable, match="expected 64 numbers per vector, got 128"):
        await embedded(tmp_path, response.act(), 1, "body = { dimensions = 64 }")


async def test_an_endpoint_that_takes_no_format_is_asked_without_it(tmp_path: Path) -> None:
    refused = Act(b'{"error": {"message": "Unknown parameter: \'encoding_format\'."}}', 400)
    response = EMBEDDINGS["embeddings/openai-base64-128"]
    vectors, server = await embedded(tmp_path, in_turn(refused, response.act()), 1)
    assert vectors.shape == (1, 128)
    assert ["encoding_format" in seen.json for seen in server.seen] == [True, False]


@pytest.mark.parametrize("kind", ["int8", "float64"])
def test_other_bytes_than_float32_are_seen(kind: str) -> None:
    """Of vectors of 64 numbers as models make them, none passes for float32; all float32 do."""

    def body(numbers: Any) -> bytes:
        text = b64encode(numbers.tobytes()).decode()
        return json.dumps({"data": [{"index": 0, "embedding": text}]}).encode()

    rng = np.random.default_rng(5)
    for _ in range(300):
        drawn = rng.normal(0, 0.03, 64)
        assert read_vectors(body(drawn.astype("<f4")), 1).vectors.shape == (1, 64)
        other = drawn.astype("<f8") if kind == "float64" else np.round(drawn * 500).astype("i1")
        with pytest.raises(UnreadableVectorsError, match="is not float32"):
            read_vectors(body(other), 1)


# ---------------------------------------------------------------- all of them


@pytest.mark.skipif(not ALL_RESPONSES.exists(), reason="needs ../shared/data/recorded")
def test_all_recordings_are_replayed() -> None:
    """Here 47 + 36 + 14 by their own readers and the rest as foreign JSON; wikis and searches by
    theirs in tests/outside."""
    folders = ("chat", "chat_errors", "embeddings", "anthropic", "google", "batch",
               "wiki", "wikidata", "search")  # fmt: skip
    counts = {folder: len(recorded_responses(folder)) for folder in folders}
    assert counts == {
        "chat": 47, "chat_errors": 36, "embeddings": 14, "anthropic": 8, "google": 9, "batch": 8,
        "wiki": 19, "wikidata": 12, "search": 5,
    }  # fmt: skip
    assert sum(counts.values()) == 158

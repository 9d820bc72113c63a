"""Texts as vectors by an endpoint: batches, order, retries, and what is never believed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import EndpointUnusable
from proofstone.models.config import load_config, resolve
from proofstone.models.embeddings import EmbeddingsEndpoint, UnreadableVectorsError, read_vectors
from proofstone.models.names import parse_model_name
from scripted_server import Act, Script, ScriptedServer, Seen, error, half, html
from serving import HurriedClock

NAME = "scripted/embed"


def vector(text: str) -> list[float]:
    """A vector that tells the texts of these tests apart; of length 5."""
    return [3.0, 4.0] if "mint" in text else [4.0, 3.0]


def answered(texts: Sequence[str], **more: Any) -> Act:
    """As OpenAI and those that follow it answer."""
    rows = [
        {"object": "embedding", "index": place, "embedding": vector(text)}
        for place, text in enumerate(texts)
    ]
    usage = {"prompt_tokens": 2 * len(texts), "total_tokens": 2 * len(texts)}
    body = {"object": "list", "data": rows, "model": "embed-1", "usage": usage, **more}
    return Act(json.dumps(body).encode())


def embedding(seen: Seen) -> Act:
    return answered(seen.json["input"])


def endpoint(url: str, folder: Path, *lines: str) -> EmbeddingsEndpoint:
    text = [f'[models."{NAME}"]', f'base_url = "{url}"', 'api_key_env = "KEY"', *lines]
    (folder / "proofstone.toml").write_text("\n".join(text), encoding="utf-8")
    config = load_config(folder, environ={"KEY": "secret-1234"}, user_folder=folder / "none")
    known = resolve(parse_model_name(NAME), config)
    return EmbeddingsEndpoint(known, clock=HurriedClock(), rng=Random(0))


async def embedded(
    folder: Path, script: Script | Act, texts: Sequence[str], *lines: str
) -> tuple[Any, ScriptedServer, EmbeddingsEndpoint]:
    async with ScriptedServer(script) as server:
        client = endpoint(server.url, folder, *lines)
        try:
            return await client.embed(texts), server, client
        finally:
            await client.close()


async def test_each_text_gets_its_vector_of_length_1(tmp_path: Path) -> None:
    texts = ["mint", "sage", "", "mint"]
    vectors, server, client = await embedded(tmp_path, embedding, texts)
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0.8, 0.6], [0, 0], [0.6, 0.8]])
    (seen,) = server.seen
    assert seen.path == "/v1/embeddings"
    assert seen.json == {"model": "embed", "encoding_format": "float", "input": ["mint", "sage"]}
    assert seen.headers["authorization"] == "Bearer secret-1234"
    assert (client.use.requests, client.use.texts, client.use.tokens) == (1, 2, 2 * 2)
    assert client.use.cost_usd is None


async def test_a_price_gives_the_cost(tmp_path: Path) -> None:
    price = 'price = {input = 0.5, output = 0.0, date = "2026-11-01", source = "told"}'
    _vectors, _server, client = await embedded(tmp_path, embedding, ["mint", "sage"], price)
    assert client.use.cost_usd == pytest.approx(2 * 2 * 0.5 / 1e6)


async def test_many_texts_go_in_batches_and_come_back_in_order(tmp_path: Path) -> None:
    texts = [f"{'mint' if n % 3 else 'sage'} {n}" for n in range(250)]
    vectors, server, client = await embedded(tmp_path, embedding, texts)
    np.testing.assert_allclose(vectors, [np.array(vector(text)) / 5 for text in texts])
    assert server.requests == client.use.requests == -(-250 // 96)


async def test_an_endpoint_that_takes_fewer_texts_gets_fewer(tmp_path: Path) -> None:
    def few(seen: Seen) -> Act:
        if len(seen.json["input"]) > 10:
            return error(400, "input: batch size must not be larger than 10")
        return embedding(seen)

    texts = [f"mint {n}" for n in range(40)]
    vectors, server, _client = await embedded(tmp_path, few, texts)
    assert vectors.shape == (40, 2)
    # 40 and both halves of 20 are refused; four of 10 are taken
    assert server.requests == 1 + 2 + 4


async def test_what_passes_is_tried_again(tmp_path: Path) -> None:
    def busy(seen: Seen) -> Act:
        return error(429, "slow down") if seen.number == 0 else embedding(seen)

    for script in (busy, lambda s: half() if s.number == 0 else embedding(s)):
        _vectors, server, _client = await embedded(tmp_path, script, ["mint"])
        assert server.requests == 2


@pytest.mark.parametrize(
    ("act", "told"),
    [
        (error(401, "Incorrect API key provided: secret-1234"), "bad_key"),
        (
            error(404, {"error": {"code": "model_not_found"}}),
            "unknown_model",
        ),
        (html(), "not_an_api"),
        (answered(["one", "two"]), "expected 1 vectors, got 2"),
        (Act(b'{"error": {"message": "out of credits", "code": 402}}'), "no_credit"),
    ],
)
async def test_a_clear_error_without_the_key(tmp_path: Path, act: Act, told: str) -> None:
    with pytest.raises(EndpointUnusable, match=told) as raised:
        await embedded(tmp_path, act, ["mint"])
    assert "secret-1234" not in str(raised.value)


async def test_batches_of_several_lengths_are_refused(tmp_path: Path) -> None:
    """The model behind the name was changed between two requests."""

    def changed(seen: Seen) -> Act:
        rows = [
            {"index": place, "embedding": [1.0] * (2 + ("mint 0" in seen.json["input"]))}
            for place in range(len(seen.json["input"]))
        ]
        return Act(json.dumps({"data": rows}).encode())

    with pytest.raises(EndpointUnusable, match="expected 3 numbers per vector, got 2"):
        await embedded(tmp_path, changed, [f"mint {n}" for n in range(100)])


async def test_fields_of_the_entry_are_sent(tmp_path: Path) -> None:
    fields = 'body = {dimensions = 2, encoding_format = "base64"}'

    def packed(seen: Seen) -> Act:
        assert (seen.json["dimensions"], seen.json["encoding_format"]) == (2, "base64")
        data = b64encode(np.array([3, 4], dtype="<f4").tobytes()).decode()
        return Act(json.dumps({"data": [{"index": 0, "embedding": data}]}).encode())

    vectors, _server, _client = await embedded(tmp_path, packed, ["mint"], fields)
    np.testing.assert_allclose(vectors, [[0.6, 0.8]])


@given(st.permutations(range(5)), st.booleans())
def test_the_index_says_which_text_a_vector_is_of(order: list[int], base64: bool) -> None:
    def told(place: int) -> Any:
        values = np.array([place, 1.0], dtype="<f4")
        return b64encode(values.tobytes()).decode() if base64 else values.tolist()

    rows = [{"index": place, "embedding": told(place)} for place in order]
    found = read_vectors(json.dumps({"data": rows}).encode(), 5)
    assert found.vectors[:, 0].tolist() == [0, 1, 2, 3, 4]
    assert found.tokens is None


def row(embedding: Any, index: int | None = 0) -> dict[str, Any]:
    return {"embedding": embedding, "index": index}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([row([1.0], 0), row([1.0], 0)], "indexes are missing or duplicated"),
        ([row([1.0], 0), row([1.0], 7)], "indexes are missing or duplicated"),
        ([row([1.0], 0), row([1.0], None)], "indexes are missing or duplicated"),
        ([row([1.0], 0), row([1.0, 2.0], 1)], "one length, got 1, 2 numbers"),
        ([row([], 0), row([], 1)], "one length, got 0 numbers"),
        ([row([1.0, None], 0), row([1.0, 2.0], 1)], "invalid response of an embeddings endpoint"),
        ([row("not base64!", 0), row("AAAA", 1)], "is not base64 of float32"),
        ([row(b64encode(np.array([np.nan], "<f4").tobytes()).decode(), n) for n in (0, 1)],
         "is not float32"),
        ([row([1e400], 0), row([1.0], 1)], "invalid response"),
    ],
)  # fmt: skip
def test_what_is_no_vector_a_text_is_not_believed(rows: list[Any], told: str) -> None:
    with pytest.raises(UnreadableVectorsError, match=told):
        read_vectors(json.dumps({"data": rows}).encode(), 2)


@given(st.binary(max_size=200))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    with pytest.raises(UnreadableVectorsError):
        read_vectors(body, 1)

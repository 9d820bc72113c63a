"""The client against a real socket: what is sent, and what each fault of an endpoint comes to."""

from __future__ import annotations

import asyncio
import json
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from proofstone.models.client import ChatEndpoint
from proofstone.models.config import Endpoint, ModelConfig, resolve
from proofstone.models.entries import Entry
from proofstone.models.names import parse_model_name
from proofstone.models.retries import SystemClock
from proofstone.records.calls import Attempt, Message, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.runs import Usage
from scripted_server import (
    Act,
    Script,
    ScriptedServer,
    answer,
    drop,
    drop_after_headers,
    empty,
    error,
    half,
    hang,
    html,
    huge,
    in_turn,
    malformed,
)

KEY = "planted-key-9f3b27"
QUESTION = (Message("system", "Be brief."), Message("user", 'Which? "Ω"\n(A) (B)'))


def request(**settings: Any) -> ModelRequest:
    prompt = canonical_json(QUESTION)
    return ModelRequest(
        messages=QUESTION, prompt=prompt, prompt_hash=sha256(prompt).digest(), settings=settings
    )


def endpoint(url: str, **fields: Any) -> Endpoint:
    entry = Entry(base_url=url, api_key_env="KEY", timeout_s=60.0)
    config = ModelConfig(providers={"acme": entry}, models={}, environment={"KEY": KEY})
    return resolve(parse_model_name("acme/m-1"), config, Entry(**fields))


@asynccontextmanager
async def client(
    url: str, max_body_bytes: int = 10**7, **fields: Any
) -> AsyncIterator[ChatEndpoint]:
    model = ChatEndpoint(
        endpoint(url, **fields), clock=SystemClock(), max_body_bytes=max_body_bytes
    )
    try:
        yield model
    finally:
        await model.close()


async def ask(model: ChatEndpoint, **settings: Any) -> Attempt:
    return await model.collect(await model.submit(request(**settings)))


async def attempt_at(script: Script | Act, **fields: Any) -> Attempt:
    async with ScriptedServer(script) as server, client(server.url, **fields) as model:
        return await ask(model)


async def test_a_request_holds_messages_settings_and_extra_fields() -> None:
    extra = {"provider": {"only": ["x"]}}
    async with ScriptedServer() as server, client(server.url, body=extra) as model:
        attempt = await ask(model, temperature=0, max_tokens=64, seed=7, samples=3)
    assert attempt.response is not None
    assert attempt.response.text == "Answer: A"
    assert attempt.response.usage == Usage(100, 5)
    assert attempt.latency_s > 0
    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.headers["authorization"] == f"Bearer {KEY}"
    assert seen.headers["content-type"] == "application/json"
    assert seen.json == {
        "model": "m-1",
        "messages": [{"role": m.role, "content": m.content} for m in QUESTION],
        "temperature": 0.0,
        "max_tokens": 64,
        "seed": 7,
        "provider": {"only": ["x"]},
    }


async def test_a_request_without_settings_is_still_json() -> None:
    async with ScriptedServer() as server, client(server.url) as model:
        await ask(model)
    assert set(server.seen[0].json) == {"model", "messages"}


async def test_a_schema_becomes_a_strict_response_format() -> None:
    schema = {"title": "My verdict", "type": "object", "properties": {"a": {"type": "string"}}}
    async with ScriptedServer() as server, client(server.url) as model:
        await ask(model, schema=schema)
    assert server.seen[0].json["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Myverdict", "strict": True, "schema": schema},
    }


async def test_max_tokens_goes_under_the_name_that_the_provider_takes() -> None:
    fields = {"max_tokens_field": "max_completion_tokens"}
    async with ScriptedServer() as server, client(server.url, **fields) as model:
        await ask(model, max_tokens=9)
    assert "max_tokens" not in server.seen[0].json
    assert server.seen[0].json["max_completion_tokens"] == 9


def test_settings_that_are_not_sent_are_named() -> None:
    model = ChatEndpoint(endpoint("http://h/v1", unsupported=("temperature",)), clock=SystemClock())
    sent, dropped = model.sent_settings(
        {"temperature": 0, "top_p": 1, "samples": 5, "api_key": KEY, "seed": None}
    )
    assert sent == {"top_p": 1.0}
    assert dropped == ("api_key", "samples", "temperature")


@pytest.mark.parametrize(
    ("path", "asked"),
    [
        ("", "/v1/chat/completions"),
        ("/", "/v1/chat/completions"),
        ("/chat/completions", "/v1/chat/completions"),
        ("?api-version=2", "/v1/chat/completions?api-version=2"),
    ],
)
async def test_the_address_is_completed(path: str, asked: str) -> None:
    async with ScriptedServer() as server, client(server.url + path) as model:
        await ask(model)
    assert server.seen[0].path == asked


FAULTS: list[tuple[Callable[[], Act], str, int, bytes | None]] = [
    (lambda: error(429, {"error": {"message": "slow"}}), "rate_limited", 429, None),
    (lambda: error(503, b"busy"), "overloaded", 503, b"busy"),
    (lambda: error(400, b'{"error": {"message": "no"}}'), "bad_request", 400, None),
    (malformed, "unreadable", 200, malformed().body),
    (empty, "unreadable", 200, b""),
    (half, "dropped", 200, half().body),
    (html, "not_an_api", 200, html().body),
    (lambda: html(502), "overloaded", 502, html().body),
    (drop, "dropped", 0, b""),
    (drop_after_headers, "dropped", 200, b""),
    (lambda: Act(b"", 302, {"Location": "http://elsewhere/"}), "not_an_api", 302, b""),
    (lambda: Act(answer().body, headers={"Content-Encoding": "gzip"}), "dropped", 200, b""),
]


@pytest.mark.parametrize(("fault", "kind", "status", "raw"), FAULTS)
async def test_a_fault_comes_back_as_its_kind_with_what_had_come(
    fault: Callable[[], Act], kind: str, status: int, raw: bytes | None
) -> None:
    attempt = await attempt_at(fault())
    assert (attempt.response, attempt.error, attempt.status) == (None, kind, status)
    assert attempt.detail
    assert raw is None or attempt.raw == raw


async def test_a_content_filters_refusal_is_a_reply_that_names_its_kind() -> None:
    body = {"error": {"code": "content_filter", "message": "filtered"}}
    attempt = await attempt_at(error(400, body))
    assert attempt.response is not None
    assert (attempt.response.finish, attempt.response.refusal) == ("content_filter", "filtered")
    assert (attempt.error, attempt.status) == ("content_filter", 400)


async def test_an_endpoint_that_never_answers_times_out() -> None:
    attempt = await attempt_at(hang(), timeout_s=0.05)
    assert attempt.error == "timeout"
    assert attempt.latency_s >= 0.05


async def test_a_server_that_is_not_there_is_unreachable() -> None:
    async with ScriptedServer() as server:
        url = server.url
    async with client(url) as model:
        attempt = await ask(model)
    assert (attempt.error, attempt.status) == ("unreachable", 0)


async def test_an_https_address_of_a_plain_server_is_unreachable() -> None:
    async with ScriptedServer() as server, client(server.url.replace("http", "https")) as model:
        attempt = await ask(model)
    assert attempt.error == "unreachable"


@pytest.fixture
def own_certificate(tmp_path: Path) -> ssl.SSLContext:
    """A server's context with a certificate for localhost that nobody vouches for."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("makes its certificate with the openssl command")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def test_a_certificate_that_nobody_vouches_for_is_named(
    own_certificate: ssl.SSLContext,
) -> None:
    async def close(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with await asyncio.start_server(close, "127.0.0.1", 0, ssl=own_certificate) as server:
        port = server.sockets[0].getsockname()[1]
        async with client(f"https://127.0.0.1:{port}/v1") as model:
            attempt = await ask(model)
    assert attempt.error == "bad_certificate"


async def test_a_server_that_speaks_no_http_is_unreadable() -> None:
    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example.com ESMTP\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(greet, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with client(f"http://127.0.0.1:{port}/v1") as model:
            attempt = await ask(model)
    assert attempt.error in ("unreadable", "dropped")
    assert attempt.response is None


async def test_a_body_beyond_the_limit_is_cut_off() -> None:
    attempt = await attempt_at(huge(300_000), max_body_bytes=100_000)
    assert attempt.error == "unreadable"
    assert "limit" in attempt.detail
    assert len(attempt.raw) <= 100_000


async def test_a_long_reply_within_the_limit_is_read_whole() -> None:
    attempt = await attempt_at(huge(2_000_000))
    assert attempt.response is not None
    assert len(attempt.response.text) == 2_000_000


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry_After": "7"}, 7.0),
        ({"Retry_After": "1.5"}, 1.5),
        ({"Retry_After": "-3"}, 0.0),
        ({"Retry_After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry_After": "soon"}, None),
        ({"Retry_After": "inf"}, None),
        ({"Retry_After_Ms": "250", "Retry_After": "1"}, 0.25),
        ({}, None),
    ],
)
async def test_what_the_endpoint_asks_to_wait_is_read(
    headers: dict[str, str], seconds: float | None
) -> None:
    attempt = await attempt_at(error(429, {"error": {"message": "slow"}}, **headers))
    assert attempt.retry_after_s == seconds


async def test_a_key_in_an_error_body_reaches_neither_raw_nor_detail() -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    attempt = await attempt_at(error(401, body))
    assert attempt.error == "bad_key"
    assert KEY not in attempt.detail
    assert KEY.encode() not in attempt.raw
    assert "***" in attempt.detail


async def test_a_key_shows_in_nothing_that_a_client_prints() -> None:
    async with ScriptedServer() as server, client(server.url) as model:
        await ask(model)
        assert KEY not in repr(model) + repr(vars(model)) + json.dumps(vars(model), default=repr)


async def test_connections_are_kept_and_used_again() -> None:
    async with ScriptedServer() as server, client(server.url) as model:
        for _ in range(5):
            await ask(model)
        assert len(server.connections) == 1


async def test_a_client_may_be_closed_twice_and_asked_again() -> None:
    async with ScriptedServer(in_turn(answer("A"), answer("B"))) as server:
        async with client(server.url) as model:
            assert (await ask(model)).response is not None
            await model.close()
            assert (await ask(model)).response is not None
        await model.close()

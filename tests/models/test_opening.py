"""From a name to an asker, over a real socket: the parts together, under every fault."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Container, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any

import pytest

from proofstone.errors import BadUsage, CallFailed, EndpointUnusable, NotFound
from proofstone.models.ask import Asked, Asker
from proofstone.models.check import check_model
from proofstone.models.concurrency import Limiters
from proofstone.models.config import ModelConfig, load_config
from proofstone.models.entries import Entry
from proofstone.models.registry import list_models, open_asker, open_model
from proofstone.models.retries import Retries, SystemClock
from proofstone.records.calls import CallRecord, Message, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.models import Price
from scripted_server import (
    Act,
    Script,
    ScriptedServer,
    Seen,
    answer,
    answering,
    child_server,
    error,
    html,
    in_turn,
    with_faults,
)

KEY = "planted-key-9f3b27"
FAST = Retries(most=8, first_s=0.001, longest_s=0.01)


class NoCalls:
    """A store without a call, and a list of what was recorded."""

    def __init__(self) -> None:
        self.rows: list[CallRecord] = []

    async def record(self, row: CallRecord) -> None:
        self.rows.append(row)

    def find_calls(self, request_hashes: Sequence[bytes]) -> dict[bytes, tuple[int, CallRecord]]:
        return {}

    def image(self, digest: bytes) -> bytes:
        raise KeyError(digest)

    def newest_reported(self, model: str, endpoint: str) -> str:
        return ""

    def known_hashes(self, model: str) -> Container[bytes]:
        return ()


def config_of(url: str, **fields: Any) -> ModelConfig:
    entry = Entry(base_url=url, api_key_env="ACME_KEY", **fields)
    return ModelConfig(providers={"acme": entry}, models={}, environment={"ACME_KEY": KEY})


def request(text: str) -> ModelRequest:
    messages = (Message("user", text),)
    prompt = canonical_json(messages)
    return ModelRequest(messages=messages, prompt=prompt, prompt_hash=sha256(prompt).digest())


class HeldClock(SystemClock):
    """Real time, but who sleeps is held until ``over`` is set; ``slept`` lists for how long."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self.asleep, self.over = asyncio.Event(), asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.asleep.set()
        await self.over.wait()


@asynccontextmanager
async def asking(
    url: str, calls: NoCalls, clock: SystemClock | None = None, **fields: Any
) -> AsyncIterator[Asker]:
    asker = await open_asker(
        "acme/m", config_of(url, **fields), store=calls, clock=clock or SystemClock(),
        rng=Random(1), limiters=Limiters(), retries=FAST,
    )  # fmt: skip
    try:
        yield asker
    finally:
        await asker.close()


async def ask_all(asker: Asker, calls: NoCalls, n: int) -> list[Asked]:
    return await asyncio.gather(*(asker.ask(request(f"{i}"), calls.record) for i in range(n)))


def asked_back(script_share: float) -> Script:
    """Echoes the question, but a share of requests meets a fault."""
    echo = answering(lambda seen: str(seen.json["messages"][0]["content"]))
    return with_faults(echo, script_share, seed=3)


async def test_under_every_passing_fault_each_question_gets_its_own_reply() -> None:
    calls = NoCalls()
    async with ScriptedServer(asked_back(0.3)) as server, asking(server.url, calls) as asker:
        done = await ask_all(asker, calls, 300)
    assert [asked.response.text for asked in done if asked.response] == [f"{i}" for i in range(300)]
    tries = sum(row.attempts for row in calls.rows) + sum(a.record.attempts for a in done)
    assert tries == server.requests > 300
    assert {row.state for row in calls.rows} == {"failed"}
    assert {row.error for row in calls.rows} <= {"unreadable", "dropped"}


async def test_it_never_asks_more_at_once_than_it_may() -> None:
    """Sixteen answers let it ask more at once; behind them nothing is answered before 24 wait."""
    calls, gate = NoCalls(), threading.Event()

    def script(seen: Seen) -> Act:
        if server.in_flight == 24 - 1:  # this one not counted
            gate.set()
        return answer() if seen.number < 16 else answer().once_open(gate)

    async with (
        ScriptedServer(script) as server,
        asking(server.url, calls, max_connections=24) as asker,
    ):
        await ask_all(asker, calls, 200)
        assert server.most_in_flight == 24


async def test_an_endpoint_of_pages_stops_the_model_with_the_address_to_check() -> None:
    calls = NoCalls()
    async with ScriptedServer(html()) as server, asking(server.url, calls) as asker:
        asked = await asker.ask(request("x"), calls.record)
        assert asked.record.error == "not_an_api"
        assert asker.stopped is not None
        assert "[providers.acme]" in asker.stopped.hint
        assert server.url in asker.stopped.hint


async def test_a_refused_key_stops_the_model_names_its_variable_and_shows_no_key() -> None:
    calls = NoCalls()
    body = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    async with ScriptedServer(error(401, body)) as server, asking(server.url, calls) as asker:
        asked = await asker.ask(request("x"), calls.record)
        assert asker.stopped is not None
        assert "ACME_KEY" in asker.stopped.hint
        with pytest.raises(CallFailed) as caught:
            await asker.ask(request("y"), calls.record)
    shown = f"{asker.stopped} {asker.stopped!r} {caught.value} {asked!r} {vars(asker)!r}"
    assert KEY not in shown
    assert server.requests == 1


async def test_retry_after_over_the_wire_delays_one_request_and_no_other() -> None:
    calls = NoCalls()
    told = error(429, {"error": {"message": "slow"}}, Retry_After="20")
    clock = HeldClock()
    async with (
        ScriptedServer(in_turn(told, answer())) as server,
        asking(server.url, calls, clock, max_connections=1) as asker,
    ):
        first = asyncio.create_task(asker.ask(request("first"), calls.record))
        await clock.asleep.wait()
        assert server.requests == 1
        await ask_all(asker, calls, 20)
        assert not first.done()
        clock.over.set()
        assert (await first).record.attempts == 2
    (slept,) = clock.slept
    assert 20.0 <= slept <= 20.0 + 0.5


async def test_a_price_of_the_configuration_prices_the_calls() -> None:
    calls = NoCalls()
    price = Price(input=1.0, output=2.0, date="2025-11-01", source="https://example.com")
    async with ScriptedServer() as server, asking(server.url, calls, price=price) as asker:
        asked = await asker.ask(request("x"), calls.record)
    assert asked.record.cost_usd == pytest.approx((100 * 1.0 + 5 * 2.0) / 1e6)


async def test_two_models_of_one_endpoint_share_its_limiter() -> None:
    limiters, calls = Limiters(), NoCalls()
    config = config_of("http://127.0.0.1:1/v1", max_connections=7)
    askers = [
        await open_asker(
            name, config, store=calls, clock=SystemClock(), rng=Random(1), limiters=limiters
        )
        for name in ("acme/a", "acme/b")
    ]
    assert askers[0]._limiter is askers[1]._limiter
    assert askers[0].max_connections == 7


async def test_a_simulated_respondent_opens_without_a_configuration() -> None:
    config = ModelConfig(providers={}, models={}, environment={})
    model = await open_model("sim/ann?ability=0.9", config, clock=SystemClock())
    assert model.simulated
    asker = await open_asker(
        "sim/ann", config, store=NoCalls(), clock=SystemClock(), rng=Random(1),
        limiters=Limiters(), flags=Entry(max_connections=3),
    )  # fmt: skip
    assert asker.max_connections == 3


async def test_what_cannot_be_opened_says_why() -> None:
    config = config_of("http://h/v1")
    clock = SystemClock()
    with pytest.raises(NotFound, match="unknown provider 'inspect/anthropic'"):
        await open_model("inspect/anthropic/claude", config, clock=clock)
    with pytest.raises(NotFound, match="unknown provider"):
        await open_model("nobody/m", config, clock=clock)
    with pytest.raises(BadUsage, match="no slash"):
        await open_model("gpt-4", config, clock=clock)
    without = ModelConfig(providers=config.providers, models={}, environment={})
    with pytest.raises(EndpointUnusable, match="ACME_KEY"):
        await open_model("acme/m", without, clock=clock)


@pytest.mark.parametrize(
    ("act", "usable", "kind"),
    [
        (answer("ready"), True, ""),
        (error(404, {"error": {"code": "model_not_found"}}), False, "unknown_model"),
        (html(), False, "not_an_api"),
    ],
)
async def test_a_check_is_one_tiny_request(act: Act, usable: bool, kind: str) -> None:
    async with ScriptedServer(act) as server:
        model = await open_model("acme/m", config_of(server.url), clock=SystemClock())
        checked = await check_model(model)
        await model.close()
    assert (checked.name, checked.usable, checked.kind) == ("acme/m", usable, kind)
    assert checked.reported_model == ("scripted-1" if usable else "")
    assert server.requests == 1
    assert server.seen[0].json["max_tokens"] <= 16


def test_the_list_says_of_each_what_keeps_it_from_use(tmp_path: Path) -> None:
    (tmp_path / "proofstone.toml").write_text('[models."openai/x"]\n', encoding="utf-8")
    config = load_config(tmp_path, environ={"GROQ_API_KEY": KEY}, user_folder=tmp_path / "u")
    listed = {found.name: found for found in list_models(config)}
    assert "OPENAI_API_KEY" in listed["openai/x"].problem
    assert listed["groq/..."].problem == ""
    assert listed["groq/..."].key_from == "GROQ_API_KEY"
    assert listed["vllm/..."].endpoint == "http://localhost:8000/v1"
    assert KEY not in repr(listed)


def test_the_engine_imports_no_client_library() -> None:
    code = "import sys, proofstone.models.ask; sys.exit('aiohttp' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def test_a_server_in_a_process_of_its_own_serves_fast_and_slow() -> None:
    for arguments in (["--fast"], ["--response", "Answer: C", "--delay", "0.01"]):
        with child_server(*arguments) as url:
            calls = NoCalls()
            async with asking(url, calls) as asker:
                done = await ask_all(asker, calls, 50)
        responses = {asked.response.text for asked in done if asked.response is not None}
        assert responses == {"Answer: A" if "--fast" in arguments else "Answer: C"}

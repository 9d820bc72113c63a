"""``doctor --online`` tells the steps apart: each fault at its own, with what to do about it."""

from __future__ import annotations

import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from proofstone.models.check import STEPS, Online, look_online, online_names
from proofstone.models.config import ModelConfig
from proofstone.models.egress import EgressGate, EgressPolicy
from proofstone.models.entries import Entry, Tables
from proofstone.models.names import destination_of
from proofstone.models.retries import SystemClock
from scripted_proxy import ScriptedProxy
from scripted_server import Act, ScriptedServer, answer, error, html

KEY = "planted-key-9f3b27"


async def look(
    url: str, name: str = "acme/m-1", gate: EgressGate | None = None, **fields: Any
) -> Online:
    if gate is None:
        gate, to = EgressGate(), destination_of(url)
        assert to is not None
        gate.permit(to)
    environment = {"KEY": KEY} | fields.pop("environment", {})
    entry = Entry(**({"base_url": url, "api_key_env": "KEY", "timeout_s": 60.0} | fields))
    config = ModelConfig(providers={"acme": entry}, models={}, environment=environment, gate=gate)
    return await look_online(name, config, SystemClock())


def failed(online: Online) -> str:
    """The step that failed, after checking that those before are ok and those behind open."""
    assert [step.name for step in online.steps] == list(STEPS)
    states = [step.state for step in online.steps]
    place = states.index("failed")
    assert states == ["ok"] * place + ["failed"] + ["open"] * (len(STEPS) - place - 1)
    assert online.steps[place].remedy
    assert not online.is_well
    return STEPS[place]


async def test_one_that_answers_is_well_at_every_step() -> None:
    async with ScriptedServer() as server:
        online = await look(server.url)
    assert online.is_well
    place = online.endpoint.removeprefix("http://").removesuffix("/v1")
    found = {step.name: step.found for step in online.steps}
    assert found == {
        "settings": "[providers.acme] of proofstone.toml, key from KEY",
        "policy": f"{place} is this machine",
        "proxy": "none",
        "dns": "127.0.0.1",
        "connection": place,
        "certificate": "none, the address is http",
        "address": online.endpoint,
        "key": "KEY",
        "model": "scripted-1",
    }


@pytest.mark.parametrize(
    ("act", "step", "says"),
    [
        (error(401, {"error": {"message": f"Incorrect API key {KEY}"}}), "key", "KEY"),
        (error(402, {"error": {"message": "Insufficient Balance"}}), "key", "credit"),
        (error(404, {"error": {"code": "model_not_found", "message": "no"}}), "model", "spelling"),
        (error(400, {"error": {"code": "unsupported_parameter"}}), "model", "unsupported"),
        (error(503, b"busy"), "model", "later"),
        (html(), "address", "/v1"),
        (error(404, b"404 page not found"), "address", "/v1"),
        (Act(drop="before"), "connection", "later"),
    ],
)
async def test_what_the_endpoint_says_is_told_apart(act: Act, step: str, says: str) -> None:
    async with ScriptedServer(act) as server:
        online = await look(server.url)
    assert failed(online) == step
    told = next(step for step in online.steps if step.state == "failed")
    assert says in told.remedy
    assert KEY not in repr(online)


async def test_a_name_that_no_dns_knows() -> None:
    assert failed(await look("https://no-such-host.invalid/v1")) == "dns"


async def test_a_server_that_does_not_run() -> None:
    async with ScriptedServer() as server:
        url = server.url
    assert failed(await look(url)) == "connection"


async def test_a_certificate_that_is_not_trusted_and_a_ca_file_that_is_not_there(
    tmp_path: Path,
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with ScriptedServer(tls=context) as server:
        untrusted = await look(server.url)
        missing = await look(server.url, ca_file=str(tmp_path / "gone.pem"))
    assert failed(untrusted) == "certificate"
    assert any("name its file as ca_file" in step.remedy for step in untrusted.steps)
    assert failed(missing) == "certificate"
    assert any("gone.pem" in step.found for step in missing.steps)


async def test_a_proxy_that_is_gone_and_one_that_refuses() -> None:
    url = "https://models.test/v1"
    async with ScriptedProxy(status=407) as proxy:
        address = proxy.address
        refused = await look(url, environment={"HTTPS_PROXY": address})
    gone = await look(url, environment={"HTTPS_PROXY": address})
    assert (failed(refused), failed(gone)) == ("proxy", "proxy")
    assert any("user and password" in step.remedy for step in refused.steps)


async def test_a_host_that_the_policy_refuses_is_not_asked() -> None:
    gate = EgressGate([EgressPolicy("p.toml", ("local",))])
    online = await look("https://no-such-host.invalid/v1", gate=gate)
    assert failed(online) == "policy"


@pytest.mark.parametrize(
    ("fields", "step"),
    [
        ({"api_key_env": "NOT_SET"}, "key"),
        ({"base_url": "ftp://x"}, "settings"),
        ({"proxy": "$NOT_SET"}, "proxy"),
    ],
)
async def test_settings_that_resolve_to_nothing(fields: dict[str, Any], step: str) -> None:
    online = await look("http://127.0.0.1:9/v1", **fields)
    (wrong,) = [step for step in online.steps if step.state == "failed"]
    assert wrong.name == step
    assert wrong.remedy or step == "settings"
    assert {step.state for step in online.steps if step is not wrong} == {"open"}


async def test_a_provider_is_asked_for_a_model_that_nobody_has() -> None:
    """That it does not know it proves address and key, and costs nothing."""
    unknown = error(404, {"error": {"code": "model_not_found", "message": "no such model"}})
    async with ScriptedServer(unknown) as server:
        online = await look(server.url, "acme/...")
        assert server.seen[0].json["model"] == "proofstone-doctor"
    assert online.is_well
    assert online.steps[-1].found == "no model was given: ask one with -m PROVIDER/NAME"
    async with ScriptedServer(error(401, b"{}")) as server:
        assert failed(await look(server.url, "acme/...")) == "key"


async def test_a_model_that_runs_here_has_nothing_to_reach() -> None:
    online = await look("http://127.0.0.1:9/v1", "sim/ann")
    assert (online.is_well, [step.name for step in online.steps]) == (True, ["settings"])


def test_what_is_looked_at_by_default() -> None:
    """Configured models, providers of one's own files, and known ones whose key is set."""
    known = {"openai": Entry(base_url="https://a/v1", api_key_env="A"),
             "groq": Entry(base_url="https://b/v1", api_key_env="B")}  # fmt: skip
    own = {"corp": Entry(base_url="https://c/v1"), "lab": Entry(base_url="https://d/v1")}
    models = {"lab/one": Entry(), "sim/ann": Entry()}
    config = ModelConfig(
        providers=known | own, models=models, environment={"A": KEY},
        layers=(Tables("built in", known), Tables("mine", own, models)),
    )  # fmt: skip
    assert online_names(config) == ["lab/one", "corp/...", "openai/..."]


async def test_the_reply_is_not_needed_to_be_ready() -> None:
    async with ScriptedServer(answer("")) as server:
        assert (await look(server.url)).is_well

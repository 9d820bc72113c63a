"""Which models an endpoint lists, and a roll call that goes past whatever is wrong with one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from proofstone.models.check import Checked, Listing, call_roll, list_is_telling, read_listing
from proofstone.models.config import ModelConfig, load_config
from proofstone.models.retries import SystemClock
from scripted_server import Act, ScriptedServer, Seen, answer, error, html, models_list

KEY = "sk-a-key-of-the-tests"
GONE = {"error": {"message": "The model does not exist", "code": "model_not_found"}}


def config_of(folder: Path, url: str, more: str = "") -> ModelConfig:
    text = f'[providers.acme]\nbase_url = "{url}"\napi_key_env = "ACME_KEY"\n{more}'
    (folder / "proofstone.toml").write_text(text, encoding="utf-8")
    return load_config(folder, environ={"ACME_KEY": KEY}, user_folder=folder / "user")


async def roll(
    config: ModelConfig, *names: str, once_run: tuple[str, ...] = ()
) -> dict[str, Checked]:
    checks = await call_roll(names, config, SystemClock(), once_run=frozenset(once_run))
    assert [check.name for check in checks] == list(names)
    return {check.name: check for check in checks}


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ({"object": "list", "data": [{"id": "a"}, {"id": "b", "owned_by": "x"}]}, {"a", "b"}),
        ([{"id": "a"}, {"id": "b"}], {"a", "b"}),
        ({"models": [{"name": "models/a"}, {"name": "b:latest"}]}, {"models/a", "b:latest"}),
        ({"data": ["a", "b"]}, {"a", "b"}),
        ({"data": []}, set()),
    ],
    ids=["OpenAI", "Together", "Google and Ollama", "names alone", "none"],
)
def test_lists_of_all_shapes_are_read(body: object, ids: set[str]) -> None:
    listing = read_listing(json.dumps(body).encode())
    assert (listing.ids, listing.problem) == (ids, "")


@pytest.mark.parametrize("body", [b"<html>", b"3", b'{"data": 3}', b"{}", b'{"data": [{"x": 1}]}'])
def test_a_body_that_is_no_list_says_nothing_of_any_model(body: bytes) -> None:
    listing = read_listing(body)
    assert listing.problem
    assert listing.state_of("a") == "no list"


def test_a_listed_name_may_be_written_otherwise() -> None:
    listing = Listing(ids=frozenset({"models/gemini-x", "qwen3:latest", "Org/Big-Model"}))
    for name in ("gemini-x", "models/gemini-x", "qwen3", "qwen3:latest", "org/big-model"):
        assert listing.state_of(name) == "listed", name
    assert listing.state_of("big-model") == "not listed"
    assert listing.near("Org/Bigmodel") == ("Org/Big-Model",)


@pytest.mark.parametrize(
    ("address", "telling"),
    [
        ("https://me.openai.azure.com/openai/deployments/x", False),
        ("https://me.openai.azure.com/openai/v1", False),
        ("https://me.cognitiveservices.azure.com/openai", False),
        ("https://api.openai.com/v1", True),
        ("https://openai.azure.com.evil.example/v1", True),
    ],
)
def test_azures_list_says_nothing_of_deployments(address: str, telling: bool) -> None:
    assert list_is_telling(address) is telling


async def test_an_endpoint_is_asked_once_for_its_list_and_by_every_model(tmp_path: Path) -> None:
    """Three models of one endpoint: one list, three questions."""
    lists: list[Seen] = []

    def listing(seen: Seen) -> Act:
        lists.append(seen)
        return models_list("one", "two")

    async with ScriptedServer(answer("ready")) as server:
        server.listing = listing
        checks = await roll(config_of(tmp_path, server.url), "acme/one", "acme/two", "acme/alias")
    assert {name: check.listed for name, check in checks.items()} == {
        "acme/one": "listed",
        "acme/two": "listed",
        "acme/alias": "not listed",
    }
    assert all(check.usable for check in checks.values())
    assert not any(check.is_unavailable for check in checks.values())
    assert [(seen.path, seen.headers["authorization"]) for seen in lists] == [
        ("/v1/models", f"Bearer {KEY}")
    ]
    assert server.requests == 3


async def test_a_list_in_pages_is_read_to_its_end(tmp_path: Path) -> None:
    def listing(seen: Seen) -> Act:
        last = "after_id=m1" in seen.path
        page = {"data": [{"id": "m2" if last else "m1"}], "has_more": not last, "last_id": "m1"}
        return Act(json.dumps(page).encode())

    async with ScriptedServer(answer("ready")) as server:
        server.listing = listing
        checks = await roll(config_of(tmp_path, server.url), "acme/m2")
    assert checks["acme/m2"].listed == "listed"


async def test_a_list_that_never_ends_is_left(tmp_path: Path) -> None:
    endless = {"data": [{"id": "m1"}], "has_more": True, "last_id": "m1"}
    async with ScriptedServer(answer("ready")) as server:
        server.listing = lambda _seen: Act(json.dumps(endless).encode())
        checks = await roll(config_of(tmp_path, server.url), "acme/m1")
    assert checks["acme/m1"].listed == "listed"


@pytest.mark.parametrize("act", [html(404), error(404, {}), error(401, {}), html(200)])
async def test_without_a_list_the_question_decides(act: Act, tmp_path: Path) -> None:
    async with ScriptedServer(answer("ready")) as server:
        server.listing = lambda _seen: act
        checks = await roll(config_of(tmp_path, server.url), "acme/m")
    assert (checks["acme/m"].usable, checks["acme/m"].listed) == (True, "no list")


async def test_what_is_wrong_with_one_keeps_no_other_from_being_asked(tmp_path: Path) -> None:
    """A missing key, an unknown provider, a dead address, a missing file, and one that answers."""
    more = '[providers.dead]\nbase_url = "http://127.0.0.1:9/v1"\n'
    names = ("openai/x", "nobody/x", "dead/x", "local/absent.gguf", "acme/fine", "sim/ann")
    async with ScriptedServer(answer("ready")) as server:
        checks = await roll(config_of(tmp_path, server.url, more), *names)
    assert {name: check.kind for name, check in checks.items()} == {
        "openai/x": "cannot_be_opened",
        "nobody/x": "cannot_be_opened",
        "dead/x": "unreachable",
        "local/absent.gguf": "cannot_be_opened",
        "acme/fine": "",
        "sim/ann": "",
    }
    assert "OPENAI_API_KEY" in checks["openai/x"].advice
    assert "base_url" in checks["dead/x"].advice


async def test_a_model_that_was_run_and_is_gone_is_retired(tmp_path: Path) -> None:
    """One never run is rather misspelled: the names near it are told."""
    async with ScriptedServer(error(404, GONE)) as server:
        server.listing = lambda _seen: models_list("large-2", "small-1")
        config = config_of(tmp_path, server.url)
        checks = await roll(config, "acme/large-1", "acme/lrge-2", once_run=("acme/large-1",))
    gone, typo = checks["acme/large-1"], checks["acme/lrge-2"]
    assert (gone.is_unavailable, gone.listed, gone.kind) == (True, "not listed", "unknown_model")
    assert (typo.is_unavailable, typo.near) == (False, ("large-2",))
    assert typo.advice == "did you mean one of these: large-2?"


async def test_a_busy_endpoint_retires_nothing_that_it_lists(tmp_path: Path) -> None:
    async with ScriptedServer(error(503, {"error": {"message": "overloaded"}})) as server:
        server.listing = lambda _seen: models_list("large-1")
        checks = await roll(
            config_of(tmp_path, server.url), "acme/large-1", once_run=("acme/large-1",)
        )
    check = checks["acme/large-1"]
    assert (check.usable, check.is_unavailable, check.listed) == (False, False, "listed")


async def test_no_key_shows_in_what_a_check_says(tmp_path: Path) -> None:
    async with ScriptedServer(error(401, {"error": {"message": f"bad key {KEY}"}})) as server:
        server.listing = lambda _seen: error(401, {"error": {"message": f"bad key {KEY}"}})
        checks = await roll(config_of(tmp_path, server.url), "acme/m")
    assert KEY not in repr(checks)
    assert "ACME_KEY" in checks["acme/m"].advice

"""Configuration: which file, variable or flag wins, and every mistake named with its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from proofstone.errors import BadInput, EndpointUnusable, NotFound
from proofstone.models.config import Endpoint, ModelConfig, effective_entry, load_config, resolve
from proofstone.models.credentials import Scrubber
from proofstone.models.entries import Entry
from proofstone.models.names import parse_model_name
from proofstone.records.models import Price

KEY = "planted-key-9f3b27"


def load(folder: Path, **environ: str) -> ModelConfig:
    return load_config(folder, environ=environ, user_folder=folder / "user")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def endpoint(config: ModelConfig, name: str, flags: Entry | None = None) -> Endpoint:
    return resolve(parse_model_name(name), config, flags)


def header(found: Endpoint, name: str) -> str:
    return dict(found.headers)[name].reveal()


def test_a_known_provider_needs_only_its_key(tmp_path: Path) -> None:
    found = endpoint(load(tmp_path, OPENAI_API_KEY=KEY), "openai/gpt-4.1")
    assert found.identity == "https://api.openai.com/v1"
    assert found.reported_as == "gpt-4.1"
    assert header(found, "Authorization") == f"Bearer {KEY}"
    assert found.max_tokens_field == "max_completion_tokens"


def test_a_missing_key_says_which_variable_to_set(tmp_path: Path) -> None:
    with pytest.raises(EndpointUnusable, match="OPENAI_API_KEY") as caught:
        endpoint(load(tmp_path), "openai/gpt-4.1")
    assert "export OPENAI_API_KEY=" in caught.value.hint
    with pytest.raises(EndpointUnusable, match="OPENAI_API_KEY"):
        endpoint(load(tmp_path, OPENAI_API_KEY="  "), "openai/gpt-4.1")


def test_a_key_with_characters_that_no_header_carries_is_refused_unseen(tmp_path: Path) -> None:
    with pytest.raises(EndpointUnusable, match="characters that are invalid in a key") as caught:
        endpoint(load(tmp_path, OPENAI_API_KEY=f"“{KEY}”"), "openai/gpt-4.1")
    assert KEY not in str(caught.value)


def test_a_server_of_ones_own_needs_no_key(tmp_path: Path) -> None:
    found = endpoint(load(tmp_path), "vllm/Qwen/Qwen3-8B")
    assert (found.identity, found.headers) == ("http://localhost:8000/v1", ())


def test_every_built_in_provider_resolves(tmp_path: Path) -> None:
    config = load(tmp_path)
    for name, entry in config.providers.items():
        variable = entry.api_key_env if isinstance(entry.api_key_env, str) else "UNUSED"
        found = endpoint(load(tmp_path, **{variable: KEY}), f"{name}/m")
        assert found.identity.startswith(("https://", "http://localhost"))
    assert {"openai", "openrouter", "deepseek", "dashscope", "vllm", "ollama"} <= set(
        config.providers
    )


def test_an_env_file_is_found_upwards_and_the_environment_wins(tmp_path: Path) -> None:
    write(tmp_path / ".env", f"OPENAI_API_KEY={KEY}\nGROQ_API_KEY='from file'\n")
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    before = dict(os.environ)
    config = load(folder, GROQ_API_KEY="from-environment")
    assert header(endpoint(config, "openai/x"), "Authorization") == f"Bearer {KEY}"
    assert header(endpoint(config, "groq/x"), "Authorization") == "Bearer from-environment"
    assert dict(os.environ) == before


def test_the_nearest_env_file_is_the_only_one(tmp_path: Path) -> None:
    write(tmp_path / ".env", f"OPENAI_API_KEY={KEY}\n")
    write(tmp_path / "a" / ".env", "OTHER=1\n")
    with pytest.raises(EndpointUnusable):
        endpoint(load(tmp_path / "a"), "openai/x")


def test_later_wins_provider_user_workspace_model_flags(tmp_path: Path) -> None:
    write(
        tmp_path / "user" / "proofstone.toml",
        '[providers.acme]\nbase_url = "https://user/v1"\ntimeout_s = 1\nmax_connections = 1\n'
        'headers = { X-A = "user", X-B = "user" }\n[models."acme/m"]\nbody = { a = 1, b = 1 }\n',
    )
    write(
        tmp_path / "proofstone.toml",
        '[providers.acme]\nbase_url = "https://workspace/v1"\nheaders = { X-B = "workspace" }\n'
        '[models."acme/m"]\ntimeout_s = 2\nmodel = "real-name"\nbody = { b = 2 }\n',
    )
    found = endpoint(load(tmp_path), "acme/m", Entry(max_connections=3, body={"c": 3}))
    assert found.identity == "https://workspace/v1"
    assert found.timeout_s == 2
    assert found.max_connections == 3
    assert found.reported_as == "real-name"
    assert (header(found, "X-A"), header(found, "X-B")) == ("user", "workspace")
    assert found.body == {"a": 1, "b": 2, "c": 3}
    assert endpoint(load(tmp_path), "acme/other").reported_as == "other"


def test_a_model_may_bring_its_own_address_without_a_provider(tmp_path: Path) -> None:
    write(tmp_path / "proofstone.toml", '[models."mine/m"]\nbase_url = "http://localhost:9/v1"\n')
    assert endpoint(load(tmp_path), "mine/m").identity == "http://localhost:9/v1"


def test_a_price_is_read_with_its_date_and_source(tmp_path: Path) -> None:
    write(
        tmp_path / "proofstone.toml",
        '[models."openai/x"]\nprice = { input = 1.5, output = 6, date = "2025-11-01",'
        ' source = "https://example.com/prices" }\n',
    )
    price = endpoint(load(tmp_path, OPENAI_API_KEY=KEY), "openai/x").price
    assert price == Price(
        input=1.5, output=6.0, date="2025-11-01", source="https://example.com/prices"
    )


def test_every_mistake_of_all_files_is_named_with_its_place(tmp_path: Path) -> None:
    write(tmp_path / "user" / "proofstone.toml", '[providers.a]\nbase_ulr = "x"\n')
    write(
        tmp_path / "proofstone.toml",
        "[provider.b]\n[providers.c]\ntimeout_s = -1\nmax_connections = 'many'\n"
        '[models.plain]\nmodel = "x"\n[models."a/b"]\nbody = { api_key = "1", messages = [] }\n'
        "[models.'a/c']\nprice = { input = -1, output = inf, date = '', source = '' }\n"
        "[models.'a/d']\nprice = { input = 1 }\n",
    )
    with pytest.raises(BadInput) as caught:
        load(tmp_path)
    said = "\n".join(str(problem) for problem in caught.value.problems)
    for part in (
        "user", "[providers.a]: unknown key 'base_ulr'; did you mean 'base_url'?",
        "unknown key 'provider'; did you mean 'providers'?",
        "[providers.c]: timeout_s: must be above 0, got -1",
        "[providers.c]: max_connections: Expected `int", '[models.plain]: expected a model name',
        "body.api_key: not allowed in a configuration file", "body.messages: not allowed",
        "price.input: expected a finite number of 0 or more, got -1",
        "price.output: expected a finite",
        '[models."a/d"]: price: output is missing',
    ):  # fmt: skip
        assert part in said, part


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[providers", "not TOML"),
        ("providers = 3", "must be a table of tables"),
        ("providers.a = 3", "expected a table, got int"),
        ("[egres]", "unknown key 'egres'; did you mean 'egress'?"),
    ],
)
def test_a_file_of_another_shape_is_refused(tmp_path: Path, text: str, says: str) -> None:
    write(tmp_path / "proofstone.toml", text)
    with pytest.raises(BadInput) as caught:
        load(tmp_path)
    assert says in str(caught.value)


def test_tables_of_other_parts_are_left_to_them(tmp_path: Path) -> None:
    write(tmp_path / "proofstone.toml", "[budget]\nx = 1\n")
    config = load_config(
        tmp_path, environ={}, user_folder=tmp_path / "u", other_tables=frozenset({"budget"})
    )
    assert config.files == (str(tmp_path / "proofstone.toml"),)


def test_a_file_that_is_not_utf8_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "proofstone.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadInput, match="cannot be used") as caught:
        load(tmp_path)
    assert "proofstone.toml" in caught.value.problems[0].where


def test_an_env_file_that_is_not_utf8_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"KEY=\xff\n")
    with pytest.raises(BadInput, match=r"\.env cannot be read"):
        load(tmp_path)


def test_a_byte_order_mark_is_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "proofstone.toml").write_bytes(b"\xef\xbb\xbf[providers.a]\nbase_url='http://h'\n")
    assert endpoint(load(tmp_path), "a/b").identity == "http://h"


def test_an_unknown_provider_lists_the_known_and_says_how_to_add_one(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="openrouter") as caught:
        endpoint(load(tmp_path), "acme/m")
    assert "[providers.acme]" in caught.value.hint


@pytest.mark.parametrize(
    "address", ["", "ftp://h/v1", "api.openai.com/v1", "http://", "http://h:x"]
)
def test_an_address_that_is_none_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadInput, match="expected an endpoint address with http:// or https://"):
        endpoint(load(tmp_path), "vllm/m", Entry(base_url=address))


def test_an_identity_has_neither_credentials_nor_query(tmp_path: Path) -> None:
    url = f"https://bob:{KEY}@host:8443/v1/?api-key={KEY}&version=2"
    found = endpoint(load(tmp_path), "vllm/m", Entry(base_url=url))
    assert found.identity == "https://host:8443/v1"
    assert found.base_url.reveal() == f"https://host:8443/v1?api-key={KEY}&version=2"
    assert header(found, "Authorization").startswith("Basic ")
    assert {secret.reveal() for secret in found.secrets} == {KEY, f"bob:{KEY}"}


def test_a_header_may_take_its_value_from_the_environment(tmp_path: Path) -> None:
    flags = Entry(headers={"api-key": "$AZURE_KEY", "X-Title": "Proofstone", "X-Token": "abcdefgh"})
    found = endpoint(load(tmp_path, AZURE_KEY=KEY), "vllm/m", flags)
    assert header(found, "api-key") == KEY
    assert {secret.reveal() for secret in found.secrets} == {KEY, "abcdefgh"}
    with pytest.raises(EndpointUnusable, match="AZURE_KEY"):
        endpoint(load(tmp_path), "vllm/m", flags)


def test_literal_header_values_and_parameters_are_secrets(tmp_path: Path) -> None:
    """Whatever their names: what looks like a key is masked everywhere, words and versions are not,
    or responses would lose them."""
    flags = Entry(
        base_url="https://gate.example/v1?sid=pl4nted-sid&api-version=2024-10-01-preview&x=1",
        headers={"X-Team": "evaluation", "X-Tenant": "pl4nted-tenant", "Accept": "text/html5-old"},
    )
    found = endpoint(load(tmp_path), "vllm/m", flags)
    assert {secret.reveal() for secret in found.secrets} == {"pl4nted-sid", "pl4nted-tenant"}
    said = "evaluation by pl4nted-tenant (pl4nted-sid) with 2024-10-01-preview"
    assert Scrubber(found.secrets).raw(said.encode()) == (
        b"evaluation by *** (***) with 2024-10-01-preview"
    )
    shown = {each.name: each.value for each in effective_entry(parse_model_name("vllm/m"),
             load(tmp_path), [("flags", flags)])}  # fmt: skip
    assert (shown["headers.X-Team"], shown["headers.X-Tenant"]) == ("***", "***")
    assert shown["headers.Accept"] == "text/html5-old"
    assert "pl4nted" not in str(shown)


@pytest.mark.parametrize("headers", [{"X Y": "a"}, {"X": "a\nb"}, {"X": "ü"}])
def test_a_header_that_cannot_be_sent_is_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    with pytest.raises(BadInput, match="cannot be sent"):
        endpoint(load(tmp_path), "vllm/m", Entry(headers=headers))


def test_a_header_given_overrides_the_keys_own_whatever_its_case(tmp_path: Path) -> None:
    flags = Entry(headers={"authorization": "Token abc"})
    found = endpoint(load(tmp_path, OPENAI_API_KEY=KEY), "openai/m", flags)
    assert [(name, value.reveal()) for name, value in found.headers] == [
        ("authorization", "Token abc")
    ]


def test_no_key_shows_in_what_configuration_and_endpoint_print(tmp_path: Path) -> None:
    config = load(tmp_path, OPENAI_API_KEY=KEY)
    assert KEY not in repr(config)
    assert KEY not in repr(endpoint(config, "openai/m"))


def test_the_real_environment_is_the_default(tmp_path: Path) -> None:
    assert load_config(tmp_path, user_folder=tmp_path).environment.items() >= os.environ.items()

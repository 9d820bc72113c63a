"""``doctor --config``: each setting in force, what said it, and never a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from told import Proofstone

SECRETS = ("sk-key-of-acme", "gate-secret-1", "hunter2secret", "topsecretquery", "literal-secret",
           "proxy-password")  # fmt: skip
CONFIG = """\
[workspace]
allow_shared_folder = true

[providers.acme]
base_url = "https://user:hunter2secret@llm.example/v1?key=topsecretquery"
api_key_env = "ACME_KEY"
headers = { X-Team = "eval", X-Gate = "$GATE_KEY", Authorization = "literal-secret" }
unsupported = ["seed"]

[models."acme/o3"]
timeout_s = 30
body = { enable_thinking = true }
price = { input = 1, output = 4, date = "2025-01-01", source = "https://acme.example" }

[models."acme/o3".card]
lab = "Ours"
"""
PLAN = """\
target = "old-books"
samples = 2

[prompt_method.direct]
max_tokens = 64

[models."acme/o3"]
temperature = 0
max_connections = 3
"""


@pytest.fixture
def configured(made: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace whose settings come from everywhere."""
    (made / "proofstone.toml").write_text(CONFIG, encoding="utf-8")
    (made / ".env").write_text("GATE_KEY=gate-secret-1\n", encoding="utf-8")
    (made / "run.toml").write_text(PLAN, encoding="utf-8")
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "http_proxy", "HTTP_PROXY", "NO_PROXY",
                 "no_proxy", "https_proxy", "ALL_PROXY", "all_proxy"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ACME_KEY", "sk-key-of-acme")
    monkeypatch.setenv("HTTPS_PROXY", "http://me:proxy-password@proxy:3128")
    return made


def settings(told: object) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (section["heading"], each["name"]): (each["value"], each["origin"])
        for section in told.json  # type: ignore[attr-defined]
        for each in section["settings"]
    }


def test_each_setting_stands_with_what_said_it(configured: Path, proofstone: Proofstone) -> None:
    """Flag, run file, proofstone.toml with its line, .env, environment, carried and plain defaults:
    compared whole."""
    said = proofstone(
        "doctor", "--config", "-w", configured, "--",
        configured / "run.toml", "--max-tokens", "99", "--set", "top_p=0.5",
    )  # fmt: skip
    assert said.code == 0
    assert said.out.replace(str(configured), "HERE") == WHOLE


WHOLE = """\
workspace
  folder                    HERE  flag --workspace
  database                  SQLite, in .proofstone        default

[workspace]
  allow_shared_folder       True                          proofstone.toml line 2

environment
  HTTPS_PROXY               http://***@proxy:3128         environment

run
  targets                   old-books                     run.toml line 1

asking acme/o3 direct
  shots                     0                             default
  samples                   2                             run.toml line 2
  replicate                 ""                            default
  prompt_template           the method's                  default
  max_tokens                99                            flag --max-tokens
  temperature               0.0 (not sent)                run.toml line 8
  top_p                     0.5 (not sent)                flag --set top_p

model acme/o3
  base_url                  https://llm.example/v1        proofstone.toml line 5
  api_key_env               ACME_KEY = ***                environment, named by proofstone.toml \
line 6
  headers.X-Team            ***                           proofstone.toml line 7
  headers.X-Gate            ***                           .env (GATE_KEY), named by \
proofstone.toml line 7
  headers.Authorization     ***                           proofstone.toml line 7
  max_connections           3                             run.toml line 9
  timeout_s                 30.0                          proofstone.toml line 11
  body.enable_thinking      True                          proofstone.toml line 12
  unsupported               frequency_penalty, logprobs, presence_penalty, seed, temperature, \
top_logprobs, top_p  card.refuses, proofstone.toml line 8
  max_tokens_field          max_completion_tokens         card.max_tokens_field
  card.lab                  Ours                          proofstone.toml line 16
  card.family               o3                            bundled card
  card.kind                 reasoning                     bundled card
  card.openness             closed                        bundled card
  card.released             2025-04-16                    bundled card
  card.refuses              temperature top_p presence_penalty frequency_penalty logprobs \
top_logprobs  bundled card
  card.max_tokens_field     max_completion_tokens         bundled card
  card.source               https://platform.openai.com/docs/guides/reasoning  bundled card
  price                     input 1.0, output 4.0, currency USD, date 2025-01-01, source \
https://acme.example  proofstone.toml line 13
"""


def test_flags_over_the_run_file_and_a_key_that_is_not_set(
    configured: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ACME_KEY")
    found = settings(
        proofstone(
            "doctor", "--config", "--json", "-w", configured, "--", configured / "run.toml",
            "--max-connections", "7", "--samples", "5", "--prompt-method", "cot",
        )
    )  # fmt: skip
    assert found["model acme/o3", "max_connections"] == ("7", "flag --max-connections")
    assert found["asking acme/o3 cot", "samples"] == ("5", "flag --samples")
    assert found["asking acme/o3 cot", "max_tokens"] == ("4096", "method's default")
    value, origin = found["model acme/o3", "api_key_env"]
    assert value == "ACME_KEY is not set"
    assert origin.startswith("named by ")
    assert origin.endswith("proofstone.toml line 6")


def test_without_a_run_every_configured_model_is_shown(
    configured: Path, proofstone: Proofstone
) -> None:
    found = settings(proofstone("doctor", "--config", "--json", "-w", configured))
    assert {heading for heading, _name in found if heading.startswith("model ")} == {
        "model acme/o3"
    }
    named = settings(
        proofstone("doctor", "--config", "--json", "-w", configured, "--", "-m", "openai/gpt-4o")
    )
    assert named["model openai/gpt-4o", "base_url"] == (
        "https://api.openai.com/v1",
        "bundled default",
    )


def test_thinking_stands_with_its_words_and_the_fields_that_tell_it(
    configured: Path, proofstone: Proofstone
) -> None:
    """The run's words with the line of the run file, the model's fields as JSON."""
    switch = '[models."acme/o3".thinking]\non = { think = true }\noff = { think = false }\n'
    (configured / "proofstone.toml").write_text(CONFIG + switch, encoding="utf-8")
    (configured / "run.toml").write_text('thinking = ["on", "off"]\n' + PLAN, encoding="utf-8")
    told = proofstone(
        "doctor", "--config", "-w", configured, "--json", "--", configured / "run.toml"
    )
    found = settings(told)
    assert found["run", "thinking"] == ("on, off", f"{configured / 'run.toml'} line 1")
    value, origin = found["model acme/o3", "thinking"]
    assert value == '{"on":{"think":true},"off":{"think":false}}'
    assert origin.startswith(f"{configured / 'proofstone.toml'} line ")


def test_no_key_is_ever_shown(configured: Path, proofstone: Proofstone) -> None:
    for more in ([], ["--json"]):
        said = proofstone(
            "doctor", "--config", *more, "-w", configured, "--", configured / "run.toml"
        )
        for secret in SECRETS:
            assert secret not in said.out + said.err


def test_a_run_that_cannot_be_is_refused(configured: Path, proofstone: Proofstone) -> None:
    assert proofstone("doctor", "--config", "-w", configured, "--", "--tempature", "1").code == 2
    assert proofstone("doctor", "-w", configured, "--", "run.toml").code == 2
    said = proofstone("doctor", "--config", "-w", configured, "--", "no-such-form", "-m", "sim/a")
    assert said.code == 2
    (configured / "proofstone.toml").write_text("[provider.x]\n", encoding="utf-8")
    said = proofstone("doctor", "--config", "-w", configured)
    assert "unknown key 'provider'; did you mean 'providers'?" in said.err

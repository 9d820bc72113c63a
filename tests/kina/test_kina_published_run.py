"""The published run settings, as they reach endpoints, and AVG@4 with its standard deviation."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kina_rows import combination, write_rows

from proofstone.api import Workspace, create_workspace
from proofstone.errors import NotFound
from scripted_acts import streamed_message
from scripted_server import Act, Seen, completion
from serving import HurriedClock, configure, serving

QUESTIONS, SAMPLES = 5, 4


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    path = write_rows(tmp_path / "asked.jsonl", [combination(n) for n in range(QUESTIONS)])
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.import_bank(path, method="kina")
        yield opened


def number_of(request: Seen) -> int:
    """Which question is asked, by the temperature in its stem."""
    kelvin = int(request.body.decode().partition("melted at ")[2].split()[0])
    return (kelvin - 600) // 17


def published(workspace: Workspace, model: str) -> None:
    workspace.run("asked", models=model, preset="as-published")


def test_the_published_settings_reach_a_chat_endpoint(workspace: Workspace) -> None:
    """No temperature is sent, each question is asked four times, and asked for steps."""
    seen: list[Seen] = []

    def response(request: Seen) -> Act:
        seen.append(request)
        return Act(json.dumps(completion("It follows. Answer: G")).encode())

    with serving(response) as server:
        configure(workspace.folder, server.url)
        published(workspace, "scripted/one")
    assert Counter(map(number_of, seen)) == dict.fromkeys(range(QUESTIONS), SAMPLES)
    for request in seen:
        sent = request.json
        assert sent["reasoning_effort"] == "medium"
        assert sent["max_tokens"] == 32_768
        assert not {"temperature", "top_p", "reasoning_tokens"} & sent.keys()
        assert "step by step" in sent["messages"][-1]["content"]


def test_avg_at_4_has_the_standard_deviation_over_samples(workspace: Workspace) -> None:
    """Computed again from the scores of each sample."""
    asked: Counter[int] = Counter()

    def response(request: Seen) -> Act:
        number = number_of(request)
        asked[number] += 1
        letter = "G" if asked[number] <= number else "A"
        return Act(json.dumps(completion(f"Answer: {letter}")).encode())

    with serving(response) as server:
        configure(workspace.folder, server.url)
        published(workspace, "scripted/one")
    table = workspace.score_table("asked")
    by_sample = [table.value[table.sample == sample].mean() for sample in range(SAMPLES)]
    (row,) = workspace.leaderboard("asked").standings[0].rows
    assert row.average is not None
    assert row.average.k == SAMPLES
    assert row.average.mean == pytest.approx(np.mean([0, 0.25, 0.5, 0.75, 1]))
    assert row.average.mean == pytest.approx(np.mean(by_sample))
    assert row.average.sd == pytest.approx(np.std(by_sample, ddof=1))
    assert "avg@4" in str(workspace.leaderboard("asked"))


def of_anthropic(_request: Seen) -> Act:
    return streamed_message({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [{"type": "thinking", "thinking": "2 and 4 hold.", "signature": "s"},
                    {"type": "text", "text": "Answer: G"}],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 90, "output_tokens": 12,
                  "output_tokens_details": {"thinking_tokens": 4}},
    })  # fmt: skip


def of_openai(_request: Seen) -> Act:
    text = {"type": "output_text", "text": "Answer: G", "annotations": [], "logprobs": []}
    message = {"type": "message", "id": "msg_1", "status": "completed", "role": "assistant",
               "content": [text]}  # fmt: skip
    usage = {"input_tokens": 90, "output_tokens": 12, "total_tokens": 102,
             "input_tokens_details": {"cached_tokens": 0},
             "output_tokens_details": {"reasoning_tokens": 4}}  # fmt: skip
    return Act(json.dumps({
        "id": "resp_1", "object": "response", "created_at": 1, "status": "completed",
        "model": "gpt-5", "output": [message], "usage": usage, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "tools": [],
        "parallel_tool_calls": True, "temperature": 1.0, "tool_choice": "auto", "top_p": 1.0,
    }).encode())  # fmt: skip


def of_google(_request: Seen) -> Act:
    return Act(json.dumps({
        "candidates": [{"content": {"role": "model", "parts": [{"text": "Answer: G"}]},
                        "index": 0, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 90, "candidatesTokenCount": 8,
                          "thoughtsTokenCount": 4, "totalTokenCount": 102},
        "modelVersion": "gemini-2.5-pro", "responseId": "r1",
    }).encode())  # fmt: skip


BY_PROVIDER = {
    "anthropic": ("anthropic", "claude-sonnet-4-5", "", of_anthropic),
    "openai": ("openai", "gpt-5", "/v1", of_openai),
    "google": ("google.genai", "gemini-2.5-pro", "", of_google),
}


def longest_and_budget(provider: str, sent: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Tokens of a response, reasoning (tokens or effort) and temperature of a request."""
    if provider == "anthropic":
        return sent["max_tokens"], sent["thinking"]["budget_tokens"], sent.get("temperature")
    if provider == "openai":
        return sent["max_output_tokens"], sent["reasoning"]["effort"], sent.get("temperature")
    config = sent["generationConfig"]
    thinking = config["thinkingConfig"]["thinking_budget"]
    return config["maxOutputTokens"], thinking, config.get("temperature")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("provider", BY_PROVIDER)
def test_a_budget_is_sent_where_the_endpoint_takes_a_number(
    workspace: Workspace, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    package, model, path, script = BY_PROVIDER[provider]
    pytest.importorskip("inspect_ai")
    pytest.importorskip(package)
    monkeypatch.setenv("ACME_KEY", "k-0123456789")
    with serving(script) as server:
        url = server.url.removesuffix("/v1") + path
        entry = f'[providers."inspect/{provider}"]\nbase_url = "{url}"\napi_key_env = "ACME_KEY"\n'
        (workspace.folder / "proofstone.toml").write_text(entry, encoding="utf-8")
        published(workspace, f"inspect/{provider}/{model}")
        seen = list(server.seen)
    assert len(seen) == QUESTIONS * SAMPLES
    reasoning = "medium" if provider == "openai" else 16_384
    assert {longest_and_budget(provider, each.json) for each in seen} == {(32_768, reasoning, None)}
    (row,) = workspace.leaderboard("asked").standings[0].rows
    assert row.average is not None
    assert (row.average.mean, row.average.sd) == (1.0, 0.0)


def test_a_preset_is_applied_or_refused_and_what_is_given_goes_before_it(
    workspace: Workspace,
) -> None:
    (run,) = workspace.run("asked", models="sim/ann", preset="as-published", samples=2,
                           prompt_method="direct", max_tokens=99)  # fmt: skip
    asked = run.planned.run
    assert asked.prompt_method == "direct"
    assert (asked.settings["samples"], asked.settings["max_tokens"]) == (2, 99)
    assert asked.settings["reasoning_effort"] == "medium"
    with pytest.raises(NotFound, match="fast"):
        workspace.run("asked", models="sim/ann", preset="fast")

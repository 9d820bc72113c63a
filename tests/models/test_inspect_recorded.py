"""Recorded replies of Anthropic and Google through Inspect's providers: what is read and charged.

All of them where they lie beside the repository, else the carried ones.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from proofstone.records.runs import Usage
from recorded import recorded_responses, responses_by_name
from scripted_server import Act

pytest.importorskip("inspect_ai")

from test_inspect_bridge import SEARCHING, asked_once

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MODELS = {
    "anthropic": ("anthropic", "inspect/anthropic/claude-sonnet-4-5"),
    "google": ("google.genai", "inspect/google/gemini-2.5-pro"),
}

# How a careful reader reads each: beginning of the text, finish, whether there is a thought to be
# read, and the tokens of prompt, completion, reasoning and cache.
READ: dict[str, tuple[str, str, bool, Usage]] = {
    "anthropic/cached": ("Hello!", "stop", False, Usage(1220, 5, None, 1217)),
    "anthropic/empty-content": ("", "stop", False, Usage(633, 9, None, 0)),
    "anthropic/max-tokens": ("THE BEST-SELLING BOOK", "length", False, Usage(32, 15)),
    "anthropic/stop-sequence": (
        "The beautiful city of ", "stop", False, Usage(32, 5, None, 0)
    ),
    "anthropic/text": ("Why can't a bicycle", "stop", False, Usage(19, 22)),
    "anthropic/thinking": ("May 2014", "stop", False, Usage(11151, 88, 44, 11131)),
    "anthropic/thinking-redacted": ("I notice that", "stop", False, Usage(92, 196, None, 0)),
    "google/logprobs": ("Hello", "stop", False, Usage(6, 18, 17)),
    "google/max-tokens": ("The capital of France is", "length", False, Usage(15, 5, 0)),
    "google/max-tokens-all-thought": ("", "length", False, Usage(15, 2, 2)),
    "google/model-armor-prompt": ("", "content_filter", False, Usage(0, 0, 0)),
    "google/model-armor-reply": ("", "content_filter", False, Usage(19, 33, 27)),
    "google/safety": ("", "content_filter", False, Usage(14, 0, 0)),
    "google/text": ("4", "stop", False, Usage(14, 1, 0)),
    "google/thought": ('{"operation":"addition"', "stop", True, Usage(321, 159, 131)),
}  # fmt: skip

# Not replies to what is asked here: lines of a batch, and finish reasons as numbers.
OTHERWISE = {"anthropic/batch-results", "google/finish-as-number"}


@pytest.mark.parametrize("name", READ)
async def test_a_recorded_reply_is_read_as_a_careful_reader_does(name: str) -> None:
    package, model = MODELS[name.partition("/")[0]]
    pytest.importorskip(package)
    known = responses_by_name("anthropic", "google")
    if name not in known:
        pytest.skip("not among the carried replies")
    asked, server = await asked_once(model, known[name].act(), "", {"max_tokens": 999})
    begins, finish, has_thought, usage = READ[name]
    response = asked.response
    assert response is not None
    assert server.requests == 1
    assert response.text.startswith(begins)
    assert bool(response.text) is bool(begins)
    assert (response.finish, bool(response.reasoning)) == (finish, has_thought)
    assert response.usage == usage
    cost = (usage.prompt or 0) * 1.0 + (usage.completion or 0) * 2.0
    assert asked.record.cost_usd == pytest.approx(cost / 1e6)
    assert (response.searches, response.citations) == (0, ())
    if name == "google/model-armor-prompt":
        assert "Prompt Injection" in response.refusal


def test_every_recorded_reply_is_read_above() -> None:
    names = {response.name for response in recorded_responses("anthropic", "google")}
    assert names - READ.keys() - OTHERWISE == set()


async def test_a_recorded_search_is_counted_and_its_results_are_not_citations() -> None:
    """A conversation of Anthropic's holds the search that it ran, and what it found."""
    pytest.importorskip("anthropic")
    recorded = responses_by_name("anthropic")["anthropic/thinking"]
    searched = recorded.request["body"]["messages"][1]["content"]
    found = [each["url"] for each in searched[1]["content"]]
    cited: list[dict[str, Any]] = [
        {"type": "web_search_result_location", "url": url, "title": "T", "cited_text": "1.0.0",
         "encrypted_index": "i"}
        for url in found[:2]
    ]  # fmt: skip
    body = json.loads(recorded.raw) | {"content": [*searched]}
    for citations in ([], cited):
        body["content"][-1] = searched[-1] | {"citations": citations}
        asked, server = await asked_once(
            "inspect/anthropic/claude-sonnet-4-5", Act(json.dumps(body).encode()), "",
            {"max_tokens": 999, **SEARCHING},
        )  # fmt: skip
        assert asked.response is not None
        assert asked.response.text.endswith("**2014-05-21**")
        assert asked.response.searches == 1
        assert asked.response.citations == tuple(each["url"] for each in citations)
        tools = server.seen[-1].json["tools"]
        assert {tool["name"] for tool in tools} >= {"web_search"}
        assert all(tool["blocked_domains"] == ["b.example", "bank.example"] for tool in tools)

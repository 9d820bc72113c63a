"""What an endpoint's error means. The bodies are as the providers send them, shortened."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.models.failures import KINDS, FailureKind, classify, treatment

OPENAI_QUOTA = {
    "error": {
        "message": "You exceeded your current quota, please check your plan and billing details.",
        "type": "insufficient_quota",
        "param": None,
        "code": "insufficient_quota",
    }
}
GOOGLE_QUOTA = [
    {
        "error": {
            "code": 429,
            "message": "You exceeded your current quota, please check your plan and billing.",
            "status": "RESOURCE_EXHAUSTED",
        }
    }
]


def openai(message: str, code: Any = None, kind: str = "invalid_request_error") -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


CASES: list[tuple[str, int, Any]] = [
    # credit, behind whichever status
    ("no_credit", 429, OPENAI_QUOTA),
    ("no_credit", 402, openai("Insufficient Balance", "invalid_request_error", "unknown_error")),
    ("no_credit", 402, {"error": {"message": "Insufficient credits.", "code": 402}}),
    ("no_credit", 400, {"code": "Arrearage", "message": "Access denied, account is overdue."}),
    ("no_credit", 402, b""),
    # limits, among them one in the words of an empty account
    ("rate_limited", 429, GOOGLE_QUOTA),
    ("rate_limited", 429, openai("Rate limit reached for gpt-4o", "rate_limit_exceeded", "tokens")),
    ("rate_limited", 429, {"type": "error", "error": {"type": "rate_limit_error"}}),
    ("rate_limited", 429, b"slow down"),
    ("rate_limited", 429, b"<html><title>429</title>"),
    ("rate_limited", 200, {"error": {"message": "Provider returned error", "code": 429}}),
    # busy or broken servers
    ("overloaded", 503, openai("The engine is currently overloaded", None, "server_error")),
    ("overloaded", 529, {"type": "error", "error": {"type": "overloaded_error", "message": "O"}}),
    ("overloaded", 503, b""),
    ("server_error", 500, openai("The server had an error", None, "server_error")),
    ("server_error", 500, b"Internal Server Error"),
    ("server_error", 520, b""),
    ("overloaded", 502, b"<html><head><title>502 Bad Gateway</title></head></html>"),
    ("timeout", 504, b"<html><head><title>504 Gateway Time-out</title></head></html>"),
    ("timeout", 408, b""),
    ("server_error", 409, b""),
    # keys
    ("bad_key", 401, openai("Incorrect API key provided: sk-1***.", "invalid_api_key")),
    ("bad_key", 400, [{"error": {"code": 400, "message": "API key not valid. Please pass ..."}}]),
    ("bad_key", 401, {"error": {"message": "No auth credentials found", "code": 401}}),
    ("bad_key", 403, openai("Country not supported", "unsupported_country_region_territory")),
    ("bad_key", 401, b""),
    # models
    ("unknown_model", 404, openai("The model `gpt-9` does not exist", "model_not_found")),
    ("unknown_model", 404, {"object": "error", "message": "The model `x` does not exist."}),
    ("unknown_model", 400, openai("Model Not Exist", "invalid_request_error")),
    ("unknown_model", 404, {"error": {"code": "DeploymentNotFound", "message": "..."}}),
    ("unknown_model", 404, {"error": 'model "llama9" not found, try pulling it first'}),
    ("unknown_model", 400, {"error": {"message": "foo/bar is not a valid model ID", "code": 400}}),
    # parameters
    (
        "unsupported_parameter",
        400,
        openai("Unsupported parameter: 'max_tokens' is not supported", "unsupported_parameter"),
    ),
    (
        "unsupported_parameter",
        400,
        openai("'temperature' does not support 0 with this model.", "unsupported_value"),
    ),
    ("unsupported_parameter", 422, {"detail": [{"msg": "Extra inputs are not permitted"}]}),
    # prompts
    (
        "too_long",
        400,
        openai("This model's maximum context length is 8192 tokens", "context_length_exceeded"),
    ),
    ("too_long", 400, {"object": "error", "message": "maximum context length is 4096 tokens."}),
    ("too_long", 400, {"type": "error", "error": {"message": "prompt is too long: 210000"}}),
    ("too_long", 400, openai("Range of input length should be [1, 30720]", "invalid_parameter")),
    ("too_long", 500, openai("the request exceeds the available context size", None)),
    ("too_long", 413, b""),
    # content filters
    (
        "content_filter",
        400,
        {
            "error": {
                "message": "The response was filtered",
                "code": "content_filter",
                "status": 400,
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
    ),
    ("content_filter", 400, openai("Content Exists Risk", "invalid_request_error")),
    ("content_filter", 400, openai("may contain inappropriate content", "data_inspection_failed")),
    ("content_filter", 403, {"error": {"message": "flagged by moderation", "code": 403}}),
    # what is not the API
    ("not_an_api", 200, b"<!DOCTYPE html><html><head><title>Login</title></head></html>"),
    ("not_an_api", 404, b"\n <HTML><title>Not Found</title></HTML>"),
    ("not_an_api", 404, {"detail": "Not Found"}),
    ("not_an_api", 404, b"404 page not found"),
    ("not_an_api", 404, openai("Invalid URL (POST /v2/chat/completions)")),
    ("not_an_api", 405, {"detail": "Method Not Allowed"}),
    ("not_an_api", 301, b""),
    # all else
    ("bad_request", 400, openai("Invalid value for 'messages'")),
    ("bad_request", 422, {"detail": [{"loc": ["body"], "msg": "field required"}]}),
    ("bad_request", 418, b"teapot"),
    ("unreadable", 200, b""),
    ("unreadable", 200, b'{"choices": ['),
    ("unreadable", 200, {"choices": []}),
    (
        "bad_request",
        400,
        {"error": {"message": "Provider error", "metadata": {"raw": "bad value"}, "code": 400}},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "status", "body"), CASES)
def test_a_body_means_its_kind(kind: str, status: int, body: Any) -> None:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    assert classify(status, raw).kind == kind


def test_a_routers_error_quotes_the_provider_behind_it() -> None:
    error = {"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad seed"}}
    assert classify(400, json.dumps({"error": error}).encode()).detail == (
        "Provider returned error: bad seed"
    )


def test_an_error_inside_a_choice_is_found() -> None:
    body = {"choices": [{"error": {"code": 503, "message": "Upstream gone"}}]}
    assert classify(200, json.dumps(body).encode()) == ("overloaded", "Upstream gone")


def test_a_page_is_named_with_its_title() -> None:
    page = b"<html><head><title>Sign in \n now</title></head></html>"
    assert classify(200, page).detail == "an HTML page, HTTP 200: Sign in now"


def test_a_mute_body_is_named_by_its_status() -> None:
    assert classify(500, b"").detail == "HTTP 500"


def test_a_broken_server_that_echoes_a_prompt_is_no_content_filter() -> None:
    """A 500 quotes the question, which is about moderation; it is still a server's error."""
    raw = json.dumps(openai("failed on: was the post flagged by moderation?")).encode()
    assert classify(500, raw).kind == "server_error"


def test_every_kind_has_a_treatment_and_its_advice_can_be_filled_in() -> None:
    assert set(KINDS) == set(get_args(FailureKind))
    names = {"model": "m", "endpoint": "e", "key": "k", "entry": "t"}
    assert all(known.advice.format(**names) for known in KINDS.values())


def test_no_kind_both_stops_the_model_and_is_retried() -> None:
    assert not [kind for kind, known in KINDS.items() if known.retried and known.stops]


def test_an_unknown_kind_is_final_for_its_call_alone() -> None:
    assert treatment("never_heard_of") == (False, False, "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["error", "message", "code", "type", "detail", "choices", "metadata"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(st.sampled_from([200, 301, 400, 404, 429, 500, 599]), json_values)
def test_any_json_is_classified(status: int, value: Any) -> None:
    assert classify(status, json.dumps(value).encode()).kind in KINDS


@given(st.integers(200, 599), st.binary(max_size=60))
def test_any_bytes_are_classified(status: int, raw: bytes) -> None:
    assert classify(status, raw).kind in KINDS

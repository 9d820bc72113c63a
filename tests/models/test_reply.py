"""Reading replies: every field, thinking in all its forms, and what is no reply says why."""

from __future__ import annotations

import contextlib
import json
from math import log
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.models.responses import UnreadableResponseError, read_response, salvage_usage
from proofstone.records.runs import Finish, Response, Usage
from scripted_server import completion


def read(body: Any) -> Response:
    return read_response(
        "openai-chat", body if isinstance(body, bytes) else json.dumps(body).encode()
    )


def test_a_plain_completion_is_read_whole() -> None:
    response = read(completion("Answer: B", prompt_tokens=12, completion_tokens=3))
    assert response == Response(
        text="Answer: B",
        finish="stop",
        usage=Usage(12, 3),
        model="scripted-1",
        fingerprint="fp_scripted",
    )


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("stop", "stop"), ("eos", "stop"), ("STOP", "stop"), ("length", "length"),
        ("MAX_TOKENS", "length"), ("content_filter", "content_filter"),
        ("content_filter: PROHIBITED_CONTENT", "content_filter"), ("tool_calls", "tool_calls"),
        ("sensitive", "content_filter"), ("abort", "other"), (None, ""), ("", ""), (7, ""),
    ],
)  # fmt: skip
def test_finish_reasons_map_to_a_closed_set(reason: Any, finish: Finish) -> None:
    assert read(completion("x", finish=reason)).finish == finish


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_fields_stay_apart_from_the_text(field: str) -> None:
    response = read(completion("Answer: A", **{field: "Let me see."}))
    assert (response.text, response.reasoning) == ("Answer: A", "Let me see.")


@pytest.mark.parametrize(
    ("content", "text", "reasoning", "unclosed"),
    [
        ("<think>hm</think>Answer: A", "Answer: A", "hm", False),
        ("\n <think>\nhm\n</think>\n\nAnswer: A", "Answer: A", "hm", False),
        ("<think>a</think><think>b</think>C", "C", "a\nb", False),
        ("<think></think>C", "C", "", False),
        ("<think>Answer: A", "", "Answer: A", True),
        ("<think>a</think><think>Answer: A", "", "a\nAnswer: A", True),
        ("hm, so\n</think>\n\nAnswer: A", "Answer: A", "hm, so", False),
        ("[THINK]hm[/THINK]Answer: A", "Answer: A", "hm", False),
        ("<thinking>hm</thinking>A", "A", "hm", False),
        ("The tag <think> opens and </think> closes.",) * 2 + ("", False),
        ("<b>A</b>", "<b>A</b>", "", False),
        ("", "", "", False),
        ("<think>", "", "", True),
    ],
)
def test_thinking_is_split_from_the_text(
    content: str, text: str, reasoning: str, unclosed: bool
) -> None:
    response = read(completion(content))
    assert (response.text, response.reasoning, response.thinking_unclosed) == (
        text,
        reasoning,
        unclosed,
    )


def test_thinking_beside_a_reasoning_field_is_added_to_it() -> None:
    response = read(completion("<think>two</think>A", reasoning_content="one"))
    assert (response.text, response.reasoning) == ("A", "one\ntwo")


@given(st.text(), st.text())
def test_a_closed_block_leaves_exactly_what_follows_it(inside: str, after: str) -> None:
    inside = inside.replace("<", "")
    after = after.replace("<", "").replace("[", "").replace("◁", "")
    response = read(completion(f"<think>{inside}</think>{after}"))
    assert response.text == after.lstrip()
    assert not response.thinking_unclosed


def test_content_in_parts_is_joined_and_its_thinking_kept_apart() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "Answer: "},
        {"type": "text", "text": "A"},
    ]
    response = read(completion(parts))  # type: ignore[arg-type]
    assert (response.text, response.reasoning) == ("Answer: A", "hm")


def test_no_content_is_an_empty_text_with_its_finish() -> None:
    response = read(completion(None, finish="length", reasoning="still thinking"))
    assert (response.text, response.finish, response.reasoning) == ("", "length", "still thinking")


def test_a_refusal_field_is_kept() -> None:
    assert read(completion(None, refusal="I cannot help.")).refusal == "I cannot help."


def test_usage_details_are_read_from_both_spellings() -> None:
    body = completion("x")
    body["usage"] |= {
        "completion_tokens_details": {"reasoning_tokens": 4},
        "prompt_tokens_details": {"cached_tokens": 7},
    }
    assert read(body).usage == Usage(100, 5, 4, 7)
    body["usage"] = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 3}
    assert read(body).usage == Usage(9, 2, None, 3)


@pytest.mark.parametrize("usage", [None, {}, [], {"prompt_tokens": "5", "completion_tokens": -1}])
def test_unusable_usage_counts_are_none(usage: Any) -> None:
    body = completion("x")
    body["usage"] = usage
    assert read(body).usage == Usage()


def test_the_mean_log_probability_leaves_out_what_is_not_finite() -> None:
    body = completion("x")
    tokens = [{"token": "a", "logprob": log(0.5)}, {"token": "b", "logprob": log(0.25)}]
    body["choices"][0]["logprobs"] = {"content": tokens}
    assert read(body).mean_logprob == pytest.approx((log(0.5) + log(0.25)) / 2)
    tokens.append({"token": "c", "logprob": float("-inf")})
    assert read(body).mean_logprob == pytest.approx((log(0.5) + log(0.25)) / 2)
    body["choices"][0]["logprobs"] = {"token_logprobs": [None, -1.0, -3.0]}
    assert read(body).mean_logprob == (-1.0 - 3.0) / 2
    body["choices"][0]["logprobs"] = {"content": []}
    assert read(body).mean_logprob is None


def test_broken_surrogates_and_bytes_are_replaced_not_lost() -> None:
    raw = json.dumps(completion("SLOT")).encode()
    assert read(raw.replace(b"SLOT", b"A \\ud83d")).text == "A \ufffd"
    assert read(raw.replace(b"SLOT", b"A \xff")).text == "A \ufffd"
    assert read(b"\xef\xbb\xbf" + raw).text == "SLOT"


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "empty"),
        (b"  \n", "empty"),
        (b"<html>", "not JSON"),
        (b'{"choices": [', "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "expected a JSON object, got list"),
        (b"3", "expected a JSON object, got int"),
        (b"{}", "no choices"),
        (b'{"choices": []}', "no choices"),
        (b'{"choices": [{}]}', "no message"),
        (b'{"choices": [{"message": "hi"}]}', "no message"),
        (b'{"choices": [{"message": {"content": 3}}]}', "expected text as content, got int"),
        (b'{"error": {"message": "it broke", "code": 502}}', "it broke"),
        (b'{"choices": [{"message": {"content": "x"}, "finish_reason": "error"}]}', "aborted"),
    ],
)
def test_what_is_no_reply_says_why(body: bytes, says: str) -> None:
    with pytest.raises(UnreadableResponseError, match=says):
        read(body)


def test_an_unknown_wire_format_is_unreadable() -> None:
    with pytest.raises(UnreadableResponseError, match="'carrier-pigeon'"):
        read_response("carrier-pigeon", b"{}")


def test_a_content_filter_in_an_error_body_reads_as_a_refusal_by_the_endpoint() -> None:
    response = read({"error": {"code": "content_filter", "message": "The response was filtered."}})
    assert (response.text, response.finish) == ("", "content_filter")
    assert response.refusal == "The response was filtered."


@given(st.binary(max_size=300))
def test_any_bytes_are_a_reply_or_unreadable(raw: bytes) -> None:
    with contextlib.suppress(UnreadableResponseError):
        read(raw)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = ["choices", "usage", "model", "system_fingerprint", "error", "message"]
CHOICE_FIELDS = ["message", "finish_reason", "logprobs", "error"]


@given(st.sampled_from(FIELDS), json_values, st.sampled_from(CHOICE_FIELDS), json_values)
def test_any_value_in_any_field_is_a_reply_or_unreadable(
    field: str, value: Any, choice_field: str, choice_value: Any
) -> None:
    body = completion("x")
    body["choices"][0][choice_field] = choice_value
    for broken in (body, {**body, field: value}, {field: value}):
        with contextlib.suppress(UnreadableResponseError):
            read(broken)


def test_usage_is_salvaged_from_a_body_that_cannot_be_read() -> None:
    whole = json.dumps(completion("x", prompt_tokens=11, completion_tokens=4)).encode()
    assert salvage_usage(whole[:-1]) == Usage(11, 4)
    assert salvage_usage(whole[:40]) == Usage()
    assert salvage_usage(b"") == Usage()


def test_a_models_own_words_are_not_taken_for_usage() -> None:
    said = json.dumps({"content": '"prompt_tokens": 99'}).encode()
    assert salvage_usage(said) == Usage()

"""What a scripted server does about a request: answers, delays, errors, broken bodies."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

__all__ = [
    "Act",
    "Script",
    "Seen",
    "answer",
    "answering",
    "completion",
    "drop",
    "drop_after_headers",
    "echoing",
    "empty",
    "error",
    "half",
    "hang",
    "html",
    "huge",
    "in_turn",
    "listing_prompt",
    "malformed",
    "models_list",
    "next_tokens",
    "streamed_message",
    "text_answer",
    "with_faults",
    "words_of",
]

_PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Hello</body></html>"


@dataclass(frozen=True)
class Seen:
    """A request as it came; ``number`` counts from 0."""

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The decoded body."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Act:
    """What the server does about one request. ``promise`` is a Content-Length that is not kept:
    the connection closes behind ``body``. ``drop`` closes it before the headers, or behind them."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"
    delay_s: float = 0.0
    promise: int | None = None
    drop: Literal["", "before", "after_headers", "never_answer"] = ""
    gate: threading.Event | None = None

    def later(self, seconds: float) -> Act:
        """The same, so many seconds later."""
        return replace(self, delay_s=seconds)

    def once_open(self, gate: threading.Event) -> Act:
        """The same, once ``gate`` is set, by whichever thread."""
        return replace(self, gate=gate)


Script = Callable[[Seen], Act]


def completion(
    text: str | None = "Answer: A",
    *,
    finish: str = "stop",
    model: str = "scripted-1",
    prompt_tokens: int = 100,
    completion_tokens: int = 5,
    **message: Any,
) -> dict[str, Any]:
    """The body of a chat completion; further fields go into its message."""
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 1763683200,
        "model": model,
        "system_fingerprint": "fp_scripted",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "logprobs": None,
                "finish_reason": finish,
            }
        ],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def answer(text: str | None = "Answer: A", **fields: Any) -> Act:
    """A chat completion; the fields are those of ``completion``."""
    return Act(json.dumps(completion(text, **fields)).encode())


def text_answer(text: str = " A", *, finish: str = "stop", model: str = "scripted-1") -> Act:
    """A text completion with the log-probabilities of two tokens."""
    logprobs = {"tokens": [" ", "A"], "token_logprobs": [-0.25, -0.75], "text_offset": [0, 1]}
    choice = {"index": 0, "text": text, "logprobs": logprobs, "finish_reason": finish}
    usage = {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102}
    body = {"object": "text_completion", "model": model, "choices": [choice], "usage": usage}
    return Act(json.dumps(body).encode())


def words_of(text: str) -> list[str]:
    """``text`` in tokens: words, each with the white space before it."""
    return re.findall(r"\s*\S+|\s+$", text)


def echoing(logprob: Callable[[str, str], float]) -> Script:
    """Echoes prompts with the log-probability of each token (a function of the prompt so far, and
    the token), and generates one token more."""

    def act(seen: Seen) -> Act:
        prompt = seen.json["prompt"]
        if not (seen.json.get("echo") and seen.json.get("logprobs")):
            return text_answer(" more")
        tokens, offsets, values = [*words_of(prompt), " more"], list[int](), list[float | None]()
        for token in tokens:
            begin = offsets[-1] + len(tokens[len(offsets) - 1]) if offsets else 0
            values.append(logprob(prompt[:begin], token) if offsets else None)
            offsets.append(begin)
        logprobs = {"tokens": tokens, "token_logprobs": values, "text_offset": offsets}
        return _scored({"text": prompt + " more", "logprobs": logprobs}, len(tokens) - 1)

    return act


def listing_prompt(logprob: Callable[[str, str], float]) -> Script:
    """Ignores echo; lists the log-probabilities of the prompt where ``prompt_logprobs`` asks."""

    def act(seen: Seen) -> Act:
        if seen.json.get("prompt_logprobs") is None:
            return text_answer(" more")
        prompt, at = seen.json["prompt"], 0
        listed: list[dict[str, Any] | None] = []
        for number, token in enumerate(words_of(prompt)):
            entry = {"logprob": logprob(prompt[:at], token), "rank": 9, "decoded_token": token}
            listed.append({str(number): entry} if at else None)
            at += len(token)
        return _scored({"text": " more", "prompt_logprobs": listed}, len(listed))

    return act


def next_tokens(logprobs: Mapping[str, float], text: str = "A") -> Act:
    """A chat response whose first token has these alternatives."""
    listed = [{"token": token, "logprob": value} for token, value in logprobs.items()]
    body = completion(text)
    first = {"token": text, "logprob": max(logprobs.values()), "top_logprobs": listed}
    body["choices"][0]["logprobs"] = {"content": [first]}
    return Act(json.dumps(body).encode())


def _scored(choice: Mapping[str, Any], n_prompt: int) -> Act:
    body = {
        "object": "text_completion",
        "model": "scripted-1",
        "choices": [{"index": 0, "finish_reason": "length", **choice}],
        "usage": {"prompt_tokens": n_prompt, "completion_tokens": 1, "total_tokens": n_prompt + 1},
    }
    return Act(json.dumps(body).encode())


def error(status: int, body: Any, **headers: str) -> Act:
    """An error with a recorded body (bytes as they are, else as JSON) and headers, of whose names
    an underscore is a hyphen."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Act(raw, status, {name.replace("_", "-"): value for name, value in headers.items()})


def malformed() -> Act:
    """Status 200, complete by its length, but its JSON ends too soon; the usage can be read."""
    return Act(answer().body[:-2])


def half() -> Act:
    """Half of a completion, its length promised whole, then the connection closes."""
    body = answer().body
    return Act(body[: len(body) // 2], promise=len(body))


def empty() -> Act:
    """Status 200 and no body."""
    return Act()


def html(status: int = 200) -> Act:
    """A page for people."""
    return Act(_PAGE, status, content_type="text/html")


def huge(n_bytes: int) -> Act:
    """A completion with a text of so many bytes."""
    return answer("x" * n_bytes)


def drop() -> Act:
    """The connection closes without a byte."""
    return Act(drop="before")


def drop_after_headers() -> Act:
    """The connection closes behind the headers of a completion."""
    return replace(answer(), drop="after_headers")


def hang() -> Act:
    """Nothing comes, ever."""
    return Act(drop="never_answer")


def models_list(*ids: str) -> Act:
    """The list of an endpoint's models, as OpenAI and its likes give it."""
    rows = [{"id": name, "object": "model", "owned_by": "scripted"} for name in ids]
    return Act(json.dumps({"object": "list", "data": rows}).encode())


def in_turn(*acts: Act, then: Act | None = None) -> Script:
    """The acts by the number of the request; afterwards ``then``, else the last one."""
    last = acts[-1] if then is None else then
    return lambda seen: acts[seen.number] if seen.number < len(acts) else last


def answering(text_of: Callable[[Seen], str]) -> Script:
    """A completion whose text is a function of the request."""
    return lambda seen: answer(text_of(seen))


def with_faults(script: Script, share: float, seed: int = 0) -> Script:
    """``script``, but a seeded share of requests meets a fault that passes."""
    busy = error(503, {"error": {"message": "overloaded"}})
    limited = error(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}})
    faults = (busy, limited, drop(), drop_after_headers(), half(), malformed(), empty())
    rng = random.Random(seed)
    return lambda seen: rng.choice(faults) if rng.random() < share else script(seen)


def streamed_message(message: Mapping[str, Any]) -> Act:
    """A message of Anthropic's own interface as it is streamed: long responses are asked for so."""
    begun = {**message, "content": [], "stop_reason": None}
    events: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for index, block in enumerate(message["content"]):
        empty, deltas = _as_begun(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": empty},
            *({"type": "content_block_delta", "index": index, "delta": each} for each in deltas),
            {"type": "content_block_stop", "index": index},
        ]
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    events += [
        {"type": "message_delta", "delta": end, "usage": message["usage"]},
        {"type": "message_stop"},
    ]
    lines = (f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
    return Act("".join(lines).encode(), content_type="text/event-stream")


def _as_begun(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block of content as it begins, and what follows of it."""
    kind = block["type"]
    if kind == "text":
        cited = [{"type": "citations_delta", "citation": c} for c in block.get("citations", ())]
        return {"type": kind, "text": ""}, [{"type": "text_delta", "text": block["text"]}, *cited]
    if kind == "thinking":
        return {"type": kind, "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if kind == "server_tool_use":
        asked = json.dumps(block["input"])
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": asked}]
    return dict(block), []

"""Parse stored and fresh response bodies, without I/O.

Scoring reads stored bodies with the function that the client uses for fresh ones. An improved
parser therefore applies to old runs as well. Typical bodies take about 5 microseconds. What the
fast JSON reader refuses (NaN, broken surrogates or UTF-8) goes through a slow, lenient one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from math import fsum, isfinite
from typing import Any, NamedTuple

import msgspec

from proofstone.models.failures import BROKEN_OFF, error_text, is_stream, read_error
from proofstone.records.runs import Finish, Response, Usage

# Thinking inside the response text is separated from the answer.

# Opening and closing marks in the chat templates of open models.
_MARKS = (
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("[THINK]", "[/THINK]"),
    ("<seed:think>", "</seed:think>"),
    ("◁think▷", "◁/think▷"),
)


_FIRST = frozenset(opening[0] for opening, _ in _MARKS)


class Thinking(NamedTuple):
    """``text`` without the thinking, the thinking itself, and whether it never ended."""

    text: str
    inside: str
    unclosed: bool


def split_thinking(content: str) -> Thinking:
    """Separate leading blocks of thinking from the text after them.

    A block that never ends leaves no text, since its content is not an answer. A closing
    ``</think>`` without an opening one ends thinking as well: some chat templates put the opening
    mark in the prompt. Marks later in the text are part of the answer and stay.
    """
    rest, thoughts = content, []
    while True:
        start = rest.lstrip()
        if start[:1] not in _FIRST:
            break
        marks = next((pair for pair in _MARKS if start.startswith(pair[0])), None)
        if marks is None:
            break
        inside, closing, rest = start[len(marks[0]) :].partition(marks[1])
        thoughts.append(inside.strip())
        if not closing:
            return Thinking("", _joined(thoughts), unclosed=True)
    if thoughts:
        return Thinking(rest.lstrip(), _joined(thoughts), unclosed=False)
    if "</think>" in content and _opens_before(content):
        before, _, after = content.partition("</think>")
        return Thinking(after.lstrip(), before.strip(), unclosed=False)
    return Thinking(content, "", unclosed=False)


def _opens_before(content: str) -> bool:
    """Return True if the first ``</think>`` has no ``<think>`` before it (the prompt opened it)."""
    return "<think>" not in content[: content.index("</think>")]


def _joined(thoughts: list[str]) -> str:
    return "\n".join(thought for thought in thoughts if thought)


_FINISH: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "safety": "content_filter",
    "recitation": "content_filter",
    "model_armor": "content_filter",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
}


_NO_USAGE = Usage()


_TOKENS = re.compile(rb'(?<!\\)"(prompt_tokens|completion_tokens|total_tokens)"\s*:\s*(\d{1,12})\b')


# Fields of cached tokens other than prompt_tokens_details: DeepSeek, Mistral, Together, and
# Anthropic's models behind proxies that keep its field beside the usual ones.
_CACHED = (
    "prompt_cache_hit_tokens", "num_cached_tokens", "cached_tokens", "cache_read_input_tokens",
)  # fmt: skip


_MOST_TOKENS = 2**53  # a larger number is not a count, and would not fit into a column


_TAIL = 4096  # usage is at a body's end


class UnreadableResponseError(ValueError):
    """The body is not a chat completion; the message says what is wrong with it."""


def read_response(wire: str, raw: bytes) -> Response:
    """Return the response in a body of this wire format.

    Raises UnreadableResponseError naming what is wrong. A content filter's refusal is a response
    with finish ``content_filter``.
    """
    if raw.startswith(_SCORED):
        return _read_scored(raw)
    try:
        reader = _READERS[wire]
    except KeyError:
        raise UnreadableResponseError(f"unknown wire format {wire!r}") from None
    return reader(raw)


def salvage_usage(raw: bytes) -> Usage:
    """Return the usage in a broken body, or an empty one: it was billed all the same."""
    found = {name: int(count) for name, count in _TOKENS.findall(raw[-_TAIL:])}
    prompt, completion = found.get(b"prompt_tokens"), found.get(b"completion_tokens")
    return Usage(*_with_hidden(prompt, completion, found.get(b"total_tokens")))


def _read_chat(raw: bytes) -> Response:
    body = _decoded(raw)
    try:
        choice = body["choices"][0]
        message = choice["message"]
        content = message.get("content")
    except (KeyError, IndexError, TypeError, AttributeError):
        return _without_choice(body)
    if choice.get("error"):  # a router's error with status 200
        return _without_choice(body)
    finish = _finish_of(choice)
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    if not reasoning and "reasoning_details" in message:
        reasoning = _detailed(message["reasoning_details"])
    if type(content) is not str:
        content, reasoning = _from_parts(content, reasoning)
    told = _text(reasoning).strip()
    return _response(body, choice, finish, content, told, _text(message.get("refusal")))


def _read_completion(raw: bytes) -> Response:
    """Return a text completion, with thinking separated as in a chat."""
    body = _decoded(raw)
    try:
        choice = body["choices"][0]
        text = choice["text"]
    except (KeyError, IndexError, TypeError):
        return _without_choice(body, "text")
    if choice.get("error"):
        return _without_choice(body, "text")
    return _response(body, choice, _finish_of(choice), _text(text), "", "")


def _decoded(raw: bytes) -> Any:
    """Return the body as JSON, or as much of it as can be read."""
    try:
        return msgspec.json.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _lenient(raw, error)


def _finish_of(choice: Any) -> Finish:
    """Return why a response ended. Raises UnreadableResponseError if the provider aborted."""
    reason = _text(choice.get("finish_reason"))
    details = choice.get("finish_details")
    if not reason and isinstance(details, dict):  # OpenAI's first models with image input
        reason = _text(details.get("type"))
    if reason in BROKEN_OFF:
        raise UnreadableResponseError(f"the endpoint aborted (finish reason {reason})")
    return _FINISH.get(reason) or _unusual_finish(reason)


def _response(
    body: Any, choice: Any, finish: Finish, content: str, reasoning: str, refusal: str
) -> Response:
    """Return the response of a choice.

    Thinking in ``content`` is separated and appended to ``reasoning``.
    """
    thinking = split_thinking(content)
    if thinking.inside:
        reasoning = f"{reasoning}\n{thinking.inside}" if reasoning else thinking.inside
    logprobs = choice.get("logprobs")
    return Response(
        text=thinking.text,
        finish=finish,
        reasoning=reasoning,
        thinking_unclosed=thinking.unclosed,
        refusal=refusal,
        usage=_usage(body.get("usage")),
        model=_text(body.get("model")),
        fingerprint=_text(body.get("system_fingerprint")),
        mean_logprob=None if logprobs is None else _mean_logprob(logprobs),
        next_tokens=() if logprobs is None else _next_tokens(logprobs),
    )


# Responses through Inspect AI: its ``ModelOutput`` and the provider's bodies behind it.


def _read_inspect(raw: bytes) -> Response:
    """Return the response of Inspect's output, with the searches that the provider ran and the
    addresses that the response cites."""
    body = _decoded(raw)
    try:
        output = body["output"]
        choice = output["choices"][0]
        content = choice["message"]["content"]
    except (KeyError, IndexError, TypeError) as error:
        said = _text(body.get("output", {}).get("error")) if isinstance(body, dict) else ""
        raise UnreadableResponseError(said or "Inspect returned no choice") from error
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    told_finish = choice.get("stop_reason")
    candidates = _google_candidates(body.get("bodies"))
    if told_finish == "unknown" and candidates:
        told_finish = _text(candidates[-1].get("finishReason")).lower()
    finish = _finish_of({"finish_reason": told_finish})
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    thinking = split_thinking(text)
    told = [_told_thought(part) for part in parts if part["type"] == "reasoning"]
    usage = _usage_of_inspect(output.get("usage"))
    refusal = _text(output.get("error"))
    if finish == "content_filter" and not usage.completion:  # Inspect's words, not the model's
        refusal, thinking = refusal or text, Thinking("", "", unclosed=False)
    return Response(
        text=thinking.text,
        finish=finish,
        reasoning=_joined([*told, thinking.inside]),
        thinking_unclosed=thinking.unclosed,
        refusal=refusal,
        usage=usage,
        model=_text(output.get("model")),
        searches=_searches(parts, candidates),
        citations=_cited(parts),
    )


def _told_thought(part: Mapping[str, Any]) -> str:
    """A redacted thought has an encrypted text, and at most a summary."""
    shown = part.get("summary") if part.get("redacted") else part.get("reasoning")
    return _text(shown).strip()


def _usage_of_inspect(usage: Any) -> Usage:
    """Return the usage; Inspect's ``input_tokens`` leave out those from and to the cache."""
    if not isinstance(usage, dict):
        return _NO_USAGE
    fresh, cached = _count(usage.get("input_tokens")), _count(usage.get("input_tokens_cache_read"))
    written = _count(usage.get("input_tokens_cache_write"))
    prompt = None if fresh is None else fresh + (cached or 0) + (written or 0)
    completion = _count(usage.get("output_tokens"))
    return Usage(
        *_with_hidden(prompt, completion, _count(usage.get("total_tokens"))),
        _count(usage.get("reasoning_tokens")),
        cached,
    )


def _searches(parts: list[Any], candidates: Sequence[Any]) -> int:
    """Count the queries that the provider's search ran. Pages that are opened do not count."""
    uses = [part for part in parts if part.get("tool_type") == "web_search"]
    called = sum("search" in _text(part.get("name")).lower() for part in uses)
    grounding = [each.get("groundingMetadata") or {} for each in candidates]
    return called or sum(len(each.get("webSearchQueries") or ()) for each in grounding)


def _google_candidates(bodies: Any) -> list[Any]:
    """Return the candidates in Google's bodies: Inspect's output leaves out what was searched for,
    and some finish reasons."""
    replies = bodies if isinstance(bodies, list) else []
    return [
        each
        for reply in replies
        if isinstance(reply, dict)
        for each in reply.get("candidates") or ()
        if isinstance(each, dict)
    ]


def _cited(parts: list[Any]) -> tuple[str, ...]:
    """Return the addresses that the text cites, each once, in order.

    Google cites redirecting addresses, and gives the page's host as title.
    """
    cited = (each for part in parts for each in part.get("citations") or ())
    found = (
        _text(each.get("title")) if "/grounding-api-redirect/" in url else url
        for each in cited
        if (url := _text(each.get("url")))
    )
    return tuple(dict.fromkeys(address for address in found if address))


_READERS: Mapping[str, Callable[[bytes], Response]] = {
    "inspect": _read_inspect,
    "openai-chat": _read_chat,
    "openai-completions": _read_completion,
    "local-completions": _read_completion,
    "local": _read_chat,
    "sim": _read_chat,
}


# Scored texts: nothing was generated, the body says how probable a given text is, token by token.
#
# The body does not say where the text begins. So it is kept within an object that does.

_SCORED = b'{"continuation":'


class Continuation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The text that was scored, and ``by`` what: ``echo`` of a text of which it is [``start``,
    ``end``) (code points), ``prompt_logprobs``, ``forced`` tokens with these ``ids``, or ``sim``.
    """

    text: str
    by: str
    start: int = 0
    end: int = 0
    ids: tuple[int, ...] = ()


class _ScoredBody(msgspec.Struct, frozen=True):
    continuation: Continuation
    body: Any


class NotScoredError(UnreadableResponseError):
    """The endpoint answered and did not score the text; the message names what is missing."""


def scored_body(continuation: Continuation, raw: bytes) -> bytes:
    """Return a body (JSON) with the text that it scores, as ``read_response`` takes it."""
    return _SCORED + msgspec.json.encode(continuation) + b',"body":' + raw + b"}"


def place_in_echo(raw: bytes, prompt: str, text: str) -> tuple[int, int]:
    """Return where ``text`` is in the echo of a prompt. Raises NotScoredError without an echo."""
    choice = _first_choice(_decoded(raw))
    echoed = _text(choice.get("text"))
    at = echoed.find(prompt + text)
    if at < 0:
        raise NotScoredError("it ignores echo: the prompt is not in choices[0].text")
    start = at + len(prompt)
    return start, start + len(text)


def _read_scored(raw: bytes) -> Response:
    try:
        kept = msgspec.json.decode(raw, type=_ScoredBody)
    except msgspec.MsgspecError as error:
        raise UnreadableResponseError(f"not a scored text: {error}") from error
    body, continuation = kept.body, kept.continuation
    logprobs = tuple(_SOURCES[continuation.by](body, continuation))
    if not logprobs:
        raise NotScoredError("it returns no log-probability for any token of the option")
    usage = _usage(body.get("usage"))
    if continuation.by == "forced":
        usage = Usage(_count(body.get("tokens_evaluated")), _count(body.get("tokens_predicted")))
    return Response(
        text=continuation.text.strip(),
        finish="stop",
        usage=usage,
        model=_text(body.get("model")),
        fingerprint=_text(body.get("system_fingerprint")),
        mean_logprob=fsum(logprobs) / len(logprobs),
        token_logprobs=logprobs,
    )


def _echoed(body: Any, continuation: Continuation) -> list[float]:
    """The tokens that end behind the text's start and begin before its end: one that also holds the
    end of the prompt counts, the one generated behind it does not."""
    logprobs = _first_choice(body).get("logprobs")
    if not isinstance(logprobs, dict):
        raise NotScoredError("choices[0].logprobs is missing")
    values, offsets = logprobs.get("token_logprobs"), logprobs.get("text_offset")
    if not isinstance(values, list) or not isinstance(offsets, list):
        raise NotScoredError("choices[0].logprobs lacks token_logprobs or text_offset")
    return [
        _logprob(logprob)
        for logprob, begin, end in zip(
            values, offsets, [*offsets[1:], continuation.end + 1], strict=False
        )
        if begin < continuation.end and end > continuation.start
    ]


def _of_prompt(body: Any, continuation: Continuation) -> list[float]:
    """The last tokens of the prompt that together have the text's length."""
    given = _first_choice(body).get("prompt_logprobs") or body.get("prompt_logprobs")
    if not isinstance(given, list):
        raise NotScoredError("it returns neither an echo nor choices[0].prompt_logprobs")
    found: list[float] = []
    behind = ""
    for entry in reversed(given):
        if len(behind) >= len(continuation.text):
            break
        if not isinstance(entry, dict) or not entry:
            raise NotScoredError("choices[0].prompt_logprobs does not cover the option")
        token = next(iter(entry.values()))  # the prompt's own token stands first
        behind = _text(token.get("decoded_token")) + behind
        found.append(_logprob(token.get("logprob")))
    if not behind.endswith(continuation.text):
        raise NotScoredError("the tokens of prompt_logprobs do not spell the option")
    return found[::-1]


def _forced(body: Any, continuation: Continuation) -> list[float]:
    """The tokens that were forced, one by one."""
    tokens = body.get("completion_probabilities")
    if not isinstance(tokens, list):
        raise NotScoredError("completion_probabilities is missing")
    if tuple(token.get("id") for token in tokens) != continuation.ids:
        raise UnreadableResponseError("other tokens than the forced ones were generated")
    return [_logprob(token.get("logprob")) for token in tokens]


def _simulated(body: Any, _continuation: Continuation) -> list[float]:
    return [_logprob(value) for value in body.get("token_logprobs", ())]


_SOURCES: Mapping[str, Callable[[Any, Continuation], list[float]]] = {
    "echo": _echoed,
    "prompt_logprobs": _of_prompt,
    "forced": _forced,
    "sim": _simulated,
}


def _logprob(value: Any) -> float:
    if not isinstance(value, int | float) or not isfinite(value):
        raise NotScoredError("a token of the option has no log-probability")
    return float(value)


def _first_choice(body: Any) -> dict[str, Any]:
    try:
        choice = body["choices"][0]
    except (KeyError, IndexError, TypeError):
        choice = None
    if not isinstance(choice, dict):
        raise UnreadableResponseError("it has no choices")
    return choice


def _without_choice(body: Any, content: str = "message") -> Response:
    """Return a filter's refusal, which comes as an error body; raise for any other body."""
    error = read_error(body)
    if error.kind == "content_filter":
        refusal = error.message or "the endpoint's content filter"
        return Response(text="", finish="content_filter", refusal=refusal)
    if error.message or error.code:
        raise UnreadableResponseError(
            f"an error in place of a response: {error.message or error.code}"
        )
    if not isinstance(body, dict):
        raise UnreadableResponseError(f"expected a JSON object, got {type(body).__name__}")
    if not body.get("choices"):
        raise UnreadableResponseError("it has no choices")
    raise UnreadableResponseError(f"its first choice has no {content}")


def _lenient(raw: bytes, error: Exception) -> Any:
    """Parse the body with Python's JSON reader, broken characters replaced by U+FFFD."""
    text = raw.decode("utf-8-sig", "replace")
    if not text.strip():
        raise UnreadableResponseError("it is empty") from error
    try:
        return _mended(json.loads(text, strict=False))
    except (ValueError, RecursionError):
        said = error_text(raw)  # a filter's refusal may come as plain text or in a stream
        if isinstance(said, dict) or read_error(said).kind == "content_filter":
            return said
        if is_stream(raw):
            raise UnreadableResponseError("a stream, which was not requested") from error
        raise UnreadableResponseError(f"not JSON: {error}") from error


def _mended(value: Any) -> Any:
    """Return ``value`` with lone surrogates replaced: they can be neither stored nor shown."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_mended(part) for part in value]
    if isinstance(value, dict):
        return {key: _mended(part) for key, part in value.items()}
    return value


def _from_parts(content: Any, reasoning: Any) -> tuple[str, Any]:
    """Return text and reasoning of a content given in parts, or as one text."""
    if content is None:
        return "", reasoning
    if not isinstance(content, list):
        raise UnreadableResponseError(f"expected text as content, got {type(content).__name__}")
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if isinstance(part, dict):
            texts.append(_text(part.get("text")))
            thoughts.append(_thought(part.get("thinking")))
    inside = "".join(thoughts)
    return "".join(texts), reasoning or inside


def _thought(thinking: Any) -> str:
    """Return the text of a part's ``thinking``: a text, or a list of text parts."""
    if isinstance(thinking, list):
        return "".join(_text(part.get("text")) for part in thinking if isinstance(part, dict))
    return _text(thinking)


def _detailed(details: Any) -> str:
    """Return the text of OpenRouter's ``reasoning_details``: each part's text or summary."""
    if not isinstance(details, list):
        return ""
    parts = [part for part in details if isinstance(part, dict)]
    return "".join(_text(part.get("text")) or _text(part.get("summary")) for part in parts)


def _text(value: Any) -> str:
    return value if type(value) is str else ""


def _unusual_finish(reason: str) -> Finish:
    if not reason:
        return ""
    lower = reason.lower()  # "STOP", "content_filter: PROHIBITED_CONTENT"
    return _FINISH.get(lower) or ("content_filter" if "content_filter" in lower else "other")


def _usage(usage: Any) -> Usage:
    if type(usage) is not dict:
        return _NO_USAGE
    completion_details = usage.get("completion_tokens_details")
    prompt_details = usage.get("prompt_tokens_details")
    reasoning = cached = None
    if type(completion_details) is dict:
        reasoning = _count(completion_details.get("reasoning_tokens"))
    if type(prompt_details) is dict:
        cached = _count(prompt_details.get("cached_tokens"))
    if cached is None:
        cached = next((n for name in _CACHED if (n := _count(usage.get(name))) is not None), None)
    prompt, completion = _with_hidden(
        _count(usage.get("prompt_tokens")),
        _count(usage.get("completion_tokens")),
        _count(usage.get("total_tokens")),
    )
    return Usage(prompt, completion, reasoning, cached)


def _with_hidden(
    prompt: int | None, completion: int | None, total: int | None
) -> tuple[int | None, int | None]:
    """Return prompt and response tokens that sum to at least ``total``.

    Some endpoints (Gemini through its OpenAI address, xAI) bill hidden reasoning and count it in
    the total only; the difference belongs to the response. A missing count is derived.
    """
    if total is None or (prompt is None and completion is None):
        return prompt, completion
    if prompt is None:
        return max(0, total - (completion or 0)), completion
    return prompt, max(completion or 0, total - prompt)


def _count(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None


def _next_tokens(logprobs: Any) -> tuple[tuple[str, float], ...]:
    """The most probable first tokens of a chat's response with their log-probabilities; none where
    they are not listed."""
    try:
        listed = logprobs["content"][0]["top_logprobs"]
        return tuple((_text(each["token"]), float(each["logprob"])) for each in listed)
    except (KeyError, IndexError, TypeError, ValueError):
        return ()


def _mean_logprob(logprobs: Any) -> float | None:
    """Return the mean over tokens with a finite log-probability; None without any."""
    if not isinstance(logprobs, dict):
        return None
    tokens = logprobs.get("content")
    if isinstance(tokens, list):
        values = [token.get("logprob") for token in tokens if isinstance(token, dict)]
    else:
        values = logprobs.get("token_logprobs") or []
    finite = [v for v in values if isinstance(v, int | float) and isfinite(v)]
    return fsum(finite) / len(finite) if finite else None

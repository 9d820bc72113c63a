"""Implement ``Model`` over any OpenAI-compatible chat-completions endpoint.

What stays the same (address, headers, time limits, model name) is made once. A request's body is
spliced from the prompt's canonical JSON, which the request holds already. Faults of an endpoint
raise nothing: each attempt returns its raw body and its kind of result.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import aiohttp
import orjson
from msgspec import Struct, structs
from yarl import URL

from proofstone.models.config import Endpoint
from proofstone.models.credentials import Scrubber
from proofstone.models.failures import classify
from proofstone.models.http_session import open_session, what_broke
from proofstone.models.responses import (
    Continuation,
    NotScoredError,
    UnreadableResponseError,
    place_in_echo,
    read_response,
    scored_body,
)
from proofstone.models.retries import Deadlines, delay_in_body, read_retry_after
from proofstone.models.wire import (
    ImageReader,
    messages_with_images,
    no_images,
    prompt_text,
    sent_settings,
    wire_fields,
)
from proofstone.records.calls import Attempt, Clock, Limits, Message, ModelRequest, Ticket
from proofstone.records.runs import Response

MAX_BODY_BYTES = 64 * 1024 * 1024  # far above any completion with its log-probabilities


_DETAIL_CHARS = 600


class _Settings(Struct, frozen=True, gc=False):
    """Settings as asked, as sent, those dropped, and the end of a request's body made from them."""

    asked: Mapping[str, Any]
    sent: dict[str, Any]
    dropped: tuple[str, ...]
    tail: bytes


class _TooLargeError(Exception):
    """The body exceeds the limit."""


class _Came(Struct, gc=False):
    """What was received so far for a request that began at ``started``."""

    started: float
    status: int = 0
    retry_after_s: float | None = None
    parts: list[bytes] = []

    @property
    def body(self) -> bytes:
        return b"".join(self.parts)

    def too_large(self) -> str:
        return f"the body exceeds the limit; {len(self.body)} bytes were read"


class ChatEndpoint:
    """A model behind a chat-completions address. Made outside a loop, used on one."""

    simulated = False
    wire = "openai-chat"
    path = "/chat/completions"

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        clock: Clock,
        max_body_bytes: int = MAX_BODY_BYTES,
        images: ImageReader | None = None,
    ) -> None:
        self.name = endpoint.name
        self.limits = Limits(
            window=endpoint.window, images=endpoint.images, thinking_tokens=endpoint.thinking_tokens
        )
        self._images = images
        self.endpoint = endpoint.identity
        self.reported_as = endpoint.reported_as
        self._settings = endpoint
        self._clock = clock
        self._max_body_bytes = max_body_bytes
        self._scrubber = Scrubber(endpoint.secrets)
        self._url = _address(endpoint, self.path)
        self._head = b'{"model":' + orjson.dumps(endpoint.reported_as) + b',"messages":'
        self._deadlines = Deadlines(endpoint.timeout_s)
        self._session: aiohttp.ClientSession | None = None
        self._last = _Settings({}, {}, (), b"}")

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the settings that reach the model, and the names of those that do not.

        Includes the configuration's extra fields.
        """
        known = self._known(asked)
        return known.sent, known.dropped

    async def submit(self, request: ModelRequest) -> Ticket:
        """Return the request as the bytes to send. Nothing is sent before ``collect``."""
        prompt = request.prompt
        for message in request.messages:
            if type(message.content) is not str:  # parts, which may be images
                prompt = self._with_parts(request)
                break
        return Ticket(request, self._head + prompt + self._known(request.settings).tail)

    def _with_parts(self, request: ModelRequest) -> bytes:
        """Return the messages with their images, or raise BadUsage for a text-only model."""
        if not any(message.images for message in request.messages):
            return request.prompt
        if self._images is None or self.limits.images is False:
            raise no_images(self.name)
        return orjson.dumps(messages_with_images(request.messages, self._images))

    def _known(self, asked: Mapping[str, Any]) -> _Settings:
        """Return prepared settings, cached for the next request: a run passes the same object."""
        if self._last.asked is not asked:
            known = self._settings
            sent, dropped = sent_settings(asked, known.body, known.unsupported, known.thinking)
            fields = orjson.dumps(wire_fields(sent, self._settings.max_tokens_field))
            tail = b"}" if fields == b"{}" else b"," + fields[1:]
            self._last = _Settings(asked, sent, dropped, tail)
        return self._last

    async def collect(self, ticket: Ticket) -> Attempt:
        """Make one attempt, and return it whatever its result.

        A likelihood without log-probabilities is a failure, so that it is never scored.
        """
        attempt = await self._collect(ticket)
        if not ticket.request.settings.get("likelihood") or attempt.status != 200:
            return attempt
        return self._scored(ticket, attempt)

    def _scored(self, _ticket: Ticket, attempt: Attempt) -> Attempt:
        response = attempt.response
        if response is None or response.next_tokens or response.finish == "content_filter":
            return attempt
        detail = "it returns no top log-probabilities (choices[0].logprobs.content[0].top_logprobs)"
        return structs.replace(attempt, response=None, error="no_logprobs", detail=detail)

    async def _collect(self, ticket: Ticket) -> Attempt:
        session = self._session or self._open()
        came = _Came(self._clock.monotonic())
        task = self._deadlines.enter()
        try:
            async with session.post(self._url, data=ticket.body, allow_redirects=False) as response:
                await self._take(response, came)
        except _TooLargeError:
            return self._attempt(came, "unreadable", came.too_large())
        except (OSError, ValueError, aiohttp.ClientError) as error:  # OSError: TimeoutError too
            return self._attempt(came, *what_broke(error, self._url.raw_host or ""))
        except asyncio.CancelledError:
            if not self._deadlines.is_over(task):
                raise
            detail = f"no complete response within {self._deadlines.limit_s:g} s"
            return self._attempt(came, "timeout", detail)
        finally:
            self._deadlines.leave(task)
        return self._read_attempt(came)

    async def fetch(self, path: str, query: str = "") -> Attempt:
        """Get ``path`` below the endpoint's address, which is free of charge.

        Returns the result in any case. ``raw`` is the body, ``error`` says why there is none or why
        it is unusable.
        """
        return await self._exchange("GET", _address(self._settings, path, query))

    async def post(self, path: str, body: bytes) -> Attempt:
        """Send a body to another interface than the chat's, and return its answer as ``fetch``."""
        return await self._exchange("POST", _address(self._settings, path), body)

    async def _exchange(self, verb: str, url: URL, body: bytes | None = None) -> Attempt:
        session = self._session or self._open()
        came = _Came(self._clock.monotonic())
        limit = aiohttp.ClientTimeout(total=self._deadlines.limit_s)
        try:
            async with session.request(
                verb, url, data=body, allow_redirects=False, timeout=limit
            ) as response:
                await self._take(response, came)
        except (_TooLargeError, OSError, ValueError, aiohttp.ClientError) as error:
            return self._attempt(came, *what_broke(error, url.raw_host or ""))
        failure = ("", "")
        if came.status != 200:
            failure = classify(came.status, self._scrubber.raw(came.body))
        return self._attempt(came, *failure, retry_after_s=came.retry_after_s)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        known = self._settings
        self._session = open_session(
            known.base_url.reveal(),
            known.route,
            headers=known.headers,
            connect_timeout_s=known.connect_timeout_s,
        )
        return self._session

    async def _take(self, response: aiohttp.ClientResponse, came: _Came) -> None:
        """Fill ``came``, so that everything received before a broken connection is kept."""
        came.status = response.status
        if came.status != 200:
            came.retry_after_s = read_retry_after(response.headers, self._clock.now())
        read, left = response.content.readany, self._max_body_bytes
        while block := await read():
            left -= len(block)
            if left < 0:
                raise _TooLargeError
            came.parts.append(block)

    def _read_attempt(self, came: _Came) -> Attempt:
        raw, status, retry_after = self._scrubber.raw(came.body), came.status, came.retry_after_s
        unreadable = ""
        if status == 200:
            try:
                response = read_response(self.wire, raw)
                latency = self._clock.monotonic() - came.started
                return Attempt(raw=raw, status=status, response=response, latency_s=latency)
            except UnreadableResponseError as error:
                unreadable = str(error)
        failure = classify(status, raw)
        is_unread = failure.kind in ("unreadable", "malformed")
        detail = unreadable if is_unread else failure.detail
        if retry_after is None and failure.kind in ("rate_limited", "overloaded"):
            retry_after = delay_in_body(raw)
        # A filter's refusal is the endpoint's answer to this prompt: a response, not a failure.
        refused = failure.kind == "content_filter"
        said = read_response(self.wire, raw) if refused else None
        return self._attempt(came, failure.kind, detail, response=said, retry_after_s=retry_after)

    def _attempt(
        self,
        came: _Came,
        kind: str,
        detail: str,
        *,
        response: Response | None = None,
        retry_after_s: float | None = None,
    ) -> Attempt:
        return Attempt(
            raw=self._scrubber.raw(came.body),
            status=came.status,
            response=response,
            error=kind,
            detail=self._shown(detail),
            retry_after_s=retry_after_s,
            latency_s=self._clock.monotonic() - came.started,
        )

    def _shown(self, detail: str) -> str:
        return self._scrubber.text(detail[: 2 * _DETAIL_CHARS])[:_DETAIL_CHARS]


def _address(endpoint: Endpoint, path: str, more: str = "") -> URL:
    """Return the request address.

    A query of the base address stays behind the path, followed by ``more``.
    """
    base, _, query = endpoint.base_url.reveal().partition("?")
    for known in ("/chat/completions", "/completions", "/embeddings"):
        base = base.removesuffix(known)
    whole = "&".join(part for part in (query, more) if part)
    return URL(base + path + (f"?{whole}" if whole else ""))


# ``Model`` over an OpenAI-compatible text-completions address, for base models.
#
# Requests differ from chat: one text instead of messages, log-probabilities as a number, and no
# fields that only a chat has. Connection and error handling are the chat client's.

# A text has no separate reasoning, and no response format.
_CHAT_ONLY = frozenset({"reasoning_effort", "response_format", "schema"})


def completion_settings(
    sent: Mapping[str, Any], dropped: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return settings for this wire format.

    Chat-only fields are dropped, and ``logprobs`` is the number of alternatives per token.
    """
    kept = {name: value for name, value in sent.items() if name not in _CHAT_ONLY}
    most = kept.pop("top_logprobs", None)
    if kept.get("logprobs") is True:
        kept["logprobs"] = 1 if most is None else most
    elif kept.get("logprobs") is False:
        del kept["logprobs"]
    left_out = {name for name in sent if name in _CHAT_ONLY}
    return kept, tuple(sorted({*dropped, *left_out}))


class CompletionsEndpoint(ChatEndpoint):
    """A model behind a completions address. Made outside a loop, used on one."""

    wire = "openai-completions"
    path = "/completions"

    def __init__(self, endpoint: Endpoint, *, clock: Clock) -> None:
        super().__init__(endpoint, clock=clock)
        self.limits = structs.replace(self.limits, images=False)
        self._scores_by: Literal["echo", "prompt_logprobs"] = "echo"

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """See ``ChatEndpoint.sent_settings`` and ``completion_settings``."""
        return completion_settings(*super().sent_settings(asked))

    async def submit(self, request: ModelRequest) -> Ticket:
        """Return the request as the bytes to send. Nothing is sent before ``collect``."""
        sent, _dropped = self.sent_settings(request.settings)
        if any(message.images for message in request.messages):
            raise no_images(self.name)
        if sent.pop("likelihood", None):
            prompt, text = continued(request.messages)
            sent.update(_SCORED_BY[self._scores_by])
            fields = {"model": self.reported_as, "prompt": prompt + text, **sent}
            return Ticket(request, orjson.dumps(fields))
        text = prompt_text(request.messages)
        return Ticket(request, orjson.dumps({"model": self.reported_as, "prompt": text, **sent}))

    def _scored(self, ticket: Ticket, attempt: Attempt) -> Attempt:
        """The attempt with the scored text. An endpoint that does not echo is asked again for the
        log-probabilities of the prompt, and from then on only for these."""
        prompt, text = continued(ticket.request.messages)
        if attempt.response is None or attempt.response.finish == "content_filter":
            return attempt
        by = "prompt_logprobs" if ticket.body.endswith(b'"prompt_logprobs":0}') else "echo"
        try:
            start, end = (0, 0) if by != "echo" else place_in_echo(attempt.raw, prompt, text)
            raw = scored_body(Continuation(text=text, by=by, start=start, end=end), attempt.raw)
            return structs.replace(
                attempt, raw=raw, response=read_response(self.wire, raw), error="", detail=""
            )
        except NotScoredError as error:
            if by == "echo":
                self._scores_by = "prompt_logprobs"
            kind = "no_echo" if by == "echo" else "no_logprobs"
            return structs.replace(attempt, response=None, error=kind, detail=str(error))
        except UnreadableResponseError as error:
            return structs.replace(attempt, response=None, error="unreadable", detail=str(error))


# A text behind its prompt, token by token. One token is generated besides: many take no fewer.
_SCORED_BY: Mapping[str, Mapping[str, Any]] = {
    "echo": {"logprobs": 1, "echo": True},
    "prompt_logprobs": {"prompt_logprobs": 0},
}


def continued(messages: Sequence[Message]) -> tuple[str, str]:
    """Return the prompt, and the text behind it that is to be scored: the last message."""
    return prompt_text(messages[:-1]), messages[-1].text

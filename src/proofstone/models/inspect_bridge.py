"""Ask models through the providers of Inspect AI (the extra ``[inspect]``), also with web search.

The name is ``inspect/PROVIDER/MODEL``. Proofstone keeps its own queue, retries, budget and cache;
of Inspect only the provider's request and response are used. Address and key are passed to it, so
that no variable of Inspect sends a prompt to another host than the permitted one.

The stored body has two fields: ``output`` is Inspect's ``ModelOutput``, ``bodies`` are the
provider's responses as Inspect recorded them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

import msgspec

from proofstone.errors import BadUsage, ExtraMissing
from proofstone.models.config import Endpoint
from proofstone.models.credentials import Scrubber
from proofstone.models.failures import Failure, classify
from proofstone.models.responses import UnreadableResponseError, read_response
from proofstone.models.retries import read_retry_after
from proofstone.models.wire import ImageReader, messages_with_images, no_images, sent_settings
from proofstone.records.calls import Attempt, Clock, Limits, ModelRequest, Ticket
from proofstone.records.runs import (
    BLOCKED_HOSTS,
    REASONING_TOKENS,
    TOOLS,
    WEB_SEARCH,
    listed_hosts,
)

WIRE = "inspect"
MOCK = "mockllm"  # Inspect's own model without a provider

# Our settings by Inspect's names; a field of ``body`` may be any of Inspect's.
_NAMES: Mapping[str, str] = {"stop": "stop_seqs"}
_PASSED = frozenset({
    "temperature", "top_p", "top_k", "max_tokens", "seed", "stop", "presence_penalty",
    "frequency_penalty", "reasoning_effort",
})  # fmt: skip

# Only what the endpoint is asked and not how: retries, connections and limits are Proofstone's.
_OURS = frozenset({
    "max_retries", "timeout", "attempt_timeout", "max_connections", "adaptive_connections",
    "num_choices", "cache", "batch", "system_message",
})  # fmt: skip

_SEARCH = "web_search"  # of ``body``: options of the provider's own web search, or true

_bodies: ContextVar[list[Any]] = ContextVar("bodies")


class InspectModel:
    """A model of one of Inspect's providers. Opened by ``open_inspect``."""

    wire = WIRE

    def __init__(
        self, endpoint: Endpoint, *, clock: Clock, images: ImageReader | None = None
    ) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint.identity
        self.reported_as = endpoint.reported_as
        self.simulated = endpoint.reported_as.startswith(f"{MOCK}/")
        self.limits = Limits(
            window=endpoint.window, images=endpoint.images, thinking_tokens=endpoint.thinking_tokens
        )
        self._provider = endpoint.reported_as.partition("/")[0]
        self._settings = endpoint
        self._clock = clock
        self._images = images
        self._scrubber = Scrubber(endpoint.secrets)
        self._check_body()
        self._model = _opened(endpoint)

    def sent_settings(self, asked: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the settings that reach Inspect, and the names of those that do not.

        A missing temperature is not sent: the endpoint's default applies.
        """
        known = self._settings
        passed = {name: value for name, value in asked.items() if name in _PASSED | {"thinking"}}
        sent, dropped = sent_settings(passed, known.body, known.unsupported, known.thinking)
        left = {name for name, value in asked.items() if value is not None and name not in passed}
        if REASONING_TOKENS in left - known.unsupported:
            sent[REASONING_TOKENS] = asked[REASONING_TOKENS]
            left.remove(REASONING_TOKENS)
        if asked.get(TOOLS) == WEB_SEARCH:
            field = _BLOCKS.get(self._provider)
            hosts = list(listed_hosts(asked)) if field else []
            given = sent.get(_SEARCH)
            options = dict(given) if isinstance(given, Mapping) else {}
            if hosts:
                options[str(field)] = [*options.get(str(field), ()), *hosts]
            sent[_SEARCH] = options or True
            left -= {TOOLS, BLOCKED_HOSTS} if hosts else {TOOLS}
        return sent, tuple(sorted({*dropped, *left}))

    async def submit(self, request: ModelRequest) -> Ticket:
        """Return the request. Nothing is sent before ``collect``."""
        if any(message.images for message in request.messages) and (
            self._images is None or self.limits.images is False
        ):
            raise no_images(self.name)
        return Ticket(request)

    async def collect(self, ticket: Ticket) -> Attempt:
        """Make one attempt, and return it whatever its result."""
        request = ticket.request
        if request.settings.get("likelihood"):
            return Attempt(error="no_logprobs", detail="Inspect's providers do not score options")
        began = self._clock.monotonic()
        bodies: list[Any] = []
        _bodies.set(bodies)
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                output = await self._generate(request)
        except Exception as error:  # noqa: BLE001 - every provider has its own exceptions
            return self._failed(error, self._clock.monotonic() - began)
        return self._read(output, bodies, self._clock.monotonic() - began)

    async def close(self) -> None:
        """Close the connections of Inspect's provider."""
        await self._model.api.aclose()

    async def _generate(self, request: ModelRequest) -> Any:
        from inspect_ai.model import GenerateConfig  # noqa: PLC0415 - an extra

        sent, _dropped = self.sent_settings(request.settings)
        tools = _tools(sent.pop(_SEARCH, None), self._provider)
        fields = {_NAMES.get(name, name): value for name, value in sent.items()}
        fields = {**_USUAL.get(self._provider, {}), **fields}
        config = GenerateConfig(
            max_retries=0, max_connections=self._settings.max_connections, cache=False, **fields
        )
        return await self._model.generate(self._messages(request), tools=tools, config=config)

    def _messages(self, request: ModelRequest) -> list[Any]:
        from inspect_ai.model import (  # noqa: PLC0415 - an extra
            ChatMessageAssistant,
            ChatMessageSystem,
            ChatMessageUser,
            ContentImage,
            ContentText,
        )

        roles = {
            "system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant,
        }  # fmt: skip
        messages: list[dict[str, Any]]
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        if self._images is not None:
            messages = messages_with_images(request.messages, self._images)
        made = []
        for message in messages:
            content: Any = message["content"]
            if not isinstance(content, str):
                content = [
                    ContentText(text=part["text"])
                    if part["type"] == "text"
                    else ContentImage(image=part["image_url"]["url"])
                    for part in content
                ]
            made.append(roles[message["role"]](content=content))
        return made

    def _read(self, output: Any, bodies: Sequence[Any], latency_s: float) -> Attempt:
        body = {"output": output.model_dump(mode="json", exclude_none=True), "bodies": bodies}
        raw = self._scrubber.raw(msgspec.json.encode(body, enc_hook=str))
        attempt = Attempt(raw=raw, status=200, latency_s=latency_s)
        if output.stop_reason == "model_length" and output.usage is None and output.choices:
            # Inspect makes an answer of the error of a prompt that does not fit.
            return msgspec.structs.replace(attempt, error="too_long", detail=output.completion)
        try:
            response = read_response(WIRE, raw)
        except UnreadableResponseError as error:
            return msgspec.structs.replace(attempt, error="unreadable", detail=str(error))
        return msgspec.structs.replace(attempt, response=response)

    def _failed(self, error: Exception, latency_s: float) -> Attempt:
        status, raw, wait_s = 0, b"", None
        for cause in _causes(error):
            status = status or _status_of(cause)
            raw = raw or _body_of(cause)
            wait_s = _retry_after(cause, self._clock.now()) if wait_s is None else wait_s
        raw = self._scrubber.raw(raw)
        found = classify(status, raw) if status else self._without_status(error)
        return Attempt(
            raw=raw,
            status=status,
            error=found.kind,
            detail=self._scrubber.text(found.detail),
            retry_after_s=wait_s,
            latency_s=latency_s,
        )

    def _without_status(self, error: Exception) -> Failure:
        words = f"{type(error).__name__}: {error}"
        names = [type(cause).__name__ for cause in _causes(error)]
        if any("Timeout" in name for name in names):
            return Failure("timeout", f"no complete response: {words}")
        if any("Connect" in name for name in names):
            return Failure("unreachable", words)
        if self._model.api.should_retry(error):
            return Failure("server_error", words)
        return Failure("bad_request", words)

    def _check_body(self) -> None:
        """Raise BadUsage for fields of ``body`` that Inspect does not know or that are ours."""
        from inspect_ai.model import GenerateConfig  # noqa: PLC0415 - an extra

        known = {*GenerateConfig.model_fields, _SEARCH} - _OURS
        switched = [name for fields in self._settings.thinking.values() for name in fields]
        wrong = sorted({*self._settings.body, *switched} - known)
        if wrong:
            raise BadUsage(
                f"{self.name}: Inspect takes no {', '.join(wrong)} in body or thinking",
                hint=f"expected {', '.join(sorted(known))}",
            )


def open_inspect(
    endpoint: Endpoint, *, clock: Clock, images: ImageReader | None = None
) -> InspectModel:
    """Return the model of an ``inspect/PROVIDER/MODEL`` endpoint.

    Raises ExtraMissing if Inspect or the provider's own package is not installed, and BadUsage if
    Inspect refuses the provider or a field of ``body``.
    """
    try:
        import inspect_ai.model  # noqa: F401, PLC0415 - an extra
    except ImportError as cause:
        raise ExtraMissing(
            f"{endpoint.name} is asked through Inspect AI, which is not installed.",
            hint="pip install 'proofstone[inspect]'",
        ) from cause
    return InspectModel(endpoint, clock=clock, images=images)


def _opened(endpoint: Endpoint) -> Any:
    """Return Inspect's model, which records each response of its provider."""
    from inspect_ai.model import get_model  # noqa: PLC0415 - an extra

    given: dict[str, Any] = {}
    if address := endpoint.base_url.reveal():
        given["base_url"] = address
    if endpoint.secrets:
        given["api_key"] = endpoint.secrets[0].reveal()
    try:
        model = get_model(endpoint.reported_as, memoize=False, **given)
    except Exception as error:
        raise _refused(endpoint, error) from error
    ask = model.api.generate

    async def generate(*args: Any, **named: Any) -> Any:
        result = await ask(*args, **named)
        if isinstance(result, tuple):
            _bodies.get([]).append(result[1].response)
        return result

    model.api.generate = generate  # type: ignore[method-assign]
    return model


def _refused(endpoint: Endpoint, error: Exception) -> BadUsage:
    """Return why Inspect opens no model, with the command that it names for a missing package."""
    words = " ".join(str(getattr(error, "message", "") or error).split())
    plain = words.replace("[bold]", "").replace("[/bold]", "").removeprefix("ERROR: ")
    said, found, command = plain.partition("pip install ")
    if found:
        hint = f"pip install {command}"
        if command in _PACKAGES:
            hint = f"pip install 'proofstone[providers]', or {hint} alone"
        return ExtraMissing(f"{endpoint.name}: {said.strip()}", hint=hint)
    return BadUsage(
        f"{endpoint.name}: Inspect does not open this model: {plain}",
        hint="expected inspect/PROVIDER/MODEL with a provider of Inspect AI",
    )


# Unset, Inspect asks OpenAI's models once whether they summarize their reasoning: a request that
# would be in no count.
_USUAL: Mapping[str, Mapping[str, Any]] = {"openai": {"reasoning_summary": "none"}}


_PACKAGES = ("anthropic", "google-genai", "openai")  # of the extra [providers]


def _tools(search: Any, provider: str) -> list[Any]:
    """Return Inspect's web search with options of the model's own provider; nothing if not set."""
    if not search:
        return []
    from inspect_ai.tool import web_search  # noqa: PLC0415 - an extra

    options: Any = {_SEARCHES.get(provider, provider): search}
    return [web_search(options)]


# The option by which a provider's search leaves hosts out. OpenAI's takes allowed domains only, and
# Gemini's leaves hosts out on Vertex alone.
_BLOCKS: Mapping[str, str] = {"anthropic": "blocked_domains"}


# Inspect names some searches otherwise than the provider of the model.
_SEARCHES: Mapping[str, str] = {"google": "gemini", "openai-api": "openai", MOCK: "openai"}


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception, and those within it or that it was raised from."""
    seen: set[int] = set()
    left: list[BaseException | None] = [error]
    while left:
        one = left.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        last = getattr(one, "last_attempt", None)  # of tenacity, when it gives up
        left += [None if last is None else last.exception(), one.__cause__, one.__context__]


def _status_of(error: BaseException) -> int:
    for name in ("status_code", "code"):
        value = getattr(error, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return 0


def _body_of(error: BaseException) -> bytes:
    text = getattr(getattr(error, "response", None), "text", None)
    if isinstance(text, str) and text:
        return text.encode()
    for name in ("body", "details"):
        value = getattr(error, name, None)
        if isinstance(value, Mapping) and value:
            kept = value if "error" in value else {"error": value}
            return msgspec.json.encode(kept, enc_hook=str)
    return b""


def _retry_after(error: BaseException, now: float) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    return read_retry_after(headers, now) if isinstance(headers, Mapping) else None

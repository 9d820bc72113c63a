"""Check whether models exist and answer, from the endpoint's list and small requests.

One real request is made, by the same client that a run uses. Its result shows which step failed:
settings, policy, proxy, DNS, connection, certificate, key or model.
"""

from __future__ import annotations

import asyncio
import difflib
import re
import socket
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from importlib import resources
from types import MappingProxyType
from typing import Any, Literal, Protocol, runtime_checkable
from urllib.parse import quote, urlsplit

import msgspec
from msgspec import Struct, structs

from proofstone.errors import CallFailed, EgressRefused, EndpointUnusable, ProofstoneError
from proofstone.models.config import Endpoint, ModelConfig, resolve
from proofstone.models.entries import Entry
from proofstone.models.failures import advise
from proofstone.models.names import Destination, ModelName, destination_of, parse_model_name
from proofstone.models.registry import open_endpoint, open_model
from proofstone.records.calls import Attempt, Clock, Message, Model, ModelRequest
from proofstone.records.ids import canonical_json
from proofstone.records.items import Oracle
from proofstone.records.runs import Response

# Models that an endpoint lists: the bodies of ``GET /models``, read by their structure.
#
# OpenAI-compatible endpoints return ``{"data": [{"id": ...}]}``, some in pages; Together a bare
# list. Google and Ollama return ``{"models": [{"name": ...}]}``; Google's names begin with
# ``models/``. Azure lists what its region could serve, not what is deployed, so its list is not
# used.

ListedState = Literal["listed", "not listed", "no list"]


_AZURE = re.compile(r"\.(openai\.azure|cognitiveservices\.azure|services\.ai\.azure)\.\w+$")


_NEAR = 3


class Listing(Struct, frozen=True, kw_only=True):
    """Hold the ids of an endpoint's models; ``problem`` says why there is no list.

    ``next_page`` is the query for the next page, empty after the last.
    """

    ids: frozenset[str] = frozenset()
    problem: str = ""
    next_page: str = ""

    def state_of(self, reported_as: str) -> ListedState:
        """Return whether the model of this name is in the list, if there is one."""
        if self.problem:
            return "no list"
        return "listed" if reported_as.casefold() in self._names else "not listed"

    def near(self, reported_as: str) -> tuple[str, ...]:
        """Return up to three ids similar to a mistyped name."""
        return tuple(difflib.get_close_matches(reported_as, sorted(self.ids), n=_NEAR, cutoff=0.7))

    @property
    def _names(self) -> set[str]:
        """Return the ids and their alternative names, in lower case."""
        plain = {name.casefold() for name in self.ids}
        # Google's ``models/NAME``, and Ollama's ``NAME:latest``, which answers as NAME.
        bare = {name.removeprefix("models/") for name in plain}
        return plain | bare | {name.removesuffix(":latest") for name in plain}


def list_is_telling(identity: str) -> bool:
    """Return True if an endpoint's list names the models it serves; False for Azure."""
    return _AZURE.search(urlsplit(identity).hostname or "") is None


def read_listing(raw: bytes) -> Listing:
    """Return the listing in a body, or one with a problem if the body is not a list of models."""
    try:
        body = msgspec.json.decode(raw)
    except msgspec.DecodeError:
        return Listing(problem="the answer is not JSON")
    rows = body
    if isinstance(body, dict):
        rows = body.get("data", body.get("models"))
    if not isinstance(rows, list):
        return Listing(problem="the answer holds no list of models")
    ids = frozenset(_ids(rows))
    if rows and not ids:
        return Listing(problem="the list names no model")
    return Listing(ids=ids, next_page=_next_page(body))


def _ids(rows: Iterable[Any]) -> Iterable[str]:
    for row in rows:
        name = row.get("id", row.get("name")) if isinstance(row, dict) else row
        if isinstance(name, str) and name:
            yield name


def _next_page(body: Any) -> str:
    """Return the query of the next page; Anthropic's pages name their last id."""
    if isinstance(body, dict) and body.get("has_more") is True:
        last = body.get("last_id")
        return f"after_id={last}" if isinstance(last, str) and last else ""
    return ""


_CHECK = (Message("user", "Reply with the word ready."),)


_CHECK_TOKENS = 16  # a few providers refuse less


_MOST_PAGES = 50


_NO_LIST = frozenset({404, 405, 501})


@runtime_checkable
class Lister(Protocol):
    """A model whose endpoint serves other paths below its address."""

    endpoint: str
    reported_as: str

    async def fetch(self, path: str, query: str = "") -> Attempt:
        """Return the response at ``path``, whatever it is."""


class Checked(Struct, frozen=True, kw_only=True):
    """Hold the result of a model check.

    ``usable``: it answered the small request; otherwise ``kind`` and ``detail`` say why, and
    ``advice`` what to do. ``listed`` is the entry in the endpoint's list (``no list`` without a
    usable list or an endpoint). ``near`` are similar listed names. ``is_unavailable``: it was used
    before, and its endpoint neither lists nor serves it now.
    """

    name: str
    usable: bool
    endpoint: str = ""
    reported_model: str = ""
    latency_s: float = 0.0
    kind: str = ""
    detail: str = ""
    advice: str = ""
    listed: ListedState = "no list"
    near: tuple[str, ...] = ()
    is_unavailable: bool = False


async def check_model(model: Model, listing: Listing | None = None) -> Checked:
    """Send one small request, and look the model up in ``listing`` if given."""
    prompt = canonical_json(_CHECK)
    request = ModelRequest(
        messages=_CHECK,
        prompt=prompt,
        prompt_hash=sha256(prompt).digest(),
        settings={"max_tokens": _CHECK_TOKENS},
        purpose="control",
        oracle=Oracle("ready", ("ready",)) if model.simulated else None,
    )
    attempt = await model.collect(await model.submit(request))
    listing = Listing(problem="not asked") if listing is None else listing
    listed = listing.state_of(model.reported_as)
    return Checked(
        name=model.name,
        usable=attempt.response is not None,
        endpoint=model.endpoint,
        reported_model="" if attempt.response is None else attempt.response.model,
        latency_s=attempt.latency_s,
        kind=attempt.error,
        detail=attempt.detail,
        listed=listed,
        near=listing.near(model.reported_as) if listed == "not listed" else (),
    )


async def fetch_listing(model: Lister) -> Listing:
    """Return the models that the endpoint of ``model`` lists, over all pages."""
    if not list_is_telling(model.endpoint):
        return Listing(problem="Azure lists what could be deployed, not what is")
    ids: frozenset[str] = frozenset()
    query = ""
    for _page in range(_MOST_PAGES):
        attempt = await model.fetch("/models", query)
        if attempt.status != 200:
            return Listing(problem=_why_none(attempt))
        page = read_listing(attempt.raw)
        if page.problem:
            return page
        ids |= page.ids
        if not page.next_page:
            break
        name, _, value = page.next_page.partition("=")
        query = f"{name}={quote(value, safe='')}"
    return Listing(ids=ids)


def _why_none(attempt: Attempt) -> str:
    if attempt.status in _NO_LIST:
        return "the endpoint lists no models"
    return f"{attempt.error}: {attempt.detail}".removesuffix(": ")


# Sanity check: a few simple completions that show that a model answers, whatever its scores.
#
# A small model is at chance level on hard questions, and so is a broken setup. The sanity check
# separates them: correct answers to what any model knows, token counts and log-probabilities.

# Short on purpose: a verbose response is truncated after its answer.
CONTROL_SETTINGS: Mapping[str, Any] = MappingProxyType(
    {"temperature": 0.0, "max_tokens": 24, "logprobs": True}
)


class ControlPrompt(Struct, frozen=True, forbid_unknown_fields=True):
    """A simple prompt and accepted words; any of them makes a response correct."""

    text: str
    accepted: tuple[str, ...]
    language: str = "en"


class ControlAnswer(Struct, frozen=True, kw_only=True):
    """Hold the answer to one prompt.

    ``error`` names the failure if there is no answer. Token counts and ``mean_logprob`` (natural
    logarithm, over the response's tokens) are None if the endpoint reported none.
    """

    prompt: str
    language: str
    response: str = ""
    is_right: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    mean_logprob: float | None = None
    error: str = ""


class _File(Struct, frozen=True):
    prompts: tuple[ControlPrompt, ...]


def control_prompts() -> tuple[ControlPrompt, ...]:
    """Return the bundled prompts, in order."""
    text = (resources.files(__package__) / "control.toml").read_text(encoding="utf-8")
    return msgspec.toml.decode(text, type=_File).prompts


async def ask_control(
    ask: Callable[[tuple[Message, ...]], Awaitable[Response]],
    prompts: Sequence[ControlPrompt] | None = None,
) -> tuple[ControlAnswer, ...]:
    """Return the answers to ``prompts`` (default: the bundled ones), in their order.

    Prompts are asked concurrently. ``ask`` uses CONTROL_SETTINGS; its CallFailed becomes that
    answer's ``error``.
    """
    chosen = control_prompts() if prompts is None else prompts
    return tuple(await asyncio.gather(*(_ask_one(ask, prompt) for prompt in chosen)))


def summarise_control(answers: Sequence[ControlAnswer]) -> str:
    """Return one line: correct answers, tokens used, and mean log-probability."""
    if not answers:
        return "no simple completion was asked"
    right = sum(answer.is_right for answer in answers)
    failed = sum(bool(answer.error) for answer in answers)
    empty = sum(not answer.error and not answer.response.strip() for answer in answers)
    parts = [f"{right} of {len(answers)} simple completions correct", _tokens(answers)]
    parts += [_sureness(answers)]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{empty} empty"] if empty else []
    return "; ".join(parts)


async def _ask_one(
    ask: Callable[[tuple[Message, ...]], Awaitable[Response]], prompt: ControlPrompt
) -> ControlAnswer:
    try:
        response = await ask((Message("user", prompt.text),))
    except CallFailed as failure:
        return ControlAnswer(prompt=prompt.text, language=prompt.language, error=failure.kind)
    return ControlAnswer(
        prompt=prompt.text,
        language=prompt.language,
        response=response.text,
        is_right=any(_says(response.text, word) for word in prompt.accepted),
        prompt_tokens=response.usage.prompt,
        completion_tokens=response.usage.completion,
        mean_logprob=response.mean_logprob,
    )


def _says(text: str, word: str) -> bool:
    """Return True if ``text`` contains ``word``, ignoring case.

    It must be a whole word, except in scripts without spaces.
    """
    if not word.isascii():
        return word in text
    # ASCII word boundaries: Chinese writes 2 with no space around it.
    whole = rf"(?<![^\W_]){re.escape(word)}(?![^\W_])"
    return re.search(whole, text, re.IGNORECASE | re.ASCII) is not None


def _tokens(answers: Sequence[ControlAnswer]) -> str:
    asked = [answer.prompt_tokens for answer in answers if answer.prompt_tokens is not None]
    made = [answer.completion_tokens for answer in answers if answer.completion_tokens is not None]
    if not made:
        return "no token counts reported"
    return f"{sum(made)} tokens generated from {sum(asked)}"


def _sureness(answers: Sequence[ControlAnswer]) -> str:
    """Return the mean over all generated tokens, so that longer responses weigh more."""
    known = [
        (answer.mean_logprob, answer.completion_tokens)
        for answer in answers
        if answer.mean_logprob is not None and answer.completion_tokens
    ]
    if not known:
        return "no log-probabilities reported"
    mean = sum(logprob * n for logprob, n in known) / sum(n for _, n in known)
    return f"mean log-probability of a token {mean:.2f}"


# Check many models; a fault in one does not affect the others.

_AT_ONCE = 8


_LOCAL_TIMEOUT_S = 1.0


_TIMEOUT_S = 120.0  # a small request; loading a local model for it takes time


CANNOT_OPEN = "cannot_be_opened"


async def call_roll(
    names: Sequence[str],
    config: ModelConfig,
    clock: Clock,
    *,
    once_run: Collection[str] = frozenset(),
) -> list[Checked]:
    """Return one check per name, in their order; opening errors become part of the check.

    Endpoints are checked concurrently, with one list request each. Models on this machine follow
    each other, since each fills its memory. A model of ``once_run`` (used before) is marked if its
    endpoint neither lists nor serves it any more.
    """
    roll = _Roll(config, clock)
    checks: dict[str, Checked] = {}

    async def check(name: str) -> None:
        checks[name] = _mark_unavailable(await roll.check(name), was_there=name in once_run)

    distinct = list(dict.fromkeys(names))
    here = [name for name in distinct if name.startswith("local/")]
    async with asyncio.TaskGroup() as group:
        for name in distinct:
            if name not in here:
                group.create_task(check(name))
        for name in here:
            await check(name)
    return [checks[name] for name in distinct]


async def reported_here(config: ModelConfig, clock: Clock) -> list[str]:
    """Return the models that servers on this machine list, by name.

    Covers providers with a local address. A server that is down, or takes more than a second, has
    none.
    """
    names = sorted(
        name for name, entry in config.providers.items()
        if isinstance(entry.base_url, str)
        and (to := destination_of(entry.base_url)) is not None
        and to.is_local
    )  # fmt: skip
    found = await asyncio.gather(*(_listed(name, config, clock) for name in names))
    return [model for models in found for model in models]


async def _listed(provider: str, config: ModelConfig, clock: Clock) -> list[str]:
    try:
        model = await open_model(
            f"{provider}/any", config, clock=clock, flags=Entry(timeout_s=_LOCAL_TIMEOUT_S)
        )
    except ProofstoneError:
        return []
    try:
        async with asyncio.timeout(_LOCAL_TIMEOUT_S):
            listing = await fetch_listing(model) if isinstance(model, Lister) else Listing()
    except (ProofstoneError, TimeoutError):
        return []
    finally:
        await model.close()
    return [f"{provider}/{name}" for name in sorted(listing.ids)]


class _Roll:
    """Share concurrency slots and each endpoint's list between checks."""

    def __init__(self, config: ModelConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._listings: dict[str, asyncio.Task[Listing]] = {}

    async def check(self, name: str) -> Checked:
        """Check one model."""
        async with self._slots:
            try:
                return await self._ask(name)
            except ProofstoneError as error:
                return Checked(
                    name=name, usable=False, kind=CANNOT_OPEN, detail=error.message,
                    advice=error.hint,
                )  # fmt: skip

    async def _ask(self, name: str) -> Checked:
        flags = Entry(timeout_s=_TIMEOUT_S)
        model = await open_model(name, self._config, clock=self._clock, flags=flags)
        try:
            checked = await check_model(model, await self._listing(model))
        finally:
            await model.close()
        return self._advised(name, model, checked)

    async def _listing(self, model: Model) -> Listing:
        """Return the list of the model's endpoint, requested once for all its models."""
        if not isinstance(model, Lister):
            return Listing(problem="it has no endpoint with a model list")
        task = self._listings.get(model.endpoint)
        if task is None:
            task = asyncio.create_task(fetch_listing(model))
            self._listings[model.endpoint] = task
        return await task

    def _advised(self, name: str, model: Model, checked: Checked) -> Checked:
        if checked.usable:
            return checked
        hints = {"key": "the environment", "entry": "proofstone.toml"}
        if isinstance(model, Lister):
            endpoint = resolve(parse_model_name(name), self._config)
            hints = {"key": endpoint.key_from, "entry": endpoint.entry}
        advice = advise(checked.kind, model=model.reported_as, endpoint=model.endpoint, **hints)
        if checked.near:
            advice = f"did you mean one of these: {', '.join(checked.near)}?"
        return structs.replace(checked, advice=advice)


def _mark_unavailable(checked: Checked, *, was_there: bool) -> Checked:
    """Mark the check of a model used before that its endpoint no longer has."""
    if checked.usable or not was_there:
        return checked
    gone = checked.kind == "unknown_model" or checked.listed == "not listed"
    return structs.replace(checked, is_unavailable=gone)


StepName = Literal[
    "settings", "policy", "proxy", "dns", "connection", "certificate", "address", "key", "model"
]


STEPS: tuple[StepName, ...] = (
    "settings", "policy", "proxy", "dns", "connection", "certificate", "address", "key", "model",
)  # fmt: skip


# A model that no provider has: an endpoint that accepts the key answers that it is unknown.
NO_MODEL = "proofstone-doctor"


_ONLINE_TIMEOUT_S = 60.0


# The step at which each kind of failure occurs; other kinds occur after the key was accepted.
_ENDS_AT: Mapping[str, StepName] = {
    "no_such_host": "dns",
    "proxy_unreachable": "proxy",
    "proxy_refused": "proxy",
    "unreachable": "connection",
    "dropped": "connection",
    "timeout": "connection",
    "bad_certificate": "certificate",
    "not_an_api": "address",
    "unreadable": "address",
    "bad_key": "key",
    "no_credit": "key",
}


class Step(Struct, frozen=True):
    """One step: "ok", "failed", or "open" (an earlier step failed, or nothing was found out).

    Holds the finding, and what to do after a failure.
    """

    name: StepName
    state: Literal["ok", "failed", "open"]
    found: str = ""
    remedy: str = ""


class Online(Struct, frozen=True):
    """A model, or a provider (``openai/...``), and its steps in order."""

    name: str
    endpoint: str
    steps: tuple[Step, ...]
    latency_s: float = 0.0

    @property
    def is_well(self) -> bool:
        """Return True if no step failed."""
        return all(step.state != "failed" for step in self.steps)


def online_names(config: ModelConfig) -> list[str]:
    """Return the names to check: configured models, and providers as ``provider/...``.

    Providers are those of the user's own files, and known ones whose key is set; those of Inspect
    are checked by their models only.
    """
    own = {name for layer in config.layers[1:] for name in layer.providers}
    for name, entry in config.providers.items():
        if isinstance(entry.api_key_env, str) and config.environment.get(entry.api_key_env):
            own.add(name)
    asked = {parse_model_name(name).provider for name in config.models}
    reached = (name for name in config.models if not name.startswith(("local/", "sim/")))
    return [*sorted(reached), *(f"{name}/..." for name in sorted(own - asked) if "/" not in name)]


async def look_online(name: str, config: ModelConfig, clock: Clock) -> Online:
    """Send one request to a model, or to a provider with a model name that does not exist.

    The host must be permitted (``EgressGate.permit``). The request holds no workspace data.
    """
    provider, is_provider = name.removesuffix("/..."), name.endswith("/...")
    parsed = ModelName(provider, NO_MODEL) if is_provider else parse_model_name(name)
    if parsed.provider in ("local", "sim"):
        return Online(
            name, "this machine", (Step("settings", "ok", "runs here: no connection needed"),)
        )
    try:
        endpoint = resolve(parsed, config)
    except ProofstoneError as error:
        said = error.message.replace(str(parsed), provider)
        return Online(name, "", _until(_step_of(parsed, config, error), {}, said, error.hint))
    key = f"key from {endpoint.key_from}" if endpoint.key_from else "no key"
    found: dict[StepName, str] = {"settings": f"{endpoint.entry}, {key}"}
    try:
        model, to = _opened(parsed, endpoint, config, clock)
        found |= await _facts(endpoint, to)
        try:
            checked = await check_model(model)
        finally:
            await model.close()
    except EgressRefused as error:
        return Online(name, endpoint.identity, _until("policy", found, error.message, error.hint))
    except ProofstoneError as error:  # an unreadable file of CA certificates
        steps = _until("certificate", found, error.message, error.hint)
        return Online(name, endpoint.identity, steps)
    steps = _judged(checked, found, endpoint, is_provider=is_provider)
    return Online(name, endpoint.identity, steps, checked.latency_s)


def _opened(
    name: ModelName, endpoint: Endpoint, config: ModelConfig, clock: Clock
) -> tuple[Model, Destination]:
    """Return the model and its destination. Raises EgressRefused if it may not be asked."""
    to = destination_of(endpoint.identity)
    model = open_endpoint(name, config, clock=clock, flags=Entry(timeout_s=_ONLINE_TIMEOUT_S))
    if to is None or model is None:
        raise EgressRefused(f"{endpoint.identity} is not a valid address")
    endpoint.route.gate.check(endpoint.route.leaves_to(to))
    return model, to


def _judged(
    checked: Checked, found: dict[StepName, str], endpoint: Endpoint, *, is_provider: bool
) -> tuple[Step, ...]:
    if checked.usable:
        found["model"] = checked.reported_model or "answered"
        return _until(None, found)
    if is_provider and checked.kind == "unknown_model":
        found["model"] = "no model was given: ask one with -m PROVIDER/NAME"
        return _until(None, found)
    advice = advise(
        checked.kind,
        model=endpoint.reported_as,
        endpoint=endpoint.identity,
        key=endpoint.key_from,
        entry=endpoint.entry,
    )
    said = f"{checked.kind}: {checked.detail}"
    return _until(_ENDS_AT.get(checked.kind, "model"), found, said, advice)


def _until(
    failed: StepName | None, found: Mapping[StepName, str], said: str = "", remedy: str = ""
) -> tuple[Step, ...]:
    """Return the steps: ok before ``failed``, that one with its error, and the rest open.

    Without anything ``found`` the earlier steps are open. All are ok if none failed.
    """
    place = len(STEPS) if failed is None else STEPS.index(failed)
    steps = [Step(name, "ok" if found else "open", found.get(name, "")) for name in STEPS[:place]]
    if failed is not None:
        steps.append(Step(failed, "failed", said, remedy))
    return (*steps, *(Step(name, "open") for name in STEPS[place + 1 :]))


def _step_of(name: ModelName, config: ModelConfig, error: ProofstoneError) -> StepName:
    """Return the step at which a model that cannot be resolved fails."""
    if not isinstance(error, EndpointUnusable):
        return "settings"
    entries = (config.models.get(str(name)), config.providers.get(name.provider))
    variables = [entry.api_key_env for entry in entries if entry is not None]
    variable = next((v for v in variables if isinstance(v, str)), "")
    return "key" if variable and variable in error.message else "proxy"


async def _facts(endpoint: Endpoint, to: Destination) -> dict[StepName, str]:
    """Return what is known of the steps without a request."""
    proxy, is_tls = endpoint.route.proxy, endpoint.identity.startswith("https:")
    trusted = f"trusted by {endpoint.route.trust}" if is_tls else "none, the address is http"
    leaving = endpoint.route.leaves_to(to)
    facts: dict[StepName, str] = {
        "policy": f"{leaving} is this machine" if leaving.is_local else f"{leaving} may be asked",
        "proxy": "none" if proxy is None else f"{proxy.url} ({proxy.origin})",
        "dns": f"{to.host} is resolved by the proxy",
        "connection": str(to) if proxy is None else f"{to} through {proxy.destination}",
        "certificate": trusted,
        "address": endpoint.identity,
        "key": endpoint.key_from or "none needed",
    }
    if proxy is None:
        facts["dns"] = await _resolved(to)
    return facts


async def _resolved(to: Destination) -> str:
    """Return the addresses of a host; empty without any, which the request will report."""
    loop = asyncio.get_running_loop()
    try:
        infos = await loop.getaddrinfo(to.host, to.port, type=socket.SOCK_STREAM)
    except OSError:
        return ""
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    more = f" and {len(addresses) - 3} more" if len(addresses) > 3 else ""
    return ", ".join(addresses[:3]) + more

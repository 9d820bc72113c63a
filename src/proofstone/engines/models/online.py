"""Why a model does not answer: settings, policy, proxy, DNS, connection, certificate, key, model.

One real request is made, by the very client that a run uses, and what became of it says at which
step it ended.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from proofstone.engines.models.checking import Checked, check_model
from proofstone.engines.models.config import Endpoint, ModelConfig, resolve
from proofstone.engines.models.destination import Destination, destination_of
from proofstone.engines.models.entries import Entry
from proofstone.engines.models.failure_kinds import advise
from proofstone.engines.models.names import ModelName, parse_model_name
from proofstone.engines.models.opening import open_endpoint
from proofstone.errors import EgressRefused, EndpointUnusable, ProofstoneError
from proofstone.ports import Clock, Model

__all__ = ["STEPS", "Online", "Step", "StepName", "look_online", "online_names"]

StepName = Literal[
    "settings", "policy", "proxy", "dns", "connection", "certificate", "address", "key", "model"
]
STEPS: tuple[StepName, ...] = (
    "settings", "policy", "proxy", "dns", "connection", "certificate", "address", "key", "model",
)  # fmt: skip
# A model that no provider has: an endpoint that knows the key says that it does not know this.
NO_MODEL = "proofstone-doctor"
_TIMEOUT_S = 60.0
# At which step each kind of failure ends; any other kind comes from behind the key.
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
    """One step: "ok", "failed", or "open" where an earlier one failed or nothing was to be told;
    what was found, and what to do where it failed."""

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
        """Whether no step failed."""
        return all(step.state != "failed" for step in self.steps)


def online_names(config: ModelConfig) -> list[str]:
    """What there is to look at: the configured models, and (as ``provider/...``) the providers of
    the user's own files and those known ones whose key is set."""
    own = {name for layer in config.layers[1:] for name in layer.providers}
    for name, entry in config.providers.items():
        if isinstance(entry.api_key_env, str) and config.environment.get(entry.api_key_env):
            own.add(name)
    asked = {parse_model_name(name).provider for name in config.models}
    reached = (name for name in config.models if not name.startswith(("local/", "sim/")))
    return [*sorted(reached), *(f"{name}/..." for name in sorted(own - asked))]


async def look_online(name: str, config: ModelConfig, clock: Clock) -> Online:
    """One request to a model, or to a provider under a model's name that nobody has. The host must
    be permitted (``EgressGate.permit``); it holds nothing of a workspace."""
    provider, is_provider = name.removesuffix("/..."), name.endswith("/...")
    parsed = ModelName(provider, NO_MODEL) if is_provider else parse_model_name(name)
    if parsed.provider in ("local", "sim"):
        return Online(
            name, "this machine", (Step("settings", "ok", "runs here: nothing to reach"),)
        )
    try:
        endpoint = resolve(parsed, config)
    except ProofstoneError as error:
        said = error.message.replace(str(parsed), provider)
        return Online(name, "", _unresolved(_step_of(parsed, config, error), said, error.hint))
    found: dict[StepName, str] = {"settings": _settings(endpoint)}
    try:
        model, to = _opened(parsed, endpoint, config, clock)
        found |= await _facts(endpoint, to)
        try:
            checked = await check_model(model)
        finally:
            await model.close()
    except EgressRefused as error:
        return Online(name, endpoint.identity, _until("policy", found, error.message, error.hint))
    except ProofstoneError as error:  # a CA file that cannot be read
        steps = _until("certificate", found, error.message, error.hint)
        return Online(name, endpoint.identity, steps)
    steps = _judged(checked, found, endpoint, is_provider=is_provider)
    return Online(name, endpoint.identity, steps, checked.latency_s)


def _opened(
    name: ModelName, endpoint: Endpoint, config: ModelConfig, clock: Clock
) -> tuple[Model, Destination]:
    """The model and where it stands. Raises EgressRefused where it may not be asked."""
    to = destination_of(endpoint.identity)
    model = open_endpoint(name, config, clock=clock, flags=Entry(timeout_s=_TIMEOUT_S))
    if to is None or model is None:
        raise EgressRefused(f"{endpoint.identity} is no address to send to")
    endpoint.route.gate.check(endpoint.route.leaves_to(to))
    return model, to


def _judged(
    checked: Checked, found: dict[StepName, str], endpoint: Endpoint, *, is_provider: bool
) -> tuple[Step, ...]:
    if checked.usable:
        found["model"] = checked.served_model or "answered"
        return _until(None, found)
    if is_provider and checked.kind == "unknown_model":
        found["model"] = "none was named: -m PROVIDER/NAME asks one"
        return _until(None, found)
    advice = advise(
        checked.kind,
        model=endpoint.served_as,
        endpoint=endpoint.identity,
        key=endpoint.key_from,
        entry=endpoint.entry,
    )
    said = f"{checked.kind}: {checked.detail}"
    return _until(_ENDS_AT.get(checked.kind, "model"), found, said, advice)


def _until(
    failed: StepName | None, found: Mapping[StepName, str], said: str = "", remedy: str = ""
) -> tuple[Step, ...]:
    """The steps before ``failed`` as ok, that one with what is said of it, the rest open; all ok
    where none failed."""
    if failed is None:
        return tuple(Step(name, "ok", found.get(name, "")) for name in STEPS)
    place = STEPS.index(failed)
    return (
        *(Step(name, "ok", found.get(name, "")) for name in STEPS[:place]),
        Step(failed, "failed", said, remedy),
        *(Step(name, "open") for name in STEPS[place + 1 :]),
    )


def _step_of(name: ModelName, config: ModelConfig, error: ProofstoneError) -> StepName:
    """At which step a model that cannot even be resolved fails."""
    if not isinstance(error, EndpointUnusable):
        return "settings"
    entries = (config.models.get(str(name)), config.providers.get(name.provider))
    variables = [entry.api_key_env for entry in entries if entry is not None]
    variable = next((v for v in variables if isinstance(v, str)), "")
    return "key" if variable and variable in error.message else "proxy"


def _unresolved(failed: StepName, said: str, remedy: str) -> tuple[Step, ...]:
    """The steps where nothing was asked: all but the failed one are open."""
    return tuple(
        Step(name, "failed", said, remedy) if name == failed else Step(name, "open")
        for name in STEPS
    )


def _settings(endpoint: Endpoint) -> str:
    key = f"key from {endpoint.key_from}" if endpoint.key_from else "no key"
    return f"{endpoint.entry}, {key}"


async def _facts(endpoint: Endpoint, to: Destination) -> dict[StepName, str]:
    """What can be said of the steps without a request."""
    proxy, is_tls = endpoint.route.proxy, endpoint.identity.startswith("https:")
    trusted = f"trusted by {endpoint.route.trust}" if is_tls else "none, the address is http"
    leaving = endpoint.route.leaves_to(to)
    facts: dict[StepName, str] = {
        "policy": f"{leaving} is this machine" if leaving.is_local else f"{leaving} may be asked",
        "proxy": "none" if proxy is None else f"{proxy.url} ({proxy.origin})",
        "dns": f"{to.host} is left to the proxy",
        "connection": str(to) if proxy is None else f"{to} through {proxy.destination}",
        "certificate": trusted,
        "address": endpoint.identity,
        "key": endpoint.key_from or "none needed",
    }
    if proxy is None:
        facts["dns"] = await _resolved(to)
    return facts


async def _resolved(to: Destination) -> str:
    """The addresses of a host; empty where there is none, which the request will say itself."""
    loop = asyncio.get_running_loop()
    try:
        infos = await loop.getaddrinfo(to.host, to.port, type=socket.SOCK_STREAM)
    except OSError:
        return ""
    addresses = list(dict.fromkeys(str(info[4][0]) for info in infos))
    more = f" and {len(addresses) - 3} more" if len(addresses) > 3 else ""
    return ", ".join(addresses[:3]) + more

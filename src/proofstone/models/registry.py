"""Open a model by its name; the only module that knows all kinds of providers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from random import Random

from msgspec import Struct, UnsetType

from proofstone.errors import ProofstoneError
from proofstone.models.ask import Asker
from proofstone.models.budget import FREE, Spending
from proofstone.models.concurrency import Limiter, Limiters
from proofstone.models.config import (
    MAX_CONNECTIONS,
    Endpoint,
    ModelConfig,
    address_of,
    card_of,
    price_of,
    resolve,
    wire_of,
)
from proofstone.models.credentials import Secret
from proofstone.models.entries import Entry, merged
from proofstone.models.names import Destination, ModelName, destination_of, parse_model_name
from proofstone.models.retries import Retries
from proofstone.models.wire import ImageReader
from proofstone.records.calls import CacheUse, CallStore, Clock, Model
from proofstone.records.models import Card, ModelCheck, Price

_HERE = "this machine"


_NO_ENDPOINT = ("local", "sim")


class Listed(Struct, frozen=True, kw_only=True):
    """A model or provider of the configuration, and why it cannot be used (empty if it can).

    ``unset`` are its missing environment variables, which are a problem as well. ``checked`` is the
    result of its last check, if there was one.
    """

    name: str
    endpoint: str = ""
    key_from: str = ""
    price: Price | None = None
    card: Card = Card()
    problem: str = ""
    unset: tuple[str, ...] = ()
    checked: ModelCheck | None = None


async def open_model(
    name: str | ModelName, config: ModelConfig, *, clock: Clock, flags: Entry | None = None
) -> Model:
    """Return the model of a name, ready to ask.

    Raises what ``resolve`` raises, EndpointUnusable if a local file cannot be loaded, EgressRefused
    if a policy refuses its host, and ExtraMissing or BadUsage if Inspect cannot open its model.
    """
    model, _endpoint = await _open(_named(name), config, clock, flags)
    return model


def open_endpoint(
    name: str | ModelName, config: ModelConfig, *, clock: Clock, flags: Entry | None = None
) -> Model | None:
    """Return the model of a name behind an address; None for ``local`` and ``sim``.

    Opens no connection. Raises what ``resolve`` raises.
    """
    named = _named(name)
    if named.provider in _NO_ENDPOINT or _is_mock(named):
        return None
    return _client(named, resolve(named, config, flags), clock, None)


def leaves_to(name: str | ModelName, config: ModelConfig) -> Destination | None:
    """Return the destination of a model's requests; None for this machine.

    Raises what ``resolve`` raises.
    """
    named = _named(name)
    if named.provider in _NO_ENDPOINT or _is_mock(named):
        return None
    endpoint = resolve(named, config)
    to = destination_of(endpoint.identity)
    return None if to is None else endpoint.route.leaves_to(to)


async def open_asker(
    name: str | ModelName,
    config: ModelConfig,
    *,
    store: CallStore,
    clock: Clock,
    rng: Random,
    limiters: Limiters,
    flags: Entry | None = None,
    retries: Retries | None = None,
    stop: asyncio.Event | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
) -> Asker:
    """Return an asker for the model of a name, with its endpoint's limiter and its price.

    Models without a paid endpoint are free. Raises NoPrice if ``spending`` is in money and no price
    is known.
    """
    model, endpoint = await _open(_named(name), config, clock, flags, store.image)
    price: Price | None = FREE
    hints = None
    if endpoint is not None:
        price = endpoint.price
        hints = {"key": endpoint.key_from, "entry": endpoint.entry}
    return Asker(
        model,
        _limiter(model, endpoint, limiters, flags),
        store=store,
        clock=clock,
        rng=rng,
        price=price,
        retries=retries,
        stop=stop,
        hints=hints,
        cache=cache,
        spending=spending,
        window=None if endpoint is None else endpoint.window,
    )


def list_models(config: ModelConfig, more: Iterable[str] = ()) -> list[Listed]:
    """Return every configured model, those in ``more``, and every provider, by name.

    Each comes with the reason why it cannot be used, if any.
    """
    providers = (f"{provider}/..." for provider in config.providers)
    return [_listed(name, config) for name in sorted({*config.models, *more, *providers})]


def _named(name: str | ModelName) -> ModelName:
    return parse_model_name(name) if isinstance(name, str) else name


async def _open(
    name: ModelName,
    config: ModelConfig,
    clock: Clock,
    flags: Entry | None,
    images: ImageReader | None = None,
) -> tuple[Model, Endpoint | None]:
    if name.provider == "sim":
        from proofstone.models.simulator import simulated_model  # noqa: PLC0415

        return simulated_model(name), None
    if name.provider == "local":
        from proofstone.models.local import open_local  # noqa: PLC0415 - native code

        by_card = Entry(wire=wire_of(card_of(name, config)))
        entry = merged([by_card, config.models.get(str(name), Entry()), flags or Entry()])
        return await open_local(name.model, clock=clock, entry=entry), None
    if _is_mock(name):
        return _client(name, _mock_of(name), clock, images), None
    endpoint = resolve(name, config, flags)
    if (to := destination_of(endpoint.identity)) is not None:
        endpoint.route.gate.check_policies(endpoint.route.leaves_to(to))
    return _client(name, endpoint, clock, images), endpoint


def _is_mock(name: ModelName) -> bool:
    """Return True for Inspect's mock model, which has no address."""
    return name.provider == "inspect" and name.model.startswith("mockllm/")


def _mock_of(name: ModelName) -> Endpoint:
    """Return the endpoint of a mock model, which sends nothing."""
    identity = "simulated by Inspect"
    return Endpoint(name=str(name), base_url=Secret(""), identity=identity, reported_as=name.model)


def _client(name: ModelName, endpoint: Endpoint, clock: Clock, images: ImageReader | None) -> Model:
    """Return the client of an endpoint's wire format, or of Inspect's provider."""
    if name.provider == "inspect":
        from proofstone.models.inspect_bridge import open_inspect  # noqa: PLC0415 - an extra

        return open_inspect(endpoint, clock=clock, images=images)
    if endpoint.wire == "openai-completions":
        from proofstone.models.client import CompletionsEndpoint  # noqa: PLC0415 - aiohttp

        return CompletionsEndpoint(endpoint, clock=clock)
    from proofstone.models.client import ChatEndpoint  # noqa: PLC0415 - aiohttp

    return ChatEndpoint(endpoint, clock=clock, images=images)


def _limiter(
    model: Model, endpoint: Endpoint | None, limiters: Limiters, flags: Entry | None
) -> Limiter:
    if endpoint is not None:
        named = flags is not None and not isinstance(flags.max_connections, UnsetType)
        return limiters.of(endpoint.identity, endpoint.max_connections, at_once=named)
    most = MAX_CONNECTIONS
    if flags is not None and not isinstance(flags.max_connections, UnsetType):
        most = flags.max_connections
    own = getattr(
        model, "max_connections", None
    )  # how many requests a local runner decodes together
    most = min(most, own) if isinstance(own, int) else most
    return limiters.of(f"{model.endpoint} {model.name}", most)


def _listed(name: str, config: ModelConfig) -> Listed:
    problem, identity, key_from = "", "", ""
    unset: tuple[str, ...] = ()
    parsed = parse_model_name(name)
    try:
        if parsed.provider in _NO_ENDPOINT or _is_mock(parsed):
            identity = _HERE
        else:
            identity, unset = address_of(parsed, config)
            endpoint = resolve(parsed, config)
            identity, key_from = endpoint.identity, endpoint.key_from
    except ProofstoneError as error:
        problem = error.message
    return Listed(
        name=name,
        endpoint=identity,
        key_from=key_from,
        price=price_of(parsed, config),
        card=card_of(parsed, config),
        problem=problem,
        unset=unset,
    )

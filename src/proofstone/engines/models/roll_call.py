"""A check of many models: whatever is wrong with one, the others are asked all the same."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from msgspec import structs

from proofstone.engines.models.checking import Checked, Lister, check_model, fetch_listing
from proofstone.engines.models.config import ModelConfig, resolve
from proofstone.engines.models.destination import destination_of
from proofstone.engines.models.entries import Entry
from proofstone.engines.models.failure_kinds import advise
from proofstone.engines.models.listing import Listing
from proofstone.engines.models.names import parse_model_name
from proofstone.engines.models.opening import open_model
from proofstone.errors import ProofstoneError
from proofstone.ports import Clock, Model

__all__ = ["call_roll", "served_here"]

_AT_ONCE = 8
_LOCAL_TIMEOUT_S = 1.0
_TIMEOUT_S = 120.0  # a tiny question; a model that is loaded for it takes its time
CANNOT_OPEN = "cannot_be_opened"


async def call_roll(
    names: Sequence[str],
    config: ModelConfig,
    clock: Clock,
    *,
    once_run: Collection[str] = frozenset(),
) -> list[Checked]:
    """One check a name, in their order; what keeps a model from being opened is its check's.

    Endpoints are asked at once and each for its list a single time; models that run on this
    machine one after the other, since each fills its memory. A model of ``once_run`` (asked here
    before) that its endpoint neither lists nor serves any more is retired.
    """
    roll = _Roll(config, clock)
    checks: dict[str, Checked] = {}

    async def check(name: str) -> None:
        checks[name] = _retired(await roll.check(name), was_there=name in once_run)

    distinct = list(dict.fromkeys(names))
    here = [name for name in distinct if name.startswith("local/")]
    async with asyncio.TaskGroup() as group:
        for name in distinct:
            if name not in here:
                group.create_task(check(name))
        for name in here:
            await check(name)
    return [checks[name] for name in distinct]


async def served_here(config: ModelConfig, clock: Clock) -> list[str]:
    """The models that servers on this machine list, by name: of the providers whose address is a
    local one. A server that does not run, or does not answer within a second, has none."""
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
    """What the checks of one roll share: how many go on at once, and each endpoint's list."""

    def __init__(self, config: ModelConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._listings: dict[str, asyncio.Task[Listing]] = {}

    async def check(self, name: str) -> Checked:
        """One model's check."""
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
        """The list of the model's endpoint, asked for by the first of its models."""
        if not isinstance(model, Lister):
            return Listing(problem="it has no endpoint that could list it")
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
        advice = advise(checked.kind, model=model.served_as, endpoint=model.endpoint, **hints)
        if checked.near:
            advice = f"is one of these meant: {', '.join(checked.near)}?"
        return structs.replace(checked, advice=advice)


def _retired(checked: Checked, *, was_there: bool) -> Checked:
    """The check, marked where a model that was there is gone by its endpoint's own word."""
    if checked.usable or not was_there:
        return checked
    gone = checked.kind == "unknown_model" or checked.listed == "not listed"
    return structs.replace(checked, retired=gone)

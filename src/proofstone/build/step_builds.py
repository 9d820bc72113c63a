"""Building banks in steps, with models or without: builds, dry runs and prompts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from msgspec import structs

from proofstone.build.build import BuildProgress, BuildResult, perform_build, progress_of_build
from proofstone.build.calls import StepPrompt, show_prompts
from proofstone.build.list_files import list_files
from proofstone.build.live_sources import (
    gather_inputs,
    tell_step,
    tell_unread_pages,
)
from proofstone.build.outbound import clear_build, web_finders
from proofstone.build.pilot import ask_pilot, draw_pilot
from proofstone.build.plan import (
    BuildSpec,
    Models,
    PlannedBuild,
    builder_of,
    entering_rows,
    maker_of_kind,
    models_by_seat,
    plan_build,
    purposes_of,
)
from proofstone.build.regions import with_regions
from proofstone.errors import BadUsage
from proofstone.ingest.pages import document_of
from proofstone.method import find_method
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget
from proofstone.models.budget_account import Spending
from proofstone.models.reply_cache import CacheUse
from proofstone.records.ids import short
from proofstone.records.steps import Maker
from proofstone.run.dry_run import PILOT
from proofstone.run.forecast import BuildForecast
from proofstone.run.self_preference import Kin, held_by_builders, kin_of
from proofstone.search.retrieval import index_for, web_finder
from proofstone.session.askers import check_replies_end, on_record, session_askers
from proofstone.session.background import Background
from proofstone.session.costs import start_spending
from proofstone.session.models import family_of_model
from proofstone.session.progress import Watch
from proofstone.session.session import Session
from proofstone.store.builds import EnteringRow

_LEAST_PILOT = 2


def build_in_steps(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    models: Models = "",
    judge: str | Sequence[str] = "",
    seed: int = 0,
    limit: int | None = None,
    per_input: int | None = None,
    languages: Sequence[str] = (),
    method: str | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | Spending | None = None,
    settings: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **params: Any,
) -> BuildResult:
    """Builds facts of ``kind`` from inputs, step by step, and a bank once all rows are through.

    ``models`` names the model of each role, or one for all roles that build; ``judge`` the one,
    or the panel, for those that judge. The same call again goes on where it stopped: what a
    step made of a row is kept, and made again only where the step, its configuration or the
    row is another. ``per_input`` rows of each input enter, drawn by the seed, or all;
    ``limit`` lets only the first of them enter, ``languages`` only passages in these.
    ``budget``, ``cache``, ``watch`` and ``on_interrupt`` are as of ``run``.
    """
    chosen, spec = _spec(session,
        kind, inputs, name, models, judge, settings, seed, limit, per_input, languages,
        method, params,
    )  # fmt: skip
    return perform_build_spec(session,
        spec, chosen, max_connections=max_connections, cache=cache,
        spending=start_spending(session, budget), watch=watch, on_interrupt=on_interrupt,
    )  # fmt: skip


def forecast_build(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str = "",
    models: Models = "",
    judge: str | Sequence[str] = "",
    seed: int = 0,
    limit: int | None = None,
    per_input: int | None = None,
    languages: Sequence[str] = (),
    method: str | None = None,
    pilot: int = PILOT,
    pilot_rows: Sequence[str] = (),
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | Spending | None = None,
    settings: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **params: Any,
) -> BuildForecast:
    """What ``build_in_steps`` with the same arguments would take: calls, tokens, money and time
    as ranges, and how many rows would be left.

    ``pilot`` rows, a seeded sample, are really worked on; what is made of them is kept for the
    build. ``pilot_rows`` names inputs whose rows are the pilot instead, such as passages that
    were chosen and built of before. ``budget`` bounds the pilot, and it is said whether as much
    would cover the rest.
    """
    if pilot < _LEAST_PILOT:
        raise BadUsage(f"a pilot takes 2 rows or more, not {pilot}: a range needs two")
    chosen, spec = _spec(session,
        kind, inputs, name, models, judge, settings, seed, limit, per_input, languages,
        method, params,
    )  # fmt: skip
    connections = (max_connections, cache, start_spending(session, budget))
    spec = gather_inputs(session, chosen, spec, connections[2])
    planned = _plan(session, spec, chosen, connections)

    rows = draw_pilot(session.store, planned, pilot)
    if pilot_rows:
        only = structs.replace(
            spec, inputs=(*pilot_rows,), limit=None, per_input=None, gathered=None
        )
        rows = list(entering_rows(session.store, planned.builder, only, planned.build.params))
    clear_build(session, planned, rows)
    shown: list[BuildProgress] = []

    async def work(stop: asyncio.Event) -> BuildForecast:
        return await _ask_pilot(session, planned, chosen, rows, shown, stop, connections)

    made = Background(work).wait_stoppable(
        lambda: _watch(shown, watch), lambda: _tell(shown, on_interrupt)
    )
    _tell_searched(session, planned)
    return made


def prompts_of_build(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    n: int,
    *,
    name: str = "",
    models: Models = "",
    judge: str | Sequence[str] = "",
    seed: int = 0,
    limit: int | None = None,
    per_input: int | None = None,
    languages: Sequence[str] = (),
    method: str | None = None,
    settings: Mapping[str, Any] | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | Spending | None = None,
    **params: Any,
) -> list[StepPrompt]:
    """The prompts of the first ``n`` rows as they would be sent; asks no model."""
    chosen, spec = _spec(session,
        kind, inputs, name, models, judge, settings, seed, limit, per_input, languages,
        method, params,
    )  # fmt: skip
    connections = (max_connections, cache, start_spending(session, budget))
    spec = gather_inputs(session, chosen, spec, connections[2])
    planned = _plan(session, spec, chosen, connections)
    for finder in web_finders(planned):
        finder.sends = "nothing"

    async def work(stop: asyncio.Event) -> list[StepPrompt]:

        async with _role_askers(session, spec.models, stop, connections) as opened:
            askers = {role: opened[model] for role, model in spec.models.items()}
            return await show_prompts(session.store, planned, askers, n)

    return Background(work).wait()


def perform_build_spec(
    session: Session,
    spec: BuildSpec,
    method: Maker,
    *,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
) -> BuildResult:
    """``build_in_steps`` for a spec that is whole."""
    connections = (max_connections, cache, spending)
    spec = gather_inputs(session, method, spec, spending)
    planned = _plan(session, spec, method, connections)
    clear_build(session, planned)
    shown: list[BuildProgress] = []

    async def work(stop: asyncio.Event) -> BuildResult:
        return await _perform_build(session, planned, method, shown, stop, connections)

    made = Background(work).wait_stoppable(
        lambda: _watch(shown, watch), lambda: _tell(shown, on_interrupt)
    )
    _tell_searched(session, planned)
    return made


def kin_of_build(
    session: Session,
    kind: str,
    *,
    models: Models = "",
    judge: str | Sequence[str] = "",
    method: str | None = None,
) -> tuple[Kin, ...]:
    """The judges of a build that are, or whose family is, among those whose work they judge.
    Asks nobody."""

    chosen = find_method(method) if method else maker_of_kind(kind)
    named = models_by_seat(chosen, kind, models, judge)
    purposes = purposes_of(chosen, kind, named)
    judges, makers = held_by_builders(named, purposes.__getitem__)
    return kin_of(judges, makers, partial(family_of_model, session))


def build_spec(
    session: Session,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    models: str | Mapping[str, str] = "",
    judge: str = "",
    seed: int = 0,
    **params: Any,
) -> BuildSpec:
    """What ``build_in_steps`` with these arguments would build, for ``perform_build_spec``."""
    asked = (kind, inputs, name, models, judge, None, seed, None, None, (), None, params)
    return _spec(session, *asked)[1]


def _spec(
    session: Session,
    kind: str,
    inputs: Sequence[str],
    name: str,
    models: Models,
    judge: str | Sequence[str],
    settings: Mapping[str, Any] | None,
    seed: int,
    limit: int | None,
    per_input: int | None,
    languages: Sequence[str],
    method: str | None,
    params: dict[str, Any],
) -> tuple[Maker, BuildSpec]:
    chosen = find_method(method) if method else maker_of_kind(kind)
    named = tuple(str(entry) for entry in inputs)
    builder = builder_of(chosen, kind)
    if builder.lists:
        online = builder.online.names if builder.online is not None else ()
        named = list_files(session).inputs(named, chosen.name, online)
    spec = BuildSpec(
        kind=kind, inputs=named, name=name, params=params,
        models=models_by_seat(chosen, kind, models, judge), settings=dict(settings or {}),
        seed=seed, limit=limit, per_input=per_input, languages=tuple(languages),
    )  # fmt: skip
    return chosen, spec


def _plan(session: Session, spec: BuildSpec, method: Maker, connections: Any) -> PlannedBuild:

    async def work(stop: asyncio.Event) -> PlannedBuild:
        async with _role_askers(session, spec.models, stop, connections) as askers:
            models = {role: askers[name].model for role, name in spec.models.items()}
            whole = with_regions(session.store, spec, method, models, partial(document_of, session))
            return plan_build(
                session.store,
                method,
                whole,
                models,
                partial(index_for, session),
                partial(web_finder, session, spending=connections[2]),
            )

    return Background(work).wait()


def _role_askers(
    session: Session, models: Mapping[str, str], stop: asyncio.Event, connections: Any
) -> Any:
    max_connections, cache, spending = connections
    names = list(dict.fromkeys(models.values()))
    return session_askers(session, names, max_connections, stop, cache, spending)


async def _perform_build(
    session: Session,
    planned: PlannedBuild,
    method: Maker,
    shown: list[BuildProgress],
    stop: asyncio.Event,
    connections: Any,
) -> BuildResult:

    async with _at_work(session, planned, shown, stop, connections) as (askers, kept):
        return await perform_build(
            session.store, method, planned, askers,
            progress=shown[0], stop=stop, clock=session.clock, kept=kept,
        )  # fmt: skip


async def _ask_pilot(
    session: Session,
    planned: PlannedBuild,
    method: Maker,
    rows: Sequence[EnteringRow],
    shown: list[BuildProgress],
    stop: asyncio.Event,
    connections: Any,
) -> BuildForecast:

    spending = connections[2]
    budget = None if spending is None else spending.budget
    at_work = _at_work(session, planned, shown, stop, connections, "a pilot")
    async with at_work as (askers, kept):
        return await ask_pilot(
            session.store, method, planned, rows, askers,
            progress=shown[0], stop=stop, clock=session.clock, budget=budget, kept=kept,
        )  # fmt: skip


@asynccontextmanager
async def _at_work(
    session: Session,
    planned: PlannedBuild,
    shown: list[BuildProgress],
    stop: asyncio.Event,
    connections: Any,
    named: str = "",
) -> AsyncIterator[tuple[dict[str, Asker], Any]]:
    """The askers by role, checked against the budget and on record, and the counters."""

    build = planned.build
    async with _role_askers(session, build.models, stop, connections) as opened:
        askers = {role: opened[name] for role, name in build.models.items()}
        check_replies_end([(askers[role], each) for role, each in planned.settings.items()])
        shown.append(progress_of_build(build))
        runs = [named or f"build:{short(build.id)}"]
        record = on_record(session.store, opened.values(), session.clock, runs=runs)
        async with record as kept:
            yield askers, kept


def _tell_searched(session: Session, planned: PlannedBuild) -> None:
    """What became of the queries that steps searched the web for, and of the pages."""
    for finder in web_finders(planned):
        if finder.failed:
            query, why = next(iter(finder.failed.items()))
            tell_step(
                session,
                f"{finder.name} did not answer {len(finder.failed):,} of "
                f'{len(finder.asked):,} queries; to "{query}": {why}',
            )
        if len(finder.failed) < len(finder.asked):
            tell_unread_pages(session, finder, list(finder.asked))


def _watch(shown: Sequence[BuildProgress], watch: Watch | None) -> None:
    for progress in shown:
        progress.refresh()
        if watch is not None:
            watch([each for each in progress.shown if each.total])


def _tell(shown: Sequence[BuildProgress], on_interrupt: Callable[[int], None] | None) -> None:
    if on_interrupt is not None:
        on_interrupt(sum(step.in_flight for each in shown for step in each.steps))

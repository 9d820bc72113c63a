"""Dry runs: what runs would take and what they would send, before they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from proofstone.errors import BadUsage
from proofstone.method import find_method
from proofstone.run.campaign import Watch, check_own_prompts, planned_specs
from proofstone.run.forecast import forecast_runs
from proofstone.run.judges import forecast_of_runs
from proofstone.run.outbound import pilot_loads
from proofstone.run.pilot import ask_pilots, pilot_of
from proofstone.run.plan import RunSpec
from proofstone.run.remaining_work import group_surveys, survey_run
from proofstone.run.rendered import render_prompts
from proofstone.run.request import specs_of
from proofstone.run.retrieving import clear_searches, remembered_retriever
from proofstone.session.askers import on_record, session_askers
from proofstone.session.egress import let_out
from proofstone.session.session import Session
from proofstone.session.spending import start_spending
from proofstone.session.targets import Target
from proofstone.session.workspace import Background

if TYPE_CHECKING:
    from proofstone.models.budget import Budget
    from proofstone.models.served import CacheUse
    from proofstone.models.spending import Spending
    from proofstone.run.evidence import Retriever
    from proofstone.run.forecasts import DryRun
    from proofstone.run.judges import JudgeSpec, JudgingForecast
    from proofstone.run.pilot import Pilot
    from proofstone.run.remaining_work import Group
    from proofstone.run.rendered import RenderedPrompt


PILOT = 20


def dry_run(
    session: Session,
    /,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    ask: str | Sequence[str] = "direct",
    pilot: int = PILOT,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asking: Any,
) -> DryRun:
    """What ``run`` with the same arguments would take: requests, tokens, money and time.

    ``pilot`` questions of each model and way are really asked, a seeded sample, and their
    replies kept: the run takes them from the cache. 0 asks nobody, and tells from the prompts
    and ``max_tokens`` what the longest replies would cost. ``budget`` bounds the pilot, and it
    is said whether as much would cover the rest.
    """
    return forecast_specs(
        session,
        specs_of(session.store, targets, models=models, ask=ask, **asking),
        pilot=pilot,
        max_connections=max_connections,
        cache=cache,
        spending=start_spending(session, budget),
        watch=watch,
        on_interrupt=on_interrupt,
    )


def forecast_specs(
    session: Session,
    specs: Sequence[RunSpec],
    *,
    pilot: int = PILOT,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
) -> DryRun:
    """``dry_run`` for runs whose settings differ from each other. Raises BadUsage for a pilot
    of one question, of which no range can be told."""
    if pilot == 1 or pilot < 0:
        raise BadUsage(
            f"a pilot asks 2 questions or more, not {pilot}: a range needs two",
            hint="or 0, to ask nobody and see what the longest replies would cost",
        )
    check_own_prompts(session, specs)
    connections = (max_connections, cache, spending)
    retriever = _told_retriever(session, specs, spending)
    groups = Background(lambda stop: _survey(session, specs, retriever, stop, *connections)).wait()
    pilots = _pilots(session, groups, pilot)
    shown = [each.progress for each in pilots if each.sample]
    _clear_pilots(session, pilots)
    names = list(dict.fromkeys(spec.model for spec in specs))
    background = Background(
        lambda stop: _forecast(session, names, pilots, pilot, stop, *connections)
    )
    watching = None if watch is None else lambda: watch(shown)

    def interrupted() -> None:
        if on_interrupt is not None:
            on_interrupt(sum(progress.in_flight for progress in shown))

    return background.wait_stoppable(watching, interrupted)


def forecast_judging(
    session: Session,
    specs: Sequence[RunSpec],
    judges: JudgeSpec,
    *,
    max_connections: int | None = None,
) -> JudgingForecast:
    """What judging the replies to come of these runs takes at the most; nobody is asked."""
    retriever = _told_retriever(session, specs)
    groups = Background(
        lambda stop: _survey(session, specs, retriever, stop, max_connections, "same", None)
    )
    surveys = [survey for group in groups.wait() for survey in group.surveys]
    methods = {name: find_method(name) for name in {s.planned.run.method for s in surveys}}

    async def work(stop: asyncio.Event) -> JudgingForecast:
        async with session_askers(session, list(judges.models), max_connections, stop) as askers:
            return await forecast_of_runs(
                session.store, methods, surveys, judges, list(askers.values())
            )

    return Background(work).wait()


def rendered_prompts(session: Session, specs: Sequence[RunSpec], n: int) -> list[RenderedPrompt]:
    """The prompts of the first ``n`` questions in each way as they would be sent."""
    check_own_prompts(session, specs)
    retriever = _told_retriever(session, specs)

    async def work(stop: asyncio.Event) -> list[RenderedPrompt]:
        names = list(dict.fromkeys(spec.model for spec in specs))
        async with session_askers(session, names, None, stop) as askers:
            runs = [
                (planned, askers[spec.model])
                for planned, spec in zip(
                    planned_specs(session, specs, askers, retriever), specs, strict=True
                )
            ]
            return await render_prompts(session.store, find_method, runs, n)

    return Background(work).wait()


def _told_retriever(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Retriever:
    """What is known of what a search would find: the web is not searched for it."""
    retriever = remembered_retriever(session, specs, spending)
    local = [each for each in specs if each.context_source == "local"]
    clear_searches(session, local, retriever, spending)
    return retriever


async def _survey(
    session: Session,
    specs: Sequence[RunSpec],
    retriever: Retriever,
    stop: asyncio.Event,
    max_connections: int | None,
    cache: CacheUse,
    spending: Spending | None,
) -> list[Group]:
    """What is left of all runs, in groups that a pilot each is drawn from."""
    names = list(dict.fromkeys(spec.model for spec in specs))
    async with session_askers(session, names, max_connections, stop, cache, spending) as askers:
        plans = planned_specs(session, specs, askers, retriever)
        surveys = [
            await survey_run(session.store, find_method(plan.run.method), plan, askers[spec.model])
            for plan, spec in zip(plans, specs, strict=True)
        ]
    return group_surveys(surveys)


def _pilots(session: Session, groups: Sequence[Group], n: int) -> list[Pilot]:
    return [pilot_of(group, n) for group in groups]


def _clear_pilots(session: Session, pilots: Sequence[Pilot]) -> None:
    """Lets out what the pilots send, once it is allowed: they are calls like any."""
    loads = pilot_loads(session.store, pilots, session.config)
    if loads:
        let_out(session, loads)


async def _forecast(
    session: Session,
    names: Sequence[str],
    pilots: Sequence[Pilot],
    n: int,
    stop: asyncio.Event,
    max_connections: int | None,
    cache: CacheUse,
    spending: Spending | None,
) -> DryRun:
    async with session_askers(session, names, max_connections, stop, cache, spending) as opened:
        askers = {asker.model.name: asker for asker in opened.values()}
        used = [askers[each.group.planned.run.respondent] for each in pilots if each.sample]
        record = on_record(session.store, used, session.clock, runs=["a pilot"])
        async with record as kept:
            await ask_pilots(
                session.store,
                find_method,
                pilots,
                askers,
                stop=stop,
                clock=session.clock,
                kept=kept,
            )
        return forecast_runs(
            pilots,
            askers,
            n=n,
            budget=None if spending is None else spending.budget,
            interrupted=stop.is_set(),
        )

"""Dry runs: what runs would take and what they would send, before they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import Method, find_method
from proofstone.models.ask import Asker
from proofstone.records.calls import Message
from proofstone.records.items import shown_name
from proofstone.records.runs import asked_as
from proofstone.run.campaign import Watch, check_own_prompts, planned_specs
from proofstone.run.evidence import asked_page
from proofstone.run.forecast import forecast_runs
from proofstone.run.judges import forecast_of_runs
from proofstone.run.outbound import pilot_loads
from proofstone.run.pilot import ask_pilots, pilot_of
from proofstone.run.plan import PlannedRun, RunSpec
from proofstone.run.remaining_work import first_request, group_surveys, survey_run
from proofstone.run.request import specs_of
from proofstone.run.searches import clear_searches, remembered_retriever
from proofstone.session.askers import on_record, session_askers
from proofstone.session.background import Background
from proofstone.session.egress import let_out
from proofstone.session.session import Session
from proofstone.session.spending import start_spending
from proofstone.session.targets import Target
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

if TYPE_CHECKING:
    from proofstone.models.budget import Budget
    from proofstone.models.reply_cache import CacheUse
    from proofstone.models.spending import Spending
    from proofstone.run.evidence import Retriever
    from proofstone.run.forecast import DryRun
    from proofstone.run.judges import JudgeSpec, JudgingForecast
    from proofstone.run.pilot import Pilot
    from proofstone.run.remaining_work import Group


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


_PROMPTS = 64


class SentAs(Struct, frozen=True, kw_only=True):
    """To which model a prompt goes, the settings that are sent with it, and those that it does not
    take."""

    model: str
    settings: Mapping[str, Any]
    dropped: tuple[str, ...] = ()


class RenderedPrompt(Struct, frozen=True, kw_only=True):
    """The first request of one item in one way, image parts by their digest; later ones of a way in
    steps depend on replies."""

    way: str
    form: str
    item: bytes
    step: str
    messages: tuple[Message, ...]
    to: tuple[SentAs, ...]


def _first_asked(store: Store, planned: PlannedRun, n: int) -> Iterator[StoredItem]:
    """The first ``n`` questions of a run that are asked."""
    for after in range(-1, planned.n_items - 1, _PROMPTS):
        size = min(_PROMPTS, planned.n_items - 1 - after)
        for stored in asked_page(store, planned.way, planned.item_set.id, after, size):
            if n <= 0:
                return
            n -= 1
            yield stored


async def render_prompts(
    store: Store,
    find_method: Callable[[str], Method],
    runs: Sequence[tuple[PlannedRun, Asker]],
    n: int,
) -> list[RenderedPrompt]:
    """The prompts of the first ``n`` questions in each way; models that are sent the same stand
    together, and one that is sent something else (a text model) has prompts of its own."""
    found: dict[tuple[str, bytes, tuple[Message, ...]], RenderedPrompt] = {}
    shown: dict[tuple[str, str, str], int] = {}
    for planned, asker in runs:
        method, run = find_method(planned.run.method), planned.run
        # Forms follow each other: what is left of n goes to the next one of the same run.
        key = (run.respondent, run.way, str(run.settings))
        left = n - shown.get(key, 0)
        for stored in _first_asked(store, planned, left):
            shown[key] = shown.get(key, 0) + 1
            first = await first_request(method, planned, stored)
            if first is None:
                continue
            step, request = first
            settings, dropped = asker.model.sent_settings(request.settings)
            to = SentAs(model=run.respondent, settings=settings, dropped=dropped)
            place = (asked_as(run), stored.loaded.item.id, request.messages)
            known = found.get(place)
            if known is None:
                found[place] = RenderedPrompt(
                    way=asked_as(run),
                    form=shown_name(planned.item_set),
                    item=stored.loaded.item.id,
                    step=step,
                    messages=request.messages,
                    to=(to,),
                )
            elif to not in known.to:
                found[place] = structs.replace(known, to=(*known.to, to))
    return list(found.values())

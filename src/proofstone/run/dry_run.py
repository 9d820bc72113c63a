"""Dry runs: what runs would take and what they would send, before they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget
from proofstone.models.budget_account import Spending
from proofstone.models.reply_cache import CacheUse
from proofstone.records.calls import Message
from proofstone.records.items import shown_name
from proofstone.records.runs import asked_as
from proofstone.run.campaign import check_own_prompts, planned_specs
from proofstone.run.evidence import Retriever, asked_page
from proofstone.run.forecast import DryRun, forecast_runs
from proofstone.run.judges import JudgeSpec, JudgingForecast, forecast_of_runs
from proofstone.run.outbound import pilot_loads
from proofstone.run.pilot import ask_pilots, pilot_of
from proofstone.run.plan import PlannedRun, RunSpec
from proofstone.run.remaining_work import Group, first_request, group_surveys, survey_run
from proofstone.run.request import specs_of
from proofstone.run.searches import clear_searches, remembered_retriever
from proofstone.session.askers import on_record, session_askers, with_askers
from proofstone.session.costs import start_spending
from proofstone.session.egress import let_out
from proofstone.session.progress import Watch, watched
from proofstone.session.session import Session
from proofstone.session.targets import Target
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

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
    retriever = _told_retriever(session, specs, spending)
    groups = _surveyed(session, specs, retriever, max_connections, cache, spending)
    pilots = [pilot_of(group, pilot) for group in groups]
    if loads := pilot_loads(session.store, pilots, session.config):
        let_out(session, loads)  # a pilot's calls are calls like any
    names = list(dict.fromkeys(spec.model for spec in specs))

    async def work(stop: asyncio.Event) -> DryRun:
        async with session_askers(session, names, max_connections, stop, cache, spending) as opened:
            askers = {asker.model.name: asker for asker in opened.values()}
            used = [askers[each.group.planned.run.respondent] for each in pilots if each.sample]
            record = on_record(session.store, used, session.clock, runs=["a pilot"])
            async with record as kept:
                await ask_pilots(
                    session.store, pilots, askers, stop=stop, clock=session.clock, kept=kept
                )
        budget = None if spending is None else spending.budget
        return forecast_runs(pilots, askers, n=pilot, budget=budget, interrupted=stop.is_set())

    return watched(work, [each.progress for each in pilots if each.sample], watch, on_interrupt)


def forecast_judging(
    session: Session,
    specs: Sequence[RunSpec],
    judges: JudgeSpec,
    *,
    max_connections: int | None = None,
) -> JudgingForecast:
    """What judging the replies to come of these runs takes at the most; nobody is asked."""
    groups = _surveyed(session, specs, _told_retriever(session, specs), max_connections)
    surveys = [survey for group in groups for survey in group.surveys]
    return with_askers(
        session,
        judges.models,
        lambda askers: forecast_of_runs(session.store, surveys, judges, list(askers.values())),
        max_connections=max_connections,
    )


def _told_retriever(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Retriever:
    """What is known of what a search would find: the web is not searched for it."""
    retriever = remembered_retriever(session, specs, spending)
    local = [each for each in specs if each.context_source == "local"]
    clear_searches(session, local, retriever, spending)
    return retriever


def _surveyed(
    session: Session,
    specs: Sequence[RunSpec],
    retriever: Retriever,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
) -> list[Group]:
    """What is left of all runs, in groups that a pilot each is drawn from."""

    async def survey(askers: dict[str, Asker]) -> list[Group]:
        plans = planned_specs(session, specs, askers, retriever)
        return group_surveys(
            [
                await survey_run(session.store, plan, askers[spec.model])
                for plan, spec in zip(plans, specs, strict=True)
            ]
        )

    return with_askers(
        session, list(dict.fromkeys(spec.model for spec in specs)), survey,
        max_connections=max_connections, cache=cache, spending=spending,
    )  # fmt: skip


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


def rendered_prompts(session: Session, specs: Sequence[RunSpec], n: int) -> list[RenderedPrompt]:
    """The prompts of the first ``n`` questions in each way as they would be sent; models that are
    sent the same stand together, and one that is sent something else (a text model) has prompts of
    its own."""
    check_own_prompts(session, specs)
    retriever = _told_retriever(session, specs)

    async def render(askers: dict[str, Asker]) -> list[RenderedPrompt]:
        plans = planned_specs(session, specs, askers, retriever)
        runs = [(plan, askers[spec.model]) for plan, spec in zip(plans, specs, strict=True)]
        return await _rendered(session.store, runs, n)

    return with_askers(session, list(dict.fromkeys(spec.model for spec in specs)), render)


async def _rendered(
    store: Store, runs: Sequence[tuple[PlannedRun, Asker]], n: int
) -> list[RenderedPrompt]:
    found: dict[tuple[str, bytes, tuple[Message, ...]], RenderedPrompt] = {}
    shown: dict[tuple[str, str, str], int] = {}
    for planned, asker in runs:
        run = planned.run
        # Forms follow each other: what is left of n goes to the next one of the same run.
        key = (run.respondent, run.way, str(run.settings))
        left = n - shown.get(key, 0)
        for stored in _first_asked(store, planned, left):
            shown[key] = shown.get(key, 0) + 1
            first = await first_request(planned, stored)
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

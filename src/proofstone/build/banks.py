"""Banks and forms built: by rules from tables, in steps with models, and composed of facts; what a
build in steps would take, and the prompts that it would send."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import PurePath
from typing import Any, TypeVar

from msgspec import Struct, structs

from proofstone.build.build import BuildProgress, BuildResult, perform_build, progress_of_build
from proofstone.build.inputs import (
    BuildSpec,
    builder_of,
    entering_rows,
    gather_inputs,
    list_files,
    read_parameters,
    tell_step,
    tell_unread_pages,
)
from proofstone.build.pilot import StepPrompt, ask_pilot, draw_pilot, show_prompts
from proofstone.build.plan import (
    BuildAsked,
    PlannedBuild,
    maker_of_kind,
    models_by_slot,
    plan_build,
    read_asked,
)
from proofstone.build.regions import with_regions
from proofstone.errors import BadInput, BadUsage
from proofstone.ingest.pages import document_of
from proofstone.method import find_method, method_names
from proofstone.models.ask import Asker
from proofstone.models.budget import Spending
from proofstone.models.registry import leaves_to
from proofstone.records.builds import role_of_slot
from proofstone.records.ids import short
from proofstone.records.items import ItemSet
from proofstone.records.knowledge import Bank
from proofstone.run.dry_run import PILOT
from proofstone.run.forecast import BuildForecast
from proofstone.run.forms import build_forms
from proofstone.run.self_preference import SelfEvaluation, held_by_builders, self_evaluation_of
from proofstone.search.retrieval import index_for, web_finder, web_loads
from proofstone.search.sources import OF_THE_WEB, WEB
from proofstone.search.web_finder import WebFinder
from proofstone.session.askers import check_responses_end, on_record, session_askers
from proofstone.session.egress import Load, Loads, let_out
from proofstone.session.models import family_of_model
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.progress import Background, Watch, start_spending
from proofstone.session.session import Session, Target, method_of_bank
from proofstone.store.builds import EnteringRow
from proofstone.store.provenance import Origin

T = TypeVar("T")


# Banks from tables by rules, and forms from banks.


def make_bank(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    seed: int = 0,
    method: str | None = None,
    **params: Any,
) -> Bank:
    """Builds facts of ``kind`` ("statements") from inputs into a bank, by the method named or
    else by the one that builds this kind.

    Raises BadUsage for a kind that is not built, BadInput where nothing came out.
    """
    known = [find_method(each) for each in ([method] if method else method_names())]
    building = next((each for each in known if kind in each.builders), None)
    if building is None and method:
        raise BadUsage(
            f"{known[0].name} does not build {kind!r}; it builds {', '.join(known[0].builders)}"
        )
    if building is None:
        raise BadUsage(f"no method builds {kind!r}")
    builder, parameters = building.builders[kind]
    named = [str(entry) for entry in inputs]
    built = list(builder(named, read_parameters(parameters, params), seed))
    if not built:
        raise BadInput(
            f"no {kind} came out of {', '.join(named)}",
            hint="look at the inputs: are they empty, or were all rows dropped?",
        )
    bank, _is_new = session.store.knowledge.add_bank(
        name, building.name, built, session.clock.now()
    )
    return bank


def compose_forms(
    session: Session,
    /,
    bank: Target,
    *,
    seeds: Iterable[int] = (0,),
    name: str | None = None,
    **params: Any,
) -> list[ItemSet]:
    """Composes one form a seed from a bank; parameters are the method's own."""
    found = session.find(bank, "bank")
    return build_forms(
        session.store, method_of_bank(session, found), found.id, params=params,
        seeds=list(seeds), clock=session.clock, name=name,
    )  # fmt: skip


# Banks in steps: what is asked is planned, then worked on, forecast or only shown.


def build_in_steps(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    name: str,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asked: Any,
) -> BuildResult:
    """Build facts of ``kind`` from inputs, step by step, and a bank once all rows are processed.

    ``asked`` are fields of ``build.plan.BuildAsked``; all others are parameters of the kind. The
    same call again resumes: results are stored, and a step runs again only if the step, its
    configuration or the row changed. ``watch`` and ``on_interrupt`` are as of ``run``.
    """
    job = _planned(session, kind, inputs, {**asked, "name": name})
    job.clear()
    return job.perform(partial(perform_build, session.store, job.planned), watch, on_interrupt)


def forecast_build(
    session: Session,
    /,
    kind: str,
    inputs: Sequence[str],
    *,
    pilot: int = PILOT,
    pilot_rows: Sequence[str] = (),
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asked: Any,
) -> BuildForecast:
    """What ``build_in_steps`` with the same arguments would take: calls, tokens, money and time
    as ranges, and how many rows would be left.

    ``pilot`` rows, a seeded sample, are processed with API calls; their results are kept for the
    build. With 0 no call is made: the requests that can be sent now are counted, and those after
    them are unknown.
    ``pilot_rows`` names inputs whose rows are the pilot instead, such as passages that
    were chosen and built of before. The budget bounds the pilot, and it is said whether as much
    would cover the rest.
    """
    if pilot == 1 or pilot < 0:
        raise BadUsage(f"a pilot takes 2 rows or more, not {pilot}: a range needs two")
    job = _planned(session, kind, inputs, asked)
    planned, store = job.planned, session.store
    rows = draw_pilot(store, planned, pilot)
    if pilot_rows:
        only = structs.replace(
            planned.spec, inputs=(*pilot_rows,), limit=None, per_input=None, gathered=None
        )
        rows = list(entering_rows(store, planned.builder, only, planned.build.params))
    job.clear(rows)
    for finder in job.web_finders() if not rows else ():
        finder.sends = "nothing"
    work = partial(ask_pilot, store, planned, rows, budget=job.spending.budget)
    return job.perform(work, watch, on_interrupt, "a pilot")


def prompts_of_build(
    session: Session, /, kind: str, inputs: Sequence[str], n: int, **asked: Any
) -> list[StepPrompt]:
    """The prompts of the first ``n`` rows of ``build_in_steps`` with the same arguments, as they
    would be sent; asks no model."""
    job = _planned(session, kind, inputs, asked)
    for finder in job.web_finders():
        finder.sends = "nothing"

    async def work(stop: asyncio.Event) -> list[StepPrompt]:
        async with job.askers(stop) as askers:
            return await show_prompts(session.store, job.planned, askers, n)

    return Background(work).wait()


def self_evaluation_of_build(
    session: Session, kind: str, *, models: Any = "", judge: str | Sequence[str] = ""
) -> tuple[SelfEvaluation, ...]:
    """Return the judges of a build that wrote part of what they judge, or share a model family with
    its authors. Makes no API call."""
    maker = maker_of_kind(kind)
    roles = builder_of(maker, kind).roles

    def purpose_of(slot: str) -> str:
        role = role_of_slot(slot)
        return roles[role].purpose if role in roles else ""

    named = models_by_slot(maker, kind, models, judge)
    judges, makers = held_by_builders(named, purpose_of)
    return self_evaluation_of(judges, makers, partial(family_of_model, session))


class _Job(Struct, frozen=True, kw_only=True):
    """A planned build, and how its models are asked."""

    session: Session
    asked: BuildAsked
    spending: Spending
    planned: PlannedBuild

    def askers(self, stop: asyncio.Event) -> Any:
        """Open one asker per model slot."""
        return _askers(self.session, self.asked, self.spending, self.planned.build.models, stop)

    def perform(
        self,
        work: Callable[..., Awaitable[T]],
        watch: Watch | None,
        on_interrupt: Callable[[int], None] | None,
        named: str = "",
    ) -> T:
        """Return the result of ``work`` with the askers. The budget is checked, and spending is
        recorded under ``named``."""
        session, planned = self.session, self.planned
        shown: list[BuildProgress] = []

        async def at_work(stop: asyncio.Event) -> T:
            async with self.askers(stop) as askers:
                asked = [(askers[slot], each) for slot, each in planned.settings.items()]
                check_responses_end(asked)
                shown.append(progress_of_build(planned.build))
                runs = [named or f"build:{short(planned.build.id)}"]
                record = on_record(session.store, askers.values(), session.clock, runs=runs)
                async with record as kept:
                    return await work(
                        askers=askers, progress=shown[0], stop=stop, clock=session.clock, kept=kept
                    )

        def watched() -> None:
            for progress in shown:
                progress.refresh()
                if watch is not None:
                    watch([each for each in progress.shown if each.total])

        def interrupted() -> None:
            if on_interrupt is not None:
                on_interrupt(sum(step.in_flight for each in shown for step in each.steps))

        made = Background(at_work).wait_stoppable(watched, interrupted)
        self._tell_searched()
        return made

    def web_finders(self) -> list[WebFinder]:
        """The searches of the web that its steps read."""
        searches = self.planned.reads.searches.values()
        return [each for each in searches if isinstance(each, WebFinder)]

    def clear(self, rows: Sequence[EnteringRow] | None = None) -> None:
        """Lets out what it (or a pilot of these ``rows``) sends, once that is allowed."""
        if loads := self._loads(rows):
            let_out(self.session, loads)
        for finder in self.web_finders():
            let_out(self.session, web_loads(finder.searcher, rows=self._leaving(rows)))
            finder.sends = "cleared"

    def _loads(self, rows: Sequence[EnteringRow] | None) -> Loads:
        """What goes to each host that is not this machine: as much as all its rows (or these
        ``rows``), once for each step that asks."""
        loads: Loads = {}
        outgoing: Outgoing | None = None
        build, reads = self.planned.build, self.planned.reads
        for step in self.planned.pipeline.steps:
            for role in step.asks:
                model = build.models[role]
                to = leaves_to(model, self.session.config)
                if to is None or to.is_local:
                    continue
                outgoing = outgoing or self._leaving(rows)
                found = [OF_THE_WEB] if reads.searches_web(step.reads) else []
                shown = [Origin(name, "", 0, (name,)) for name in found]
                if reads.searches_sources(step.reads):
                    shown += self._indexed()
                origins = joined_origins([*outgoing.origins, *shown], max)
                sent = structs.replace(outgoing, origins=origins)
                loads[to] = loads.get(to, Load()).with_run(model, build.inputs, sent)
        return loads

    def _indexed(self) -> list[Origin]:
        """All sources that can be searched: texts of each may go along."""
        store = self.session.store
        known = store.knowledge.sources(each.id for each in store.indexed.sources()).values()
        return [Origin(each.title, each.license, 0, (each.title,)) for each in known]

    def _leaving(self, rows: Iterable[EnteringRow] | None) -> Outgoing:
        """What one step sends if it asks once for each row that enters (or for these ``rows``);
        rows of no source, and of the web, are known by the names of the inputs: these say what was
        searched for."""
        planned, store = self.planned, self.session.store
        characters, by_source = 0, Counter[bytes | None]()
        if rows is None:
            rows = entering_rows(store, planned.builder, planned.spec, planned.build.params)
        for entering in rows:
            characters += len(entering.row.payload.decode())
            by_source[entering.source] += 1
        known = store.knowledge.sources([each for each in by_source if each is not None])
        origins = [
            Origin(source.title, source.license, by_source[identity], (source.title,))
            for identity, source in known.items()
            if source.kind != WEB
        ]
        n_rows = by_source.total()
        if n_others := n_rows - sum(origin.n_items for origin in origins):
            names = [PurePath(name).name or name for name in planned.spec.inputs]
            origins += [Origin(name, "", n_others, (name,)) for name in names]
        return Outgoing(
            items=n_rows, noun="row", requests=n_rows, characters=characters,
            origins=joined_origins(origins, max),
        )  # fmt: skip

    def _tell_searched(self) -> None:
        """Report the queries that a web search did not answer, and the pages read."""
        for finder in self.web_finders():
            if finder.failed:
                query, why = next(iter(finder.failed.items()))
                tell_step(
                    self.session,
                    f"{finder.name} did not answer {len(finder.failed):,} of "
                    f'{len(finder.asked):,} queries; to "{query}": {why}',
                )
            if len(finder.failed) < len(finder.asked):
                tell_unread_pages(self.session, finder, list(finder.asked))


@asynccontextmanager
async def _askers(
    session: Session,
    asked: BuildAsked,
    spending: Spending,
    models: Mapping[str, str],
    stop: asyncio.Event,
) -> AsyncIterator[dict[str, Asker]]:
    names = list(dict.fromkeys(models.values()))
    async with session_askers(
        session, names, asked.max_connections, stop, asked.cache, spending
    ) as opened:
        yield {slot: opened[name] for slot, name in models.items()}


def _planned(
    session: Session, kind: str, inputs: Sequence[str], keywords: Mapping[str, Any]
) -> _Job:
    """Return the requested build, with its inputs gathered, sampled and opened."""
    asked = read_asked(keywords)
    maker = find_method(asked.method) if asked.method else maker_of_kind(kind)
    builder = builder_of(maker, kind)
    named = tuple(str(entry) for entry in inputs)
    if builder.lists:
        online = builder.online.names if builder.online is not None else ()
        named = list_files(session).inputs(named, maker.name, online)
    spec = BuildSpec(
        kind=kind, inputs=named, name=asked.name, params=asked.params,
        models=models_by_slot(maker, kind, asked.models, asked.judge),
        settings=dict(asked.settings or {}), seed=asked.seed, limit=asked.limit,
        per_input=asked.per_input, languages=tuple(asked.languages),
    )  # fmt: skip
    spending = start_spending(session, asked.budget)
    spec = gather_inputs(session, maker, spec, spending)

    async def work(stop: asyncio.Event) -> PlannedBuild:
        async with _askers(session, asked, spending, spec.models, stop) as askers:
            models = {slot: asker.model for slot, asker in askers.items()}
            whole = with_regions(session.store, spec, maker, models, partial(document_of, session))
            return plan_build(
                session.store, maker, whole, models, partial(index_for, session),
                partial(web_finder, session, spending=spending),
            )  # fmt: skip

    return _Job(session=session, asked=asked, spending=spending, planned=Background(work).wait())

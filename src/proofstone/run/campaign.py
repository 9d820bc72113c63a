"""Run several models concurrently, and score each run as it ends.

The runs of one model follow each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, BudgetReached, NotFound
from proofstone.method import Method, find_method
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, Spending
from proofstone.models.config import scrubber_of
from proofstone.records.calls import CacheUse, CallRecord, Clock
from proofstone.records.ids import short
from proofstone.records.items import OwnPrompt, shown_name
from proofstone.records.runs import Run, Spent, responses_wanted, run_label
from proofstone.run.forms import plain_form
from proofstone.run.judges import (
    Bench,
    Judges,
    JudgeSpec,
    JudgeTrial,
    judge_spec,
    loads_of,
    perform_judge_trial,
)
from proofstone.run.loop import perform_run
from proofstone.run.loop import tuned_interpreter as calm_interpreter
from proofstone.run.outbound import clear_searches, do_search, make_retriever, plan_loads
from proofstone.run.plan import PlannedRun, RunSpec, plan_run, spec_of, store_run
from proofstone.run.prompts import first_prompt, with_prompt
from proofstone.run.request import RunRequest, specs_of, specs_of_request
from proofstone.run.retriever import Retriever
from proofstone.run.run_facts import ControlReport, perform_control, shares_of
from proofstone.run.scorings import Judging, score_run
from proofstone.run.self_preference import SelfEvaluation, self_evaluation_of_runs
from proofstone.session.askers import check_responses_end, on_record, session_askers, with_askers
from proofstone.session.egress import Loads, clear_probe, let_out
from proofstone.session.models import family_of_model, snapshots
from proofstone.session.progress import Background, RunProgress, Watch, start_spending, watched
from proofstone.session.session import Session, Target, find_target
from proofstone.store.runs import ReportedShare
from proofstone.store.store import Store
from proofstone.store.writer import Writer


class RunResult(Struct, frozen=True, kw_only=True):
    """Hold the result of one run: ``n_scored`` of ``total`` (item, sample) pairs.

    ``errors`` are the kinds of error among the ``failed``. ``waiting`` counts responses that only a
    judge can score and that have no verdict yet. ``over_budget``: the reason in ``stopped`` is that
    the budget does not cover another call.

    ``spent`` covers this command's calls to the model, ``judged`` its calls to judges. ``in_all``
    is what the whole run cost when it was asked. ``is_limited``: the run never asked for more than
    the first items of its form. ``seconds`` is the wall time of asking in this process (0 if there
    was nothing to ask).
    """

    planned: PlannedRun
    n_scored: int
    waiting: int = 0
    failed: int
    errors: tuple[str, ...]
    stopped: str
    interrupted: bool
    over_budget: bool = False
    is_limited: bool = False
    spent: Spent = Spent()
    in_all: Spent = Spent()
    judged: Spent = Spent()
    seconds: float = 0.0
    reported: tuple[ReportedShare, ...] = ()

    @property
    def complete(self) -> bool:
        """Return True if every (item, sample) within the limit is scored."""
        return self.n_scored >= self.wanted

    @property
    def is_asked(self) -> bool:
        """Return True if every (item, sample) within the limit has its responses."""
        return self.n_scored + self.waiting >= self.wanted

    @property
    def is_part(self) -> bool:
        """Return True if a limit leaves out items and none of those was asked before."""
        return self.is_limited and self.n_scored + self.waiting <= self.planned.total

    @property
    def wanted(self) -> int:
        """Return the number of (item, sample) to score: all, or those within the limit."""
        if self.is_part:
            return self.planned.total
        return responses_wanted(self.planned.run, self.planned.item_set.n_items)


def errors_of(store: Store, planned: PlannedRun) -> tuple[str, ...]:
    """Return the names of the latest error kinds of items without a response."""
    failures = store.runs.failures(planned.key, planned.run.last_step)
    return tuple(sorted({failure.error for failure in failures}))


def progress_of(store: Store, planned: PlannedRun) -> RunProgress:
    """Return a run's counters before work on it starts: what is already done."""
    limited = planned.n_items < planned.item_set.n_items
    first = planned.n_items if limited else None
    done = store.runs.count_done(planned.key, planned.run.last_step, first)
    return RunProgress(
        label=f"{run_label(planned.run)} {shown_name(planned.item_set)}",
        total=planned.total, notes=planned.notes, before=done, done=done,
    )  # fmt: skip


async def perform_campaign(
    store: Store,
    find_method: Callable[[str], Method],
    runs: Sequence[tuple[PlannedRun, RunProgress]],
    askers: Mapping[str, Asker],
    *,
    stop: asyncio.Event,
    clock: Clock,
    kept: Callable[[CallRecord], None] | None = None,
    bench: Bench | None = None,
) -> list[RunResult]:
    """Work on all runs until done or stopped; return results in the order of ``runs``.

    Models run concurrently; the runs of one model follow each other. A model that cannot be used
    ends its own runs only. ``kept`` receives each call once it is on disk. After a run is asked,
    the ``bench`` scores what no rule can. Raises StoreFailed if responses could not be stored.
    """
    by_model: dict[str, list[int]] = {}
    for place, (planned, _progress) in enumerate(runs):
        by_model.setdefault(planned.run.respondent, []).append(place)
    results: dict[int, RunResult] = {}
    judges = "" if bench is None else bench.name

    async def work_on(asker: Asker, places: Sequence[int]) -> None:
        for place in places:
            planned, progress = runs[place]
            key, run = planned.key, planned.run
            method = find_method(run.method)
            if not stop.is_set() and not progress.complete:
                if place != places[0]:  # the responses of earlier runs are known by now
                    await asyncio.to_thread(asker.look_again)
                await perform_run(
                    store, writer, method, planned, asker,
                    progress=progress, stop=stop, clock=clock, judges=judges,
                )  # fmt: skip
            asked = progress.spent()
            judged = RunProgress(label="judges", total=0)
            judging = _judging(bench, writer, progress, judged)
            scored = await score_run(store, method, key, run, clock=clock, judging=judging)
            stopped = asker.stopped if progress.stopped else bench and bench.stopped
            results[place] = RunResult(
                planned=planned,
                n_scored=scored.n,
                waiting=scored.waiting,
                failed=progress.failed + planned.n_not_searched,
                errors=(
                    *(errors_of(store, planned) if progress.failed else ()),
                    *(["search_failed"] if planned.n_not_searched else []),
                ),
                stopped=progress.stopped or str(stopped or ""),
                interrupted=stop.is_set() and not progress.complete,
                over_budget=isinstance(stopped, BudgetReached),
                # True if this limit is the highest that the run was ever asked for.
                is_limited=store.runs.limits([key]).get(key)
                == planned.n_items
                < planned.item_set.n_items,
                spent=asked,
                judged=judged.spent(),
                in_all=store.spent.of_runs([key]),
                seconds=(progress.ended or 0.0) - progress.started,
                reported=shares_of(store, key, run),
            )

    try:
        with calm_interpreter():
            async with store.writer(kept) as writer, asyncio.TaskGroup() as group:
                for name, places in by_model.items():
                    group.create_task(work_on(askers[name], places))
    except ExceptionGroup as several:  # one failure is enough; the others follow from it
        raise several.exceptions[0] from several
    return [results[place] for place in range(len(runs))]


def _judging(
    bench: Bench | None, writer: Writer, progress: RunProgress, judged: RunProgress
) -> Judging | None:
    """Return the judges of one run; their calls are shown with the run and counted separately."""
    if bench is None:
        return None

    async def keep(call: CallRecord) -> None:
        progress.count(call)
        judged.count(call)
        await writer.write(call)

    return Judging(bench.name, bench.sitting(keep))


# Ask models; this may cost money.

T = TypeVar("T")


def run(
    session: Session,
    /,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    prompt_method: str | Sequence[str] = (),
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    judge: Judges = (),
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asked: Any,
) -> list[RunResult]:
    """Ask models, score their responses, and return one result per run.

    Answers asked before come from the cache if the same model version answered them. ``cache``
    "any" accepts them from any version. ``budget`` ("20USD", "5Mtok") limits what this call may
    spend over all models. Cached answers cost nothing.

    If a method's responses need a ``judge``, one model or a panel scores them. Without a judge,
    such responses wait for ``score``.

    Without a ``prompt_method``, that of the ``preset`` is used, or "direct".

    ``prompt_template`` is the file of a custom template that replaces the method's prompt
    (docs/reference/formats.md).
    ``context`` "evidence" adds the source passages of each question; "retrieved" adds what a search
    of the sources finds (docs/how-to/retrieval.md). A list asks once with each. ``asked`` takes
    these, the other fields of ``run.run_options.RunAsked`` (shots, ...) and settings (temperature,
    max_tokens, ...) over the defaults of the prompting method. ``set`` is a dict of settings with
    other names.

    The same call again asks only what is missing. ``watch`` is called a few times a second with the
    progress of each run. The first KeyboardInterrupt stops new requests: ``on_interrupt`` gets the
    number of pending responses, and the results so far are returned. A second one is raised.
    """
    return run_specs(
        session,
        specs_of(session, targets, models=models, prompt_method=prompt_method, **asked),
        max_connections=max_connections,
        cache=cache,
        spending=start_spending(session, budget),
        judges=judge_spec(judge),
        watch=watch,
        on_interrupt=on_interrupt,
    )


def resume(
    session: Session,
    run: Target | None = None,
    *,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | Spending | None = None,
    judge: Judges = (),
) -> list[RunResult]:
    """Resume a run, or all unfinished runs where none is named, with their own settings.

    ``budget`` limits what is spent from now on; earlier spending does not count. ``judge`` as for
    ``run``. Raises NotFound where no run is named and none is unfinished.
    """
    store = session.store
    records = (
        list(_unfinished(store))
        if run is None
        else [store.runs.run(find_target(store, run, ("run",)).id)[1]]
    )
    if not records:
        raise NotFound("no run is unfinished", hint="proofstone list run")
    return run_specs(
        session,
        [spec_of(store, record, find_method(record.method)) for record in records],
        max_connections=max_connections,
        cache=cache,
        spending=start_spending(session, budget),
        judges=judge_spec(judge),
        watch=watch,
        on_interrupt=on_interrupt,
    )


def _unfinished(store: Store) -> Iterator[Run]:
    """Runs that lack responses, a limit of theirs counted."""
    runs = list(store.runs.every())
    limits = store.runs.limits([key for key, _run in runs])
    for key, run in runs:
        n_items = store.items.item_set(run.item_set).n_items
        wanted = responses_wanted(run, min(n_items, limits.get(key, n_items)))
        if store.runs.count_done(key, run.last_step) < wanted:
            yield run


def report_control(
    session: Session, model: str, *, spending: Spending | None = None
) -> ControlReport:
    """Ask a model a few simple completions (a sanity check), stored and cached like every call."""
    return _probed(session, model, spending, perform_control)


def try_judge(
    session: Session, model: str, *, limit: int | None = None, budget: Budget | str | None = None
) -> JudgeTrial:
    """Measure how often prompt injections mislead a judge, over ``limit`` attacks.

    Every call is stored and cached.
    """
    trial = partial(perform_judge_trial, limit=limit)
    return _probed(session, model, start_spending(session, budget), trial)


def _probed(
    session: Session,
    model: str,
    spending: Spending | None,
    perform: Callable[[Store, Asker, Callable[[CallRecord], None] | None], Awaitable[T]],
) -> T:
    """Return what ``perform`` finds out about a model, with clients that hold no workspace data."""
    clear_probe([model], session.config, session.ask_egress)

    async def ask(askers: Mapping[str, Asker]) -> T:
        async with on_record(session.store, askers.values(), session.clock) as kept:
            return await perform(session.store, askers[model], kept)

    return with_askers(session, [model], ask, spending=spending)


def self_evaluation_of_specs(
    session: Session, specs: Sequence[RunSpec]
) -> tuple[SelfEvaluation, ...]:
    """Return the evaluated models of these runs that helped write or filter their items.

    A model counts if it or its model family took part. Makes no API calls.
    """
    return self_evaluation_of_runs(session.store, specs, partial(family_of_model, session))


def run_specs(
    session: Session,
    specs: Sequence[RunSpec],
    *,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
    judges: JudgeSpec | None = None,
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
) -> list[RunResult]:
    """``run`` for runs with different settings; results in their order.

    Calls with the same ``spending`` share its budget.
    """
    shown: list[RunProgress] = []
    check_own_prompts(session, specs)
    # Questions to a person are asked on this thread, before the other one starts.
    retriever = make_retriever(session, spending)
    tasks = clear_searches(session, specs, retriever, spending)
    if tasks:
        Background(lambda _stop: do_search(session, tasks, retriever)).wait()
    _let_out_runs(session, specs, retriever, judges)

    async def work(stop: asyncio.Event) -> list[RunResult]:
        return await perform(
            session,
            specs,
            max_connections=max_connections,
            cache=cache,
            spending=spending,
            judges=judges,
            progress=shown,
            stop=stop,
            cleared=retriever,
        )

    return watched(work, shown, watch, on_interrupt)


async def perform(
    session: Session,
    specs: Sequence[RunSpec],
    *,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    spending: Spending | None = None,
    judges: JudgeSpec | None = None,
    progress: list[RunProgress] | None = None,
    stop: asyncio.Event | None = None,
    cleared: Retriever | None = None,
) -> list[RunResult]:
    """``run`` for callers with an event loop: ask and score what ``specs`` describe.

    ``progress`` is filled with the counters of each run. Setting ``stop`` ends new requests.
    ``cleared`` holds web searches whose outbound data was already allowed.
    """
    retriever = make_retriever(session, spending) if cleared is None else cleared
    if cleared is None:
        check_own_prompts(session, specs)
        await do_search(session, clear_searches(session, specs, retriever, spending), retriever)
        _let_out_runs(session, specs, retriever, judges)

    stop = asyncio.Event() if stop is None else stop
    judging = () if judges is None else judges.models
    names = list(dict.fromkeys([*(spec.model for spec in specs), *judging]))
    async with session_askers(session, names, max_connections, stop, cache, spending) as askers:
        plans = planned_specs(session, specs, askers, retriever)
        stored = [store_run(session.store, planned, session.clock) for planned in plans]
        runs = [(planned, progress_of(session.store, planned)) for planned in stored]
        if progress is not None:
            progress += [counters for planned_specs, counters in runs]
        _keep_cards(session, runs)
        by_name = {askers[name].model.name: askers[name] for name in names}
        named = [f"run:{short(planned.run.id)}" for planned in stored]
        record = on_record(session.store, askers.values(), session.clock, runs=named)
        async with record as kept:
            bench = None if judges is None else Bench(judges, [askers[n] for n in judging])
            return await perform_campaign(
                session.store, find_method, runs, by_name,
                stop=stop, clock=session.clock, kept=kept, bench=bench,
            )  # fmt: skip


def check_own_prompts(session: Session, specs: Sequence[RunSpec]) -> None:
    """Check custom templates before a run.

    Raises BadInput for a template that holds a key of this workspace: it would be sent and stored.
    Raises BadUsage if one renders the same prompt in several prompting methods.
    """
    prompts = {spec.prompt for spec in specs if spec.prompt is not None}
    if not prompts:
        return
    scrubber = scrubber_of(session.config)
    for prompt in prompts:
        text = prompt.text.encode()
        if scrubber.raw(text) != text:
            raise BadInput(
                f"the template {prompt.name} contains a key or password of this configuration, "
                "which would be sent and stored",
                hint="remove it from the template",
            )
    _check_told_apart(session.store, specs)


def _let_out_runs(
    session: Session, specs: Sequence[RunSpec], retriever: Retriever, judges: JudgeSpec | None
) -> None:
    """Ask permission for the outbound data of runs and of judging their responses."""
    let_out(session, plan_loads(session, specs, retriever))
    if judges is not None:
        let_out(session, loads_of_judging(session, [spec.item_set for spec in specs], judges))


def loads_of_judging(session: Session, item_sets: Sequence[bytes], judges: JudgeSpec) -> Loads:
    """Return what judging the responses to these item sets would send to each remote host.

    An upper bound: each question with its answer key, once per judge on that host.
    """
    store = session.store
    sizes = {each: store.items.item_set(each).n_items for each in dict.fromkeys(item_sets)}
    return loads_of(
        judges, session.config, {s: (store.origins.of_set(s, n), n) for s, n in sizes.items()}
    )


def planned_specs(
    session: Session, specs: Sequence[RunSpec], askers: Mapping[str, Asker], retriever: Retriever
) -> list[PlannedRun]:
    """Plan the runs of ``specs``; all are checked before one is stored."""
    plans = []
    for spec in specs:
        method = find_method(session.store.items.item_set(spec.item_set).method)
        model = askers[spec.model].model
        plans.append(plan_run(session.store, method, spec, model, retriever))
    check_responses_end(
        [(askers[spec.model], plan.run.settings) for plan, spec in zip(plans, specs, strict=True)]
    )
    return plans


def _keep_cards(session: Session, runs: Sequence[tuple[PlannedRun, RunProgress]]) -> None:
    """Store the current model cards of these runs.

    They apply to those runs that have something left to ask.
    """
    real = [(planned, progress) for planned, progress in runs if not planned.run.simulated]
    names = sorted({planned.run.respondent for planned, _progress in real})
    asked = {p.key: p.run.respondent for p, progress in real if not progress.complete}
    if names:
        known = snapshots(session.config, names, session.clock.now())
        session.store.models.record(known, asked)


def _check_told_apart(store: Store, specs: Sequence[RunSpec]) -> None:
    """Raise BadUsage if one template renders the same prompt in several prompting methods.

    Their responses would be read and compared as if they differed.
    """
    asked: dict[tuple[bytes, bytes], list[RunSpec]] = {}
    for spec in specs:
        if spec.prompt is not None:
            asked.setdefault((spec.item_set, spec.prompt.hash), []).append(spec)
    for (identity, _hash), alike in asked.items():
        prompt_methods, prompt = (
            list(dict.fromkeys(spec.prompt_method for spec in alike)),
            alike[0].prompt,
        )
        if len(prompt_methods) > 1 and prompt is not None:
            _check_set(store, identity, prompt, prompt_methods)


def _check_set(
    store: Store, identity: bytes, prompt: OwnPrompt, prompt_methods: Sequence[str]
) -> None:
    item_set = store.items.item_set(identity)
    method = find_method(item_set.method)
    first = next(iter(store.items.page(identity, -1, 1)))
    seen: dict[str, str] = {}
    for name in prompt_methods:
        prompt_method = with_prompt(
            method, method.prepare(name, 0, plain_form(item_set), None), prompt, item_set
        )
        text = "\n".join(
            message.text for message in first_prompt(method, first.loaded, prompt_method)
        )
        if text in seen:
            raise BadUsage(
                f"{prompt.name} renders the same prompt for {seen[text]} and {name}",
                hint=(
                    "use one prompting method, use {{ prompt_method }} in the template, or "
                    f'set one each in a run file: [prompt_method.{name}] prompt_template = "FILE"'
                ),
            )
        seen[text] = name


def perform_request(
    session: Session, request: RunRequest, *, spending: Spending | None = None, **watching: Any
) -> list[RunResult]:
    """Run what a request describes; ``watching`` as for ``Workspace.run``.

    ``spending`` is the spending of the request's budget, if other calls share it.
    """
    asked = request.asked
    return run_specs(
        session,
        specs_of_request(session, request),
        max_connections=asked.max_connections,
        cache=asked.cache,
        spending=start_spending(session, spending or asked.budget or None),
        **watching,
    )

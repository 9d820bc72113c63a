"""A campaign: several runs at once, each model's one after the other, scored as each ends."""

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
from proofstone.run.evidence import Retriever
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
    """What came of a run: ``n_scored`` of ``total`` (item, sample); why the rest is missing, and
    which models answered. ``errors`` are the kinds of the ``failed``; ``waiting`` are replies that
    only a judge can score, who was not named or not heard.

    ``over_budget``: what ``stopped`` says is that the budget does not cover another call. ``spent``
    is what this command's calls took, ``in_all`` what all of the run's took when they were asked,
    ``judged`` what judges took besides, by this command.
    ``is_limited``: it was never asked for more than the first items of its form.
    ``seconds`` is the wall time of asking in this process, 0 where there was nothing to ask.
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
        """Whether every (item, sample) that the run was asked for is scored: of the first items
        alone where it has a limit."""
        return self.n_scored >= self.wanted

    @property
    def is_asked(self) -> bool:
        """Whether every one of them has its replies, scored or waiting for a judge."""
        return self.n_scored + self.waiting >= self.wanted

    @property
    def is_part(self) -> bool:
        """Whether a limit leaves out items of the form, and none of these was asked before."""
        return self.is_limited and self.n_scored + self.waiting <= self.planned.total

    @property
    def wanted(self) -> int:
        """How many (item, sample) are to be scored: all, or those within the limit."""
        if self.is_part:
            return self.planned.total
        return responses_wanted(self.planned.run, self.planned.item_set.n_items)


def errors_of(store: Store, planned: PlannedRun) -> tuple[str, ...]:
    """The kinds of what last failed where there is no reply, by name."""
    failures = store.runs.failures(planned.key, planned.run.last_step)
    return tuple(sorted({failure.error for failure in failures}))


def progress_of(store: Store, planned: PlannedRun) -> RunProgress:
    """The counters of a run before it is worked on: what is done already."""
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
    """Works on all runs until done or stopped; results in the order of ``runs``.

    The runs of one model follow each other, models go on beside each other; one that cannot be
    used ends its own runs only. ``kept`` is told of each call once it is on disk. What no rule can
    score goes to the ``bench``, once its run is asked. Raises StoreFailed where replies could not
    be kept.
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
                if place != places[0]:  # what the runs before this one asked is known by now
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
                # Whether this limit is the most that the run was ever asked for.
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
    except ExceptionGroup as several:  # one failure says enough; the others follow from it
        raise several.exceptions[0] from several
    return [results[place] for place in range(len(runs))]


def _judging(
    bench: Bench | None, writer: Writer, progress: RunProgress, judged: RunProgress
) -> Judging | None:
    """The judges for one run, whose calls are shown with it and counted apart."""
    if bench is None:
        return None

    async def keep(call: CallRecord) -> None:
        progress.count(call)
        judged.count(call)
        await writer.write(call)

    return Judging(bench.name, bench.sitting(keep))


# Asking models: what may cost money.

T = TypeVar("T")


def run(
    session: Session,
    /,
    targets: Target | Sequence[Target],
    *,
    models: str | Sequence[str],
    prompt_method: str | Sequence[str] = "direct",
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    judge: Judges = (),
    watch: Watch | None = None,
    on_interrupt: Callable[[int], None] | None = None,
    **asked: Any,
) -> list[RunResult]:
    """Asks models, scores their replies, and returns a result a run.

    What was asked before comes from the cache, where the model that answers now answered it;
    ``cache`` "any" takes it whichever model did. ``budget`` ("20USD", "5Mtok") is the most that
    this call may spend over all its models; what comes from the cache costs nothing.

    Where a method's replies need a ``judge`` to be scored, one model or a panel of them does
    so; without one, such replies wait for ``score``.

    ``prompt_template`` is the file of a template of your own, in place of the method's prompt: see
    docs/prompts.md. With the ``context`` "evidence" each question is asked with the passages
    that it rests on (docs/context.md), with "retrieved" with what a
    search of the sources finds for it; with several in a list once each way. ``asked`` are these
    and the other fields of ``run.run_options.RunAsked`` (shots, ...); all else are settings
    (temperature, max_tokens, ...), over the defaults of the way of asking. The same call
    again asks only what is missing. ``watch`` is called a few times a second with the progress
    of each run. KeyboardInterrupt once stops new requests, ``on_interrupt`` gets how many
    replies are waited for, and the results so far are returned; twice it passes.
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
    """Asks a model a few simple completions, kept and cached like every call."""
    return _probed(session, model, spending, perform_control)


def try_judge(
    session: Session, model: str, *, limit: int | None = None, budget: Budget | str | None = None
) -> JudgeTrial:
    """Asks a model to judge texts that try to talk it into a label, ``limit`` of them; every
    call is kept and cached."""
    trial = partial(perform_judge_trial, limit=limit)
    return _probed(session, model, start_spending(session, budget), trial)


def _probed(
    session: Session,
    model: str,
    spending: Spending | None,
    perform: Callable[[Store, Asker, Callable[[CallRecord], None] | None], Awaitable[T]],
) -> T:
    """What ``perform`` finds out of a model with what holds nothing of the workspace."""
    clear_probe([model], session.config, session.ask_egress)

    async def ask(askers: Mapping[str, Asker]) -> T:
        async with on_record(session.store, askers.values(), session.clock) as kept:
            return await perform(session.store, askers[model], kept)

    return with_askers(session, [model], ask, spending=spending)


def self_evaluation_of_specs(
    session: Session, specs: Sequence[RunSpec]
) -> tuple[SelfEvaluation, ...]:
    """The contestants of these runs that had a part in the items they are asked, themselves or
    through their family. Asks nobody."""
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
    """``run`` for runs whose settings differ from each other; results in their order. Calls
    that are handed the same ``spending`` share its budget."""
    shown: list[RunProgress] = []
    check_own_prompts(session, specs)
    # A question to a person is put on this thread, before the other one is at work.
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
    """``run`` for callers with a loop of their own: asks and scores what ``specs`` mean.

    ``progress`` is filled with the counters of each run; setting ``stop`` ends new requests.
    ``cleared`` is what was searched for, where all that leaves was let out before.
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
    """Raises BadInput for a template that holds a key of this workspace: it would be sent and
    kept; BadUsage where one would ask in several ways alike."""
    prompts = {spec.prompt for spec in specs if spec.prompt is not None}
    if not prompts:
        return
    scrubber = scrubber_of(session.config)
    for prompt in prompts:
        text = prompt.text.encode()
        if scrubber.raw(text) != text:
            raise BadInput(
                f"the template {prompt.name} holds a key or password of this configuration: "
                "it would be sent and kept",
                hint="take it out of the template",
            )
    _check_told_apart(session.store, specs)


def _let_out_runs(
    session: Session, specs: Sequence[RunSpec], retriever: Retriever, judges: JudgeSpec | None
) -> None:
    """Lets out what runs send, and what judging their replies does, once it is allowed."""
    let_out(session, plan_loads(session, specs, retriever))
    if judges is not None:
        let_out(session, loads_of_judging(session, [spec.item_set for spec in specs], judges))


def loads_of_judging(session: Session, item_sets: Sequence[bytes], judges: JudgeSpec) -> Loads:
    """What judging the replies to these item sets would send to each host that is not this machine,
    at the most: each question with its answer, once for each that judges there."""
    store = session.store
    sizes = {each: store.items.item_set(each).n_items for each in dict.fromkeys(item_sets)}
    return loads_of(
        judges, session.config, {s: (store.origins.of_set(s, n), n) for s, n in sizes.items()}
    )


def planned_specs(
    session: Session, specs: Sequence[RunSpec], askers: Mapping[str, Asker], retriever: Retriever
) -> list[PlannedRun]:
    """The runs that ``specs`` mean, all checked before one is stored."""
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
    """Keeps what is known now of the models of these runs; it is in force for those of the runs
    that have something left to ask."""
    real = [(planned, progress) for planned, progress in runs if not planned.run.simulated]
    names = sorted({planned.run.respondent for planned, _progress in real})
    asked = {p.key: p.run.respondent for p, progress in real if not progress.complete}
    if names:
        known = snapshots(session.config, names, session.clock.now())
        session.store.models.record(known, asked)


def _check_told_apart(store: Store, specs: Sequence[RunSpec]) -> None:
    """Raises BadUsage where one template would ask in several ways alike: their replies would be
    read and compared as if they had been asked for different things."""
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
                f"{prompt.name} asks {seen[text]} and {name} alike",
                hint="use one prompting method, let the template read {{ prompt_method }}, or give "
                f'each its own in a run file: [prompt_method.{name}] prompt_template = "FILE"',
            )
        seen[text] = name


def perform_request(
    session: Session, request: RunRequest, *, spending: Spending | None = None, **watching: Any
) -> list[RunResult]:
    """Runs what a request means; ``watching`` as for ``Workspace.run``. ``spending`` is that of the
    request's budget, where other calls share it."""
    asked = request.asked
    return run_specs(
        session,
        specs_of_request(session, request),
        max_connections=asked.max_connections,
        cache=asked.cache,
        spending=start_spending(session, spending or asked.budget or None),
        **watching,
    )

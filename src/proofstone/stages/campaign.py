"""A campaign: several runs at once, each model's one after the other, scored as each ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from proofstone.engines.models import Asker
from proofstone.engines.store import ServedShare, Store, Writer
from proofstone.errors import BudgetReached
from proofstone.identity import short
from proofstone.ports import CallRecord, Clock, Method
from proofstone.records import Spent, replies_wanted, run_label
from proofstone.stages.calm import calm_interpreter
from proofstone.stages.judging import Bench
from proofstone.stages.planning import PlannedRun
from proofstone.stages.progress import RunProgress
from proofstone.stages.run import perform_run
from proofstone.stages.score import Judging, score_run
from proofstone.stages.served import shares_of

__all__ = ["RunResult", "perform_campaign", "progress_of"]


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
    served: tuple[ServedShare, ...] = ()

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
        return replies_wanted(self.planned.run, self.planned.item_set.n_items)


def _is_limited(store: Store, planned: PlannedRun) -> bool:
    """Whether this limit is the most that the run was ever asked for."""
    most = store.runs.limits([planned.key]).get(planned.key)
    return most == planned.n_items < planned.item_set.n_items


def errors_of(store: Store, planned: PlannedRun) -> tuple[str, ...]:
    """The kinds of what last failed where there is no reply, by name."""
    failures = store.runs.failures(planned.key, planned.run.last_step)
    return tuple(sorted({failure.error for failure in failures}))


def progress_of(store: Store, planned: PlannedRun) -> RunProgress:
    """The counters of a run before it is worked on: what is done already."""
    limited = planned.n_items < planned.item_set.n_items
    first = planned.n_items if limited else None
    done = store.runs.count_done(planned.key, planned.run.last_step, first)
    form = f"{planned.item_set.name}-{short(planned.item_set.id, 4)}"
    label = f"{run_label(planned.run)} {form}"
    return RunProgress(
        label=label, total=planned.total, notes=planned.notes, before=done, done=done
    )


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
            method = find_method(planned.run.method)
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
            scored = await score_run(
                store, method, planned.key, planned.run, clock=clock, judging=judging
            )
            results[place] = RunResult(
                planned=planned,
                n_scored=scored.n,
                waiting=scored.waiting,
                failed=progress.failed + planned.n_not_searched,
                errors=(
                    *(errors_of(store, planned) if progress.failed else ()),
                    *(["search_failed"] if planned.n_not_searched else []),
                ),
                stopped=progress.stopped or _stopped(bench),
                interrupted=stop.is_set() and not progress.complete,
                over_budget=_is_over_budget(progress, asker, bench),
                is_limited=_is_limited(store, planned),
                spent=asked,
                judged=judged.spent(),
                in_all=store.spent.of_runs([planned.key]),
                seconds=(progress.ended or 0.0) - progress.started,
                served=shares_of(store, planned.key, planned.run),
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


def _stopped(bench: Bench | None) -> str:
    """Why judges cannot be asked any more; empty where they can."""
    return "" if bench is None or bench.stopped is None else str(bench.stopped)


def _is_over_budget(progress: RunProgress, asker: Asker, bench: Bench | None) -> bool:
    if progress.stopped:
        return isinstance(asker.stopped, BudgetReached)
    return bench is not None and isinstance(bench.stopped, BudgetReached)

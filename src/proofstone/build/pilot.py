"""The dry run of a build: a few rows really worked on, to see what all of them take.

The rows are a seeded sample of those that enter. What steps make of them is kept, so the build that
follows takes it from the journal. Batch steps are left out: of a sample they would say nothing, and
every row is taken to come through them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct, structs

from proofstone.build.build import (
    AskedRole,
    BuildProgress,
    RowCall,
    Workplace,
    asked_roles,
    step_context,
)
from proofstone.build.flow import (
    MemoryJournal,
    StepProgress,
    Visit,
    Workshop,
    count_unfinished,
    perform_pipeline,
    walk,
)
from proofstone.build.inputs import entering_rows
from proofstone.build.plan import PlannedBuild
from proofstone.errors import BudgetReached, CallFailed
from proofstone.models.ask import Asker
from proofstone.models.budget import Budget, cost_usd, total_tokens
from proofstone.records.builds import BatchStep, PipelineRow, Step, StepContext
from proofstone.records.calls import CallRecord, Clock, Message, ModelRequest
from proofstone.records.ids import Draws
from proofstone.records.runs import Response, Spent, Usage
from proofstone.run.forecast import (
    CONFIDENCE,
    Amounts,
    BuildForecast,
    NextRequests,
    Range,
    Reach,
    SentAs,
    StepForecast,
    reach_of,
)
from proofstone.stats.power import Sampled, forecast_total
from proofstone.store.builds import EnteringRow, StoreJournal
from proofstone.store.store import Store

_BILLED = 200


_PAGE = 512


class _RowSeen(Struct, frozen=True):
    """What one row of a pilot took, step by step, and how many rows are left of it; ``is_whole``:
    none of it is held up."""

    entered: tuple[int, ...]
    spent: tuple[Spent, ...]
    seconds: tuple[float, ...]
    left: int
    is_whole: bool


def draw_pilot(store: Store, planned: PlannedBuild, n: int) -> list[EnteringRow]:
    """A seeded sample of ``n`` of the rows that enter, in their order; the same each time."""
    build = planned.build
    draws = Draws(build.seed, 0, "pilot of a build")
    chosen = set(draws.sample(range(build.n_inputs), min(n, build.n_inputs)))
    rows = entering_rows(store, planned.builder, planned.spec, build.params)
    return [row for place, row in enumerate(rows) if place in chosen]


async def ask_pilot(
    store: Store,
    planned: PlannedBuild,
    rows: Sequence[EnteringRow],
    askers: Mapping[str, Asker],
    *,
    progress: BuildProgress,
    stop: asyncio.Event,
    clock: Clock,
    budget: Budget | None = None,
    kept: Callable[[CallRecord], None] | None = None,
) -> BuildForecast:
    """Bring the rows of a pilot through the steps, and return what all rows would take; without
    such rows, the requests that can be sent now."""
    entering = [each.row for each in rows]
    store.outcomes.keep_rows(entering)
    places = _row_steps(planned)
    async with store.writer(kept) as writer:
        work = Workplace(store, planned, askers, writer, progress, stop, bounds=True)

        def reached(position: int, step: Step | BatchStep, identity: bytes) -> None:
            work.journal.register(identity, step)
            progress.shown[places[position]].begin(clock)

        await perform_pipeline(
            [planned.pipeline.steps[at] for at in places],
            [planned.keys[at] for at in places],
            lambda: [entering],
            work.workshop(),
            progress=[progress.steps[at] for at in places],
            reached=reached,
        )
    progress.end(clock)
    found = _Forecaster(planned, work, entering, budget).forecast()
    if entering or not found.left:
        return found
    n_rows, counted = await _count_next(store, planned, askers)
    return structs.replace(found, next_requests=counted, next_of=n_rows)


def _row_steps(planned: PlannedBuild) -> list[int]:
    """The places of the steps that work row by row."""
    steps = enumerate(planned.pipeline.steps)
    return [place for place, step in steps if not isinstance(step, BatchStep)]


class _Forecaster:
    """Reads from the journal what the rows of a pilot took, and multiplies it up."""

    def __init__(
        self,
        planned: PlannedBuild,
        work: Workplace,
        entering: Sequence[PipelineRow],
        budget: Budget | None,
    ) -> None:
        self._planned, self._work, self._budget = planned, work, budget
        places = _row_steps(planned)
        self._steps = [planned.pipeline.steps[at] for at in places]
        self._keys = [planned.keys[at] for at in places]
        self._n_pilot = len(entering)
        self._seen_rows = [each for each in map(self._seen, entering) if each.is_whole]
        self._left = self._count_left()

    def forecast(self) -> BuildForecast:
        """What is left to do would take, step by step and in all."""
        build, work = self._planned.build, self._work
        total = self._amounts(range(len(self._steps)))
        reason = work.stopped_by()
        failed: Counter[str] = Counter()
        for step in work.progress.steps:
            failed.update(step.failed)
        models = [(each.model, each.price) for each in work.askers.values()]
        unpriced = [model.name for model, price in models if price is None and not model.simulated]
        steps = self._planned.pipeline.steps
        return BuildForecast(
            steps=tuple(self._step(place) for place in range(len(self._steps))),
            total=total,
            rows=self._total([each.left for each in self._seen_rows]),
            n_inputs=build.n_inputs,
            left=self._left,
            pilot=self._n_pilot,
            sampled=len(self._seen_rows),
            left_out=tuple(step.name for step in steps if isinstance(step, BatchStep)),
            failed=dict(failed),
            spent=work.progress.spent(),
            simulated=build.simulated,
            unpriced=tuple(dict.fromkeys(unpriced)),
            reach=None if self._budget is None else self._reach(self._budget, total),
            stopped="" if reason is None else str(reason),
            over_budget=isinstance(reason, BudgetReached),
            interrupted=work.stop.is_set(),
        )

    def _seen(self, row: PipelineRow) -> _RowSeen:
        entered = [0] * len(self._keys)
        spent, seconds = [Spent()] * len(self._keys), [0.0] * len(self._keys)
        held = False

        def visit(seen: Visit) -> None:
            nonlocal held
            place, ids = seen.place, [each.id for each in seen.rows]
            entered[place] = len(ids)
            held = held or None in seen.outcomes
            if self._steps[place].asks:
                key = self._work.journal.step(self._keys[place])
                spent[place] = self._work.store.outcomes.spent(key, ids)
                seconds[place] = self._work.store.outcomes.latency_s(key, ids)

        (left,) = walk(self._keys, [[row]], self._work.journal, visit)
        return _RowSeen(tuple(entered), tuple(spent), tuple(seconds), len(left), not held)

    def _count_left(self) -> int:
        planned, store = self._planned, self._work.store
        entering = entering_rows(store, planned.builder, planned.spec, planned.build.params)
        rows = (each.row for each in entering)
        journal = StoreJournal(store.outcomes)
        journal.know(store.builds.step_keys(self._keys))
        pages = iter(lambda: list(islice(rows, _PAGE)), [])
        return count_unfinished(self._keys, pages, journal)

    def _step(self, place: int) -> StepForecast:
        step = self._steps[place]
        return StepForecast(
            name=step.name,
            models=tuple(dict.fromkeys(self._planned.build.models[role] for role in step.asks)),
            rows=self._total([seen.entered[place] for seen in self._seen_rows]),
            amounts=self._amounts([place]),
        )

    def _amounts(self, places: Sequence[int]) -> Amounts:
        def summed(value: Callable[[_RowSeen, int], float]) -> Range | None:
            rows = self._seen_rows
            return self._predicted([sum(value(each, place) for place in places) for each in rows])

        asking = [place for place in places if self._steps[place].asks]
        if not asking:
            nothing = Range(0.0, 0.0, 0.0)
            return Amounts(requests=nothing, tokens=nothing, cost_usd=nothing)
        priced = not any(each.spent[at].unpriced for each in self._seen_rows for at in asking)
        return Amounts(
            requests=summed(lambda each, at: each.spent[at].calls),
            tokens=summed(lambda each, at: each.spent[at].tokens),
            cost_usd=summed(lambda each, at: each.spent[at].cost_usd) if priced else None,
            seconds=self._seconds(asking),
        )

    def _seconds(self, asking: Sequence[int]) -> Range | None:
        """Return the estimated duration. Steps of one endpoint share its connections; endpoints
        work in parallel."""
        longest = Range(0.0, 0.0, 0.0)
        by_slots: dict[int, list[int]] = {}
        for place in asking:
            limiter = self._work.askers[self._steps[place].asks[0]].limiter
            by_slots.setdefault(id(limiter), []).append(place)
        for together in by_slots.values():
            asker = self._work.askers[self._steps[together[0]].asks[0]]
            at_once = max(1, min(asker.max_connections, self._left))
            took = self._predicted(
                [sum(each.seconds[at] for at in together) / at_once for each in self._seen_rows]
            )
            if took is None:
                return None
            longest = max(longest, took, key=lambda each: each.high)
        return longest

    def _total(self, values: Sequence[float]) -> Range | None:
        """The total over all rows: known of the pilot, predicted of the others."""
        others = self._predicted(values, self._planned.build.n_inputs - len(values))
        if others is None:
            return None
        known = float(sum(values))
        return others + Range(known, known, known)

    def _predicted(self, values: Sequence[float], left: int | None = None) -> Range | None:
        left = self._left if left is None else left
        if left <= 0:
            return Range(0.0, 0.0, 0.0)
        if len(values) < 2:
            return None
        found = forecast_total([Sampled(list(values), left)], CONFIDENCE)
        return Range(found.low, found.high, found.likely)

    def _reach(self, budget: Budget, total: Amounts) -> Reach:
        worst = 0.0
        for role in self._work.roles.values():
            if budget.unit == "USD":
                worst = max(worst, cost_usd(role.asker.price, role.largest, _BILLED) or 0.0)
            else:
                worst = max(worst, float(total_tokens(role.largest)))
        needed = total.cost_usd if budget.unit == "USD" else total.tokens
        return reach_of(budget, needed, worst, is_left=self._left > 0)


# The prompts of the first rows, of which nothing is sent.

_LOOKED_AT = 100  # rows for each that is to be shown: the first ones may all be dropped unasked


class StepPrompt(Struct, frozen=True, kw_only=True):
    """Hold a request of a step for one row. Requests that depend on its response are shown if that
    is cached."""

    step: str
    row: bytes
    name: str
    messages: tuple[Message, ...]
    to: SentAs


async def show_prompts(
    store: Store, planned: PlannedBuild, askers: Mapping[str, Asker], n: int
) -> list[StepPrompt]:
    """The prompts of the first ``n`` rows of which any is asked, step by step. Plain steps are
    worked on, batch steps left out; nothing is sent and nothing kept."""
    roles = asked_roles(planned, askers)
    shown: list[StepPrompt] = []
    rows = entering_rows(store, planned.builder, planned.spec, planned.build.params)
    asked = 0
    for entering in islice(rows, n * _LOOKED_AT):
        prompts = await _row_prompts(planned, roles, entering.row)
        shown += prompts
        asked += bool(prompts)
        if asked == n:
            break
    order = {step.name: place for place, step in enumerate(planned.pipeline.steps)}
    return sorted(shown, key=lambda each: order[each.step])


async def _row_prompts(
    planned: PlannedBuild, roles: Mapping[str, AskedRole], row: PipelineRow
) -> list[StepPrompt]:
    shown: list[StepPrompt] = []
    await _work_unsent(
        planned, row, lambda role, identity, step: _ShownCall(roles[role], identity, step, shown)
    )
    return shown


async def _work_unsent(
    planned: PlannedBuild, row: PipelineRow, call_of: Callable[[str, bytes, str], RowCall]
) -> None:
    """Bring a row through the steps as far as its calls (of a role, a row and a step) answer."""

    def open_context(step: Step | BatchStep, _key: bytes, identity: bytes) -> StepContext:
        calls = {role: call_of(role, identity, step.name) for role in step.asks}
        return step_context(planned, step, identity, calls)

    steps, places = planned.pipeline.steps, _row_steps(planned)
    await perform_pipeline(
        [steps[place] for place in places],
        [planned.keys[place] for place in places],
        lambda: [[row]],
        Workshop(MemoryJournal(), open_context),
        progress=[StepProgress(steps[place].name) for place in places],
        reached=lambda *_reached: None,
    )


class _ShownCall(RowCall):
    """A call that keeps the prompt, is answered from the cache, and sends nothing."""

    __slots__ = ("_shown", "_step")

    def __init__(self, asked: AskedRole, row: bytes, step: str, shown: list[StepPrompt]) -> None:
        super().__init__(asked, row)
        self._step, self._shown = step, shown

    async def answer(self, name: str, request: ModelRequest) -> Response:
        """Return the cached response. Raises CallFailed without one."""
        asker = self.asked.asker
        settings, dropped = asker.model.sent_settings(request.settings)
        to = SentAs(model=asker.model.name, settings=settings, dropped=dropped)
        self._shown.append(
            StepPrompt(step=self._step, row=self.row, name=name, messages=request.messages, to=to)
        )
        cached = await asker.find_cached(request)
        if cached is None or cached.response is None:
            raise CallFailed("not_sent", f"{name} is only shown")
        return cached.response


# The requests that can be sent now, counted without sending any.

_COUNTED = 1000  # rows


async def _count_next(
    store: Store, planned: PlannedBuild, askers: Mapping[str, Asker]
) -> tuple[int, tuple[NextRequests, ...]]:
    """Return how many of the first rows were looked at, and their next requests by step."""
    roles = asked_roles(planned, askers)
    waiting: dict[str, list[tuple[str, Usage]]] = {}
    n_rows = 0
    for entering in islice(
        entering_rows(store, planned.builder, planned.spec, planned.build.params), _COUNTED
    ):
        n_rows += 1
        await _work_unsent(
            planned,
            entering.row,
            lambda role, row, step: _CountedCall(roles[role], row, waiting.setdefault(step, [])),
        )
    return n_rows, tuple(
        NextRequests(
            step=step.name,
            models=tuple(dict.fromkeys(model for model, _most in waiting[step.name])),
            requests=len(waiting[step.name]),
            prompt_tokens=sum(most.prompt or 0 for _model, most in waiting[step.name]),
            completion_tokens=_sum_known(most.completion for _model, most in waiting[step.name]),
        )
        for step in planned.pipeline.steps
        if waiting.get(step.name)
    )


def _sum_known(numbers: Iterable[int | None]) -> int | None:
    """Return the sum; None if one is unknown."""
    known = list(numbers)
    return None if None in known else sum(each or 0 for each in known)


class _CountedCall(RowCall):
    """A call that is answered from the cache, and else counted with the most tokens it takes."""

    __slots__ = ("_waiting",)

    def __init__(self, asked: AskedRole, row: bytes, waiting: list[tuple[str, Usage]]) -> None:
        super().__init__(asked, row)
        self._waiting = waiting

    async def answer(self, name: str, request: ModelRequest) -> Response:
        """Return the cached response. Raises CallFailed without one."""
        asker = self.asked.asker
        cached = await asker.find_cached(request)
        if cached is None or cached.response is None:
            self._waiting.append((asker.model.name, asker.most_tokens(request)))
            raise CallFailed("not_sent", f"{name} is only counted")
        return cached.response

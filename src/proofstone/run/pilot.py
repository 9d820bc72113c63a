"""The pilot of a dry run: a few questions really asked, to see what one takes.

Replies are kept as calls without a run, so the run that follows takes them from the cache.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proofstone.errors import BudgetReached, CallFailed
from proofstone.method import Method, find_method
from proofstone.models.ask import Asker
from proofstone.models.budget import cost_usd
from proofstone.records.calls import CallRecord, Clock, Message
from proofstone.records.items import Oracle
from proofstone.records.models import Price
from proofstone.records.runs import Reply, asked_as
from proofstone.run.evidence import ask_item, asked_page
from proofstone.run.model_request import request_of, sent_to_model
from proofstone.run.plan import PlannedRun
from proofstone.run.remaining_work import Cell, Group
from proofstone.session.progress import RunProgress
from proofstone.store.items import StoredItem
from proofstone.store.store import Store
from proofstone.store.writer import PilotPlace, Writer

# As many as a limiter lets out at once from the start, so that no question waits for a slot and
# the time it takes is its own.
_AT_ONCE = 16


@dataclass(slots=True)
class Observed:
    """What one question of a pilot took: all its calls, with those that were billed and of no use.

    ``requests`` counts each try, ``again`` those after a first one. ``cost_usd`` is None where no
    price is known. ``broken`` calls were charged by our estimate. ``was_asked``: not all of it came
    from the cache. ``error`` is why it has no reply.
    """

    requests: int = 0
    again: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_tokens: int = 0
    broken: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    was_asked: bool = False
    error: str = ""

    @property
    def tokens(self) -> int:
        """All tokens, those estimated too."""
        return self.prompt_tokens + self.reply_tokens + self.estimated_tokens

    @property
    def says_something(self) -> bool:
        """Whether it was answered or billed: what merely failed is still to be asked, and says
        nothing of what an answer takes."""
        return not self.error or self.tokens > 0


@dataclass(slots=True)
class Pilot:
    """The sample of one group, its counters, and what was observed; ``stopped`` says why its model
    could not be asked any more, by the budget or ``over_budget``."""

    group: Group
    sample: list[tuple[int, Cell]]
    progress: RunProgress
    observed: list[Observed] = field(default_factory=list)
    stopped: str = ""
    over_budget: bool = False

    @property
    def errors(self) -> Counter[str]:
        """Why questions have no reply, with how many."""
        return Counter(each.error for each in self.observed if each.error)


def pilot_of(group: Group, n: int) -> Pilot:
    """A pilot of up to ``n`` questions, before it is asked."""
    sample, planned = group.sample(n), group.planned
    label = f"pilot {planned.run.respondent} {asked_as(planned.run)}"
    return Pilot(group, sample, RunProgress(label=label, total=len(sample), notes=planned.notes))


async def ask_pilots(
    store: Store,
    pilots: Sequence[Pilot],
    askers: Mapping[str, Asker],
    *,
    stop: asyncio.Event,
    clock: Clock,
    kept: Callable[[CallRecord], None] | None = None,
) -> None:
    """Asks the samples of all pilots, until done or stopped: those of one endpoint one after the
    other, endpoints beside each other. Raises StoreFailed where replies could not be kept."""
    by_slots: dict[int, list[Pilot]] = {}
    for pilot in pilots:
        asker = askers[pilot.group.planned.run.respondent]
        by_slots.setdefault(id(asker.limiter), []).append(pilot)

    async def work_on(together: Sequence[Pilot], writer: Writer) -> None:
        for pilot in together:
            run = pilot.group.planned.run
            asking = _Asking(
                store, writer, find_method(run.method), pilot, askers[run.respondent], stop, clock
            )
            await asking.work()

    try:
        async with store.writer(kept) as writer, asyncio.TaskGroup() as tasks:
            for together in by_slots.values():
                tasks.create_task(work_on(together, writer))
    except ExceptionGroup as several:  # one failure says enough; the others follow from it
        raise several.exceptions[0] from several


class _Asking:
    """One pilot at work."""

    def __init__(
        self,
        store: Store,
        writer: Writer,
        method: Method,
        pilot: Pilot,
        asker: Asker,
        stop: asyncio.Event,
        clock: Clock,
    ) -> None:
        self.store, self.writer, self.method = store, writer, method
        self.pilot, self.asker, self.stop, self.clock = pilot, asker, stop, clock
        self._left = list(reversed(pilot.sample))

    async def work(self) -> None:
        """Asks until all is asked or nothing can be any more."""
        pilot, asker = self.pilot, self.asker
        if not self._left:
            return
        pilot.progress.begin(self.clock)
        n = min(asker.max_connections, _AT_ONCE, len(self._left))
        async with asyncio.TaskGroup() as workers:
            for _ in range(n):
                workers.create_task(self._worker())
        await self.writer.flush()
        pilot.progress.end(self.clock)
        if asker.stopped is not None:
            pilot.stopped = str(asker.stopped)
            pilot.over_budget = isinstance(asker.stopped, BudgetReached)

    async def _worker(self) -> None:
        while self._left and not self.stop.is_set() and self.asker.stopped is None:
            place, (position, sample) = self._left.pop()
            planned = self.pilot.group.surveys[place].planned
            self.pilot.progress.in_flight += 1
            try:
                await self._ask(planned, position, sample)
            finally:
                self.pilot.progress.in_flight -= 1

    async def _ask(self, planned: PlannedRun, position: int, sample: int) -> None:
        (stored,) = asked_page(self.store, planned.way, planned.item_set.id, position - 1, 1)
        call = _PilotCall(self, planned, stored, sample)
        began = self.clock.monotonic()
        try:
            await ask_item(self.method, stored.loaded, planned.way, call)
        except CallFailed:
            if not call.observed.error:
                return  # not sent: the model or the command was stopped
            self.pilot.progress.failed += 1
        else:
            self.pilot.progress.done += 1
        if call.observed.was_asked:
            call.observed.seconds = self.clock.monotonic() - began
        self.pilot.observed.append(call.observed)


class _PilotCall:
    """The ``Call`` of one question of a pilot."""

    def __init__(
        self, asking: _Asking, planned: PlannedRun, stored: StoredItem, sample: int
    ) -> None:
        self.observed = Observed()
        self._asking = asking
        self._planned = planned
        self._item = stored.loaded
        item_set = asking.store.items.set_key(planned.item_set.id)
        self._place = PilotPlace(stored.key, item_set, planned.way.n_shots)
        self._sample = sample
        self._settings = sent_to_model(planned.run.settings)

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        asking = self._asking
        request = request_of(
            self._planned.run, self._settings, self._item, self._sample, step, messages,
            oracle=oracle, schema=schema,
        )  # fmt: skip
        asked = await asking.asker.ask(request, self._keep_useless)
        if asked.key is None:
            await self._keep(asked.record)
            self.observed.again += asked.record.attempts - 1
        else:
            asking.pilot.progress.cached += 1
            for call in asking.store.calls.attempts(asked.record.request_hash):
                self._add(call)
        if asked.reply is None:
            self.observed.error = asked.record.error
            raise CallFailed(asked.record.error, asked.record.detail)
        return asked.reply

    async def _keep_useless(self, call: CallRecord) -> None:
        await self._keep(call)
        self.observed.again += call.attempts

    async def _keep(self, call: CallRecord) -> None:
        self.observed.was_asked = True
        self._asking.pilot.progress.count(call)
        self._add(call)
        await self._asking.writer.write(call, self._place)

    def _add(self, call: CallRecord) -> None:
        observed, usage = self.observed, call.usage
        observed.requests += call.attempts
        observed.seconds += call.latency_s
        if call.estimated_tokens is None:
            observed.prompt_tokens += usage.prompt or 0
            observed.reply_tokens += usage.completion or 0
            observed.reasoning_tokens += usage.reasoning or 0
        else:
            observed.estimated_tokens += call.estimated_tokens
            observed.broken += call.state == "failed"
        cost = _cost(call, self._asking.asker.price)
        known = cost is not None and observed.cost_usd is not None
        observed.cost_usd = (observed.cost_usd or 0.0) + (cost or 0.0) if known else None


def _cost(call: CallRecord, price: Price | None) -> float | None:
    """What a call costs at today's price: as its endpoint counted it, else by our estimate."""
    if price is None:
        return None
    if call.estimated_tokens is None:
        return cost_usd(price, call.usage, call.status) or 0.0
    if call.cost_usd is not None:
        return call.cost_usd
    return call.estimated_tokens * max(price.input, price.output) / 1e6  # none was known then

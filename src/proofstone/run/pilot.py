"""Ask a few of the remaining questions of runs, to estimate the rest.

Cache hits, prompt lengths and maximum response lengths are found without sending anything. A
pilot's responses are stored as calls without a run, so that the run takes them from the cache.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct, structs

from proofstone.errors import BudgetReached, CallFailed
from proofstone.method import Method, find_method
from proofstone.models.ask import Asked, Asker
from proofstone.models.budget import cost_usd
from proofstone.models.tokens import counted_tokens
from proofstone.records.calls import CallRecord, Clock, Message, ModelRequest
from proofstone.records.ids import Draws, canonical_json
from proofstone.records.items import Oracle
from proofstone.records.models import Price
from proofstone.records.runs import Response, Run, Usage, asked_as
from proofstone.run.asked_items import ask_item, asked_page
from proofstone.run.plan import PlannedRun
from proofstone.run.prompts import request_of, sent_to_model
from proofstone.session.progress import RunProgress
from proofstone.store.items import StoredItem
from proofstone.store.store import Store
from proofstone.store.writer import PilotPlace, Writer

_PAGE = 128


# As many as a limiter starts immediately, so that no question waits for a slot and its time is its
# own.
_AT_ONCE = 16


Cell = tuple[int, int]  # the place of an item in its set, and the sample


class Survey(Struct, frozen=True, kw_only=True):
    """Hold what is left of one run.

    ``left`` are the (item, sample) without a response; for ``cached`` ones the cache has all
    responses. The first ``requests`` of the others have ``characters``, ``prompt_tokens``
    (approximate) and ``response_tokens`` (at most; None if unlimited). ``most`` bounds the most
    expensive one. ``is_one_request``: no question takes more than these.
    """

    planned: PlannedRun
    left: tuple[Cell, ...]
    cached: frozenset[Cell] = frozenset()
    requests: int = 0
    characters: int = 0
    prompt_tokens: int = 0
    response_tokens: int | None = 0
    most: Usage = Usage(0, 0)
    is_one_request: bool = True

    @property
    def to_ask(self) -> int:
        """Return the number of (item, sample) to ask."""
        return len(self.left) - len(self.cached)


class Group(Struct, frozen=True, kw_only=True):
    """The runs of one model, prompting method and settings, over all item sets.

    They form one population, of which a pilot is a sample.
    """

    surveys: tuple[Survey, ...]

    @property
    def run(self) -> Run:
        """Return the first of its runs; they differ in their item sets alone."""
        return self.surveys[0].planned.run

    @property
    def to_ask(self) -> int:
        """Return the number of (item, sample) to ask, in all runs."""
        return sum(survey.to_ask for survey in self.surveys)

    def sample(self, n: int) -> list[tuple[int, Cell]]:
        """Sample up to ``n`` of what is left without replacement, each with the index of its run.

        The sample stays the same until the run itself asks one of them. Cached responses are
        sampled as well: they cost nothing and are equally informative. A repeated pilot therefore
        asks nothing. Empty if nothing is left to ask, or if responses are simulated.
        """
        if not self.to_ask or self.run.simulated:
            return []
        cells = [(place, cell) for place, each in enumerate(self.surveys) for cell in each.left]
        draws = Draws(0, 0, f"pilot|{self.run.respondent}|{self.run.prompt_method}")
        return draws.sample(cells, min(n, len(cells)))


def group_surveys(surveys: Sequence[Survey]) -> list[Group]:
    """Group surveys, in the order of their first runs."""
    groups: dict[bytes, list[Survey]] = {}
    for survey in surveys:
        run = survey.planned.run
        key = canonical_json([run.respondent, run.prompt_method, run.settings, run.replicate])
        groups.setdefault(key, []).append(survey)
    return [Group(surveys=tuple(group)) for group in groups.values()]


async def survey_run(store: Store, planned: PlannedRun, asker: Asker) -> Survey:
    """Return what is left of a run. For simulated models, only the number of responses is given."""
    run, method = planned.run, find_method(planned.run.method)
    settings = sent_to_model(run.settings)
    left: list[Cell] = []
    cached: set[Cell] = set()
    survey = Survey(planned=planned, left=())
    for page in _pages(store, planned):
        cells = [(stored, (stored.position, n)) for stored, samples in page for n in samples]
        left += [cell for _stored, cell in cells]
        if run.simulated:
            continue
        firsts = await asyncio.gather(  # together, so that the cache is searched only once
            *(
                _missing(method, planned, stored, n, settings, asker.find_cached)
                for stored, (_position, n) in cells
            )
        )
        cached |= {cell for (_stored, cell), first in zip(cells, firsts, strict=True) if not first}
        for requests in filter(None, firsts):
            is_last = requests[-1][0] == run.last_step
            survey = structs.replace(survey, is_one_request=survey.is_one_request and is_last)
            for _step, request in requests:
                survey = _with_request(survey, request, asker)
    return structs.replace(survey, left=tuple(left), cached=frozenset(cached))


def _with_request(survey: Survey, request: ModelRequest, asker: Asker) -> Survey:
    """Return the survey with one more first request counted."""
    most, so_far = asker.most_tokens(request), survey.response_tokens
    return structs.replace(
        survey,
        requests=survey.requests + 1,
        characters=survey.characters + sum(len(message.text) for message in request.messages),
        prompt_tokens=survey.prompt_tokens + counted_tokens(request.messages),
        response_tokens=(
            None if most.completion is None or so_far is None else so_far + most.completion
        ),
        most=Usage(
            max(survey.most.prompt or 0, most.prompt or 0),
            max(survey.most.completion or 0, most.completion or 0),
        ),
    )


async def first_request(planned: PlannedRun, stored: StoredItem) -> tuple[str, ModelRequest] | None:
    """Return the step and request that asking an item begins with; None if there is none."""
    method, settings = find_method(planned.run.method), sent_to_model(planned.run.settings)
    return await _first_missing(method, planned, stored, 0, settings, None)


def _pages(store: Store, planned: PlannedRun) -> Iterator[list[tuple[StoredItem, list[int]]]]:
    """Yield the items of a run, each with the samples that have no response yet."""
    try:
        key = store.runs.run(planned.run.id)[0]
    except KeyError:  # the run was never started
        key = None
    last, samples = planned.run.last_step, range(planned.samples)
    for after in range(-1, planned.n_items - 1, _PAGE):
        size = min(_PAGE, planned.n_items - 1 - after)
        items = asked_page(store, planned.prompt_method, planned.item_set.id, after, size)
        done: dict[tuple[int, int], set[str]] = {}
        if key is not None:
            done = store.runs.steps_among(key, planned.item_set.id, after, size)
        yield [
            (item, [sample for sample in samples if last not in done.get((item.key, sample), ())])
            for item in items
        ]


async def _first_missing(
    method: Method,
    planned: PlannedRun,
    stored: StoredItem,
    sample: int,
    settings: Mapping[str, Any],
    find: Callable[[ModelRequest], Awaitable[Asked | None]] | None,
) -> tuple[str, ModelRequest] | None:
    """Return the first of ``_missing``; None if all have responses."""
    found = await _missing(method, planned, stored, sample, settings, find)
    return found[0] if found else None


async def _missing(
    method: Method,
    planned: PlannedRun,
    stored: StoredItem,
    sample: int,
    settings: Mapping[str, Any],
    find: Callable[[ModelRequest], Awaitable[Asked | None]] | None,
) -> list[tuple[str, ModelRequest]]:
    """Return the first request of an item without a response in ``find``.

    For likelihoods, whose requests depend on no response, returns all of them.
    """
    missing: list[tuple[str, ModelRequest]] = []

    async def look(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        request = request_of(
            planned.run, settings, stored.loaded, sample, step, messages,
            oracle=oracle, schema=schema,
        )  # fmt: skip
        found = None if find is None else await find(request)
        if found is None or found.response is None:
            missing.append((step, request))
            if planned.prompt_method.likelihood:
                return Response(text="")
            raise CallFailed("not_asked", "only the request is needed")
        return found.response

    try:
        await ask_item(method, stored.loaded, planned.prompt_method, look)
    except CallFailed:
        return missing
    return missing


@dataclass(slots=True)
class Observed:
    """Hold what one question of a pilot took, including billed calls without a usable result.

    ``requests`` counts each attempt, ``again`` the retries. ``cost_usd`` is None if no price is
    known. ``broken`` calls were charged by our estimate. ``was_asked``: not all of it came from the
    cache. ``error`` says why it has no response.
    """

    requests: int = 0
    again: int = 0
    prompt_tokens: int = 0
    response_tokens: int = 0
    reasoning_tokens: int = 0
    estimated_tokens: int = 0
    broken: int = 0
    cost_usd: float | None = 0.0
    seconds: float = 0.0
    was_asked: bool = False
    error: str = ""

    @property
    def tokens(self) -> int:
        """Return all tokens, estimated ones included."""
        return self.prompt_tokens + self.response_tokens + self.estimated_tokens

    @property
    def says_something(self) -> bool:
        """Return True if it was answered or billed.

        A question that merely failed is still to be asked and does not show what an answer takes.
        """
        return not self.error or self.tokens > 0

    def add(self, call: CallRecord, price: Price | None) -> None:
        """Count one call, its cost at today's price."""
        usage = call.usage
        self.requests += call.attempts
        self.seconds += call.latency_s
        if call.estimated_tokens is None:
            self.prompt_tokens += usage.prompt or 0
            self.response_tokens += usage.completion or 0
            self.reasoning_tokens += usage.reasoning or 0
        else:
            self.estimated_tokens += call.estimated_tokens
            self.broken += call.state == "failed"
        cost = _cost(call, price)
        known = cost is not None and self.cost_usd is not None
        self.cost_usd = (self.cost_usd or 0.0) + (cost or 0.0) if known else None


def _cost(call: CallRecord, price: Price | None) -> float | None:
    """Return a call's cost at today's price: as billed by its endpoint, or by our estimate."""
    if price is None:
        return None
    if call.estimated_tokens is None:
        return cost_usd(price, call.usage, call.status) or 0.0
    if call.cost_usd is not None:
        return call.cost_usd
    return call.estimated_tokens * max(price.input, price.output) / 1e6  # no price was known then


@dataclass(slots=True)
class Pilot:
    """The sample of one group, its counters and observations.

    ``stopped`` says why its model could not be asked any more; ``over_budget`` that it was the
    budget.
    """

    group: Group
    sample: list[tuple[int, Cell]]
    progress: RunProgress
    observed: list[Observed] = field(default_factory=list)
    stopped: str = ""
    over_budget: bool = False

    @property
    def errors(self) -> Counter[str]:
        """Count the reasons why questions have no response."""
        return Counter(each.error for each in self.observed if each.error)


def pilot_of(group: Group, n: int) -> Pilot:
    """Return a pilot of up to ``n`` questions, before it is asked."""
    sample, planned = group.sample(n), group.surveys[0].planned
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
    """Ask the samples of all pilots, until done or stopped.

    Pilots of one endpoint follow each other; endpoints run concurrently. Raises StoreFailed if
    responses could not be stored.
    """
    by_slots: dict[int, list[Pilot]] = {}
    for pilot in pilots:
        by_slots.setdefault(id(askers[pilot.group.run.respondent].limiter), []).append(pilot)

    async def work_on(together: Sequence[Pilot], writer: Writer) -> None:
        for pilot in together:
            await _Asking(
                store, writer, pilot, askers[pilot.group.run.respondent], stop, clock
            ).work()

    try:
        async with store.writer(kept) as writer, asyncio.TaskGroup() as tasks:
            for together in by_slots.values():
                tasks.create_task(work_on(together, writer))
    except ExceptionGroup as several:  # one failure is enough; the others follow from it
        raise several.exceptions[0] from several


@dataclass
class _Asking:
    """One pilot at work."""

    store: Store
    writer: Writer
    pilot: Pilot
    asker: Asker
    stop: asyncio.Event
    clock: Clock

    async def work(self) -> None:
        """Ask until all is asked or nothing more can be."""
        pilot, asker, left = self.pilot, self.asker, list(reversed(self.pilot.sample))
        if not left:
            return
        pilot.progress.begin(self.clock)
        async with asyncio.TaskGroup() as workers:
            for _ in range(min(asker.max_connections, _AT_ONCE, len(left))):
                workers.create_task(self._worker(left))
        await self.writer.flush()
        pilot.progress.end(self.clock)
        if asker.stopped is not None:
            pilot.stopped = str(asker.stopped)
            pilot.over_budget = isinstance(asker.stopped, BudgetReached)

    async def _worker(self, left: list[tuple[int, Cell]]) -> None:
        while left and not self.stop.is_set() and self.asker.stopped is None:
            place, (position, sample) = left.pop()
            planned = self.pilot.group.surveys[place].planned
            self.pilot.progress.in_flight += 1
            try:
                await self._ask(planned, position, sample)
            finally:
                self.pilot.progress.in_flight -= 1

    async def _ask(self, planned: PlannedRun, position: int, sample: int) -> None:
        (stored,) = asked_page(
            self.store, planned.prompt_method, planned.item_set.id, position - 1, 1
        )
        call = _PilotCall(self, planned, stored, sample)
        began = self.clock.monotonic()
        try:
            await ask_item(
                find_method(planned.run.method), stored.loaded, planned.prompt_method, call
            )
        except CallFailed:
            if not call.observed.error:
                return  # not sent: the model or the command was stopped
            self.pilot.progress.failed += 1
        else:
            self.pilot.progress.done += 1
        if call.observed.was_asked:
            call.observed.seconds = self.clock.monotonic() - began
        self.pilot.observed.append(call.observed)


@dataclass
class _PilotCall:
    """The ``Call`` of one question of a pilot."""

    asking: _Asking
    planned: PlannedRun
    stored: StoredItem
    sample: int

    def __post_init__(self) -> None:
        self.observed = Observed()
        item_set = self.asking.store.items.set_key(self.planned.item_set.id)
        self._place = PilotPlace(self.stored.key, item_set, self.planned.prompt_method.n_shots)
        self._settings = sent_to_model(self.planned.run.settings)

    async def __call__(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        asking, observed = self.asking, self.observed
        request = request_of(
            self.planned.run, self._settings, self.stored.loaded, self.sample, step, messages,
            oracle=oracle, schema=schema,
        )  # fmt: skip
        asked = await asking.asker.ask(request, self._keep_useless)
        if asked.key is None:
            await self._keep(asked.record)
            observed.again += asked.record.attempts - 1
        else:
            asking.pilot.progress.cached += 1
            for call in asking.store.calls.attempts(asked.record.request_hash):
                observed.add(call, asking.asker.price)
        if asked.response is None:
            observed.error = asked.record.error
            raise CallFailed(asked.record.error, asked.record.detail)
        return asked.response

    async def _keep_useless(self, call: CallRecord) -> None:
        await self._keep(call)
        self.observed.again += call.attempts

    async def _keep(self, call: CallRecord) -> None:
        self.observed.was_asked = True
        self.asking.pilot.progress.count(call)
        self.observed.add(call, self.asking.asker.price)
        await self.asking.writer.write(call, self._place)

"""Building in steps: from the rows that enter to a bank, until done, stopped or held up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from msgspec import Struct, structs

from proofstone import __version__
from proofstone.build.flow import StepProgress, Workshop, perform_pipeline, read_row, walk
from proofstone.build.funnel import build_journal, funnel_of
from proofstone.build.inputs import entering_rows
from proofstone.build.plan import PlannedBuild
from proofstone.build.taxonomy_label import place_sources
from proofstone.errors import BadInput, BudgetReached, CallFailed, NotAsked
from proofstone.models.ask import Asker
from proofstone.records.builds import (
    BatchStep,
    Build,
    BuildFunnel,
    ModelRole,
    Step,
    StepContext,
    role_of_slot,
)
from proofstone.records.calls import CallRecord, Clock, Message, ModelRequest
from proofstone.records.ids import canonical_json, digest
from proofstone.records.items import Oracle
from proofstone.records.knowledge import Bank, TaxonomyLabel
from proofstone.records.runs import Response, Spent, Usage
from proofstone.run.loop import tuned_interpreter as calm_interpreter
from proofstone.session.askers import lease_held
from proofstone.session.progress import RunProgress
from proofstone.store.builds import StoreJournal
from proofstone.store.store import Store
from proofstone.store.writer import BuildPlace, Writer

# The calls that steps are handed: a role's model, asked for one row.


@dataclass(slots=True)
class AskedRole:
    """A role with the model behind it and the settings that it is asked with; ``largest`` is the
    most that one of its requests may take, where ``bounds`` are watched."""

    role: ModelRole
    asker: Asker
    settings: Mapping[str, Any]
    bounds: bool = False
    largest: Usage = field(default_factory=lambda: Usage(0, 0))

    def watch(self, request: ModelRequest) -> None:
        """Takes in how much a request may take."""
        most = self.asker.most_tokens(request)
        self.largest = Usage(
            max(self.largest.prompt or 0, most.prompt or 0),
            max(self.largest.completion or 0, most.completion or 0),
        )


class RowCall:
    """``StepCall`` of one role for one row: the same request whether it is sent or only shown."""

    __slots__ = ("asked", "row")

    def __init__(self, asked: AskedRole, row: bytes) -> None:
        self.asked = asked
        self.row = row

    async def __call__(
        self,
        name: str,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        reask: int = 0,
        sample: int = 0,
        oracle: Oracle | None = None,
    ) -> Response:
        """Return the response to one request; see ``StepCall``."""
        settings, prompt = self.asked.settings, canonical_json(messages)
        request = ModelRequest(
            messages=tuple(messages),
            prompt=prompt,
            prompt_hash=digest(prompt),
            settings=settings if schema is None else {**settings, "schema": schema},
            sample=sample,
            reask=reask,
            purpose=self.asked.role.purpose,
            oracle=oracle,
            draw_key=f"{self.row.hex()}:{name}" if oracle is not None else "",
        )
        return await self.answer(name, request)

    async def answer(self, name: str, request: ModelRequest) -> Response:
        """Return the response to the request ``name``."""
        raise NotImplementedError


class SentCall(RowCall):
    """A call that is sent; each attempt is written with its place."""

    __slots__ = ("_place", "_progress", "_writer")

    def __init__(
        self, asked: AskedRole, writer: Writer, place: BuildPlace, progress: RunProgress
    ) -> None:
        super().__init__(asked, place.row)
        self._writer = writer
        self._place = place
        self._progress = progress

    async def answer(self, name: str, request: ModelRequest) -> Response:
        """Return the response, from the cache if possible. Raises CallFailed and NotAsked."""
        if self.asked.bounds:
            self.asked.watch(request)
        found = await self.asked.asker.ask(request, self._keep)
        if found.key is None:
            await self._keep(found.record)
        else:
            self._progress.cached += 1
            await self._writer.write(found.key, self._place)
        if found.response is None:
            # The last failure of a model that cannot be asked any more says nothing of this row.
            kind = CallFailed if self.asked.asker.stopped is None else NotAsked
            raise kind(found.record.error, found.record.detail)
        return structs.replace(found.response, latency_s=found.record.latency_s)

    async def _keep(self, call: CallRecord) -> None:
        self._progress.count(call)
        await self._writer.write(call, self._place)


# What a build is worked with, and what comes of it.


_LONG_S = 5.0  # a step on all rows together that takes longer is told of


@dataclass(slots=True)
class BuildProgress:
    """The counters of a build: the engine's a step, and what a display reads of them."""

    steps: list[StepProgress]
    shown: list[RunProgress]

    def refresh(self) -> None:
        """Brings the display up to what the engine has counted."""
        for step, shown in zip(self.steps, self.shown, strict=True):
            shown.total = max(shown.total, step.entered)
            shown.before = step.from_before
            shown.failed = sum(step.failed.values())
            shown.in_flight = step.in_flight
            shown.done = step.from_before + step.done
            if step.batch_since and monotonic() - step.batch_since > _LONG_S:
                shown.notes = (
                    f"{step.name} works on all {step.entered:,} rows together and counts them at "
                    "its end",
                )

    def end(self, clock: Clock) -> None:
        """Nothing more is counted."""
        self.refresh()
        for shown in self.shown:
            shown.end(clock)

    def spent(self) -> Spent:
        """What the calls of this process took."""
        return sum((shown.spent() for shown in self.shown), Spent())


def progress_of_build(build: Build) -> BuildProgress:
    """The counters of a build before it is worked on."""
    shown = [RunProgress(label=f"{build.kind}: {step.name}", total=0) for step in build.steps]
    if shown:
        shown[0].total = build.n_inputs
    return BuildProgress([StepProgress(step.name) for step in build.steps], shown)


class BuildResult(Struct, frozen=True, kw_only=True):
    """Hold the result of a build: its ``bank``, or the sources that it labeled (``placed``).

    Both are None while rows are pending. ``spent`` is the cost of this command; the funnel has the
    cost of all calls. ``notes`` state optional parts that the build leaves out.
    """

    build: Build
    funnel: BuildFunnel
    bank: Bank | None = None
    placed: tuple[TaxonomyLabel, ...] | None = None
    stopped: str = ""
    over_budget: bool = False
    interrupted: bool = False
    spent: Spent = Spent()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Return True if every row is processed and there is a bank or labels."""
        return self.bank is not None or self.placed is not None


@dataclass(slots=True)
class Workplace:
    """What a build is worked with: models by role, one writer, and when to stop."""

    store: Store
    planned: PlannedBuild
    askers: Mapping[str, Asker]
    writer: Writer
    progress: BuildProgress
    stop: asyncio.Event
    bounds: bool = False
    journal: StoreJournal = field(init=False)
    roles: dict[str, AskedRole] = field(init=False)
    _shown: dict[str, RunProgress] = field(init=False)

    def __post_init__(self) -> None:
        self.journal = StoreJournal(self.store.outcomes, self.writer)
        self.roles = asked_roles(self.planned, self.askers, bounds=self.bounds)
        names = [step.name for step in self.planned.build.steps]
        self._shown = dict(zip(names, self.progress.shown, strict=True))

    def workshop(self) -> Workshop:
        """What the engine takes of it."""
        return Workshop(self.journal, self._context, self.is_halted)

    def is_halted(self) -> bool:
        """Whether nothing new is begun: told to stop, or a model cannot be asked any more."""
        return self.stop.is_set() or self.stopped_by() is not None

    def stopped_by(self) -> Exception | None:
        """Why the first model that cannot be asked any more cannot."""
        return next((e.stopped for e in self.askers.values() if e.stopped is not None), None)

    def _context(self, step: Step | BatchStep, key: bytes, row: bytes) -> StepContext:
        calls = {}
        if step.asks:
            place = BuildPlace(self.journal.step(key), row)
            shown = self._shown[step.name]
            calls = {
                role: SentCall(self.roles[role], self.writer, place, shown) for role in step.asks
            }
        return step_context(self.planned, step, row, calls)


def asked_roles(
    planned: PlannedBuild, askers: Mapping[str, Asker], *, bounds: bool = False
) -> dict[str, AskedRole]:
    """Return the roles of a build by model slot, with the models behind them."""
    roles = planned.builder.roles
    return {
        slot: AskedRole(roles[role_of_slot(slot)], askers[slot], settings, bounds)
        for slot, settings in planned.settings.items()
    }


def step_context(
    planned: PlannedBuild, step: Step | BatchStep, row: bytes, calls: Mapping[str, RowCall]
) -> StepContext:
    """Return the context of a step for one row: its calls, and what it reads."""
    return StepContext(
        row=row, calls=calls, seed=planned.build.seed,
        search=planned.reads.search(step.reads), banks=planned.reads.banks_of(step.reads),
        document=planned.reads.document(step.reads),
        embedding=planned.reads.embedding_of(step.reads),
    )  # fmt: skip


async def perform_build(
    store: Store,
    planned: PlannedBuild,
    askers: Mapping[str, Asker],
    *,
    progress: BuildProgress,
    stop: asyncio.Event,
    clock: Clock,
    kept: Callable[[CallRecord], None] | None = None,
) -> BuildResult:
    """Brings all rows of a build through its steps, and makes its bank once they are.

    ``askers`` are by role. Raises RunInUse where another process works on this build, StoreFailed
    where outcomes could not be kept, BadInput where no row is left; what a step raises passes.
    """
    build, pipeline = planned.build, planned.pipeline
    rows = entering_rows(store, planned.builder, planned.spec, build.params)
    key = store.builds.add(build, rows, clock.now(), __version__)
    with calm_interpreter():
        async with lease_held(store.builds, key, clock), store.writer(kept) as writer:
            place = Workplace(store, planned, askers, writer, progress, stop)

            def reached(position: int, step: Step | BatchStep, identity: bytes) -> None:
                store.builds.add_stage(key, position, place.journal.register(identity, step))
                progress.shown[position].begin(clock)

            performed = await perform_pipeline(
                pipeline.steps,
                planned.keys,
                lambda: store.builds.pages(key),
                place.workshop(),
                progress=progress.steps,
                reached=reached,
            )
        progress.end(clock)
        funnel = funnel_of(store, key, build)
        bank, placed = None, None
        if performed.complete and funnel.complete:
            store.builds.add_funnel(build.id, funnel, clock.now())
            values = _values(store, key, pipeline.gives)
            if pipeline.places is not None:
                placed = place_sources(store, build, pipeline.places(values), clock)
            else:
                bank = _bank(store, planned, key, funnel, values, clock)
    is_whole = bank is not None or placed is not None
    reason = None if is_whole else place.stopped_by()
    return BuildResult(
        build=build, funnel=funnel, bank=bank, placed=placed,
        stopped="" if reason is None else str(reason),
        over_budget=isinstance(reason, BudgetReached),
        interrupted=stop.is_set() and not is_whole,
        spent=progress.spent(), notes=pipeline.notes,
    )  # fmt: skip


def _values(store: Store, key: int, kind: type[Struct]) -> Iterator[Any]:
    """What the rows that are left hold."""
    reached, journal = build_journal(store, key)
    for rows in walk(reached, store.builds.pages(key), journal):
        yield from (read_row(row, kind) for row in rows if row.payload)


def _bank(
    store: Store,
    planned: PlannedBuild,
    key: int,
    funnel: BuildFunnel,
    values: Iterator[Any],
    clock: Clock,
) -> Bank:
    """The bank of a build that is whole. Raises BadInput where nothing is left."""
    build, facts = planned.build, planned.pipeline.facts
    built = [] if facts is None else list(facts(values))
    if not built:
        dropped = [each for step in funnel.steps for each in step.dropped.items()]
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in dropped if n)
        raise BadInput(
            f"no {build.kind} are left of {build.n_inputs:,} rows: {reasons}",
            hint=f"look at them: proofstone show build:{build.id.hex()[:8]} --dropped",
        )
    now = clock.now()
    bank, _is_new = store.knowledge.add_bank(planned.spec.name, build.method, built, now)
    store.builds.add_bank(key, bank.id)
    return bank

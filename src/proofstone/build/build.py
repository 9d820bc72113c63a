"""Building in steps: from the rows that enter to a bank, until done, stopped or held up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Struct

from proofstone import __version__
from proofstone.build.calls import AskedRole, RoleCall
from proofstone.build.flow import Workshop, perform_pipeline
from proofstone.build.funnel import read_funnel
from proofstone.build.journal import StepProgress, read_row, walk
from proofstone.build.placement import place_sources
from proofstone.build.plan import PlannedBuild, entering_rows
from proofstone.errors import BadInput, BudgetReached
from proofstone.models.ask import Asker
from proofstone.records.builds import Build, BuildFunnel, role_of_seat
from proofstone.records.calls import CallRecord, Clock
from proofstone.records.knowledge import Bank
from proofstone.records.runs import Spent
from proofstone.records.steps import BatchStep, Maker, Step, StepContext
from proofstone.records.taxonomy import Placement
from proofstone.run.loop import tuned_interpreter as calm_interpreter
from proofstone.session.lease import lease_held
from proofstone.session.progress import RunProgress
from proofstone.store.builds import StoreJournal
from proofstone.store.store import Store
from proofstone.store.writer import BuildPlace, Writer


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

    def spent(self) -> Spent:
        """What the calls of this process took."""
        return sum((shown.spent() for shown in self.shown), Spent())


class BuildResult(Struct, frozen=True, kw_only=True):
    """What came of a build: its ``bank``, or the sources that it ``placed``; both None while rows
    are held up. ``spent`` is what this
    command's calls took; the funnel has what all took when they were asked. ``notes`` say what
    the build leaves out that it could do."""

    build: Build
    funnel: BuildFunnel
    bank: Bank | None = None
    placed: tuple[Placement, ...] | None = None
    stopped: str = ""
    over_budget: bool = False
    interrupted: bool = False
    spent: Spent = Spent()
    notes: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every row is through, and a bank or places came of them."""
        return self.bank is not None or self.placed is not None


@dataclass(slots=True)
class Workplace:
    """What a build is worked with: models by role, one writer, and when to stop."""

    store: Store
    method: Maker
    planned: PlannedBuild
    askers: Mapping[str, Asker]
    writer: Writer
    progress: BuildProgress
    stop: asyncio.Event
    bounds: bool = False
    journal: StoreJournal = field(init=False)

    def __post_init__(self) -> None:
        self.journal = StoreJournal(self.store.outcomes, self.writer)
        roles = self.planned.builder.roles
        self.roles = {
            seat: AskedRole(
                roles[role_of_seat(seat)], self.askers[seat], settings, bounds=self.bounds
            )
            for seat, settings in self.planned.settings.items()
        }
        names = [step.name for step in self.planned.build.steps]
        self._shown = dict(zip(names, self.progress.shown, strict=True))

    roles: dict[str, AskedRole] = field(init=False)
    _shown: dict[str, RunProgress] = field(init=False)

    def workshop(self) -> Workshop:
        """What the engine takes of it."""
        return Workshop(self.journal, self._context, self.is_halted)

    def is_halted(self) -> bool:
        """Whether nothing new is begun: told to stop, or a model cannot be asked any more."""
        return self.stop.is_set() or self.stopped_asker() is not None

    def stopped_asker(self) -> Asker | None:
        """The first model that cannot be asked any more."""
        return next((each for each in self.askers.values() if each.stopped is not None), None)

    def _context(self, step: Step | BatchStep, key: bytes, row: bytes) -> StepContext:
        calls = {}
        if step.asks:
            place = BuildPlace(self.journal.step(key), row)
            shown = self._shown[step.name]
            calls = {
                role: RoleCall(self.roles[role], self.writer, place, shown) for role in step.asks
            }
        reads = self.planned.reads
        return StepContext(
            row=row, calls=calls, seed=self.planned.build.seed,
            search=reads.search(step.reads), banks=reads.banks_of(step.reads),
        )  # fmt: skip


def progress_of_build(build: Build) -> BuildProgress:
    """The counters of a build before it is worked on."""
    shown = [RunProgress(label=f"{build.kind}: {step.name}", total=0) for step in build.steps]
    if shown:
        shown[0].total = build.n_inputs
    return BuildProgress([StepProgress(step.name) for step in build.steps], shown)


async def perform_build(
    store: Store,
    method: Maker,
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
    build = planned.build
    key = _store_build(store, planned, clock)
    with calm_interpreter():
        async with lease_held(store.builds, key, clock), store.writer(kept) as writer:
            place = Workplace(store, method, planned, askers, writer, progress, stop)

            def reached(position: int, step: Step | BatchStep, identity: bytes) -> None:
                store.builds.add_stage(key, position, place.journal.register(identity, step))
                progress.shown[position].begin(clock)

            performed = await perform_pipeline(
                planned.pipeline.steps,
                planned.keys,
                lambda: store.builds.pages(key),
                place.workshop(),
                progress=progress.steps,
                reached=reached,
            )
        progress.refresh()
        for shown in progress.shown:
            shown.end(clock)
        funnel = funnel_of(store, key, build)
        bank, placed = None, None
        if performed.complete and funnel.complete:
            store.builds.add_funnel(build.id, funnel, clock.now())
            if planned.pipeline.places is not None:
                places = planned.pipeline.places(_values(store, key, planned.pipeline.gives))
                placed = place_sources(store, build, places, clock)
            else:
                bank = _bank(store, method, planned, key, funnel, clock)
    is_whole = bank is not None or placed is not None
    stopped = place.stopped_asker()
    reason = None if stopped is None or is_whole else stopped.stopped
    return BuildResult(
        build=build,
        funnel=funnel,
        bank=bank,
        placed=placed,
        stopped="" if reason is None else str(reason),
        over_budget=isinstance(reason, BudgetReached),
        interrupted=stop.is_set() and not is_whole,
        spent=progress.spent(),
        notes=planned.pipeline.notes,
    )


def funnel_of(store: Store, key: int, build: Build) -> BuildFunnel:
    """The funnel of a build as far as it came."""
    reached = store.builds.stages(key)
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(reached))
    return read_funnel(
        build.steps, reached, lambda: store.builds.pages(key), journal, costs=journal
    )


def _store_build(store: Store, planned: PlannedBuild, clock: Clock) -> int:
    rows = entering_rows(store, planned.builder, planned.spec, planned.build.params)
    return store.builds.add(planned.build, rows, clock.now(), __version__)


def _bank(
    store: Store,
    method: Maker,
    planned: PlannedBuild,
    key: int,
    funnel: BuildFunnel,
    clock: Clock,
) -> Bank:
    """The bank of a build that is whole."""
    pipeline, build = planned.pipeline, planned.build
    values = _values(store, key, pipeline.gives)
    built = [] if pipeline.facts is None else list(pipeline.facts(values))
    if not built:
        raise BadInput(
            f"no {build.kind} are left of {build.n_inputs:,} rows: {_reasons(funnel)}",
            hint=f"look at them: proofstone show build:{build.id.hex()[:8]} --dropped",
        )
    name = planned.spec.name
    bank, _is_new = store.knowledge.add_bank(name, method.name, built, clock.now())
    store.builds.add_bank(key, bank.id)
    return bank


def _values(store: Store, key: int, kind: type[Struct]) -> Iterator[Any]:
    reached = store.builds.stages(key)
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(reached))
    for rows in walk(reached, store.builds.pages(key), journal):
        yield from (read_row(row, kind) for row in rows if row.payload)


def _reasons(funnel: BuildFunnel) -> str:
    dropped: Sequence[tuple[str, int]] = [
        (reason, n) for step in funnel.steps for reason, n in step.dropped.items() if n
    ]
    return ", ".join(f"{n:,} {reason}" for reason, n in dropped)

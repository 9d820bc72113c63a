"""The funnel of a build, read from its journal: what entered each step, left, why, and what it
cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec import Struct

from proofstone.build.walking import Pages, Visit, walk
from proofstone.records.building import Costs, Journal, Outcome, PipelineRow
from proofstone.records.builds import BuildFunnel, StepFunnel, StepName
from proofstone.records.runs import Spent


class Ended(Struct, frozen=True, gc=False):
    """A row that did not come through a step: dropped for a ``reason``, or held up by a failure
    (``error``, empty where it was not worked on yet)."""

    step: str
    row: PipelineRow
    reason: str = ""
    found: str = ""
    error: str = ""

    @property
    def is_dropped(self) -> bool:
        """Whether it was dropped, rather than held up."""
        return bool(self.reason)


@dataclass(slots=True)
class _Tally:
    """The counts of one step, while the walk goes on."""

    entered: int = 0
    kept: int = 0
    pending: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    spent: Spent = field(default_factory=Spent)

    def add(self, outcomes: Sequence[Outcome | None]) -> None:
        self.entered += len(outcomes)
        for outcome in outcomes:
            if outcome is None:
                self.pending += 1
            elif outcome.reason:
                self.dropped[outcome.reason] += 1
            else:
                self.kept += 1 if outcome.kept is None else len(outcome.kept)


def read_funnel(
    steps: Sequence[StepName],
    keys: Sequence[bytes],
    pages: Pages,
    journal: Journal,
    costs: Costs | None = None,
) -> BuildFunnel:
    """The funnel as far as the steps were reached (``keys``). Every reason that a step declares is
    in it, in its order, also where it took none.

    A row that came several ways counts each time; what its calls took counts once a page.
    """
    tallies = [_Tally() for _ in keys]
    entered = 0

    def visit(seen: Visit) -> None:
        tally = tallies[seen.place]
        tally.add(seen.outcomes)
        if costs is not None:
            key = keys[seen.place]
            tally.spent += costs.spent(key, [row.id for row in seen.rows])
            held = [row.id for row, o in zip(seen.rows, seen.outcomes, strict=True) if o is None]
            tally.failed.update(costs.errors(key, held).values() if held else ())

    def counted() -> Iterator[Sequence[PipelineRow]]:
        nonlocal entered
        for page in pages():
            entered += len(page)
            yield page

    for _left in walk(keys, counted(), journal, visit):
        pass
    if costs is not None:
        for key, step, tally in zip(keys, steps, tallies, strict=False):
            if step.is_batch:
                tally.spent += costs.spent(key, [key])  # its calls are those of no single row
    told = tuple(_told(step, tally) for step, tally in zip(steps, tallies, strict=False))
    return BuildFunnel(entered, told, len(steps))


def _told(step: StepName, tally: _Tally) -> StepFunnel:
    undeclared = sorted(set(tally.dropped) - set(step.reasons))  # the engine's own
    return StepFunnel(
        name=step.name,
        version=step.version,
        entered=tally.entered,
        kept=tally.kept,
        dropped={reason: tally.dropped[reason] for reason in (*step.reasons, *undeclared)},
        pending=tally.pending,
        failed=dict(tally.failed),
        spent=tally.spent,
    )


def ended_rows(
    steps: Sequence[StepName],
    keys: Sequence[bytes],
    pages: Pages,
    journal: Journal,
    costs: Costs | None = None,
) -> Iterator[Ended]:
    """The rows that a step dropped or that are held up before it: page by page in the order of
    those that entered, within a page by step."""
    seen: list[Visit] = []
    for _left in walk(keys, pages(), journal, seen.append):
        for visit in seen:
            name, key = steps[visit.place].name, keys[visit.place]
            held = [r.id for r, o in zip(visit.rows, visit.outcomes, strict=True) if o is None]
            errors = costs.errors(key, held) if costs is not None and held else {}
            for row, outcome in zip(visit.rows, visit.outcomes, strict=True):
                if outcome is None:
                    yield Ended(name, row, error=errors.get(row.id, ""))
                elif outcome.reason:
                    yield Ended(name, row, outcome.reason, outcome.found)
        seen.clear()

"""Plain steps over rows that are held anyway: no loop and no store, the same outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from proofstone.engines.pipeline.performing import check_names
from proofstone.engines.pipeline.rows import read_row
from proofstone.engines.pipeline.walking import kept_rows
from proofstone.engines.pipeline.working import SAME, is_async, outcome_of, outcome_of_row
from proofstone.ports import BatchStep, Outcome, PipelineRow, Step, StepContext

__all__ = ["PlainStep", "perform_plain"]


class PlainStep(Struct, frozen=True):
    """What a step made of the rows that reached it, in their order."""

    name: str
    rows: tuple[PipelineRow, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def kept(self) -> list[PipelineRow]:
        """The rows that came out of it."""
        return kept_rows(self.rows, self.outcomes)


def perform_plain(
    steps: Sequence[Step | BatchStep], entering: Sequence[PipelineRow], *, seed: int = 0
) -> list[PlainStep]:
    """All rows through all steps, none of which waits or asks; what each made of them.

    Raises what a step raises, ValueError for a step that asks a model or waits.
    """
    check_names(steps)
    rows, done = list(entering), []
    for step in steps:
        if step.asks or is_async(step):
            raise ValueError(f"step {step.name} asks or waits: perform it with a journal")
        known = _of_batch(step, rows, seed) if isinstance(step, BatchStep) else {}
        for row in rows:
            if isinstance(step, Step) and row.id not in known:
                context = StepContext(row=row.id, calls={}, seed=seed)
                known[row.id] = outcome_of_row(step, row, context)
        done.append(PlainStep(step.name, tuple(rows), tuple(known[row.id] for row in rows)))
        rows = done[-1].kept
    return done


def _of_batch(step: BatchStep, rows: Sequence[PipelineRow], seed: int) -> dict[bytes, Outcome]:
    once = list({row.id: row for row in rows}.values())
    values = [read_row(row, step.takes) for row in once]
    made: Any = step.work(values, StepContext(row=b"", calls={}, seed=seed))
    return {
        row.id: outcome_of(step, value, row, made[place]) if place in made else SAME
        for place, (row, value) in enumerate(zip(once, values, strict=True))
    }

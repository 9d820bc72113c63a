"""One step at one row: its outcome, checked against what the step declares."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from msgspec import Struct, structs

from proofstone.engines.pipeline.rows import make_row, read_row
from proofstone.ports import BatchStep, Drop, Kept, Outcome, PipelineRow, Step, StepContext

__all__ = ["PURGED", "SAME", "is_async", "outcome_of", "outcome_of_row", "with_verdicts"]

SAME = Outcome()
# Of a row that was on its way when the text of its source was purged: nothing is left to work on.
PURGED = Outcome(reason="text purged")


def is_async(step: Step | BatchStep) -> bool:
    """Whether the step's work is a coroutine function."""
    return inspect.iscoroutinefunction(step.work)


def outcome_of_row(step: Step, row: PipelineRow, context: StepContext) -> Outcome:
    """What a plain step makes of a row; an error names step and row."""
    if not row.payload:
        return PURGED
    value = read_row(row, step.takes)
    try:
        return with_verdicts(outcome_of(step, value, row, step.work(value, context)), context)
    except Exception as error:
        error.add_note(f"in step {step.name} at row {row.id.hex()[:8]}")
        raise


def outcome_of(step: Step | BatchStep, value: Any, row: PipelineRow, kept: Any) -> Outcome:
    """``kept`` as an outcome. Raises ValueError for a reason that the step does not declare, and
    where nothing was kept and no reason given."""
    if kept is value:
        return SAME
    if isinstance(kept, Drop):
        if kept.reason not in step.reasons:
            raise ValueError(
                f"step {step.name} dropped a row as {kept.reason!r}; "
                f"its reasons are: {', '.join(step.reasons) or 'none'}"
            )
        return Outcome(reason=kept.reason, found=kept.found)
    rows = tuple(make_row(each) for each in _structs(step, kept))
    return SAME if rows == (row,) else Outcome(kept=rows)


def with_verdicts(outcome: Outcome, context: StepContext) -> Outcome:
    """``outcome`` with what judges said on the way to it."""
    if not context.verdicts:
        return outcome
    return structs.replace(outcome, verdicts=tuple(context.verdicts))


def _structs(step: Step | BatchStep, kept: Kept) -> Sequence[Struct]:
    if isinstance(kept, Struct):
        return (kept,)
    if not kept:
        raise ValueError(f"step {step.name} kept nothing of a row: give Drop(reason) instead")
    return kept

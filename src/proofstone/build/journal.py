"""Walking through what is done: from the rows that entered, by the journal, to what is left.

Resume, results, lists of dropped rows and the funnel all read the same journal by the same walk,
page by page, in the order of the rows that entered: so they agree, whatever the order of the work.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec
from msgspec import Struct, structs

from proofstone.records.ids import canonical_json, content_id
from proofstone.records.steps import (
    BatchStep,
    Drop,
    Journal,
    Kept,
    Outcome,
    PipelineRow,
    Step,
    StepContext,
)

# Rows from their beginning each time, so that nobody must hold them.
Pages = Callable[[], Iterable[Sequence[PipelineRow]]]


class Visit(Struct, frozen=True, gc=False):
    """A page of rows at one step, with the outcomes that are known of them."""

    place: int
    rows: Sequence[PipelineRow]
    outcomes: Sequence[Outcome | None]


def walk(
    keys: Sequence[bytes],
    pages: Iterable[Sequence[PipelineRow]],
    journal: Journal,
    visit: Callable[[Visit], None] | None = None,
) -> Iterator[list[PipelineRow]]:
    """The rows that are left behind the last of the steps with these ``keys``, a page for each that
    entered, in order; ``visit`` sees each step of each page. Rows without an outcome end there."""
    for page in pages:
        rows = list(page)
        for place, key in enumerate(keys):
            if not rows:
                break
            found = journal.find(key, [row.id for row in rows])
            outcomes = [found.get(row.id) for row in rows]
            if visit is not None:
                visit(Visit(place, rows, outcomes))
            rows = kept_rows(rows, outcomes)
        yield rows


def kept_rows(rows: Sequence[PipelineRow], outcomes: Sequence[Outcome | None]) -> list[PipelineRow]:
    """What outcomes leave of rows, in order."""
    kept: list[PipelineRow] = []
    for row, outcome in zip(rows, outcomes, strict=True):
        if outcome is not None and not outcome.reason:
            kept.extend((row,) if outcome.kept is None else outcome.kept)
    return kept


def count_unfinished(
    keys: Sequence[bytes], pages: Iterable[Sequence[PipelineRow]], journal: Journal
) -> int:
    """How many of the rows that entered are not through all steps yet, with all that was made of
    them."""
    unfinished = 0
    for page in pages:
        rows, roots = list(page), list(range(len(page)))
        held: set[int] = set()
        for key in keys:
            if not rows:
                break
            found = journal.find(key, [row.id for row in rows])
            held.update(root for row, root in zip(rows, roots, strict=True) if row.id not in found)
            kept = [
                (each, root)
                for row, root in zip(rows, roots, strict=True)
                for each in kept_rows([row], [found.get(row.id)])
            ]
            rows, roots = [row for row, _ in kept], [root for _, root in kept]
        unfinished += len(held)
    return unfinished


# What steps have done so far: counters that the flow raises and a display reads.


@dataclass(slots=True)
class StepProgress:
    """Counters of one step in this process. ``done`` rows were worked on here, ``from_before`` are
    those whose outcome was known; ``kept`` counts rows that came out; ``failed`` rows, by kind, are
    tried again next time."""

    name: str
    entered: int = 0
    from_before: int = 0
    done: int = 0
    kept: int = 0
    in_flight: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)

    def drop(self, reason: str) -> None:
        """Counts a dropped row."""
        self.dropped[reason] += 1

    def fail(self, kind: str, times: int) -> None:
        """Counts a row that could not be worked on, as often as it came."""
        self.failed[kind] += times


# Rows and keys: what makes a row, a step and a batch the same one as before.


def make_row(value: Struct) -> PipelineRow:
    """A struct as a row; its id is fixed by its content."""
    payload = canonical_json(value)
    return PipelineRow(sha256(b"pipeline_row\n" + payload).digest(), payload)


def read_row(row: PipelineRow, kind: type[Struct]) -> Any:
    """The struct of a row; ValidationError where the row is none of this type."""
    return _decoder(kind).decode(row.payload)


@cache
def _decoder(kind: type[Struct]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def step_key(step: Step | BatchStep, tools: Mapping[str, Any], seed: int) -> bytes:
    """The key of a step: its name, version and configuration; ``tools`` are the models behind the
    roles that it asks, with their settings, and the state of what it reads; the seed counts where
    it draws."""
    key: list[Any] = [step.name, step.version, step.config]
    used = {name: tools[name] for name in (*step.asks, *step.reads)}
    key += [used, seed if step.draws else None]
    return content_id("build_step", key)


def batch_key(step: bytes, inputs: bytes) -> bytes:
    """The key of a batch step over these very rows."""
    return sha256(b"build_batch\n" + step + inputs).digest()


def ids_digest(ids: Iterable[bytes]) -> bytes:
    """The hash of ids in their order."""
    state = sha256(b"pipeline_rows\n")
    for identity in ids:
        state.update(identity)
    return state.digest()


# One step at one row: its outcome, checked against what the step declares.

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


# A journal in memory: for pipelines whose rows are held anyway, and for tests.


class MemoryJournal:
    """A ``Journal`` that lasts as long as the object."""

    def __init__(self) -> None:
        self._outcomes: dict[bytes, dict[bytes, Outcome]] = {}

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """The outcomes written of these rows."""
        known = self._outcomes.get(step, {})
        return {row: known[row] for row in rows if row in known}

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Keeps outcomes; the first one of a row holds."""
        known = self._outcomes.setdefault(step, {})
        for row, outcome in outcomes:
            known.setdefault(row, outcome)

    async def flush(self) -> None:
        """Nothing is ever waited for."""

    def entries(self) -> Iterator[tuple[bytes, Sequence[tuple[bytes, Outcome]]]]:
        """All that was written, by step, in the order in which it was."""
        for step, known in self._outcomes.items():
            yield step, list(known.items())

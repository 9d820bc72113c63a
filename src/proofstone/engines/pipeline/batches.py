"""A batch step: it sees all rows that reached it, each once, and says what it makes of some."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from proofstone.engines.pipeline.flow import Workshop
from proofstone.engines.pipeline.progress import StepProgress
from proofstone.engines.pipeline.rows import batch_key, ids_digest, read_row
from proofstone.engines.pipeline.walking import Pages
from proofstone.engines.pipeline.working import PURGED, SAME, is_async, outcome_of
from proofstone.errors import CallFailed
from proofstone.ports import BatchStep, Outcome, PipelineRow

__all__ = ["Batch", "read_batch", "run_batch"]

_WRITTEN = 256


class Batch:
    """``BatchRows`` over pages of rows: ids are held, rows are read as they are wanted."""

    def __init__(self, step: BatchStep, pages: Pages) -> None:
        self._step = step
        self._pages = pages
        is_full = {row.id: bool(row.payload) for page in pages() for row in page}
        self.ids = tuple(identity for identity, full in is_full.items() if full)
        self.purged = tuple(identity for identity, full in is_full.items() if not full)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[Any]:
        return (read_row(row, self._step.takes) for row in self.rows())

    def rows(self) -> Iterator[PipelineRow]:
        """The rows, each once, in order; those whose text was purged are left out."""
        place = 0
        for page in self._pages():
            for row in page:
                # A repeated row comes behind its first place, so it is never the next one.
                if place < len(self.ids) and row.id == self.ids[place]:
                    place += 1
                    yield row


def read_batch(step: BatchStep, key: bytes, pages: Pages) -> tuple[Batch, bytes]:
    """The rows of a batch step, and its key over these very rows."""
    batch = Batch(step, pages)
    return batch, batch_key(key, ids_digest(batch.ids))


async def run_batch(
    step: BatchStep, key: bytes, batch: Batch, workshop: Workshop, progress: StepProgress
) -> bool:
    """Brings all rows through a batch step, unless they are; whether it could be done.

    Raises what the step raises besides CallFailed, ValueError for places that are none.
    """
    if batch.purged:
        await workshop.journal.write(key, [(row, PURGED) for row in batch.purged])
    if not len(batch) or _is_known(key, batch, workshop):
        progress.entered = progress.from_before = len(batch)
        return True
    if workshop.is_halted():
        return False
    progress.entered = len(batch)
    context = workshop.open_context(step, key, key)
    try:
        if is_async(step):
            made = await step.work(batch, context)  # type: ignore[misc]
        else:
            made = await asyncio.to_thread(step.work, batch, context)
    except CallFailed as failure:
        if not workshop.is_halted():
            progress.fail(failure.kind, len(batch))
        return False
    except Exception as error:
        error.add_note(f"in step {step.name}")
        raise
    await _write(step, key, batch, made, workshop)
    progress.done = len(batch)
    return True


def _is_known(key: bytes, batch: Batch, workshop: Workshop) -> bool:
    ids = batch.ids
    for start in range(0, len(ids), _WRITTEN):
        part = ids[start : start + _WRITTEN]
        if len(workshop.journal.find(key, part)) < len(part):
            return False
    return True


async def _write(
    step: BatchStep, key: bytes, batch: Batch, made: Mapping[int, Any], workshop: Workshop
) -> None:
    strays = [place for place in made if not 0 <= place < len(batch)]
    if strays:
        raise ValueError(f"step {step.name} speaks of place {strays[0]} of {len(batch)} rows")
    group: list[tuple[bytes, Outcome]] = []
    for place, row in enumerate(batch.rows()):
        outcome = SAME
        if place in made:
            outcome = outcome_of(step, read_row(row, step.takes), row, made[place])
        group.append((row.id, outcome))
        if len(group) >= _WRITTEN:
            await workshop.journal.write(key, group)
            group = []
    await workshop.journal.write(key, group)
    await workshop.journal.flush()

"""A pipeline from its first step to its last: flows of rows, and batch steps between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from proofstone.engines.pipeline.batches import read_batch, run_batch
from proofstone.engines.pipeline.flow import KeyedStep, Workshop, run_flow
from proofstone.engines.pipeline.progress import StepProgress
from proofstone.engines.pipeline.rows import step_key
from proofstone.engines.pipeline.walking import Pages, Visit, walk
from proofstone.ports import BatchStep, PipelineRow, Step

__all__ = ["Performed", "check_names", "perform_pipeline", "plain_keys"]

# Told each step as it is reached: its place and its key.
Reached = Callable[[int, Step | BatchStep, bytes], None]


class Performed(Struct, frozen=True):
    """How far a pipeline came: the keys of the steps reached, and whether every row is through."""

    keys: tuple[bytes, ...]
    complete: bool


def check_names(steps: Sequence[Step | BatchStep]) -> None:
    """Raises ValueError where two steps have one name, or there is none."""
    names = [step.name for step in steps]
    if not names or len(set(names)) < len(names):
        raise ValueError(f"a pipeline needs steps of different names, not {names}")


def plain_keys(
    steps: Sequence[Step | BatchStep], tools: Mapping[str, Any], seed: int
) -> tuple[bytes, ...]:
    """The keys of steps before it is known which rows reach them: of batch steps without these."""
    return tuple(step_key(step, tools, seed) for step in steps)


async def perform_pipeline(
    steps: Sequence[Step | BatchStep],
    keys: Sequence[bytes],
    pages: Pages,
    workshop: Workshop,
    *,
    progress: Sequence[StepProgress],
    reached: Reached,
) -> Performed:
    """Brings all rows through all steps as far as they come; ``keys`` are ``plain_keys``.

    A batch step waits for all rows, and is not reached while one of them is held up before it.
    """
    check_names(steps)
    done: list[bytes] = []
    while len(done) < len(steps):
        start = len(done)
        step = steps[start]
        if isinstance(step, BatchStep):
            through = _through(done, pages, workshop)
            batch, key = read_batch(step, keys[start], through)
            reached(start, step, key)
            done.append(key)
            if not await run_batch(step, key, batch, workshop, progress[start]):
                return Performed(tuple(done), complete=False)
            _count(done, pages, workshop, progress[start])
            continue
        flowing = _flowing(steps, keys, progress, start)
        for place, keyed in enumerate(flowing, start):
            reached(place, keyed.step, keyed.key)
        through = _through(done, pages, workshop)
        await run_flow(flowing, through(), workshop)
        done += [keyed.key for keyed in flowing]
        if workshop.is_halted() or any(keyed.progress.failed for keyed in flowing):
            return Performed(tuple(done), complete=False)
    return Performed(tuple(done), complete=True)


def _flowing(
    steps: Sequence[Step | BatchStep],
    keys: Sequence[bytes],
    progress: Sequence[StepProgress],
    start: int,
) -> list[KeyedStep]:
    """The row steps from ``start`` up to the next batch step."""
    found = []
    for place in range(start, len(steps)):
        step = steps[place]
        if isinstance(step, BatchStep):
            break
        found.append(KeyedStep(step, keys[place], progress[place]))
    return found


def _through(done: Sequence[bytes], pages: Pages, workshop: Workshop) -> Pages:
    keys = tuple(done)

    def rows() -> Iterator[list[PipelineRow]]:
        return walk(keys, pages(), workshop.journal)

    return rows


def _count(done: Sequence[bytes], pages: Pages, workshop: Workshop, progress: StepProgress) -> None:
    """Counts what the batch step that was done last made of the rows."""
    last = len(done) - 1

    def visit(seen: Visit) -> None:
        if seen.place == last:
            for outcome in seen.outcomes:
                if outcome is not None and outcome.reason:
                    progress.drop(outcome.reason)
                elif outcome is not None:
                    progress.kept += 1 if outcome.kept is None else len(outcome.kept)

    for _rows in walk(tuple(done), pages(), workshop.journal, visit):
        pass

"""Small steps over numbers, and a pipeline run over them in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from proofstone.build.flow import (
    MemoryJournal,
    Performed,
    StepProgress,
    Workshop,
    make_row,
    perform_pipeline,
    plain_keys,
    read_row,
    walk,
)
from proofstone.build.funnel import read_funnel
from proofstone.errors import CallFailed
from proofstone.records.builds import (
    BatchRows,
    BatchStep,
    BuildFunnel,
    Drop,
    Kept,
    PipelineRow,
    Step,
    StepContext,
    StepName,
)


class Number(Struct, frozen=True):
    """A row."""

    n: int
    note: str = ""


class Bench:
    """A journal with what is worked on it: how often which step saw which number."""

    def __init__(self) -> None:
        self.journal = MemoryJournal()
        self.seen: list[tuple[str, int]] = []
        self.failing: set[int] = set()
        self.halted = False
        self.at_once = 0
        self.most_at_once = 0

    def drop_odd(self, version: int = 1) -> Step:
        """A plain step that drops odd numbers."""

        def work(row: Number, _context: StepContext) -> Kept:
            self.seen.append(("even", row.n))
            return Drop("odd", str(row.n)) if row.n % 2 else row

        return Step(name="even", version=version, takes=Number, work=work, reasons=("odd",))

    def copies(self, at_once: int = 4, version: int = 1) -> Step:
        """A step that waits, and makes n % 3 rows of a number (none of a multiple of 3)."""

        async def work(row: Number, _context: StepContext) -> Kept:
            self.seen.append(("copy", row.n))
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
            for _ in range(1 + row.n % 5):
                await asyncio.sleep(0)
            self.at_once -= 1
            if row.n in self.failing:
                raise CallFailed("overloaded", "try later")
            if row.n % 3 == 0:
                return Drop("multiple of 3")
            return [Number(row.n, f"copy {i}") for i in range(row.n % 3)]

        return Step(
            name="copy", version=version, takes=Number, work=work, at_once=at_once,
            reasons=("multiple of 3",),
        )  # fmt: skip

    def first_of_tens(self) -> BatchStep:
        """A batch step that keeps the first row of each ten."""

        def work(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
            self.seen.append(("tens", len(rows)))
            taken: set[int] = set()
            made: dict[int, Kept] = {}
            for place, row in enumerate(rows):
                if row.n // 10 in taken:
                    made[place] = Drop("same ten")
                taken.add(row.n // 10)
            return made

        return BatchStep(name="tens", version=1, takes=Number, work=work, reasons=("same ten",))

    def perform(
        self,
        steps: Sequence[Step | BatchStep],
        numbers: Sequence[int],
        *,
        tools: Mapping[str, object] | None = None,
        seed: int = 0,
        is_halted: Callable[[], bool] | None = None,
    ) -> Result:
        """The steps over these numbers, in pages of five."""
        keys = plain_keys(steps, tools or {}, seed)
        progress = [StepProgress(step.name) for step in steps]

        def pages() -> Iterator[list[PipelineRow]]:
            for start in range(0, len(numbers), 5):
                yield [make_row(Number(n)) for n in numbers[start : start + 5]]

        workshop = Workshop(
            self.journal,
            lambda _step, _key, row: StepContext(row=row, calls={}, seed=seed),
            is_halted or (lambda: self.halted),
        )
        performed = asyncio.run(
            perform_pipeline(
                steps, keys, pages, workshop, progress=progress, reached=lambda *_: None
            )
        )
        names = [
            StepName(s.name, s.version, k, s.reasons, isinstance(s, BatchStep))
            for s, k in zip(steps, keys, strict=True)
        ]
        left = [
            read_row(row, Number)
            for rows in walk(performed.keys, pages(), self.journal)
            for row in rows
        ]
        funnel = read_funnel(names, performed.keys, pages, self.journal)
        return Result(performed, left, funnel, progress)


class Result:
    """What came of a pipeline."""

    def __init__(
        self,
        performed: Performed,
        left: list[Number],
        funnel: BuildFunnel,
        progress: list[StepProgress],
    ) -> None:
        self.performed = performed
        self.left = left
        self.funnel = funnel
        self.progress = progress

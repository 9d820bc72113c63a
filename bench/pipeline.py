"""Time a pipeline without its calls: rows through three steps into a store, and resumed.

    python bench/pipeline.py                  # 50,000 rows
    python bench/pipeline.py --rows 1000000   # constant memory, takes minutes

The first step drops a tenth of the rows. The second is a coroutine without API calls that replaces
each row. The third returns two rows for every tenth. Bounds: under 0.3 ms of processor time per row
for all three, committed; constant memory once caches are full.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from measures import Line, Timing, machine, print_lines, timed
from msgspec import Struct, structs

from proofstone.build.flow import (
    StepProgress,
    Workshop,
    ids_digest,
    make_row,
    perform_pipeline,
    plain_keys,
)
from proofstone.build.funnel import read_funnel
from proofstone.method import find_payload
from proofstone.records.builds import (
    BatchStep,
    Build,
    BuildFunnel,
    Drop,
    Kept,
    PipelineRow,
    Step,
    StepContext,
    StepName,
    build_id,
)
from proofstone.store.builds import EnteringRow, StoreJournal
from proofstone.store.store import Store

MOST_MS = 0.3
MORE_MB = 25.0


class Text(Struct, frozen=True):
    """A row of about three hundred characters."""

    n: int
    text: str
    part: int = 0


TEXT = "The heat of vaporisation of water at its boiling point is 40.65 kJ for each mole. " * 4


def sift(row: Text, _context: StepContext) -> Kept:
    """Drop a tenth of the rows."""
    return Drop("tenth", row.text[:20]) if row.n % 10 == 3 else row


async def rewrite(row: Text, _context: StepContext) -> Kept:
    """Wait once, as for a response, and return another row."""
    await asyncio.sleep(0)
    return Text(row.n, f"It is said: {row.text}")


def split(row: Text, _context: StepContext) -> Kept:
    """Return two rows for every tenth row, other rows unchanged."""
    return [Text(row.n, row.text, part) for part in (1, 2)] if row.n % 10 == 7 else row


STEPS = (
    Step(name="sift", version=1, takes=Text, work=sift, reasons=("tenth",)),
    Step(name="rewrite", version=1, takes=Text, work=rewrite),
    Step(name="split", version=1, takes=Text, work=split),
)
KEYS = plain_keys(STEPS, {}, 0)


def lines(n: int) -> Iterator[PipelineRow]:
    """Yield the input rows."""
    return (make_row(Text(i, f"{i} {TEXT}")) for i in range(n))


def store_build(store: Store, n: int) -> int:
    """Store the build with its rows."""
    names = tuple(
        StepName(step.name, 1, key, step.reasons) for step, key in zip(STEPS, KEYS, strict=True)
    )
    inputs = ids_digest(row.id for row in lines(n))
    build = Build(kind="lines", method="bench", steps=names, inputs=inputs, n_inputs=n)
    build = structs.replace(build, id=build_id(build))
    return store.builds.add(build, (EnteringRow(row) for row in lines(n)), 0.0, "bench")


async def perform(store: Store, key: int, watch: Callable[[int], None]) -> None:
    """Run all rows through all steps."""
    progress = [StepProgress(step.name) for step in STEPS]
    async with store.writer() as writer:
        journal = StoreJournal(store.outcomes, writer)

        def open_context(_step: Step | BatchStep, _key: bytes, row: bytes) -> StepContext:
            watch(progress[2].entered)
            return StepContext(row=row, calls={})

        def reached(place: int, step: Step | BatchStep, identity: bytes) -> None:
            store.builds.add_stage(key, place, journal.register(identity, step))

        await perform_pipeline(
            STEPS, KEYS, lambda: store.builds.pages(key), Workshop(journal, open_context),
            progress=progress, reached=reached,
        )  # fmt: skip


def funnel(store: Store, key: int) -> BuildFunnel:
    """Return counts from the journal."""
    journal = StoreJournal(store.outcomes)
    journal.know(store.builds.step_keys(KEYS))
    names = [StepName(s.name, 1, k, s.reasons) for s, k in zip(STEPS, KEYS, strict=True)]
    return read_funnel(names, KEYS, lambda: store.builds.pages(key), journal, journal)


def resident_mb() -> float:
    """Return the current memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Watcher:
    """Memory after half of the rows, and the peak afterward."""

    def __init__(self, n: int) -> None:
        self._n, self._calls = n, 0
        self.early = self.most = 0.0

    def __call__(self, entered: int) -> None:
        """Sample the memory occasionally."""
        self._calls += 1
        if self._calls % 2000 == 0 and entered > self._n // 2:
            now = resident_mb()
            self.early, self.most = self.early or now, max(self.most, now)


def per_row(timing: Timing, n: int) -> str:
    """Return processor time per row, and total wall time."""
    return f"{timing.cpu_s / n * 1e3:.3f} ms a row, {timing.wall_s:.1f} s"


def main() -> int:
    """Print the measurements; return 1 if a bound is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000)
    n = parser.parse_args().rows
    watcher = Watcher(n)
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{Path(folder) / 'work.sqlite'}"
        store = Store(url, find_payload)
        with timed() as entering:
            key = store_build(store, n)
        with timed() as working:
            asyncio.run(perform(store, key, watcher))
        store.close()
        store = Store(url, find_payload)
        with timed() as resuming:
            asyncio.run(perform(store, key, watcher))
        after = resident_mb()
        with timed() as counting:
            found = funnel(store, key)
        store.close()
    kept = n - len(range(3, n, 10))
    left = kept + len(range(7, n, 10))
    costs = {"worked on, committed": working, "again, nothing new": resuming}
    lines = [
        Line("rows that enter, stored", per_row(entering, n)),
        *(
            Line(name, per_row(each, n), f"under {MOST_MS} ms", each.cpu_s / n * 1e3 < MOST_MS)
            for name, each in costs.items()
        ),
        Line("the funnel", per_row(counting, n)),
        Line(
            "memory after half, at most", f"{watcher.early:.0f} MB, {watcher.most:.0f} MB",
            f"at most {MORE_MB:.0f} MB more",
            max(watcher.most, after) < watcher.early + MORE_MB,
        ),
        Line("rows left", f"{found.left:,}", f"{left:,}", found.complete and found.left == left),
    ]  # fmt: skip
    title = f"{n:,} rows through three steps into SQLite ({machine()})"
    return 0 if print_lines(title, lines) else 1


if __name__ == "__main__":
    sys.exit(main())

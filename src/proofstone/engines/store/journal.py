"""The journal of pipelines (``ports.Journal``): read from the database, written by the one writer.

What was written and is not committed yet is found as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proofstone.engines.store.outcomes import OutcomeRow, OutcomeStore
from proofstone.engines.store.writer import Writer
from proofstone.ports import BatchStep, Outcome, Step
from proofstone.records import RowVerdict, Spent

__all__ = ["StoreJournal"]


class StoreJournal:
    """``Journal`` and ``Costs`` over a store. Without a writer it is only read."""

    def __init__(self, outcomes: OutcomeStore, writer: Writer | None = None) -> None:
        self._outcomes = outcomes
        self._writer = writer
        self._steps: dict[bytes, int] = {}
        self._uncommitted: dict[int, dict[bytes, Outcome]] = {}

    def register(self, key: bytes, step: Step | BatchStep) -> int:
        """The integer key of a step, stored from now on."""
        if key not in self._steps:
            self._steps[key] = self._outcomes.add_step(key, step)
        return self._steps[key]

    def know(self, steps: Mapping[bytes, int]) -> None:
        """Takes the integer keys of steps that are stored."""
        self._steps |= steps

    def step(self, key: bytes) -> int:
        """The integer key of a step that is known here."""
        return self._steps[key]

    def find(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Outcome]:
        """The outcomes of these rows at a step, committed or not."""
        key = self._steps[step]
        found = self._outcomes.find(key, rows)
        waiting = self._uncommitted.get(key)
        if waiting:
            for row in rows:
                if row in waiting and row not in found:
                    found[row] = waiting[row]
        return found

    async def write(self, step: bytes, outcomes: Sequence[tuple[bytes, Outcome]]) -> None:
        """Queues outcomes for the next group; waits while the queue is full. Raises StoreFailed."""
        if self._writer is None:
            raise RuntimeError("this journal is only read")
        key = self._steps[step]
        waiting = self._uncommitted.setdefault(key, {})
        rows = [OutcomeRow(key, row, outcome) for row, outcome in outcomes]
        waiting.update(outcomes)
        await self._writer.write_outcomes(rows, lambda: self._settle(key, rows))

    async def flush(self) -> None:
        """Waits until all is committed. Raises StoreFailed."""
        if self._writer is not None:
            await self._writer.flush()

    def spent(self, step: bytes, rows: Sequence[bytes]) -> Spent:
        """What the calls for these rows took at a step."""
        return self._outcomes.spent(self._steps[step], rows)

    def verdicts(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, Sequence[RowVerdict]]:
        """What judges said of these rows at a step, of those on which they said anything."""
        return self._outcomes.verdicts(self._steps[step], rows)

    def errors(self, step: bytes, rows: Sequence[bytes]) -> Mapping[bytes, str]:
        """Why the newest failed call for each of these rows failed at a step."""
        return self._outcomes.errors(self._steps[step], rows)

    def _settle(self, key: int, rows: Sequence[OutcomeRow]) -> None:
        waiting = self._uncommitted[key]
        for row in rows:
            waiting.pop(row.row, None)

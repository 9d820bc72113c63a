"""A journal in memory: for pipelines whose rows are held anyway, and for tests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from proofstone.ports import Outcome

__all__ = ["MemoryJournal"]


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

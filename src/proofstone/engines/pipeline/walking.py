"""Walking through what is done: from the rows that entered, by the journal, to what is left.

Resume, results, lists of dropped rows and the funnel all read the same journal by the same walk,
page by page, in the order of the rows that entered: so they agree, whatever the order of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from proofstone.ports import Journal, Outcome, PipelineRow

__all__ = ["Pages", "Visit", "count_unfinished", "kept_rows", "walk"]

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

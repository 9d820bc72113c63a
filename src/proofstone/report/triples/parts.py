"""F1 and what it is made of by domain, popularity, source and predicate family."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from proofstone.records.results import Estimate
from proofstone.records.triples import Breakdown, Group, Measured
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.section import Cell, Column, Figure, Mark, Section, Table
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.extremes import extreme_of, extreme_sentence
from proofstone.report.triples.words import headed, part_name, value_name
from proofstone.wording import counted, say, word

__all__ = ["PART_MEASURES", "part_sections"]

# What each breakdown is read by, first the measure of its finding. The precision of a source is
# that of what its passages decided, so that no F1 is made of it.
PART_MEASURES: Mapping[Breakdown, tuple[str, ...]] = {
    "domain": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "popularity": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "source": ("recall", "precision", "recall_unparsed"),
    "family": ("contradiction", "f1", "precision", "recall", "unparsed", "recall_unparsed"),
}
_MOST_VALUES = 30  # rows of a figure that fits on a printed page
_MOST_MODELS = 30
_FIGURE_OF: Mapping[Breakdown, str] = {
    "domain": "f1", "popularity": "f1", "source": "recall", "family": "f1"
}  # fmt: skip


def part_sections(board: TripleBoard) -> Iterator[Section]:
    """A section for each breakdown of which there are two values or more."""
    for by, measures in PART_MEASURES.items():
        parts = _Parts(board, by)
        if len(parts.values) > 1:
            yield _section(parts, measures)


class _Parts:
    """The measures of one breakdown: values down, rows of the board across."""

    def __init__(self, board: TripleBoard, by: Breakdown) -> None:
        found = [part for part in board.parts if part.by == by]
        self.board, self.by = board, by
        self.rows: Sequence[TripleRow] = board.rows
        self.values = sorted({part.value for part in found})
        self._at: dict[tuple[Group, str], Measured] = {
            (part.group, part.value): part for part in found
        }

    def estimate(self, row: TripleRow, value: str, measure: str) -> Estimate | None:
        """One of the measures; None where nothing counts in it."""
        found = self._at.get((row.group, value))
        return None if found is None else found.estimates.get(measure)

    def triples(self, value: str) -> int:
        """How many triples of all rows and both directions have a value."""
        return sum(
            n
            for row in self.rows
            if (found := self._at.get((row.group, value)))
            for counts in found.counts.values()
            for n in counts.values()
        )


def _section(parts: _Parts, measures: Sequence[str]) -> Section:
    by = part_name(parts.by)
    tables = [_table(parts, measure) for measure in measures if _known(parts, measure)]
    return Section(
        name=f"by-{parts.by}",
        title=say("By {by}", by=by),
        finding=_finding(parts, measures[0]),
        plain=_beside(parts, measures[1]) if parts.by in ("source", "family") else "",
        cannot=_limits(parts),
        how=say(
            "The same measures over the triples of each part. Parts were not drawn: an interval "
            "speaks of other entities of the same part."
        ),
        tables=tuple(tables),
        figures=tuple(_figures(parts, [each for each in measures if "unparsed" not in each])),
    )


def _known(parts: _Parts, measure: str) -> bool:
    return any(parts.estimate(row, value, measure) for row in parts.rows for value in parts.values)


def _finding(parts: _Parts, measure: str) -> str:
    said = extreme_of(parts.board, parts.by, measure)
    groups = counted(len(parts.values), "group")
    if said is None:
        return say(
            "{measure} by {by}: {groups}; no model has values in two of them to compare.",
            measure=headed(measure),
            by=part_name(parts.by),
            groups=groups,
        )
    return extreme_sentence(said)


def _beside(parts: _Parts, measure: str) -> str:
    """What another measure says, where its intervals carry it."""
    said = extreme_of(parts.board, parts.by, measure)
    return extreme_sentence(said) if said is not None and said.carried else ""


def _limits(parts: _Parts) -> str:
    if parts.by == "source":
        return say(
            "The recall of a source is of what was taken from it. Its precision is of the triples "
            "that its passages were cited for: it says which source settles more, not how much is "
            "true."
        )
    if parts.by == "family":
        return say(
            "Families go by words of the predicate: models make predicates up, so there is no "
            "closed list of them."
        )
    return ""


def _table(parts: _Parts, measure: str) -> Table:
    return Table(
        title=say("{measure} by {by}", measure=headed(measure), by=part_name(parts.by)),
        columns=(
            Column(key=parts.by, name=part_name(parts.by)),
            Column(
                key="n", name=say("triples"), help=say("of all models and both directions, sampled")
            ),
            *(Column(key=row.label, name=row.label, unit="points") for row in parts.rows),
        ),
        rows=tuple(_table_row(parts, value, measure) for value in parts.values),
    )


def _table_row(parts: _Parts, value: str, measure: str) -> tuple[Cell, ...]:
    cells = [parts.estimate(row, value, measure) for row in parts.rows]
    return (value_name(value), parts.triples(value), *cells)


def _figures(parts: _Parts, measures: Sequence[str]) -> Iterator[Figure]:
    """Of the figure's measure all models on a line a value, and, of several, the same in cells."""
    measure = _FIGURE_OF[parts.by]
    marks = tuple(_marks(parts, measure))
    if len({mark.row for mark in marks}) < 2:
        return
    shown = parts.values[:_MOST_VALUES]
    table = 1 + measures.index(measure) if _known(parts, measures[0]) else 0
    said = say(
        "the first three models with {level:g}% intervals, a tick for every other",
        level=100 * parts.board.confidence,
    )
    cut = say("the first {n} of {all} groups", n=len(shown), all=len(parts.values))
    title = say("{measure} by {by}", measure=headed(measure), by=part_name(parts.by))
    axis = say("points")
    yield Figure(
        name=f"{measure}-by-{parts.by}", kind="strips", title=title,
        subtitle=f"{said}; {cut}" if len(shown) < len(parts.values) else said,
        marks=marks, row_axis=part_name(parts.by), column_axis=word("model"), value_axis=axis,
        table=table,
    )  # fmt: skip
    if len(parts.rows) > 1 and len(parts.rows) * len(shown) > 6:
        yield Figure(
            name=f"{measure}-by-{parts.by}-cells", kind="heat", title=title,
            subtitle=say("points out of 100; darker is higher"),
            marks=tuple(_cells(marks)), row_axis=word("model"), column_axis=part_name(parts.by),
            value_axis=axis, table=table,
        )  # fmt: skip


def _marks(parts: _Parts, measure: str) -> Iterator[Mark]:
    for value in parts.values[:_MOST_VALUES]:
        for row in parts.rows:
            found = parts.estimate(row, value, measure)
            if found is not None and not math.isnan(found.value):
                yield Mark(
                    row=value_name(value),
                    column=row.label,
                    value=found.value,
                    low=found.low,
                    high=found.high,
                    n=found.n,
                    text=shown_estimate(found),
                )


def _cells(marks: Sequence[Mark]) -> Iterator[Mark]:
    """The same with models down and values across."""
    models = list(dict.fromkeys(mark.column for mark in marks))[:_MOST_MODELS]
    for model in models:
        for mark in marks:
            if mark.column == model:
                yield Mark(
                    row=model,
                    column=mark.row,
                    value=mark.value,
                    low=mark.low,
                    high=mark.high,
                    n=mark.n,
                    text=points(mark.value),
                )

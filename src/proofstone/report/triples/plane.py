"""Precision against recall, with the frontier: what no other model beats on both."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import structs

from proofstone.report.sections.drawn import Scored, precision_recall_figure
from proofstone.report.sections.section import Curve, Figure, Section
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.wording import joined, say, say_of

__all__ = ["frontier", "plane_section"]

_MOST_NAMED = 6


def frontier(rows: Sequence[TripleRow]) -> list[TripleRow]:
    """The rows that no other equals on one of precision and recall and beats on the other, by
    rising recall."""
    points = [(_at(row, "recall"), _at(row, "precision"), row) for row in rows]
    kept = [
        (recall, precision, row)
        for recall, precision, row in points
        if not any(
            r >= recall and p >= precision and (r > recall or p > precision) for r, p, _ in points
        )
    ]
    return [row for _recall, _precision, row in sorted(kept, key=lambda point: point[:2])]


def plane_section(board: TripleBoard) -> Section | None:
    """Both axes with their intervals, lines of equal F1, and the frontier; None where no row has
    both."""
    rows = [row for row in board.rows if {"precision", "recall"} <= row.measured.estimates.keys()]
    if not rows:
        return None
    first = frontier(rows)
    figure = precision_recall_figure(
        [
            Scored(
                label=row.label,
                precision=row.measured.estimates["precision"],
                recall=row.measured.estimates["recall"],
            )
            for row in rows
        ]
    )
    return Section(
        name="precision-recall",
        title=say("Precision against recall"),
        finding=_finding(rows, first),
        cannot=say(
            "The Pareto frontier is computed from the estimates. Where intervals overlap, other "
            "entities could place other models on it."
        )
        if len(rows) > 1
        else "",
        figures=(_with_frontier(figure, first),),
    )


def _finding(rows: Sequence[TripleRow], first: Sequence[TripleRow]) -> str:
    names = joined([row.label for row in first], _MOST_NAMED)
    if len(rows) == 1:
        return say("One model stands here, so nothing is compared.")
    return say_of(
        len(first),
        "On the frontier is {models} alone: no other model is as good on both and better on one.",
        "On the frontier are {models}: of each no other model is as good on both and better on "
        "one.",
        models=names,
    )


def _with_frontier(figure: Figure, first: Sequence[TripleRow]) -> Figure:
    subtitle = say("{said}; firm line: the frontier", said=figure.subtitle)
    return structs.replace(figure, subtitle=subtitle, curves=(*figure.curves, _stairs(first)))


def _stairs(first: Sequence[TripleRow]) -> Curve:
    """The edge of what at least one model reaches: from no recall down to no precision."""
    x: list[float] = []
    values: list[float] = []
    before = 0.0
    for row in first:
        recall, precision = _at(row, "recall"), _at(row, "precision")
        x += [before, recall]
        values += [precision, precision]
        before = recall
    return Curve(
        x=(*x, before),
        values=(*values, 0.0),
        text=say("frontier"),
        is_reference=True,
        is_firm=True,
    )


def _at(row: TripleRow, measure: str) -> float:
    value = row.measured.estimates[measure].value
    return -1.0 if math.isnan(value) else value

"""Where a measure is highest and lowest among the parts of the sample, and who shows it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.records.triples import Breakdown
from proofstone.report.numbers import shown_estimate
from proofstone.report.triples.board import TripleBoard, TripleRow
from proofstone.report.triples.carried import is_above
from proofstone.report.triples.words import counted_rows, headed, part_name, value_name
from proofstone.wording import say

__all__ = ["Extreme", "extreme_of", "extreme_sentence"]


class Extreme(Struct, frozen=True, kw_only=True):
    """A measure is higher for the value ``high`` than for ``low`` beyond the intervals of
    ``carried`` of ``models`` (in words); of ``example``, the first of these on the board, by
    ``first`` against ``second``. ``carried`` is 0 where no two values of any model are that far
    apart: the others are then of the widest difference that there is."""

    by: Breakdown
    measure: str
    high: str
    low: str
    carried: int
    models: str
    example: TripleRow
    first: Estimate
    second: Estimate


class _Step(Struct, frozen=True):
    """Two values of one row, and whether its intervals carry the difference."""

    row: TripleRow
    high: str
    low: str
    first: Estimate
    second: Estimate
    carried: bool


def extreme_of(board: TripleBoard, by: Breakdown, measure: str) -> Extreme | None:
    """The pair of values that most models keep apart (of equals the widest for the first of them);
    None where no model has the measure for two values. Every pair of every model counts as a
    comparison that was looked at."""
    steps = list(_steps(board, by, measure))
    if not steps:
        return None
    told: dict[tuple[str, str], list[_Step]] = {}
    for step in steps:
        if step.carried:
            told.setdefault((step.high, step.low), []).append(step)
    if told:
        shown = max(told.values(), key=lambda found: (len(found), _width(found[0])))
    else:
        shown = [max(steps, key=_width)]
    pair = (shown[0].high, shown[0].low)
    return Extreme(
        by=by,
        measure=measure,
        high=pair[0],
        low=pair[1],
        carried=len(shown) if told else 0,
        models=counted_rows({step.row.group: step.row for step in steps}.values()),
        example=shown[0].row,
        first=shown[0].first,
        second=shown[0].second,
    )


def _width(step: _Step) -> float:
    return step.first.value - step.second.value


def _steps(board: TripleBoard, by: Breakdown, measure: str) -> Iterator[_Step]:
    """Every two values of each row, the higher first."""
    known = [(row, _values(board, row, by, measure)) for row in board.rows]
    looked = sum(len(values) * (len(values) - 1) // 2 for _row, values in known)
    for row, values in known:
        ranked = sorted(values.items(), key=lambda pair: (-pair[1].value, pair[0]))
        for place, (high, first) in enumerate(ranked):
            for low, second in ranked[place + 1 :]:
                yield _Step(row, high, low, first, second, is_above(first, second, looked))


def _values(board: TripleBoard, row: TripleRow, by: Breakdown, measure: str) -> dict[str, Estimate]:
    return {
        part.value: part.estimates[measure]
        for part in board.parts
        if part.by == by
        and part.group == row.group
        and measure in part.estimates
        and not math.isnan(part.estimates[measure].value)
    }


def extreme_sentence(said: Extreme) -> str:
    """Where the measure is highest and lowest, or that no interval carries any difference."""
    measure, by = headed(said.measure), part_name(said.by)
    if not said.carried:
        return say(
            "{measure} by {by}: no two values differ beyond the intervals, in any model.",
            measure=measure,
            by=by,
        )
    return say(
        "{measure} by {by}: higher for {high} than for {low} in {n} of {models}, beyond the "
        "intervals; of {model} {first} against {second}.",
        measure=measure,
        by=by,
        high=value_name(said.high),
        low=value_name(said.low),
        n=said.carried,
        models=said.models,
        model=said.example.label,
        first=shown_estimate(said.first),
        second=shown_estimate(said.second),
    )

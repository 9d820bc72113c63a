"""Of entities that do not exist: who says triples about them, and how many."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.report.words import (
    counted_rows,
    headed,
    is_above,
    part_name,
    shown_range,
    value_name,
)
from proofstone.methods.bequ.verification.records import Breakdown
from proofstone.page.section import (
    Column,
    Curve,
    Figure,
    Mark,
    Section,
    Table,
    estimate_mark,
    shown_estimate,
    shown_share,
)
from proofstone.records.runs import Estimate
from proofstone.wording.messages import counted, joined, paragraph, say, say_of, word

# Where a measure is highest and lowest among the parts of the sample, and who shows it.


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


_MOST_NAMED = 4


_NONE = Estimate(value=math.nan, n=0, low=math.nan, high=math.nan)


def asked_fictional(board: TripleBoard) -> list[TripleRow]:
    """The rows that were asked about fictional entities, those that made most up first."""
    rows = [row for row in board.rows if row.fictional_given is not None and row.fictional_given.n]
    return sorted(rows, key=lambda row: (-_given(row), -triples_each(row), row.label))


def triples_each(row: TripleRow) -> float:
    """Triples said of a fictional entity, of those that it was asked about; 0 for none."""
    said = row.volunteered
    return said.fictional_triples / said.fictional if said.fictional else 0.0


def fictional_section(board: TripleBoard) -> Section | None:
    """How many fictional entities got triples and how many triples each, beside abstention on
    entities that there are; None where nobody was asked about any."""
    rows = asked_fictional(board)
    if not rows:
        return None
    return Section(
        name="fictional",
        title=say("Entities that do not exist"),
        finding=fictional_finding(board),
        plain=say(
            "Whatever a model says of a fictional entity is made up. Abstention on entities that "
            "there are stands beside: a model that abstains on everything makes nothing up either."
        ),
        tables=(_table(rows),),
        figures=(_shares(board, rows), _each(rows)),
    )


def fictional_finding(board: TripleBoard) -> str:
    """Who makes most up and who least, as far as the intervals carry it; empty where nobody was
    asked."""
    rows = asked_fictional(board)
    if not rows:
        return ""
    silent = [row for row in rows if _given(row) == 0.0]
    if len(silent) == len(rows):
        return say("No model gave a triple about a fictional entity.")
    most, least = rows[0], rows[-1]
    if len(rows) == 1:
        return say(
            "{model} gives triples about {share} of 100 fictional entities, {each:.1f} triples "
            "each.",
            model=most.label,
            share=shown_estimate(_estimate(most)),
            each=triples_each(most),
        )
    if not is_above(_estimate(most), _estimate(least), len(rows) * (len(rows) - 1) // 2):
        return say(
            "Models gave triples about {share} of fictional entities; the highest and the "
            "lowest rate do not differ significantly.",
            share=shown_range([_given(least), _given(most)]),
        )
    said = say(
        "{most} has the highest hallucination rate: it gives triples about {high} of 100 "
        "fictional entities, {each:.1f} triples each; {least} about {low}.",
        most=most.label,
        high=shown_estimate(_estimate(most)),
        each=triples_each(most),
        least=joined([row.label for row in silent], _MOST_NAMED) if silent else least.label,
        low=shown_estimate(_estimate(least)),
    )
    return paragraph(said, _abstaining(most, silent or [least]))


def _abstaining(most: TripleRow, least: Sequence[TripleRow]) -> str:
    """Whether who makes least up abstains elsewhere, too."""
    known = [row.abstention.value for row in (most, *least) if row.abstention.n]
    if len(known) <= len(least):
        return ""
    return say(
        "The former abstains on {most} of the existing entities, the latter on {least}.",
        most=shown_share(known[0]),
        least=shown_range(known[1:]),
    )


def _estimate(row: TripleRow) -> Estimate:
    return row.fictional_given or _NONE


def _given(row: TripleRow) -> float:
    return _estimate(row).value


def _table(rows: list[TripleRow]) -> Table:
    return Table(
        title=say("Fictional entities"),
        columns=(
            Column(key="model", name=word("model")),
            Column(key="fictional", name=say("fictional entities"), help=say("with a reply")),
            Column(key="given", name=say("with triples"), unit="points"),
            Column(key="triples", name=say("triples about them")),
            Column(key="each", name=say("triples each"), digits=1),
            Column(
                key="abstention",
                name=say("abstention"),
                unit="points",
                help=say("of entities that there are, those it said that it knows nothing of"),
            ),
        ),
        rows=tuple(
            (
                row.label,
                row.volunteered.fictional,
                _estimate(row),
                row.volunteered.fictional_triples,
                triples_each(row),
                row.abstention,
            )
            for row in rows
        ),
    )


def _shares(board: TripleBoard, rows: list[TripleRow]) -> Figure:
    return Figure(
        name="fictional-given",
        kind="dots",
        title=say("Fictional entities that got triples"),
        subtitle=say(
            "of those it was asked about; {level:g}% intervals", level=100 * board.confidence
        ),
        marks=tuple(
            Mark(
                row=row.label,
                value=_given(row),
                low=_estimate(row).low,
                high=_estimate(row).high,
                n=row.volunteered.fictional,
                text=shown_estimate(_estimate(row)),
            )
            for row in rows
        ),
        row_axis=word("model"),
        value_axis=say("points"),
        table=1,
    )


def _each(rows: list[TripleRow]) -> Figure:
    fewest = min(row.volunteered.fictional for row in rows)
    most = max(row.volunteered.fictional for row in rows)
    n = counted(most, "fictional entity", "fictional entities")
    return Figure(
        name="fictional-triples",
        kind="bars",
        title=say("Triples about a fictional entity"),
        subtitle=n if fewest == most else say("up to {n}", n=n),
        marks=tuple(
            Mark(row=row.label, value=round(triples_each(row), 1), n=row.volunteered.fictional)
            for row in rows
        ),
        row_axis=word("model"),
        value_axis=say("triples each"),
        value_unit="number",
        table=1,
    )


# Precision against recall, with the frontier: what no other model beats on both.

_PLANE_MOST_NAMED = 6


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
    names = joined([row.label for row in first], _PLANE_MOST_NAMED)
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


_PRECISION_RECALL_STEPS = 60


_LEAST = 0.001  # a share of nothing has no line through it


_ROUND = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)  # distances between lines, widest first


_MOST_LINES = 5


class Scored(Struct, frozen=True, kw_only=True):
    """What one model found: its precision and its recall."""

    label: str
    precision: Estimate
    recall: Estimate


def precision_recall_figure(
    scored: Sequence[Scored], *, beta: float = 1.0, levels: Sequence[float] = ()
) -> Figure:
    """A point a model with both intervals, and a line for each of ``levels`` of F, by themselves
    round numbers that the intervals reach.

    ``F = (1 + b^2) P R / (b^2 P + R)``, b the weight of recall (van Rijsbergen 1979).
    """
    name = "F1" if beta == 1 else f"F{beta:g}"
    return Figure(
        name="precision-recall",
        kind="points",
        title=say("Precision against recall"),
        subtitle=say(
            "{models}; intervals on both axes; thin lines: equal {name}",
            models=counted(len(scored), "model"),
            name=name,
        ),
        marks=tuple(
            estimate_mark(
                each.precision,
                row=each.label,
                x=each.recall.value,
                x_low=each.recall.low,
                x_high=each.recall.high,
            )
            for each in scored
        ),
        curves=tuple(_equal_f(level, beta, name) for level in levels or _f_levels(scored, beta)),
        row_axis=word("model"),
        value_axis=say("precision"),
        x_axis=say("recall"),
    )


def _f_levels(scored: Sequence[Scored], beta: float) -> list[float]:
    """Two to five round numbers between the least and the most F that the intervals hold; fifths
    where there is nothing to see."""
    ends = [
        (min(max(precision, _LEAST), 1.0), min(max(recall, _LEAST), 1.0))
        for each in scored
        for precision, recall in (
            (each.precision.low, each.recall.low),
            (each.precision.high, each.recall.high),
        )
        if not math.isnan(precision + recall)
    ]
    if not ends:
        return [0.2, 0.4, 0.6, 0.8]
    square = beta * beta
    values = [(1 + square) * p * r / (square * p + r) for p, r in ends]
    low, high = min(values), max(values)
    for step in _ROUND:
        found = [n * step for n in range(1, math.ceil(1 / step)) if low <= n * step <= high]
        if len(found) > 1:
            return [round(each, 4) for each in found[:_MOST_LINES]]
    return [round((low + high) / 2, 3)]


def _equal_f(level: float, beta: float, name: str) -> Curve:
    """Where F is ``level``: from the least recall that reaches it to the whole."""
    square = beta * beta
    # At P = 1 recall is b^2 F / (1 + b^2 - F); below it no precision is enough.
    least = square * level / (1 + square - level)
    recall = [
        least + (1 - least) * step / _PRECISION_RECALL_STEPS
        for step in range(_PRECISION_RECALL_STEPS + 1)
    ]
    precision = [level * r / ((1 + square) * r - square * level) for r in recall]
    return Curve(
        x=tuple(recall),
        values=tuple(min(p, 1.0) for p in precision),
        text=f"{name} = {level:g}",
        is_reference=True,
    )

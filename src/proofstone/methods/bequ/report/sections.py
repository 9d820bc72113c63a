"""Build the sections of a page of verified triples: the leaderboard table, and the rest."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.methods.bequ.records import Breakdown, Measured
from proofstone.methods.bequ.report.board import TripleBoard, TripleRow
from proofstone.methods.bequ.report.findings import (
    MEASURE_HELP,
    asked_nonexistent,
    counted_rows,
    extreme_sentence,
    headed,
    measure_name,
    nonexistent_finding,
    part_name,
    ranked_rows,
    shown_range,
    value_name,
)
from proofstone.page.planes import MOST_CROSSES
from proofstone.page.section import (
    Column,
    Curve,
    Figure,
    Mark,
    Section,
    Span,
    Table,
    estimate_mark,
    points,
    shown_estimate,
    shown_share,
)
from proofstone.records.runs import Estimate
from proofstone.results.board import RowGroup
from proofstone.results.cards import card_value, group_order
from proofstone.results.sentences import group_heading
from proofstone.wording.messages import counted, joined, say, say_of, word

LEADING = ("f1", "precision", "recall", "contradiction", "unparsed", "recall_unparsed")


_OPENNESS = {"closed": "commercial", "open weights": "open", "fully open": "open"}


def triple_sections(board: TripleBoard) -> tuple[Section, ...]:
    """Return each section with data; empty without verdicts."""
    made = (plane_section(board), *_part_sections(board), _nonexistent_section(board))
    return tuple(part for part in (*made, _rates_section(board)) if part is not None)


def _model_column() -> Column:
    return Column(key="model", name=word("model"))


def _measure_columns(names: Iterable[str]) -> Iterator[Column]:
    for name in names:
        told = word(MEASURE_HELP[name])
        yield Column(key=name, name=measure_name(name), unit="points", help=told)


# The leaderboard as a table, and its figure.


def openness_of(row: TripleRow) -> str:
    """Return commercial, open or unknown, by the model's card."""
    said = card_value(row.card, "openness")
    return word(_OPENNESS.get(said, said))


class RowsTogether(Struct, frozen=True):
    """Hold rows listed together, under a heading if there are several such parts.

    ``name`` is their group by the model cards.
    """

    name: str
    heading: str
    rows: tuple[TripleRow, ...]


def rows_together(board: TripleBoard) -> Iterator[RowsTogether]:
    """Return the rows of models, then simulated ones, which are ranked separately.

    Each is split by its model card's group if the leaderboard is grouped.
    """
    both = len({row.simulated for row in board.rows}) > 1
    for simulated in (False, True):
        own = [row for row in board.rows if row.simulated == simulated]
        kind = say("Simulated models") if simulated and both else ""
        if not board.group_by:
            if own:
                yield RowsTogether("", kind, tuple(own))
            continue
        found: dict[str, list[TripleRow]] = defaultdict(list)
        for row in own:
            found[card_value(row.card, board.group_by)].append(row)
        for value in sorted(found, key=lambda value: group_order(board.group_by, value)):
            group = RowGroup(name=value, ranked=tuple(range(len(found[value]))))
            heading = group_heading(board.group_by, group)
            shown = say("; ").join(filter(None, (kind, heading)))
            yield RowsTogether(word(value), shown, tuple(found[value]))


def why_unranked(row: TripleRow) -> str:
    """Return the reason why a row has no rank."""
    if row.experiment:
        return say("not ranked: an experiment with another setting")
    if row.waiting:
        return say("not ranked: {triples} wait for a judge", triples=counted(row.waiting, "triple"))
    if row.other_entities:
        return say(
            "not ranked: verified on other entities than most models, {entities} differ",
            entities=counted(row.other_entities, "entity", "entities"),
        )
    if "f1" not in row.estimates:
        return say("not ranked: one direction has no verdicts")
    return say("not ranked: no other model was verified on the same entities")


def standing_table(board: TripleBoard) -> Table:
    """Return the leaderboard as a table, also for export."""
    return Table(
        title=say("Leaderboard"),
        columns=(
            _model_column(),
            Column(key="rank", name=say("rank"), unit="rank"),
            Column(key="openness", name=say("openness")),
            *_measure_columns(LEADING),
            Column(key="abstention", name=say("abstention"), unit="points"),
            Column(key="triples_an_entity", name=say("triples per entity"), digits=1),
            Column(key="nonexistent_given", name=say("fictional given"), unit="points"),
            Column(key="waiting", name=say("waiting")),
            Column(key="config", name=say("configuration")),
        ),
        rows=tuple(
            (
                row.label,
                row.rank,
                openness_of(row),
                *map(row.estimates.get, LEADING),
                row.abstention,
                row.elicited.each,
                row.nonexistent_given,
                row.waiting,
                row.config,
            )
            for row in board.rows
        ),
    )


def f1_figure(board: TripleBoard) -> Figure | None:
    """Return a figure of F1 of the ranked rows with ties as bars; None without ranked rows."""
    marks = []
    for row in ranked_rows(board):
        found = row.estimates["f1"]
        if row.rank is not None and not math.isnan(found.low):
            mark = _row_mark(row, found)
            marks.append(structs.replace(mark, x_low=row.rank.low, x_high=row.rank.high))
    if not marks:
        return None
    return Figure(
        name="f1",
        kind="dots",
        title=say("{measure} by model", measure=measure_name("f1")),
        subtitle=say(
            "{entities}; {level:g}% confidence intervals, bootstrapped jointly over entities",
            entities=counted(board.entities, "entity", "entities"),
            level=100 * board.confidence,
        ),
        marks=tuple(marks),
        spans=tuple(Span(first=first, last=last) for first, last in board.ties),
        row_axis=word("model"),
        value_axis=say("score (%)"),
        x_axis=say("ranks left open"),
    )


def _row_mark(row: TripleRow, found: Estimate) -> Mark:
    return estimate_mark(found, row=row.label, text=shown_estimate(found))


# Precision against recall, with the Pareto frontier.


def plane_section(board: TripleBoard) -> Section | None:
    """Plot both measures with their CIs, lines of equal F1, and the frontier; None without data."""
    rows = [row for row in board.rows if row.has_both]
    if not rows:
        return None
    first = frontier(rows)
    figure = precision_recall_figure(
        [
            Scored(
                label=row.label,
                precision=row.estimates["precision"],
                recall=row.estimates["recall"],
            )
            for row in rows
        ]
    )
    finding = say_of(
        len(first),
        "On the frontier: {models} only. No other model is at least as good on both measures "
        "and better on one.",
        "On the frontier: {models}. For each, no other model is at least as good on both "
        "measures and better on one.",
        models=joined([row.label for row in first], 6),
    )
    cannot = say(
        "The Pareto frontier is computed from the estimates. Where intervals overlap, a new "
        "sample of entities could change it."
    )
    is_alone = len(rows) == 1
    return Section(
        name="precision-recall",
        title=say("Precision against recall"),
        finding=say("There is only one model, so nothing is compared.") if is_alone else finding,
        cannot="" if is_alone else cannot,
        figures=(
            structs.replace(
                figure,
                subtitle=say("{said}; dashed: Pareto frontier", said=figure.subtitle),
                curves=(*figure.curves, _stairs(first)),
            ),
        ),
    )


def frontier(rows: Sequence[TripleRow]) -> list[TripleRow]:
    """Return the Pareto-optimal rows, by rising recall.

    No other row is at least as good on both measures and better on one.
    """
    places = [_place(row) for row in rows]
    kept = [
        (place, row)
        for place, row in zip(places, rows, strict=True)
        if not any(
            other != place and other[0] >= place[0] and other[1] >= place[1] for other in places
        )
    ]
    return [row for _place, row in sorted(kept, key=lambda each: each[0])]


def _place(row: TripleRow) -> tuple[float, float]:
    """Return recall and precision; -1 where unknown."""
    values = (row.estimates[name].value for name in ("recall", "precision"))
    recall, precision = (-1.0 if math.isnan(value) else value for value in values)
    return recall, precision


def _stairs(first: Sequence[TripleRow]) -> Curve:
    """Return the boundary of the region dominated by the models: from recall 0 to precision 0."""
    x, values = [0.0], list[float]()
    for recall, precision in map(_place, first):
        x += [recall, recall]
        values += [precision, precision]
    return Curve(
        x=tuple(x),
        values=(*values, 0.0),
        text=say("Pareto frontier"),
        is_reference=True,
        is_firm=True,
    )


_PRECISION_RECALL_STEPS = 60


_LEAST = 0.001  # no line where F is 0


_ROUND = (0.2, 0.1, 0.05, 0.02, 0.01, 0.005)  # distances between lines, widest first


_MOST_LINES = 5


class Scored(Struct, frozen=True, kw_only=True):
    """Hold the precision and recall of one model."""

    label: str
    precision: Estimate
    recall: Estimate


def precision_recall_figure(
    scored: Sequence[Scored], *, beta: float = 1.0, levels: Sequence[float] = ()
) -> Figure:
    """Plot a point per model with both CIs, and a line for each of ``levels`` of F.

    Default levels are round numbers in the range of the CIs. ``F = (1 + b^2) P R / (b^2 P + R)``, b
    the weight of recall (van Rijsbergen 1979).
    """
    name = "F1" if beta == 1 else f"F{beta:g}"
    return Figure(
        name="precision-recall",
        kind="points",
        title=say("Precision against recall"),
        subtitle=say(
            "{models}; ellipse axes: {level:g}% CI; thin lines: equal {name}"
            if len(scored) > MOST_CROSSES
            else "{models}; {level:g}% CI on both axes; thin lines: equal {name}",
            models=counted(len(scored), "model"),
            level=100 * next((each.precision.level for each in scored), 0.95),
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
        value_axis=say("precision (%)"),
        x_axis=say("recall (%)"),
    )


def _f_levels(scored: Sequence[Scored], beta: float) -> list[float]:
    """Return two to five round numbers within the range of F; fifths if the range is empty."""
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
    """Return the curve of equal F: from the lowest possible recall to 1."""
    square = beta * beta
    # At P = 1 recall is b^2 F / (1 + b^2 - F); with less recall, no precision reaches F.
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


# Measures by domain, popularity, source and predicate family.

# Measures of each breakdown, first that of its finding. The precision of a source covers the
# triples that its passages decided, so no F1 is computed from it.
PART_MEASURES: Mapping[Breakdown, tuple[str, ...]] = {
    "domain": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "popularity": ("f1", "precision", "recall", "unparsed", "recall_unparsed"),
    "source": ("recall", "precision", "recall_unparsed"),
    "family": ("contradiction", "f1", "precision", "recall", "unparsed", "recall_unparsed"),
}


_MOST_VALUES = 30  # rows of a figure that fits on a printed page


_MOST_MODELS = 30


class _Parts:
    """Hold the measures of one breakdown: values as rows, models as columns."""

    def __init__(self, board: TripleBoard, by: Breakdown) -> None:
        self.board, self.by, self.name = board, by, part_name(by)
        self._at = {(part.group, part.value): part for part in board.parts if part.by == by}
        self.values = sorted({value for _group, value in self._at})

    def of(self, value: str) -> Iterator[tuple[TripleRow, Measured | None]]:
        """Yield each row of the leaderboard with its measures for a value, None without any."""
        return ((row, self._at.get((row.group, value))) for row in self.board.rows)

    def estimates(self, value: str, measure: str) -> list[Estimate | None]:
        """Return one of the measures for each row; None without data."""
        return [
            None if part is None else part.estimates.get(measure) for _row, part in self.of(value)
        ]

    def has(self, measure: str) -> bool:
        """Return True if any row has this measure for any value."""
        return any(any(self.estimates(value, measure)) for value in self.values)


def _part_sections(board: TripleBoard) -> Iterator[Section]:
    """Return a section for each breakdown with two values or more."""
    for by, measures in PART_MEASURES.items():
        parts = _Parts(board, by)
        if len(parts.values) < 2:
            continue
        none = say(
            "{measure} by {by}: {groups}; no model has estimates in two of them to compare.",
            measure=headed(measures[0]),
            by=parts.name,
            groups=counted(len(parts.values), "group"),
        )
        plain, cannot = "", ""
        if by == "source":
            plain = extreme_sentence(board, by, measures[1], only_significant=True)
            cannot = say(
                "Recall by source covers the reference triples extracted from it. Precision by "
                "source covers the triples decided by its passages: it shows which source "
                "settles more, not which is more accurate."
            )
        elif by == "family":
            plain = extreme_sentence(board, by, measures[1], only_significant=True)
            cannot = say(
                "Families are assigned by words in the predicate. Models invent predicates, so "
                "there is no closed list of them."
            )
        yield Section(
            name=f"by-{by}",
            title=say("By {by}", by=parts.name),
            finding=extreme_sentence(board, by, measures[0]) or none,
            plain=plain,
            cannot=cannot,
            how=say(
                "The same measures by part. Parts were not sampled: the intervals generalize to "
                "other entities of the same part."
            ),
            tables=tuple(_parts_table(parts, each) for each in measures if parts.has(each)),
            figures=tuple(_part_figures(parts, measures)),
        )


def _parts_table(parts: _Parts, measure: str) -> Table:
    rows = []
    for value in parts.values:
        held = [part.counts.values() for _row, part in parts.of(value) if part is not None]
        n = sum(sum(counts.values()) for sides in held for counts in sides)
        rows.append((value_name(value), n, *parts.estimates(value, measure)))
    return Table(
        title=say("{measure} by {by}", measure=headed(measure), by=parts.name),
        columns=(
            Column(key=parts.by, name=parts.name),
            Column(
                key="n", name=say("triples"), help=say("of all models and both directions, sampled")
            ),
            *(Column(key=row.label, name=row.label, unit="points") for row in parts.board.rows),
        ),
        rows=tuple(rows),
    )


def _part_figures(parts: _Parts, measures: Sequence[str]) -> Iterator[Figure]:
    """Return figures of the main measure: all models per value, and a heat map if there are
    several.
    """
    measure = "recall" if parts.by == "source" else "f1"
    shown = parts.values[:_MOST_VALUES]
    marks = tuple(
        estimate_mark(found, row=value_name(value), column=row.label, text=shown_estimate(found))
        for value in shown
        for row, found in zip(parts.board.rows, parts.estimates(value, measure), strict=True)
        if found is not None and not math.isnan(found.value)
    )
    if len({mark.row for mark in marks}) < 2:
        return
    table = 1 + measures.index(measure) if parts.has(measures[0]) else 0
    subtitle = say(
        "the first three models with {level:g}% confidence intervals, a tick for every other"
        if len(parts.board.rows) > 3
        else "{level:g}% confidence intervals",
        level=100 * parts.board.confidence,
    )
    if len(shown) < len(parts.values):
        cut = say("the first {n} of {all} groups", n=len(shown), all=len(parts.values))
        subtitle = f"{subtitle}; {cut}"
    strips = Figure(
        name=f"{measure}-by-{parts.by}",
        kind="strips",
        title=say("{measure} by {by}", measure=headed(measure), by=parts.name),
        subtitle=subtitle,
        marks=marks,
        row_axis=parts.name,
        column_axis=word("model"),
        value_axis=say("score (%)"),
        table=table,
    )
    yield strips
    n = len(parts.board.rows)
    if n > 1 and n * len(shown) > 6:
        models = list(dict.fromkeys(mark.column for mark in marks))[:_MOST_MODELS]
        yield structs.replace(
            strips,
            name=f"{strips.name}-cells",
            kind="heat",
            subtitle=say("in %; darker is higher"),
            marks=tuple(
                structs.replace(mark, row=model, column=mark.row, text=points(mark.value))
                for model in models
                for mark in marks
                if mark.column == model
            ),
            row_axis=strips.column_axis,
            column_axis=strips.row_axis,
        )


# Non-existent entities: which models give triples about them, and how many.


def _nonexistent_section(board: TripleBoard) -> Section | None:
    """Return hallucination rates and triples per non-existent entity, with abstention on existing
    ones.

    None without non-existent entities in prompts.
    """
    rows = asked_nonexistent(board)
    if not rows:
        return None
    asked = [row.elicited.nonexistent for row, _given in rows]
    n = counted(max(asked), "non-existent entity", "non-existent entities")
    table = Table(
        title=say("Non-existent entities"),
        columns=(
            _model_column(),
            Column(
                key="nonexistent", name=say("non-existent entities"), help=say("with a response")
            ),
            Column(key="given", name=say("with triples"), unit="points"),
            Column(key="triples", name=say("triples about them")),
            Column(key="each", name=say("triples each"), digits=1),
            Column(
                key="abstention",
                name=say("abstention"),
                unit="points",
                help=say("of the existing entities, those that the model stated no knowledge of"),
            ),
        ),
        rows=tuple(
            (
                row.label,
                row.elicited.nonexistent,
                given,
                row.elicited.nonexistent_triples,
                row.elicited.nonexistent_each,
                row.abstention,
            )
            for row, given in rows
        ),
    )
    shares = Figure(
        name="nonexistent-given",
        kind="dots",
        title=say("Hallucination rate"),
        subtitle=say(
            "non-existent entities with triples, of those with a "
            "response; {level:g}% confidence intervals",
            level=100 * board.confidence,
        ),
        marks=tuple(
            structs.replace(_row_mark(row, given), n=row.elicited.nonexistent)
            for row, given in rows
        ),
        row_axis=word("model"),
        value_axis=say("score (%)"),
        table=1,
    )
    each = Figure(
        name="nonexistent-triples",
        kind="bars",
        title=say("Triples per non-existent entity"),
        subtitle=n if min(asked) == max(asked) else say("up to {n}", n=n),
        marks=tuple(
            Mark(
                row=row.label,
                value=round(row.elicited.nonexistent_each, 1),
                n=row.elicited.nonexistent,
            )
            for row, _given in rows
        ),
        row_axis=word("model"),
        value_axis=say("triples each"),
        value_unit="number",
        table=1,
    )
    return Section(
        name="nonexistent",
        title=say("Non-existent entities"),
        finding=nonexistent_finding(board),
        plain=say(
            "Every triple about a non-existent entity is a hallucination. Compare with "
            "abstention on existing entities: a model that always abstains has no hallucinations "
            "either."
        ),
        tables=(table,),
        figures=(shares, each),
    )


# Outcomes of elicited triples: supported, contradicted, or neutral.

_RATES = (
    "precision", "contradiction", "neutral", "without_reference", "unparsed", "precision_judged",
    "precision_decided", "recall_judged", "recall_contradiction", "recall_unparsed",
)  # fmt: skip


def _rates_section(board: TripleBoard) -> Section | None:
    """Return contradiction and neutral rates, and precision by denominator; None if unjudged."""
    rows = [row for row in board.rows if "contradiction" in row.estimates]
    if not rows:
        return None
    held = [name for name in _RATES if any(name in row.estimates for row in rows)]
    return Section(
        name="rates",
        title=say("Contradiction and neutral rates"),
        finding=_rates_finding(rows),
        plain=say(
            "A neutral triple is not false: the reference neither entails nor contradicts it. "
            "Precision of decided triples leaves neutral triples out; the true precision may lie "
            "in between."
        ),
        tables=(
            Table(
                title=say("Verdict rates and denominators"),
                columns=(_model_column(), *_measure_columns(held)),
                rows=tuple((row.label, *map(row.estimates.get, held)) for row in rows),
            ),
        ),
        figures=tuple(_rate_figure(board, rows, name) for name in ("contradiction", "neutral")),
    )


def _rates_finding(rows: Sequence[TripleRow]) -> str:
    against = [row.estimates["contradiction"].value for row in rows]
    neutral = [found.value for row in rows if (found := row.estimates.get("neutral")) is not None]
    if len(rows) == 1 and neutral:
        return say(
            "{model}: the reference contradicts {against} of its triples; {neutral} are neutral.",
            model=rows[0].label,
            against=shown_share(against[0]),
            neutral=shown_share(neutral[0]),
        )
    if not neutral:
        return say(
            "The reference contradicts {share} of the elicited triples.", share=shown_range(against)
        )
    return say(
        "The reference contradicts {against} of the elicited triples; {neutral} are neutral.",
        against=shown_range(against),
        neutral=shown_range(neutral),
    )


def _rate_figure(board: TripleBoard, rows: Collection[TripleRow], measure: str) -> Figure:
    known = [
        (row, found)
        for row in rows
        if (found := row.estimates.get(measure)) and not math.isnan(found.value)
    ]
    known.sort(key=lambda pair: (-pair[1].value, pair[0].label))
    return Figure(
        name=measure,
        kind="dots",
        title=say("{measure} by model", measure=headed(measure)),
        subtitle=say(
            "{models}; of all triples sampled; {level:g}% confidence intervals",
            models=counted_rows([row for row, _found in known]),
            level=100 * board.confidence,
        ),
        marks=tuple(_row_mark(row, found) for row, found in known),
        row_axis=word("model"),
        value_axis=say("score (%)"),
        table=1,
    )

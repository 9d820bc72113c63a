"""Accuracy by stratum, document and topic."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    ReadColumn,
    Section,
    Span,
    Table,
    column,
    estimate_mark,
    points,
    shown_estimate,
    tie_letters,
)
from proofstone.records.runs import Estimate, Measure
from proofstone.records.scores import DocumentPages, ScoreTable
from proofstone.results.board import Breakdown, BreakdownGroup, Standings
from proofstone.results.board_text import FEW_ITEMS, Leaderboard
from proofstone.results.measured_scores import Sheet
from proofstone.results.rankings import NOT_GIVEN
from proofstone.results.sections.evidence import Evidence, chance_levels
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.estimates import mean_estimates, measure_spread
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import RankInterval, differ_significantly, rank_all, tied_runs
from proofstone.stats.ratios import ratio_values
from proofstone.wording.messages import counted, joined, listed, paragraph, say, say_of, word

_MOST_DRAWN = 30  # rows of a figure that fits on a printed page


def strata_section(evidence: Evidence) -> Section | None:
    """Return one table and heat map per level; None without strata."""
    groups = (group for group in evidence.board.standings if not group.experiment)
    group = next((group for group in groups if group.breakdowns), None)
    if group is None:
        return None
    parts, alike = _distinct(group.breakdowns)
    group = structs.replace(group, breakdowns=parts)
    return Section(
        name="strata",
        title=say("Scores by group"),
        finding=_finding(group),
        plain=_plain(group),
        cannot=_cannot(group),
        how=say(
            "The mean of each model over the items of each group, with its interval. Groups "
            "are fixed: an interval generalizes to other items of the same group."
        ),
        tables=(
            *(breakdown_table(group, part) for part in group.breakdowns),
            *(table for part in group.breakdowns for table in _others(group, part)),
        ),
        figures=tuple(_figures(evidence, group)),
        notes=alike,
    )


def _distinct(
    breakdowns: Sequence[Breakdown],
) -> tuple[tuple[Breakdown, ...], tuple[str, ...]]:
    """Return distinct groupings of the items, and notes on those that repeat another."""
    first: dict[object, Breakdown] = {}
    notes = []
    for part in breakdowns:
        cells = [(each.n, *(estimate.value for estimate in each.estimates)) for each in part.groups]
        known = first.setdefault(tuple(sorted(cells)), part)
        if known is not part:
            notes.append(
                say(
                    "By {by} the items fall into the same groups as by {other}.",
                    by=word(part.by),
                    other=word(known.by),
                )
            )
    return tuple(first.values()), tuple(notes)


def _finding(group: Standings) -> str:
    parts = [
        say("{by} ({groups})", by=word(part.by), groups=counted(len(part.groups), "group"))
        for part in group.breakdowns
    ]
    scores = say("Scores by {parts}.", parts=listed(parts))
    if len(group.ranked) < 2:
        return scores
    first = group.breakdowns[0]
    if group.ranked[0].estimate.value == group.ranked[-1].estimate.value:  # all scores are equal
        tied = sum(len({one.value for one in each.estimates}) == 1 for each in first.groups)
        level = say(
            "All {models} score the same overall, and in {n} of the {groups} groups by {by}.",
            models=counted(len(group.ranked), "model"),
            n=tied,
            groups=len(first.groups),
            by=word(first.by),
        )
        return paragraph(scores, level)
    leaders = [
        row.label
        for row in group.ranked
        if math.isclose(row.estimate.value, group.ranked[0].estimate.value)
    ]
    if len(leaders) > 1:
        shared = say("{models} share the highest score overall.", models=joined(leaders, 3))
        return paragraph(scores, shared)
    if len(first.groups) < 2:
        return scores
    shares = [_shares_lead(each.estimates) for each in first.groups]
    best = say(
        "{model} has the highest score overall, and the highest observed score, alone or tied, in "
        "{n} of the {groups} groups by {by}."
        if max(shares) > 1
        else "{model} has the highest score overall, and the highest observed score in {n} of the "
        "{groups} groups by {by}.",
        model=group.ranked[0].label,
        n=sum(n > 0 for n in shares),
        groups=len(first.groups),
        by=word(first.by),
    )
    return paragraph(scores, best)


def _shares_lead(estimates: Sequence[Estimate]) -> int:
    """Return how many have the highest value, the first one among them; 0 if it has not."""
    values = [each.value for each in estimates if not math.isnan(each.value)]
    first = estimates[0].value
    return values.count(first) if values and first >= max(values) else 0


def _plain(group: Standings) -> str:
    """Return the leader's highest and lowest group, each with n and interval; empty if all are
    equal.

    A group is called highest or lowest only if it differs significantly from every other group
    (Holm-adjusted).
    """
    part = group.breakdowns[0]
    known = [
        (each.estimates[0], each)
        for each in part.groups
        if not math.isnan(each.estimates[0].value) and each.estimates[0].effective_n >= 2
    ]
    if len(known) < 2:
        return ""
    known.sort(key=lambda pair: -pair[0].value)
    if math.isclose(known[0][0].value, known[-1][0].value):
        return ""
    apart = differ_significantly([estimate for estimate, _ in known])
    told = {
        "model": group.ranked[0].label,
        "best": _with_interval(*known[0]),
        "worst": _with_interval(*known[-1]),
    }
    is_highest, is_lowest = bool(apart[0, 1:].all()), bool(apart[-1, :-1].all())
    if is_highest and is_lowest:
        return say("{model} scores highest in {best} and lowest in {worst}.", **told)
    if is_highest:
        return say("{model} scores highest in {best}. The lowest group is not settled.", **told)
    if is_lowest:
        return say("{model} scores lowest in {worst}. The highest group is not settled.", **told)
    return say(
        "The highest and lowest group scores of {model} are {best} and {worst}. Neither differs "
        "significantly from every other group (Holm-adjusted).",
        **told,
    )


def _with_interval(estimate: Estimate, part: BreakdownGroup) -> str:
    return say(
        "{group} ({score}, n = {n:,})",
        group=word(part.name),
        score=shown_estimate(estimate),
        n=part.n,
    )


def _cannot(group: Standings) -> str:
    small = [
        (word(part.by), names)
        for part in group.breakdowns
        if (names := [word(each.name) for each in part.groups if 0 < each.n < FEW_ITEMS])
    ]
    if not small:
        return ""
    shown = listed([say("{by} ({groups})", by=by, groups=listed(names, 5)) for by, names in small])
    return say("Groups with fewer than 30 items (wide intervals): {shown}.", shown=shown)


def breakdown_table(group: Standings, part: Breakdown) -> Table:
    """Return the scores of each ranked model in each group of items: models are rows."""
    return _model_table(
        group,
        say("Scores by {by}", by=word(part.by)),
        part,
        [each.estimates for each in part.groups],
    )


def _model_table(
    group: Standings, title: str, part: Breakdown, estimates: Sequence[Sequence[Estimate]]
) -> Table:
    """Return models as rows and groups as columns, with the number of items in the header."""
    return Table(
        title=title,
        columns=(
            Column(key="model", name=word("model")),
            *(
                Column(key=each.name, name=word(each.name), unit="points",
                       help=say("n = {n:,}", n=each.n))
                for each in part.groups
            ),
        ),
        rows=tuple(
            (row.label, *(own[place] for own in estimates))
            for place, row in enumerate(group.ranked)
        ),
        is_heat=True,
    )  # fmt: skip


def _group_table(
    title: str,
    part: Breakdown,
    columns: Sequence[tuple[str, str]],
    cells: Sequence[tuple[Estimate, ...]],
) -> Table:
    """Return groups as rows with their number of items; ``columns`` are pairs of key and name."""
    return Table(
        title=title,
        columns=(
            Column(key=part.by, name=word(part.by)),
            Column(key="n", name=say("n"), help=say("items of this group")),
            *(Column(key=key, name=name, unit="points") for key, name in columns),
        ),
        rows=tuple(
            (word(each.name), each.n, *estimates)
            for each, estimates in zip(part.groups, cells, strict=True)
        ),
    )


def _others(group: Standings, part: Breakdown) -> Iterator[Table]:
    """Yield the other measures by group: one table for one model, otherwise one per measure."""
    others = part.other_measures
    if len(group.ranked) == 1 and others:
        yield _group_table(
            say("By {by}, other measures", by=word(part.by)),
            part,
            [(other.name, word(other.label)) for other in others],
            [tuple(other.estimates[0] for other in each.others) for each in part.groups],
        )
        return
    for place, other in enumerate(others):
        yield _model_table(
            group,
            say("By {by}: {measure}", by=word(part.by), measure=word(other.label)),
            part,
            [each.others[place].estimates for each in part.groups],
        )


def _figures(evidence: Evidence, group: Standings) -> Iterator[Figure]:
    """Yield the composition of items, and for each level the models by group as strips and
    cells."""
    if evidence.sheet is not None and (made_of := composition_figure(evidence.sheet.table)):
        yield made_of
    for place, part in enumerate(group.breakdowns, start=1):
        if strips := strips_figure(evidence.board, group, part, table=place):
            yield strips
            yield _heat(group, part, place)


def _heat(group: Standings, part: Breakdown, table: int) -> Figure:
    n = len(group.ranked)
    said = say("{items}; in %; darker is higher", items=counted(group.n_items, "item"))
    if n > _MOST_DRAWN:
        said = say("{said}; the first {most} of {n} models", said=said, most=_MOST_DRAWN, n=n)
    return Figure(
        name=f"by-{part.by}",
        kind="heat",
        title=say("Scores by {by}", by=word(part.by)),
        subtitle=said,
        marks=tuple(
            estimate_mark(
                each.estimates[place],
                row=row.label,
                column=word(each.name),
                n=each.n,
                text=points(each.estimates[place].value),
            )
            for place, row in enumerate(group.ranked[:_MOST_DRAWN])
            for each in part.groups
        ),
        row_axis=say("model"),
        column_axis=word(part.by),
        value_axis=say("score (%)"),
        table=table,
    )


# Top ten models by F in each topic, with ties (Chinese SimpleQA, I and Figure 17).

_FIRST = 10


_F = "f_score"


class _Place(Struct, frozen=True):
    label: str
    estimate: Estimate
    rank: RankInterval


class _Topic(Struct, frozen=True):
    """A topic's models, best first.

    ``ties`` are runs of models without significant differences. ``n_best`` counts models that no
    model is significantly better than.
    """

    name: str
    n: int
    places: tuple[_Place, ...]
    ties: tuple[tuple[int, int], ...]
    n_best: int


def analyze_topics(parts: Sequence[Part]) -> Analysis:
    """Return the top ten of each topic by F, or by the headline measure if a method has no F.

    Each has its interval and its rank range among all models. Raises BadUsage without topics, or if
    no model is complete.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    measure = next((one for one in part.others if one.name == _F), part.measure)
    units, _values = part.block(labels)
    topics = list(_topics(part, measure, labels, units))
    shown = measure.label or measure.name
    return make_analysis(
        "topics",
        say("The best of {n} models by {measure}, by topic", n=len(labels), measure=word(shown)),
        _topics_finding(topics),
        columns=(
            Column(key="topic", name=say("topic")),
            Column(key="rank", name=say("rank")),
            Column(key="model", name=say("model")),
            Column(key="value", name=say("{measure}, %", measure=word(shown)), unit="points"),
            Column(key="n", name="n"),
            Column(key="tied", name=say("tied")),
        ),
        rows=(row for topic in topics for row in _rows(topic)),
        axes=("topic", shown),
        marks=(
            mark_of(place.label, topic.name, place.estimate)
            for topic in topics
            for place in topic.places[:_FIRST]
        ),
        notes=(
            say(
                "Rank: the rank range among all models of the topic, by paired comparisons on its "
                "questions (Holm-adjusted within the topic). Tied: models that share a letter are "
                "not significantly different there."
            ),
            *left_out(parts, labels),
        ),
        figures=(_figure(topic, number, word(shown)) for number, topic in enumerate(topics, 1)),
    )


def _topics(
    part: Part,
    measure: Measure,
    labels: Sequence[str],
    units: NDArray[np.int64],
) -> Iterator[_Topic]:
    level = next((name for name, names in part.table.stratum_names.items() if len(names) > 1), "")
    if not level:
        raise BadUsage(
            "these items have no topics, or one alone",
            hint="questions need a column primary_category, statements a discipline",
        )
    codes = part.table.strata[level][units]
    places = [part.complete[label] for label in labels]
    sheet = Sheet(part.table, measure.counts, measure.answer_keys, measure.says, measure.weights)
    for code, name in enumerate(part.table.stratum_names[level]):
        own = units[codes == code]
        if not len(own):
            continue
        if measure.weights:  # a ratio is the mean of its linearized values
            tops, bottoms = (each[own][:, places] for each in sheet.ratio_parts)
            values = ratio_values(tops, bottoms)
        else:
            values = part.sheet.block(own, places)
        yield _topic(part, name or say("not stated"), labels, own, values)


def _topic(
    part: Part,
    name: str,
    labels: Sequence[str],
    units: NDArray[np.int64],
    values: NDArray[np.float64],
) -> _Topic:
    keys, weighting = part.sheet.keys.among(units), equal_weights(len(units))
    estimates = mean_estimates(values, weighting, keys, **part.interval)
    spread = measure_spread(values, weighting, keys, part.population)
    ranking = rank_all(spread, confidence=part.confidence)
    order = sorted(range(len(labels)), key=lambda r: (-estimates[r].value, labels[r]))
    better = ranking.better[np.ix_(order, order)]
    return _Topic(
        name=name,
        n=len(units),
        places=tuple(_Place(labels[r], estimates[r], ranking.intervals[r]) for r in order),
        ties=tied_runs(better),
        n_best=int((~better.any(axis=0)).sum()),
    )


def _rows(topic: _Topic) -> Iterator[tuple[Cell, ...]]:
    for place, each in enumerate(topic.places[:_FIRST]):
        tied = [tie_letters(n) for n, (low, high) in enumerate(topic.ties) if low <= place <= high]
        name, n = ("", "") if place else (topic.name, topic.n)
        yield name, each.rank, each.label, each.estimate, n, "".join(tied)


def _topics_finding(topics: Sequence[_Topic]) -> str:
    n, leaders = len(topics), list(dict.fromkeys(topic.places[0].label for topic in topics))
    first = say(
        "{model} has the highest value in all {n} topics"
        if len(leaders) == 1
        else "{models} models share the first places of {n} topics"
        if len(leaders) < n
        else "{models} models have the highest value in one of {n} topics each",
        model=leaders[0],
        models=len(leaders),
        n=n,
    )
    clear = [topic.name for topic in topics if topic.n_best == 1 and len(topic.places) > 1]
    if not clear:
        return say("{said}; in none is the lead over all others significant.", said=first)
    return say(
        "{said}; the lead over all others is significant in {n} ({topics}).",
        said=first,
        n=len(clear),
        topics=listed(clear),
    )


def _figure(topic: _Topic, number: int, measure: str) -> Figure:
    """Return the top ten of a topic with intervals, ties as bars."""
    shown = topic.places[:_FIRST]
    runs = [(low, min(high, len(shown) - 1)) for low, high in topic.ties]
    said = say("{n:,} questions, {models} models", n=topic.n, models=len(topic.places))
    if runs:
        said = say("{said}; bars join models that are not significantly different", said=said)
    return Figure(
        name=f"topic-{number}",
        kind="dots",
        title=say("{topic}: the first {n} by {measure}",
                  topic=topic.name, n=len(shown), measure=measure),
        subtitle=said,
        marks=tuple(
            estimate_mark(
                each.estimate, row=each.label, n=topic.n, text=shown_estimate(each.estimate),
                x_low=each.rank.low, x_high=each.rank.high,
            )
            for each in shown
        ),
        spans=tuple(Span(first=low, last=high) for low, high in runs if high > low),
        row_axis=word("model"),
        value_axis=say("score (%)"),
        x_axis=say("ranks left open"),
    )  # fmt: skip


# Scores by document.


_MOST_LISTED = 30


_MOST_NAMED = 3  # documents of one item


def documents_section(evidence: Evidence) -> Section | None:
    """Return the documents with the most items, with every ranked model's score; None if
    unknown."""
    standings = evidence.board.standings
    group = next((group for group in standings if group.documents is not None), None)
    if group is None or group.documents is None:
        return None
    groups = group.documents.groups
    named = [each for each in groups if each.name != NOT_GIVEN]
    n_of_documents = sum(each.n for each in groups)
    n_without = n_of_documents - sum(each.n for each in named)
    few = sum(each.n < FEW_ITEMS for each in named)
    shown = structs.replace(group.documents, groups=groups[:_MOST_LISTED])
    table = breakdown_table(group, shown)
    if more := len(groups) - len(shown.groups):
        note = say("{n:,} more are not shown; --tables csv writes all.", n=more)
        table = structs.replace(table, note=note)
    notes = []
    if n_of_documents > group.n_items:
        notes.append(
            say(
                "An item composed of statements from several documents counts in each of them, "
                "so the n of the documents add up to more than the number of items."
            )
        )
    if n_without:
        notes.append(
            say_of(
                n_without,
                "{items} has no known document.",
                "{items} have no known document.",
                items=counted(n_without, "item"),
            )
        )
    return Section(
        name="documents",
        title=say("Scores by document"),
        finding=say(
            "Scores on {items} from {documents}.",
            items=counted(group.n_items - n_without, "item"),
            documents=counted(len(named), "document"),
        ),
        cannot=say_of(
            few,
            "{documents} has fewer than 30 items (wide intervals).",
            "{documents} have fewer than 30 items each (wide intervals).",
            documents=counted(few, "document"),
        )
        if few
        else "",
        how=say(
            "The mean of each model over the items of each document, with its interval. The "
            "interval is for other items of the same document."
        ),
        tables=(table,),
        notes=tuple(notes),
    )


def all_documents(board: Leaderboard) -> Table | None:
    """Return every document if the section lists only some; otherwise None."""
    group = next((group for group in board.standings if group.documents is not None), None)
    if group is None or group.documents is None or len(group.documents.groups) <= _MOST_LISTED:
        return None
    return _group_table(
        say("All documents"),
        group.documents,
        [(row.label, row.label) for row in group.ranked],
        [each.estimates for each in group.documents.groups],
    )


def document_column(
    table: ScoreTable | None, documents: Callable[[Any], Sequence[DocumentPages]]
) -> tuple[ReadColumn, ...]:
    """Return the column of the ``documents`` of items or statements; none if unknown."""
    if table is None or table.documents is None:
        return ()
    name = word("document")
    return (column("document", name, lambda record: documents_text(documents(record)) or None),)


def documents_text(documents: Sequence[DocumentPages], most: int | None = _MOST_NAMED) -> str:
    """Return the documents of an item or statement with pages, such as ``Metals (page 3)``.

    At most ``most`` are listed, followed by the number of others (None: all).
    """
    return listed([_documents_named(each) for each in documents], most)


def _documents_named(document: DocumentPages) -> str:
    if not document.pages:
        return document.name
    return say_of(
        len(document.pages),
        "{document} (page {pages})",
        "{document} (pages {pages})",
        document=document.name,
        pages=listed(document.pages),
    )


_MOST_STRIPS = 30  # groups of a figure that fits on a printed page


def strips_figure(
    board: Leaderboard, group: Standings, part: Breakdown, *, table: int = 0
) -> Figure | None:
    """Return every model on a row per group of items, the first three with intervals.

    None for a single group.
    """
    if len(part.groups) < 2:
        return None
    shown = part.groups[:_MOST_STRIPS]
    cut = say("the first {n} of {all} groups", n=len(shown), all=len(part.groups))
    said = say(
        "{items}; the first three models with {level:g}% intervals, a tick for every other"
        if len(group.ranked) > 3
        else "{items}; {level:g}% confidence intervals",
        items=counted(group.n_items, "item"),
        level=100 * board.confidence,
    )
    return Figure(
        name=f"by-{part.by}-strips",
        kind="strips",
        title=say(
            "{measure} by {what}", measure=word(board.measure).capitalize(), what=word(part.by)
        ),
        subtitle=f"{said}; {cut}" if len(shown) < len(part.groups) else said,
        marks=tuple(
            estimate_mark(
                each.estimates[place],
                row=each.name,
                column=row.label,
                n=each.n,
                text=shown_estimate(each.estimates[place]),
            )
            for each in shown
            for place, row in enumerate(group.ranked)
        ),
        levels=chance_levels(group),
        row_axis=word(part.by),
        column_axis=word("model"),
        value_axis=say("score (%)"),
        table=table,
    )


_MOST_BARS = 120


def composition_figure(table: ScoreTable) -> Figure | None:
    """Return the number of items by field within discipline.

    These are the two coarsest levels with several groups, or the only one; None without any.
    """
    names = table.stratum_names
    levels = sorted((x for x in names if len(names[x]) > 1), key=lambda x: len(names[x]))
    if not levels or not len(table.items):
        return None
    outer, inner = levels[0], _within(table, levels[0], levels[1:])
    marks = _composition_marks(table, outer, inner)
    cut = "; " + say("the first {n} of {all}", n=_MOST_BARS, all=len(marks))
    small, large = (word(table.level_names.get(level, level)) for level in (inner, outer))
    what = say("{inner} within {outer}", inner=small, outer=large) if inner else large
    return Figure(
        name="composition",
        kind="bars",
        title=say("Item composition"),
        subtitle=say("{items} by {what}", items=counted(len(table.items), "item"),
                     what=what) + (cut if len(marks) > _MOST_BARS else ""),
        marks=tuple(marks[:_MOST_BARS]),
        row_axis=small if inner else large,
        column_axis=large if inner else "",
        value_axis=say("items"),
        value_unit="number",
    )  # fmt: skip


def _within(table: ScoreTable, outer: str, others: list[str]) -> str:
    """Return the coarsest other level nested in ``outer``, or ""."""
    for level in others:
        pairs = np.unique(np.stack([table.strata[level], table.strata[outer]]), axis=1)
        if len(np.unique(pairs[0])) == pairs.shape[1]:
            return level
    return ""


def _composition_marks(table: ScoreTable, outer: str, inner: str) -> list[Mark]:
    codes = np.stack([table.strata[outer], table.strata[inner or outer]])
    pairs, counts = np.unique(codes, axis=1, return_counts=True)
    found = [
        Mark(
            row=table.stratum_names[inner or outer][pair[1]],
            column=table.stratum_names[outer][pair[0]] if inner else "",
            value=float(n),
            n=int(n),
        )
        for pair, n in zip(pairs.T.tolist(), counts.tolist(), strict=True)
    ]
    whole = {column: sum(m.value for m in found if m.column == column) for column in
             {mark.column for mark in found}}  # fmt: skip
    return sorted(found, key=lambda mark: (-whole[mark.column], mark.column, -mark.value, mark.row))

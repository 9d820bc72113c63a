"""Figures outside the default report: how a model's scores spread over groups of items (KINA's
Figures 5, 6 and 11)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.page.numbers import points, shown_estimate
from proofstone.page.section import (
    Curve,
    Figure,
    Level,
    Mark,
    Span,
    estimate_mark,
)
from proofstone.records.runs import Estimate
from proofstone.records.scores import ScoreTable
from proofstone.results.board import BoardRow, Breakdown, BreakdownGroup, Standings
from proofstone.results.board_text import Leaderboard
from proofstone.stats.ranks import RankMove
from proofstone.stats.scaling import Bend, SizeSlope
from proofstone.wording.messages import counted, say, word

# Figures of a leaderboard: ranks with ties, groups of items, and what quality costs.

_MOST_STRIPS = 30  # groups of a figure that fits on a printed page


def leaderboard_figure(board: Leaderboard, group: Standings) -> Figure | None:
    """The ranked rows of a group with their intervals, ties as bars, guessing as a line; None where
    no row has an interval."""
    rows = [row for row in group.ranked if not math.isnan(row.estimate.low)]
    if not rows:
        return None
    return Figure(
        name="leaderboard",
        kind="dots",
        title=say("{measure} by model", measure=word(board.measure).capitalize()),
        subtitle=_of(board, group),
        marks=tuple(_dot(row) for row in rows),
        levels=chance_levels(group),
        spans=tuple(Span(first=first, last=last) for first, last in group.ties),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("ranks left open"),
    )


def chance_levels(group: Standings) -> tuple[Level, ...]:
    """Guessing as a line, where guessing has a meaning."""
    if math.isnan(group.chance):
        return ()
    return (Level(value=group.chance, text=say("chance {points}", points=points(group.chance))),)


def _of(board: Leaderboard, group: Standings) -> str:
    """How many items, and what the intervals are."""
    made_up = f"{say('simulated, no model was asked')}; " if group.simulated else ""
    items = f"{counted(group.n_items, 'item')}; " if group.is_common else ""
    kind = say(
        "{level:g}% intervals for {estimand}",
        level=100 * board.confidence,
        estimand=word(board.estimand),
    )
    tied = f"; {say('bars join models that are not significantly different')}" if group.ties else ""
    return f"{made_up}{items}{kind}{tied}"


def _dot(row: BoardRow) -> Mark:
    estimate, rank = row.estimate, row.rank
    return estimate_mark(
        estimate,
        row=row.label,
        text=shown_estimate(estimate),
        x_low=float("nan") if rank is None else rank.low,
        x_high=float("nan") if rank is None else rank.high,
    )


def strips_figure(
    board: Leaderboard, group: Standings, part: Breakdown, *, table: int = 0
) -> Figure | None:
    """Every model on a row of each group of items, the first three with their intervals; None where
    there is one group only."""
    if len(part.groups) < 2:
        return None
    shown = part.groups[:_MOST_STRIPS]
    cut = say("the first {n} of {all} groups", n=len(shown), all=len(part.groups))
    said = say(
        "{items}; the first three models with {level:g}% intervals, a tick for every other",
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
        value_axis=say("points"),
        table=table,
    )


def cost_figure(
    board: Leaderboard, rows: Sequence[BoardRow], usd: Mapping[str, float], *, table: int = 0
) -> Figure | None:
    """Quality against US dollars for 1,000 questions (by label); None with fewer than two models
    whose cost is known and above nothing."""
    marks = tuple(_priced(rows, usd))
    if len(marks) < 2:
        return None
    kind = say(
        "{level:g}% intervals for {estimand}",
        level=100 * board.confidence,
        estimand=word(board.estimand),
    )
    return Figure(
        name="cost",
        kind="points",
        title=say("{measure} against cost", measure=word(board.measure).capitalize()),
        subtitle=f"{counted(len(marks), 'model')}; {kind}",
        marks=marks,
        levels=(),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("USD for 1,000 questions"),
        x_unit="usd",
        is_log=True,
        table=table,
    )


def _priced(rows: Sequence[BoardRow], usd: Mapping[str, float]) -> Iterator[Mark]:
    for row in rows:
        cost = usd.get(row.label, 0.0)
        if cost > 0 and not math.isnan(row.estimate.value):
            yield estimate_mark(row.estimate, row=row.label, x=cost)


# What a set is made of: items by discipline and field.

_MOST_BARS = 120


def composition_figure(table: ScoreTable) -> Figure | None:
    """How many items each field has, under its discipline: the two coarsest levels that tell items
    apart, or the only one; None without any."""
    names = table.stratum_names
    levels = sorted((x for x in names if len(names[x]) > 1), key=lambda x: len(names[x]))
    if not levels or not len(table.items):
        return None
    outer, inner = levels[0], _within(table, levels[0], levels[1:])
    marks = _marks(table, outer, inner)
    cut = "; " + say("the first {n} of {all}", n=_MOST_BARS, all=len(marks))
    small, large = (word(table.level_names.get(level, level)) for level in (inner, outer))
    what = say("{inner} within {outer}", inner=small, outer=large) if inner else large
    return Figure(
        name="composition",
        kind="bars",
        title=say("What the items are about"),
        subtitle=say("{items} by {what}", items=counted(len(table.items), "item"),
                     what=what) + (cut if len(marks) > _MOST_BARS else ""),
        marks=tuple(marks[:_MOST_BARS]),
        row_axis=small if inner else large,
        column_axis=large if inner else "",
        value_axis=say("items"),
        value_unit="number",
    )  # fmt: skip


def _within(table: ScoreTable, outer: str, others: list[str]) -> str:
    """The coarsest of the other levels whose groups lie each in one group of ``outer``; or none."""
    for level in others:
        pairs = np.unique(np.stack([table.strata[level], table.strata[outer]]), axis=1)
        if len(np.unique(pairs[0])) == pairs.shape[1]:
            return level
    return ""


def _marks(table: ScoreTable, outer: str, inner: str) -> list[Mark]:
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


# Models compared with themselves: under two ways of asking, on two benchmarks, by length.

_MOST_ROWS = 40


_MOST_PANELS = 12


def dumbbells_figure(
    name: str,
    title: str,
    models: Sequence[str],
    levels: Sequence[str],
    values: Sequence[Sequence[Estimate | None]],
    *,
    chance: Sequence[Level] = (),
    table: int = 0,
) -> Figure:
    """A row a model with a mark for each level that it was asked at (``values[level][model]``)."""
    shown = models[:_MOST_ROWS]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(models))
    return Figure(
        name=name,
        kind="dumbbells",
        title=title,
        subtitle=say("scores at each level, with intervals; the same items where they are shared")
        + (cut if len(shown) < len(models) else ""),
        marks=tuple(
            estimate_mark(found, row=model, column=level)
            for place, model in enumerate(shown)
            for level, by_model in zip(levels, values, strict=True)
            if (found := by_model[place]) is not None
        ),
        levels=tuple(chance),
        row_axis=word("model"),
        value_axis=say("points"),
        table=table,
    )  # fmt: skip


def moves_figure(
    first: str, second: str, moves: Sequence[RankMove], models: Sequence[str], *, table: int = 0
) -> Figure:
    """A line a model from its rank on the first benchmark to that on the second; who moves by more
    than noise stands out."""
    order = sorted(moves, key=lambda move: (move.rank_first, move.rank_second))[:_MOST_ROWS]
    n_moved = sum(move.moved for move in moves)
    cut = "; " + say("the first {n} of {all} models", n=len(order), all=len(moves))
    return Figure(
        name="rank-moves",
        kind="slopes",
        title=say("Ranks on {first} and on {second}", first=first, second=second),
        subtitle=say(
            "{models}; strong lines: {n} with a significant move",
            models=counted(len(moves), "model"),
            n=n_moved,
        )
        + (cut if len(order) < len(moves) else ""),
        marks=tuple(
            Mark(
                row=models[move.model],
                column=column,
                value=float(rank),
                text=say("moves significantly") if move.moved else "",
            )
            for move in order
            for column, rank in ((first, move.rank_first), (second, move.rank_second))
        ),
        row_axis=word("model"),
        value_axis=say("rank"),
        value_unit="number",
        table=table,
    )


class LengthBin(Struct, frozen=True, kw_only=True):
    """A model's score on a part of its replies, by their length: the median tokens of these."""

    label: str
    tokens: float
    score: Estimate


def lengths_figure(
    bins: Sequence[LengthBin], *, level: float, chance: Sequence[Level] = (), table: int = 0
) -> Figure | None:
    """A curve a model over the tokens of its replies; None with fewer than two bins of any."""
    labels = list(dict.fromkeys(each.label for each in bins))
    shown = labels[:_MOST_PANELS]
    if len(bins) < 2 or len(bins) == len(labels):
        return None
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    return Figure(
        name="length-by-model",
        kind="curves",
        title=say("Score by length of the reply"),
        subtitle=say(
            "a model's replies in five parts, shortest first, at their median tokens; {level:g}% "
            "intervals by items; difficulty is in it: hard items draw long replies",
            level=100 * level,
        )
        + (cut if len(shown) < len(labels) else ""),
        marks=tuple(
            estimate_mark(each.score, row=each.label, x=each.tokens)
            for each in bins
            if each.label in shown
        ),
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("tokens of the reply"),
        x_unit="number",
        is_log=True,
        table=table,
    )


# Scores against the number of parameters, with a fit a family.

_STEPS = 24


class SizedFamily(Struct, frozen=True, kw_only=True):
    """A family's models: their labels, billions of parameters, scores and half intervals (NaN where
    not known), the line through them, and the curve where it levels off."""

    name: str
    labels: tuple[str, ...]
    sizes: tuple[float, ...]
    scores: tuple[float, ...]
    halves: tuple[float, ...]
    slope: SizeSlope
    bend: Bend


def sizes_figure(
    families: Sequence[SizedFamily], *, level: float, chance: Sequence[Level] = (), table: int = 0
) -> Figure:
    """A point a model and a line a family, over parameters by their logarithm."""
    n = sum(len(family.labels) for family in families)
    return Figure(
        name="scaling",
        kind="points",
        title=say("Scores by number of parameters"),
        subtitle=say(
            "{models} of {families}; {level:g}% intervals over items; lines: least squares on the "
            "logarithm",
            models=counted(n, "model"),
            families=counted(len(families), "family", "families"),
            level=100 * level,
        ),
        marks=tuple(mark for family in families for mark in _sizes_marks(family)),
        curves=tuple(_line(family) for family in families),
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("parameters, billions"),
        x_unit="number",
        is_log=True,
        table=table,
    )


def _sizes_marks(family: SizedFamily) -> Sequence[Mark]:
    rows = zip(family.labels, family.sizes, family.scores, family.halves, strict=True)
    return [
        Mark(row=family.name, text=label, x=size, value=score, low=score - half, high=score + half)
        for label, size, score, half in rows
    ]


def _line(family: SizedFamily) -> Curve:
    """The straight line, between the smallest and the largest model."""
    low, high = math.log10(min(family.sizes)), math.log10(max(family.sizes))
    places = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    slope = family.slope
    return Curve(
        row=family.name,
        x=tuple(10**place for place in places),
        values=tuple(slope.at_one + slope.models.value * place for place in places),
    )


# What asking again buys, as curves over the number of samples.


def samples_figure(
    labels: Sequence[str],
    curves: Mapping[str, Mapping[int, Sequence[Estimate]]],
    *,
    level: float,
    chance: Sequence[Level] = (),
    table: int = 0,
) -> Figure:
    """A panel a model, in it a curve a rule (its name -> N -> an estimate a model); with one rule
    alone, a curve a model."""
    shown = labels[:_MOST_PANELS]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    alone = len(curves) == 1
    marks = tuple(
        estimate_mark(
            found[place], row=label if alone else rule, column="" if alone else label, x=float(size)
        )
        for place, label in enumerate(shown)
        for rule, by_size in curves.items()
        for size, found in by_size.items()
    )
    return Figure(
        name="best-of",
        kind="curves",
        title=say("Scores by number of samples"),
        subtitle=say("{level:g}% intervals by items", level=100 * level)
        + (cut if len(shown) < len(labels) else ""),
        marks=marks,
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("samples"),
        x_unit="number",
        is_log=True,
        table=table,
    )


# Precision against recall, with the lines on which F is the same.

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
        curves=tuple(_equal(level, beta, name) for level in levels or _levels(scored, beta)),
        row_axis=word("model"),
        value_axis=say("precision"),
        x_axis=say("recall"),
    )


def _levels(scored: Sequence[Scored], beta: float) -> list[float]:
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


def _equal(level: float, beta: float, name: str) -> Curve:
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


Floats = NDArray[np.float64]


_GRID = np.linspace(0.0, 1.0, 101)


_TOP = 10


_MOST_COMBINATIONS = 24


def ridges_figure(board: Leaderboard, group: Standings, by: str, *, top: int = _TOP) -> Figure:
    """The density of each of the ``top`` models' scores over the groups of ``by`` (subjects), every
    group weighing the same, with their mean. KeyError for a level that there is not."""
    part = _part(group, by)
    marks, curves = [], []
    for place, row in enumerate(group.ranked[:top]):
        scores, n = _scores(part.groups, place)
        even = np.ones(len(scores))
        marks.append(_middle(row.label, "", float(scores.mean()) if len(scores) else math.nan, n))
        curves.append(_density(row.label, "", scores, even))
    return Figure(
        name=f"ridges-{by}",
        kind="ridges",
        title=say("Scores over {what}", what=word(by)),
        subtitle=say(
            "density of a model's scores over {groups}, each weighing the same; line: their mean",
            groups=counted(len(part.groups), "group"),
        ),
        marks=tuple(marks),
        curves=tuple(curves),
        levels=chance_levels(group),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("points"),
    )


def violins_figure(
    board: Leaderboard, group: Standings, levels: Sequence[str] = (), *, top: int = _TOP
) -> Figure:
    """The same by each of ``levels`` (all there are), each group weighing as many items as it has,
    with the weighted median. KeyError for a level that there is not."""
    parts = [_part(group, by) for by in levels] if levels else list(group.breakdowns)
    marks, curves = [], []
    for part in parts:
        for place, row in enumerate(group.ranked[:top]):
            scores, n = _scores(part.groups, place)
            marks.append(_middle(row.label, part.by, _weighted_median(scores, n), n))
            curves.append(_density(row.label, part.by, scores, n))
    return Figure(
        name="violins",
        kind="violins",
        title=say("Scores by level of grouping"),
        subtitle=say("density of a model's scores over groups by their items; line: the median"),
        marks=tuple(marks),
        curves=tuple(curves),
        levels=chance_levels(group),
        row_axis=word("model"),
        value_axis=say("points"),
        x_axis=say("points"),
    )


def high_scorers_figure(
    board: Leaderboard, group: Standings, by: str, *, at_least: float = 0.35, top: int = _TOP
) -> Figure:
    """In which groups of ``by`` each of the ``top`` models scores ``at_least``: a column for each
    combination of groups, with the models of just that one; the most frequent 24. KeyError for a
    level that there is not."""
    part = _part(group, by)
    reached: dict[tuple[bool, ...], list[str]] = {}
    for place, row in enumerate(group.ranked[:top]):
        values = [each.estimates[place].value for each in part.groups]
        reached.setdefault(tuple(value >= at_least for value in values), []).append(row.label)
    order = sorted(reached, key=lambda sets: (-len(reached[sets]), -sum(sets), sets))
    return Figure(
        name=f"high-scorers-{by}",
        kind="sets",
        title=say("Who scores {bar} or more, by {what}", bar=points(at_least), what=word(by)),
        subtitle=say(
            "{models}; a column for each combination of groups, above it how many models",
            models=counted(min(top, len(group.ranked)), "model"),
        ),
        marks=tuple(
            Mark(
                row=each.name,
                column=str(number),
                value=float(sets[at]),
                n=len(reached[sets]),
                text=", ".join(reached[sets]),
            )
            for number, sets in enumerate(order[:_MOST_COMBINATIONS], start=1)
            for at, each in enumerate(part.groups)
        ),
        row_axis=word(by),
        value_axis=say("models"),
        value_unit="number",
    )


def _part(group: Standings, by: str) -> Breakdown:
    for part in group.breakdowns:
        if part.is_named(by):
            return part
    raise KeyError(f"{by!r}: levels here are {', '.join(p.by for p in group.breakdowns) or 'none'}")


def _scores(groups: Sequence[BreakdownGroup], place: int) -> tuple[Floats, Floats]:
    """A model's known scores over groups, and the items of each."""
    known = [
        (each.estimates[place].value, each.n)
        for each in groups
        if not math.isnan(each.estimates[place].value)
    ]
    return np.array([value for value, _ in known]), np.array([float(n) for _, n in known])


def _middle(row: str, column: str, value: float, n: Floats) -> Mark:
    return Mark(row=row, column=column, value=value, n=len(n), text=points(value))


def _weighted_median(scores: Floats, weights: Floats) -> float:
    if not len(scores):
        return math.nan
    order = np.argsort(scores)
    below = np.cumsum(weights[order]) / weights.sum()
    return float(scores[order][np.searchsorted(below, 0.5)])


def _density(row: str, column: str, scores: Floats, weights: Floats) -> Curve:
    """A Gaussian kernel of Silverman's bandwidth (1986, eq. 3.31), its highest point at 1; it is
    cut at 0 and 1, where no score is beyond. Nothing for no score."""
    if not len(scores):
        return Curve(row=row, column=column, x=(), values=())
    share = weights / weights.sum()
    mean = share @ scores
    spread = math.sqrt(share @ (scores - mean) ** 2)
    quarter = np.subtract(*np.percentile(scores, [75, 25])) / 1.34
    narrow = min(part for part in (spread, quarter, 1.0) if part > 0) if spread > 0 else 0.0
    width = max(0.9 * narrow * (1 / (share @ share)) ** -0.2, 0.01)
    heights = np.exp(-0.5 * ((_GRID[:, None] - scores[None, :]) / width) ** 2) @ share
    kept = list(_kept(heights / heights.max()))
    return Curve(
        row=row,
        column=column,
        x=tuple(float(_GRID[at]) for at, _ in kept),
        values=tuple(round(height, 4) for _, height in kept),
    )


def _kept(heights: Floats) -> Iterator[tuple[int, float]]:
    yield from enumerate(heights.tolist())


# All figures of a page, each under the name of its files.


def models_of(board: Leaderboard) -> tuple[str, ...]:
    """The models of a page in their order, by which each looks the same in every figure."""
    return tuple(row.label for group in board.standings for row in group.ranked)

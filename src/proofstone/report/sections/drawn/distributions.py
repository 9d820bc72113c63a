"""Figures outside the default report: how a model's scores spread over groups of items (KINA's
Figures 5, 6 and 11)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.report.board import Breakdown, BreakdownGroup, Leaderboard, Standings
from proofstone.report.numbers import points
from proofstone.report.sections.drawn.leaderboards import chance_levels
from proofstone.report.sections.section import Curve, Figure, Mark
from proofstone.wording import counted, say, word

__all__ = ["high_scorers_figure", "ridges_figure", "violins_figure"]

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

"""Figures of a leaderboard: ranks with ties, groups of items, and what quality costs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from proofstone.report.board import BoardRow, Breakdown, Leaderboard, Standings
from proofstone.report.numbers import points, shown_estimate
from proofstone.report.sections.section import Figure, Level, Mark, Span
from proofstone.wording import counted, say, word

__all__ = ["chance_levels", "cost_figure", "leaderboard_figure", "strips_figure"]

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
    return Mark(
        row=row.label,
        value=estimate.value,
        low=estimate.low,
        high=estimate.high,
        n=estimate.n,
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
            Mark(
                row=each.name,
                column=row.label,
                value=each.estimates[place].value,
                low=each.estimates[place].low,
                high=each.estimates[place].high,
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
            yield Mark(
                row=row.label,
                value=row.estimate.value,
                low=row.estimate.low,
                high=row.estimate.high,
                n=row.estimate.n,
                x=cost,
            )

"""Score, cost, time and kinds of error of each respondent, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from proofstone.report.board import BoardRow, Standings
from proofstone.report.endings import Endings, endings_of
from proofstone.report.opening.costs import bounded_cell, cost_of_thousand
from proofstone.report.opening.names import called
from proofstone.report.sections.section import Cell, Column, Table
from proofstone.report.sheet import Sheet
from proofstone.wording import say, word

__all__ = ["places_of", "side_by_side"]

_MOST_ROWS = 7
_Key: TypeAlias = tuple[str, str, str, bool]
_Filled: TypeAlias = tuple[Column, Sequence[Cell]]


def side_by_side(group: Standings, sheet: Sheet | None) -> Table | None:
    """The table of the first seven, best first, then those that are incomplete. Columns of which
    nothing is known are left out; None where it would only repeat the leaderboard."""
    rows = [*group.ranked, *group.incomplete]
    shown = rows[:_MOST_ROWS]
    columns = [*_spent_columns(shown)]
    if sheet is not None:
        places = places_of(sheet)
        chosen = [places[_key(row)] for row in shown]
        columns += _token_column(sheet, chosen)
        if columns or sheet.table.tells_outcomes:
            columns += _ending_columns(sheet, chosen)
    if not columns or not shown:
        return None
    cells = zip(*(filled for _column, filled in columns), strict=True)
    more = len(rows) - len(shown)
    return Table(
        title=say("Quality, cost, time and kinds of error"),
        columns=(
            Column(key="model", name=word("model")),
            Column(
                key="score",
                name=word("score"),
                unit="points",
                help=say("out of 100, with its confidence interval in brackets"),
            ),
            *(column for column, _filled in columns),
        ),
        rows=tuple(
            (called(group, row), row.estimate, *of) for row, of in zip(shown, cells, strict=True)
        ),
        note=say("{n} more stand in the leaderboard below.", n=more) if more > 0 else "",
    )


def places_of(sheet: Sheet) -> Mapping[_Key, int]:
    """The places of the respondents in the score table, by what makes a row of the leaderboard."""
    return {
        (who.name, who.way, who.settings, who.simulated): place
        for place, who in enumerate(sheet.table.respondents)
    }


def _key(row: BoardRow) -> _Key:
    return row.name, row.way, row.settings, row.simulated


def _spent_columns(rows: Sequence[BoardRow]) -> Iterator[_Filled]:
    costs = [cost_of_thousand(row) for row in rows]
    digits = _digits(costs)
    if any(cost is not None for cost in costs):
        yield (
            Column(
                key="usd_per_thousand",
                name=say("USD for 1,000 questions"),
                digits=digits,
                help=say("by what these questions cost; a dash where a price is not known"),
            ),
            [bounded_cell(row, cost, digits) for row, cost in zip(rows, costs, strict=True)],
        )
    times = [row.pace.median_latency_s for row in rows]
    if any(time is not None for time in times):
        yield (
            Column(
                key="median_latency_s",
                name=say("typical seconds"),
                digits=1 if min(time for time in times if time is not None) >= 1 else 2,
                help=say("half of the replies came within this time (the median)"),
            ),
            times,
        )


def _digits(costs: Sequence[float | None]) -> int:
    """Enough places for a digit of the smallest cost."""
    least = min((cost for cost in costs if cost), default=1.0)
    return max(2, -math.floor(math.log10(least)))


def _token_column(sheet: Sheet, places: Sequence[int]) -> Iterator[_Filled]:
    """How long replies are, where a file tells it: a hint at cost where no price is known."""
    tokens = sheet.table.tokens
    if tokens is None:
        return
    of = [tokens[sheet.table.respondent == place] for place in places]
    known = [each[~np.isnan(each)] for each in of]
    yield (
        Column(
            key="median_tokens",
            name=say("typical tokens"),
            digits=0,
            help=say("a token is a piece of a word; half of the replies have no more than this"),
        ),
        [float(np.median(each)) if len(each) else None for each in known],
    )


def _ending_columns(sheet: Sheet, places: Sequence[int]) -> Iterator[_Filled]:
    """Shares of the replies, those of kinds that nobody has left out."""
    ends = [endings_of(sheet, place) for place in places]
    yield (
        Column(key="replies", name=say("replies")),
        [each.n for each in ends],
    )
    kinds = {
        "partly": (say("partly right"), ""),
        "wrong": (say("wrong"), say("answers that were read and are wrong")),
    }
    if sheet.table.tells_outcomes:
        kinds |= {
            kind: said
            for kind, said in _without_answer(judged=sheet.judged).items()
            if kind not in sheet.table.unknown_outcomes
        }
    for kind, (name, what) in kinds.items():
        if kind != "partly" or any(each.partly for each in ends):
            column = Column(key=kind, name=name, unit="share", help=what)
            yield column, [_known(each, kind) for each in ends]
    if any(each.failed for each in ends):
        yield (
            Column(
                key="failed",
                name=say("no reply"),
                help=say("calls that brought none: no error of the model, and no score"),
            ),
            [each.failed for each in ends],
        )


def _without_answer(*, judged: bool) -> dict[str, tuple[str, str]]:
    unread = say("no answer could be found in the reply")
    if judged:
        unread = say("judges gave no label, so the reply has no grade")
    return {
        "refused": (say("refused"), say("the model would not answer")),
        "unparsed": (say("unreadable"), unread),
        "truncated": (say("cut off"), say("the reply reached its longest length first")),
    }


def _known(ends: Endings, kind: str) -> float | None:
    return ends.share(kind) if ends.n else None

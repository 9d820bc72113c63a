"""A leaderboard as one row a respondent: what is exported, and what becomes a data frame."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from proofstone.records.frames import Columns
from proofstone.report.board import BoardRow, Leaderboard, Standings

__all__ = ["board_columns", "board_rows"]


def board_rows(board: Leaderboard) -> list[dict[str, Any]]:
    """The rows of a leaderboard in its order: ranked, then incomplete, of each group.

    Shares are in [0, 1]; ranks are None for incomplete rows; what is undefined (NaN) is None.
    """
    return [
        {name: _known(value) for name, value in _row(board, group, row).items()}
        for group in board.standings
        for row in (*group.ranked, *group.incomplete)
    ]


def board_columns(board: Leaderboard) -> Columns:
    """The same by columns; every row has every name."""
    rows = board_rows(board)
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _row(board: Leaderboard, group: Standings, row: BoardRow) -> dict[str, Any]:
    estimate = row.estimate
    return {
        "model": row.name,
        "way": row.way,
        "settings": row.settings,
        "judge": row.judge,
        "part": f"{row.part.n_asked} of {row.part.n_items}" if row.part else "",
        "simulated": row.simulated,
        "experiment": group.experiment,
        "complete": row.is_complete,
        "rank_low": row.rank.low if row.rank else None,
        "rank_high": row.rank.high if row.rank else None,
        "measure": board.measure,
        "level": board.level,
        "value": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "confidence": estimate.level,
        "n": estimate.n,
        "effective_n": estimate.effective_n,
        "estimand": estimate.estimand,
        "chance": group.chance,
        "replies": row.n_replies,
        "missing": row.missing,
        "failed": row.failed,
        **{rate.outcome: _count(rate.count) for rate in row.rates},
        **dict(_others(row)),
        "runs": " ".join(f"run:{run}" for run in row.runs),
    }


def _others(row: BoardRow) -> Iterator[tuple[str, float]]:
    """The method's other measures, and the means at other levels, by name."""
    for other in row.others:
        yield other.name, other.estimate.value
    for level in row.levels:
        if level.name != "sample":
            yield f"mean by {level.name}", level.estimate.value


def _count(n: float) -> float:
    """A whole number as such; shares of items, where several units make one, stay as they are."""
    return int(n) if n == int(n) else n


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value

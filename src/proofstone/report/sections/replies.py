"""Scores and answers of the ranked respondents, by item, respondent and sample."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.report.sections.ranked_values import RankedValues
from proofstone.report.sheet import Sheet

__all__ = ["Replies", "gold_codes", "replies_of"]


@dataclass(frozen=True, slots=True)
class Replies:
    """``scores`` (units, respondents, samples), NaN where there is none, and ``answers`` alike:
    codes into the score table's ``answers``, -1 where none is known; ``stated`` confidence and the
    ``orders`` of options (-1 where none is told) alike, None where nothing tells them."""

    scores: NDArray[np.float64]
    answers: NDArray[np.int32]
    stated: NDArray[np.float64] | None = None
    orders: NDArray[np.int32] | None = None


def replies_of(sheet: Sheet, ranked: RankedValues) -> Replies:
    """The replies behind the ranked values."""
    table = sheet.table
    unit = np.full(len(table.items), -1, dtype=np.int64)
    unit[ranked.units] = np.arange(len(ranked.units))
    column = np.full(len(table.respondents), -1, dtype=np.int64)
    column[list(ranked.respondents)] = np.arange(len(ranked.respondents))
    u, r = unit[table.unit], column[table.respondent]
    kept = (u >= 0) & (r >= 0)
    n_samples = int(table.sample[kept].max(initial=0)) + 1
    shape = (len(ranked.units), len(ranked.respondents), n_samples)
    scores = np.full(shape, np.nan)
    answers = np.full(shape, -1, dtype=np.int32)
    place = u[kept], r[kept], table.sample[kept]
    scores[place] = sheet.counted[kept]
    if any(table.answers):
        empty = [code for code, name in enumerate(table.answers) if not name]
        answers[place] = np.where(np.isin(table.answer[kept], empty), -1, table.answer[kept])
    stated = None
    if table.confidence is not None:
        stated = np.full(shape, np.nan)
        stated[place] = table.confidence[kept]
    orders = None
    if table.order is not None:
        orders = np.full(shape, -1, dtype=np.int32)
        orders[place] = table.order[kept]
    return Replies(scores, answers, stated, orders)


def gold_codes(sheet: Sheet, ranked: RankedValues) -> NDArray[np.int64]:
    """The right answer of each ranked unit as a code of an answer; -1 where nobody gave it, or it
    is not known."""
    table = sheet.table
    places = {name: code for code, name in enumerate(table.answers) if name}
    codes = np.array([*(places.get(name, -1) for name in table.golds), -1], dtype=np.int64)
    return np.asarray(codes[table.gold[ranked.units]])

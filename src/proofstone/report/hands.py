"""A contestant that had a hand in the material, and what it is worth on the rest of it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    RankInterval,
    SharedKeys,
    measure_spread,
    rank_all,
)
from proofstone.report.board import Hand, HandRole
from proofstone.report.ruler import Ruler

__all__ = ["hand_of"]

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def hand_of(
    ruler: Ruler,
    respondent: int,
    units: Integers,
    values: Floats,
    keys: SharedKeys,
    *,
    column: int | None = None,
) -> Hand | None:
    """What ``respondent`` or its family did to ``units``; None where nothing.

    ``values`` (units, R) are its own alone, or with ``column`` those of all that are ranked, in
    which it has that place: then it has a rank on the rest of the units too.
    """
    roles = tuple(_roles(ruler, respondent, units))
    if not roles:
        return None
    table = ruler.sheet.table
    hands = table.respondents[respondent].hands
    touched = np.isin(units, np.concatenate([table.roles[place].units for place, _itself in hands]))
    rest = np.flatnonzero(~touched)
    weighting, kept = ruler.weighting(ruler.level, units[rest]), keys.among(rest)
    place = column or 0
    (untouched,) = ruler.estimates(values[rest, place : place + 1], weighting, kept)
    rank: RankInterval | None = None
    if column is not None and len(rest) and values.shape[1] > 1:
        spread = measure_spread(values[rest], weighting, kept, ruler.estimand)
        rank = rank_all(spread, confidence=ruler.confidence).intervals[column]
    return Hand(roles=roles, n_touched=int(touched.sum()), untouched=untouched, rank=rank)


def _roles(ruler: Ruler, respondent: int, units: Integers) -> Iterator[HandRole]:
    """The roles that touch some of these units, in the table's order."""
    table = ruler.sheet.table
    for place, is_itself in table.respondents[respondent].hands:
        held = table.roles[place]
        n_items = int(np.isin(held.units, units).sum())
        if n_items:
            yield HandRole(role=held.role, model=held.model, is_itself=is_itself, n_items=n_items)

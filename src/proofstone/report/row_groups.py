"""Rows of a leaderboard by what their models' cards say: arranged, never ranked anew."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
from msgspec import structs

from proofstone.records.results import Estimate
from proofstone.report.board import BoardRow, RowGroup, Standings
from proofstone.report.card_values import card_value, group_order, read_field
from proofstone.report.ruler import Ruler

__all__ = ["grouped"]


def grouped(ruler: Ruler, standings: Standings, field: str) -> Standings:
    """The standings with every row in the group of its card's ``field``, models of which it is not
    known under "unknown"; unchanged where ``field`` is empty. Raises BadUsage for no such field.
    """
    if not field:
        return standings
    read_field(field)
    return structs.replace(standings, groups=tuple(_groups(ruler, standings, field)))


def _groups(ruler: Ruler, standings: Standings, field: str) -> Iterator[RowGroup]:
    ranked = [card_value(row.card, field) for row in standings.ranked]
    short = [card_value(row.card, field) for row in standings.incomplete]
    for name in sorted({*ranked, *short}, key=lambda name: group_order(field, name)):
        places = [place for place, value in enumerate(ranked) if value == name]
        yield RowGroup(
            name=name,
            ranked=tuple(places),
            incomplete=tuple(place for place, value in enumerate(short) if value == name),
            mean=_mean(ruler, standings, places) if places and standings.is_common else None,
        )


def _mean(ruler: Ruler, standings: Standings, places: Sequence[int]) -> Estimate:
    """The mean over the ranked rows at ``places``, on the units that all ranked rows share."""
    sheet = ruler.sheet
    indices = {
        (who.name, who.way, who.settings): index
        for index, who in enumerate(sheet.table.respondents)
    }
    everyone = [indices[_key(row)] for row in standings.ranked]
    units = np.flatnonzero(~np.isnan(sheet.values[:, everyone]).any(axis=1))
    values = sheet.block(units, [everyone[place] for place in places])
    (mean,) = replace(ruler, scale=standings.scale).estimates(
        values.mean(axis=1, keepdims=True),
        ruler.weighting(ruler.level, units),
        sheet.keys.among(units),
    )
    return mean


def _key(row: BoardRow) -> tuple[str, str, str]:
    return row.name, row.way, row.settings

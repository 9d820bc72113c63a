"""The scores of the ranked respondents on their common items, as statistics read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import SharedKeys
from proofstone.report.board import Standings
from proofstone.report.sections.once import once_each
from proofstone.report.sections.section import Evidence

__all__ = ["RankedValues", "ranked_values", "values_of"]


@dataclass(frozen=True, slots=True)
class RankedValues:
    """``values`` (units, respondents) of a standing that ranks two or more on common items, its
    respondents best first; ``units`` are their places in the score table, ``respondents`` (m)
    those of the columns. ``strata`` (units) are codes of the level of fewest groups, into
    ``stratum_names``; None where no level tells items apart."""

    group: Standings
    values: NDArray[np.float64]
    units: NDArray[np.int64]
    respondents: tuple[int, ...]
    keys: SharedKeys
    level: str
    strata: NDArray[np.int32] | None
    stratum_names: tuple[str, ...]

    @property
    def labels(self) -> list[str]:
        """The respondents by name."""
        return [row.label for row in self.group.ranked]


@once_each
def ranked_values(evidence: Evidence) -> RankedValues | None:
    """The values behind the first ranking; None without items, or with fewer than two ranked."""
    group = next((group for group in evidence.board.standings if group.compared), None)
    return None if group is None else values_of(evidence, group)


def values_of(evidence: Evidence, group: Standings) -> RankedValues | None:
    """The values behind one of the rankings; None without items, or with fewer than two ranked."""
    sheet = evidence.sheet
    if sheet is None or not group.compared:
        return None
    places = {
        (who.name, who.way, who.settings, who.simulated): place
        for place, who in enumerate(sheet.table.respondents)
    }
    chosen = tuple(places[row.name, row.way, row.settings, row.simulated] for row in group.ranked)
    units = np.flatnonzero(~np.isnan(sheet.values[:, list(chosen)]).any(axis=1))
    names = sheet.table.stratum_names
    levels = sorted(
        (level for level in names if len(names[level]) > 1), key=lambda x: len(names[x])
    )
    level = levels[0] if levels else ""
    return RankedValues(
        group=group,
        values=sheet.block(units, chosen),
        units=units,
        respondents=chosen,
        keys=sheet.keys.among(units),
        level=level,
        strata=sheet.table.strata[level][units] if level else None,
        stratum_names=names[level] if level else (),
    )

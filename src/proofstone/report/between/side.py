"""One side of a comparison, and which items it has in common with the other."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import SharedKeys
from proofstone.records.results import OUTCOMES, Measure, Scale
from proofstone.records.score_table import ScoreTable
from proofstone.report.between.compared import Party, SideShown
from proofstone.report.sheet import Sheet

__all__ = ["Common", "Side", "common_items"]


@dataclass(frozen=True)
class Side:
    """Scores under a measure, with what made those of each respondent (``parties``, parallel).

    ``method`` is empty for a file. ``former`` names, by item, the one it is a new version of.
    """

    shown: SideShown
    table: ScoreTable
    measure: Measure
    parties: tuple[Party, ...]
    method: str = ""
    former: dict[str, str] | None = None

    @cached_property
    def sheet(self) -> Sheet:
        """The scores as the measure values them."""
        measure = self.measure
        return Sheet.of(self.table, measure)

    @cached_property
    def places(self) -> dict[tuple[str, int], int]:
        """Each unit's place by its item and its number among that item's units."""
        seen: dict[str, int] = {}
        found = {}
        for place, name in enumerate(self.item_names):
            number = seen.get(name, 0)
            found[name, number] = place
            seen[name] = number + 1
        return found

    @cached_property
    def item_names(self) -> tuple[str, ...]:
        """Each unit's item as both sides may know it: a file's own name, or the item's id."""
        return self.table.item_names or tuple(item.hex() for item in self.table.items)

    @cached_property
    def rows(self) -> dict[tuple[int, int], list[int]]:
        """The rows of the table by unit and respondent."""
        found: dict[tuple[int, int], list[int]] = {}
        pairs = zip(self.table.unit.tolist(), self.table.respondent.tolist(), strict=True)
        for row, pair in enumerate(pairs):
            found.setdefault(pair, []).append(row)
        return found

    def ended(self, unit: int, respondent: int) -> str:
        """How a respondent's responses on a unit ended, each ending once with its count where there
        are several; empty where the results do not tell."""
        table = self.table
        if not table.tells_outcomes:
            return ""
        rows = self.rows.get((unit, respondent), [])
        worth = {1.0: "right", 0.0: "wrong"}
        ends = Counter(
            worth.get(float(table.value[row]), "answered")
            if OUTCOMES[int(table.outcome[row])] == "answered"
            else OUTCOMES[int(table.outcome[row])]
            for row in rows
        )
        if len(ends) == 1:
            return next(iter(ends))
        return ", ".join(f"{n} {ended}" for ended, n in ends.most_common())

    def scale(self, respondent: int) -> Scale | None:
        """The scale of a respondent's scores, where it is one of its own."""
        return self.table.respondents[respondent].scale


@dataclass(frozen=True)
class Common:
    """The units that both sides have: their places on each (parallel), in B's order; how many
    stand on one side alone, and how many of B's are new versions of items of A."""

    before: NDArray[np.int64]
    after: NDArray[np.int64]
    only_before: int
    only_after: int
    renewed: int
    keys: SharedKeys


def common_items(before: Side, after: Side) -> Common:
    """The units of the same items. Which of them share knowledge is taken from the side that knows
    more of it."""
    shared = [key for key in after.places if key in before.places]
    first = np.array([before.places[key] for key in shared], dtype=np.int64)
    second = np.array([after.places[key] for key in shared], dtype=np.int64)
    only_after = [key for key in after.places if key not in before.places]
    old = {name for name, _number in before.places}
    former = after.former or {}
    keys = max(
        (before.sheet.keys.among(first), after.sheet.keys.among(second)),
        key=lambda each: len(each.unit),
    )
    return Common(
        before=first,
        after=second,
        only_before=len(before.places) - len(shared),
        only_after=len(only_after),
        renewed=sum(former.get(name) in old for name, _number in only_after),
        keys=keys,
    )

"""The items that somebody should look at, worst first, with what to type for those of our own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct, structs

from proofstone.engines.stats import ITEM_FLAGS, ItemFlag, ItemStatistics, describe_items
from proofstone.identity import short
from proofstone.records.score_table import ScoreTable
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.replies import gold_codes, replies_of
from proofstone.report.sections.section import Evidence
from proofstone.report.sheet import Sheet

__all__ = ["DescribedItems", "WorkRow", "described_items", "work_list", "work_rows"]

# The reasons that accuse an item come before those that only say that it tells nobody apart.
_GRAVEST: tuple[ItemFlag, ...] = (
    "strong-distractor", "weak-beat-strong", "nearly-all-wrong", "nearly-all-right",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class DescribedItems:
    """The statistics of each ranked item, in the order of ``ranked.units``."""

    table: ScoreTable
    ranked: RankedValues
    items: Sequence[ItemStatistics]

    def flagged(self) -> list[ItemStatistics]:
        """Those with a reason to look at them, gravest first."""
        return sorted((item for item in self.items if item.flags), key=_gravity)

    def name(self, item: ItemStatistics) -> str:
        """What the item is called: by its file, or by its id, as commands take it."""
        unit = int(self.ranked.units[item.unit])
        return self.table.item_names[unit] if self.table.item_names else _own(self.table, unit)

    def distractor(self, item: ItemStatistics) -> str | None:
        """The wrong answer that most of the best give; None where none is known."""
        return self.table.answers[item.distractor] if item.distractor >= 0 else None


class WorkRow(Struct, frozen=True, kw_only=True):
    """An item to look at: ``place`` from 1, gravest first, and the reasons. Shares lie in [0, 1],
    NaN where there is none. Of an item of our own, ``show``, ``edit``, ``retire`` and ``rule`` are
    commands to type, with "..." where a reason belongs; ``rule`` counts all replies that gave the
    wrong answer of the best as right, empty where there is no such answer. Of a file's items they
    are empty."""

    place: int
    item: str
    reason: str
    flags: tuple[ItemFlag, ...]
    n: int
    difficulty: float
    discrimination: float
    strong: float
    weak: float
    distractor: str = ""
    distractor_share: float = math.nan
    show: str = ""
    edit: str = ""
    retire: str = ""
    rule: str = ""


def described_items(evidence: Evidence) -> DescribedItems | None:
    """The statistics of the ranked items; None with fewer than three ranked respondents, who cannot
    rank each other."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    return DescribedItems(sheet.table, ranked, _described(sheet, ranked))


def work_list(evidence: Evidence) -> tuple[WorkRow, ...]:
    """All items that are flagged, gravest first."""
    found = described_items(evidence)
    if found is None:
        return ()
    return tuple(_row(found, place, item) for place, item in enumerate(found.flagged(), start=1))


def work_rows(rows: Sequence[WorkRow]) -> Iterator[dict[str, str | int | float | None]]:
    """The rows of a work list as a file holds them: one value a cell, None for what there is
    not."""
    for row in rows:
        values = structs.asdict(row) | {"flags": " ".join(row.flags)}
        yield {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in values.items()
        }


def _described(sheet: Sheet, ranked: RankedValues) -> Sequence[ItemStatistics]:
    """The statistics of each ranked unit; distractors where answers are known."""
    replies = replies_of(sheet, ranked)
    if (replies.answers >= 0).any():
        gold = gold_codes(sheet, ranked)
        return describe_items(ranked.values, answers=replies.answers, gold=gold)
    return describe_items(ranked.values)


def _gravity(item: ItemStatistics) -> tuple[int, float]:
    first = min(_GRAVEST.index(flag) for flag in item.flags)
    return first, 0.0 if math.isnan(item.discrimination) else item.discrimination


def _row(found: DescribedItems, place: int, item: ItemStatistics) -> WorkRow:
    name = found.name(item)
    row = WorkRow(
        place=place,
        item=name,
        reason="; ".join(ITEM_FLAGS[flag] for flag in item.flags),
        flags=item.flags,
        n=item.n,
        difficulty=item.difficulty,
        discrimination=item.discrimination,
        strong=item.strong,
        weak=item.weak,
        distractor=found.distractor(item) or "",
        distractor_share=item.distractor_share if item.distractor >= 0 else math.nan,
    )
    if found.table.item_names:
        return row
    replies = list(_wrong_alike(found, item))
    return structs.replace(
        row,
        show=f"proofstone show {name}",
        edit=f'proofstone edit {name} --reason "..."',
        retire=f'proofstone retire {name} --reason "..."',
        rule=f'proofstone rule {",".join(replies)} correct --reason "..."' if replies else "",
    )


def _wrong_alike(found: DescribedItems, item: ItemStatistics) -> Iterator[str]:
    """The replies that gave the wrong answer of the best, as ``rule`` takes them; only where it may
    be the right one. Respondents of several runs are left out: which run asked is not known."""
    if "strong-distractor" not in item.flags:
        return
    table, unit = found.table, int(found.ranked.units[item.unit])
    rows = np.flatnonzero((table.unit == unit) & (table.answer == item.distractor))
    for row in rows.tolist():
        runs = table.respondents[int(table.respondent[row])].runs
        if len(runs) == 1:
            yield f"{short(runs[0])}/{short(table.items[unit])}/{int(table.sample[row])}"


def _own(table: ScoreTable, unit: int) -> str:
    return f"item:{short(table.items[unit])}"

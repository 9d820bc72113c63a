"""What a set is made of: items by discipline and field."""

from __future__ import annotations

import numpy as np

from proofstone.records.score_table import ScoreTable
from proofstone.report.sections.section import Figure, Mark
from proofstone.wording import counted, say, word

__all__ = ["composition_figure"]

_MOST_BARS = 120


def composition_figure(table: ScoreTable) -> Figure | None:
    """How many items each field has, under its discipline: the two coarsest levels that tell items
    apart, or the only one; None without any."""
    names = table.stratum_names
    levels = sorted((x for x in names if len(names[x]) > 1), key=lambda x: len(names[x]))
    if not levels or not len(table.items):
        return None
    outer, inner = levels[0], _within(table, levels[0], levels[1:])
    marks = _marks(table, outer, inner)
    cut = "; " + say("the first {n} of {all}", n=_MOST_BARS, all=len(marks))
    small, large = (word(table.level_names.get(level, level)) for level in (inner, outer))
    what = say("{inner} within {outer}", inner=small, outer=large) if inner else large
    return Figure(
        name="composition",
        kind="bars",
        title=say("What the items are about"),
        subtitle=say("{items} by {what}", items=counted(len(table.items), "item"),
                     what=what) + (cut if len(marks) > _MOST_BARS else ""),
        marks=tuple(marks[:_MOST_BARS]),
        row_axis=small if inner else large,
        column_axis=large if inner else "",
        value_axis=say("items"),
        value_unit="number",
    )  # fmt: skip


def _within(table: ScoreTable, outer: str, others: list[str]) -> str:
    """The coarsest of the other levels whose groups lie each in one group of ``outer``; or none."""
    for level in others:
        pairs = np.unique(np.stack([table.strata[level], table.strata[outer]]), axis=1)
        if len(np.unique(pairs[0])) == pairs.shape[1]:
            return level
    return ""


def _marks(table: ScoreTable, outer: str, inner: str) -> list[Mark]:
    codes = np.stack([table.strata[outer], table.strata[inner or outer]])
    pairs, counts = np.unique(codes, axis=1, return_counts=True)
    found = [
        Mark(
            row=table.stratum_names[inner or outer][pair[1]],
            column=table.stratum_names[outer][pair[0]] if inner else "",
            value=float(n),
            n=int(n),
        )
        for pair, n in zip(pairs.T.tolist(), counts.tolist(), strict=True)
    ]
    whole = {column: sum(m.value for m in found if m.column == column) for column in
             {mark.column for mark in found}}  # fmt: skip
    return sorted(found, key=lambda mark: (-whole[mark.column], mark.column, -mark.value, mark.row))

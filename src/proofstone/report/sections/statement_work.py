"""What items share, as each of it does in all items that hold it: statements to look at.

Only where items hold several: an item that rests on one fact alone is judged as an item.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.engines.stats import KeyFlag, KeyStatistics, describe_keys
from proofstone.records.score_table import DocumentPages
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.reasons import gravity
from proofstone.report.sections.section import Evidence
from proofstone.report.sheet import Sheet
from proofstone.wording import counted, paragraph, say

__all__ = ["DescribedStatement", "DescribedStatements", "described_statements"]

# Fewer are no question of their own: with each statement in one item, that says all.
_FEWEST_HOLDING = 2


@dataclass(frozen=True, slots=True)
class DescribedStatement:
    """One named key by the items that hold it, and by answers to it alone, where there are any;
    ``documents`` are those that it comes from, with its pages, where they are known."""

    name: str
    by_items: KeyStatistics | None
    by_answers: KeyStatistics | None
    documents: tuple[DocumentPages, ...] = ()

    @property
    def flags(self) -> tuple[KeyFlag, ...]:
        """The reasons by either."""
        found = [*(self.by_items.flags if self.by_items else ())]
        found += self.by_answers.flags if self.by_answers else ()
        return tuple(dict.fromkeys(found))

    @property
    def evidence(self) -> str:
        """The numbers behind the reasons, in words."""
        parts = []
        if self.by_items is not None:
            parts.append(_told(self.by_items, counted(self.by_items.n_units, "item")))
        if self.by_answers is not None:
            answers = counted(self.by_answers.n_units, "answer asked alone", "answers asked alone")
            parts.append(_told(self.by_answers, answers))
        return paragraph(*parts)


@dataclass(frozen=True, slots=True)
class DescribedStatements:
    """All named keys that items share, and how many respondents they were judged by; ``columns``
    are those of the file that they come from, none for statements of our own."""

    ranked: RankedValues
    statements: Sequence[DescribedStatement]
    columns: tuple[str, ...] = ()

    def flagged(self) -> list[DescribedStatement]:
        """Those with a reason to look at them, gravest first, then by how much they are missed."""
        found = [each for each in self.statements if each.flags]
        return sorted(found, key=lambda each: (gravity(each.flags), _lift(each), each.name))


def described_statements(evidence: Evidence) -> DescribedStatements | None:
    """The statistics of what items share; None where keys have no names, where no item holds
    several, or with fewer than three ranked respondents."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    names = sheet.table.key_names
    if not names or ranked.keys.groups is not None:
        return None
    by_items = _described(names, describe_keys(
        ranked.values, ranked.keys, fewest_units=_FEWEST_HOLDING))  # fmt: skip
    by_answers: dict[str, KeyStatistics] = {}
    if evidence.statements is not None:
        by_answers = _described(
            evidence.statements.table.key_names, _by_answers(evidence.statements)
        )
    known = sheet.table.documents
    found = [
        DescribedStatement(
            name, by_items.get(name), by_answers.get(name), known.of_key(name) if known else ()
        )
        for name in dict.fromkeys([*by_items, *by_answers])
    ]
    return DescribedStatements(ranked, found, sheet.table.key_columns) if found else None


def _described(
    names: Mapping[int, str], found: Sequence[KeyStatistics]
) -> dict[str, KeyStatistics]:
    return {names[each.key]: each for each in found if each.key in names}


def _by_answers(sheet: Sheet) -> tuple[KeyStatistics, ...]:
    """The statistics of what was asked alone, by the respondents that were asked so."""
    there = ~np.isnan(sheet.values)
    asked = np.flatnonzero(there.any(axis=0))
    return describe_keys(sheet.values[:, asked], sheet.keys, fewest_units=1)


def _lift(found: DescribedStatement) -> float:
    lifts = [each.lift for each in (found.by_items, found.by_answers) if each is not None]
    return min((lift for lift in lifts if not math.isnan(lift)), default=0.0)


def _told(found: KeyStatistics, what: str) -> str:
    if math.isnan(found.discrimination):
        return say(
            "{what}: {score:.0f} of 100 right, {lift:+.0f} beside the rest.",
            what=what, score=100 * found.mean, lift=100 * found.lift,
        )  # fmt: skip
    return say(
        "{what}: {score:.0f} of 100 right, {lift:+.0f} beside the rest; correlation with the rest "
        "{r:+.2f}.",
        what=what, score=100 * found.mean, lift=100 * found.lift, r=found.discrimination,
    )  # fmt: skip

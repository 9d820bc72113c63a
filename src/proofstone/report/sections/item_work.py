"""What somebody should look at, worst first, with what to type for what is of our own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from proofstone.engines.stats import ItemStatistics, describe_items
from proofstone.identity import short
from proofstone.records.score_table import DocumentPages, ScoreTable
from proofstone.report.sections.documents import documents_text
from proofstone.report.sections.once import once_each
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.reasons import Reason, gravity, reasons_in_words
from proofstone.report.sections.replies import gold_codes, replies_of
from proofstone.report.sections.section import Evidence
from proofstone.report.sections.statement_work import DescribedStatement, described_statements
from proofstone.report.sheet import Sheet

__all__ = ["DescribedItems", "WorkRow", "described_items", "work_list", "work_rows"]


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

    def documents(self, item: ItemStatistics) -> tuple[DocumentPages, ...]:
        """The documents that the item rests on, with its pages in them."""
        known = self.table.documents
        return () if known is None else known.of_unit(int(self.ranked.units[item.unit]))

    def distractor(self, item: ItemStatistics) -> str | None:
        """The wrong answer that most of the best give; None where none is known."""
        return self.table.answers[item.distractor] if item.distractor >= 0 else None


class WorkRow(Struct, frozen=True, kw_only=True):
    """An item, a statement or a key of a file's column to look at: ``place`` from 1, gravest first,
    its name as ``target``, the ``document`` and page that it comes from where they are known, and
    the reasons. ``action`` is what is likely to be done; a person fills
    in ``decision`` (keep, retire, edit, or correct, incorrect or void for the ``replies``),
    ``why``, and the ``changes`` of an edit; 'retire', 'edit' and 'rule' carry that out with
    ``--from``. ``replies`` gave the wrong answer of the best. Shares lie in [0, 1], NaN where there
    is none. Of our own, ``show``, ``edit``, ``retire`` and ``rule`` are commands to type, with
    "..." where a reason belongs; of a file's items they are empty."""

    place: int
    target: str
    document: str = ""
    reason: str
    action: str
    decision: str = ""
    why: str = ""
    changes: str = ""
    replies: str = ""
    kind: Literal["item", "statement", "key"] = "item"
    evidence: str = ""
    flags: tuple[Reason, ...]
    n: int
    difficulty: float
    discrimination: float
    strong: float = math.nan
    weak: float = math.nan
    distractor: str = ""
    distractor_share: float = math.nan
    show: str = ""
    edit: str = ""
    retire: str = ""
    rule: str = ""


@once_each
def described_items(evidence: Evidence) -> DescribedItems | None:
    """The statistics of the ranked items; None with fewer than three ranked respondents, who cannot
    rank each other."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    return DescribedItems(sheet.table, ranked, _described(sheet, ranked))


def work_list(evidence: Evidence) -> tuple[WorkRow, ...]:
    """All items and statements that are flagged, gravest first."""
    items, statements = described_items(evidence), described_statements(evidence)
    rows = [] if items is None else [_row(items, item) for item in items.flagged()]
    if statements is not None and evidence.sheet is not None:
        own = not evidence.sheet.table.item_names
        rows += [_statement_row(each, own=own) for each in statements.flagged()]
    rows.sort(key=lambda row: gravity(row.flags))
    return tuple(structs.replace(row, place=place) for place, row in enumerate(rows, start=1))


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
    return gravity(item.flags), 0.0 if math.isnan(item.discrimination) else item.discrimination


def _row(found: DescribedItems, item: ItemStatistics) -> WorkRow:
    name = found.name(item)
    row = WorkRow(
        place=0,
        target=name,
        document=documents_text(found.documents(item), most=None),
        reason=reasons_in_words(item.flags),
        action="keep" if item.flags == ("nearly-all-right",) else "edit",
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
    replies = ",".join(_wrong_alike(found, item))
    row = _typed(row)
    if not replies:
        return row
    rule = f'proofstone rule {replies} correct --reason "..."'
    return structs.replace(row, action="correct", replies=replies, rule=rule)


def _statement_row(found: DescribedStatement, *, own: bool) -> WorkRow:
    by = found.by_items or found.by_answers
    row = WorkRow(
        place=0,
        target=found.name,
        document=documents_text(found.documents, most=None),
        reason=reasons_in_words(found.flags, of_statement=True),
        action="keep" if found.flags == ("harder-than-the-rest",) else "edit",
        kind="statement" if own else "key",
        evidence=found.evidence,
        flags=found.flags,
        n=by.n_units if by else 0,
        difficulty=by.mean if by else math.nan,
        discrimination=by.discrimination if by else math.nan,
    )
    return _typed(row) if own else row


def _typed(row: WorkRow) -> WorkRow:
    """The row with the commands to type."""
    return structs.replace(
        row,
        show=f"proofstone show {quote(row.target)}",
        edit=f'proofstone edit {quote(row.target)} --reason "..."',
        retire=f'proofstone retire {quote(row.target)} --reason "..."',
    )


def _wrong_alike(found: DescribedItems, item: ItemStatistics) -> Iterator[str]:
    """The replies that gave the wrong answer of the best, as ``rule`` takes them; only where it may
    be the right one. Of a respondent's several runs that is the one that asked the item's form;
    where several did, it is not known which, and the reply is left out."""
    if "strong-distractor" not in item.flags:
        return
    table, unit = found.table, int(found.ranked.units[item.unit])
    form = table.forms[int(table.form[unit])]
    rows = np.flatnonzero((table.unit == unit) & (table.answer == item.distractor))
    for row in rows.tolist():
        who = table.respondents[int(table.respondent[row])]
        asked = [run for run, name in zip(who.runs, who.forms, strict=False) if name == form]
        runs = asked if len(who.runs) > 1 else who.runs
        if len(runs) == 1:
            yield f"{short(runs[0])}/{short(table.items[unit])}/{int(table.sample[row])}"


def _own(table: ScoreTable, unit: int) -> str:
    item = table.items[unit]
    return f"item:{table.called.get(item) or short(item)}"

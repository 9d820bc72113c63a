"""Which items to look at first: those that tell nobody apart, and keys that may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import ITEM_FLAGS, ItemFlag, ItemStatistics, describe_items
from proofstone.identity import short
from proofstone.records.score_table import ScoreTable
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.replies import gold_codes, replies_of
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.report.sentences import counted
from proofstone.report.sheet import Sheet

__all__ = ["items_section"]

_MOST_LISTED = 50
_FEWEST = 8  # models, for an item to be accused by them
# The reasons that accuse an item come before those that only say that it tells nobody apart.
_GRAVEST = ("strong-distractor", "weak-beat-strong", "nearly-all-wrong", "nearly-all-right")


def items_section(evidence: Evidence) -> Section | None:
    """Counts of what is wrong with items, and a list of those to look at first with the reason.
    None with fewer than three ranked respondents: they cannot rank each other."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    found = _described(sheet, ranked)
    flagged = [item for item in found if item.flags]
    counts: Counter[ItemFlag] = Counter(flag for item in flagged for flag in item.flags)
    negative = sum(1 for item in found if item.discrimination < 0)
    known = [item.discrimination for item in found if not math.isnan(item.discrimination)]
    return Section(
        name="items",
        title="Which items to look at first",
        finding=_finding(ranked, flagged, known),
        plain=_plain(flagged),
        cannot=_cannot(len(ranked.respondents), negative),
        how=(
            "Difficulty is the mean score over the ranked models. Discrimination is the "
            "correlation of an item's scores with the mean of all other items. An item is accused "
            "only with eight models or more; the weak beating the strong is corrected so that at "
            "most a tenth of the items accused of it are so by chance."
        ),
        tables=(
            *([_reasons(counts)] if counts else []),
            *([_worst(sheet.table, ranked, flagged)] if flagged else []),
        ),
    )


def _described(sheet: Sheet, ranked: RankedValues) -> Sequence[ItemStatistics]:
    """The statistics of each ranked unit; distractors where each was asked once, with answers."""
    replies = replies_of(sheet, ranked)
    if replies.answers.shape[2] == 1 and (replies.answers >= 0).any():
        gold = gold_codes(sheet, ranked)
        return describe_items(ranked.values, answers=replies.answers[:, :, 0], gold=gold)
    return describe_items(ranked.values)


def _finding(
    ranked: RankedValues, flagged: Sequence[ItemStatistics], known: Sequence[float]
) -> str:
    if len(ranked.respondents) < _FEWEST:
        return f"{len(ranked.respondents)} models are too few to judge single items by."
    said = f"{counted(len(flagged), 'item')} of {len(ranked.units):,} should be looked at"
    if known:
        said += f"; half of the items correlate with the rest by {np.median(known):.2f} or less"
    return f"{said}."


def _plain(flagged: Sequence[ItemStatistics]) -> str:
    suspects = sum(
        1 for item in flagged if {"weak-beat-strong", "strong-distractor"} & {*item.flags}
    )
    if not suspects:
        return ""
    return (
        f"On {counted(suspects, 'question')} the best models disagree with the answer that counts "
        "as right: somebody should check these first."
    )


def _cannot(n: int, negative: int) -> str:
    if n < _FEWEST:
        return (
            f"Which items are wrong: {n} models are too few to tell a bad item from bad luck "
            "(eight are needed)."
        )
    if not negative:
        return ""
    return (
        f"Whether each of the {counted(negative, 'item')} on which stronger models do worse is "
        "wrong: by chance alone there would be some."
    )


def _reasons(counts: Counter[ItemFlag]) -> Table:
    return Table(
        title="Why items are listed",
        columns=(Column(key="reason", name="reason"), Column(key="items", name="items")),
        rows=tuple((ITEM_FLAGS[flag], counts[flag]) for flag in ITEM_FLAGS if counts[flag]),
    )


def _worst(table: ScoreTable, ranked: RankedValues, flagged: Sequence[ItemStatistics]) -> Table:
    ordered = sorted(flagged, key=_gravity)
    more = len(ordered) - _MOST_LISTED
    return Table(
        title="Look at these first",
        columns=(
            Column(key="item", name="item"),
            Column(key="reason", name="reason"),
            Column(key="n", name="n", help="models that were scored on it"),
            Column(key="difficulty", name="mean score", unit="points"),
            Column(key="discrimination", name="discrimination", digits=2,
                   help="correlation with the mean of all other items"),
            Column(key="strong", name="best third", unit="points",
                   help="mean score of the third of the models that do best on the other items"),
            Column(key="weak", name="worst third", unit="points"),
            Column(key="distractor", name="wrong answer of the best"),
            Column(key="distractor_share", name="its share", unit="share"),
        ),
        rows=tuple(_row(table, ranked, item) for item in ordered[:_MOST_LISTED]),
        note=f"{more:,} more are not shown." if more > 0 else "",
    )  # fmt: skip


def _gravity(item: ItemStatistics) -> tuple[int, float]:
    first = min(_GRAVEST.index(flag) for flag in item.flags)
    return first, 0.0 if math.isnan(item.discrimination) else item.discrimination


def _row(table: ScoreTable, ranked: RankedValues, item: ItemStatistics) -> tuple[Cell, ...]:
    unit = int(ranked.units[item.unit])
    name = table.item_names[unit] if table.item_names else f"item:{short(table.items[unit])}"
    is_known = item.distractor >= 0
    return (
        name,
        "; ".join(ITEM_FLAGS[flag] for flag in item.flags),
        item.n,
        item.difficulty,
        item.discrimination,
        item.strong,
        item.weak,
        table.answers[item.distractor] if is_known else None,
        item.distractor_share if is_known else None,
    )

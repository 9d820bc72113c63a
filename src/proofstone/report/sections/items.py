"""Which items to look at first: those that tell nobody apart, and keys that may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import ITEM_FLAGS, ItemFlag, ItemStatistics
from proofstone.report.sections.item_work import DescribedItems, described_items
from proofstone.report.sections.ranked_values import RankedValues
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.wording import counted

__all__ = ["items_section"]

_MOST_LISTED = 50
_FEWEST = 8  # models, for an item to be accused by them


def items_section(evidence: Evidence) -> Section | None:
    """Counts of what is wrong with items, and a list of those to look at first with the reason.
    None with fewer than three ranked respondents: they cannot rank each other."""
    found = described_items(evidence)
    if found is None:
        return None
    ranked, flagged = found.ranked, found.flagged()
    counts: Counter[ItemFlag] = Counter(flag for item in flagged for flag in item.flags)
    negative = sum(1 for item in found.items if item.discrimination < 0)
    known = [each.discrimination for each in found.items if not math.isnan(each.discrimination)]
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
            *([_worst(found, flagged)] if flagged else []),
        ),
    )


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


def _worst(found: DescribedItems, flagged: Sequence[ItemStatistics]) -> Table:
    more = len(flagged) - _MOST_LISTED
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
        rows=tuple(_row(found, item) for item in flagged[:_MOST_LISTED]),
        note=f"{more:,} more are not shown; --work-list FILE writes all." if more > 0 else "",
    )  # fmt: skip


def _row(found: DescribedItems, item: ItemStatistics) -> tuple[Cell, ...]:
    return (
        found.name(item),
        "; ".join(ITEM_FLAGS[flag] for flag in item.flags),
        item.n,
        item.difficulty,
        item.discrimination,
        item.strong,
        item.weak,
        found.distractor(item),
        item.distractor_share if item.distractor >= 0 else None,
    )

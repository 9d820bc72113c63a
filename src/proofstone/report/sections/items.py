"""Which items to look at first: those that tell nobody apart, and keys that may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from proofstone.engines.stats import ITEM_FLAGS, ItemFlag, ItemStatistics
from proofstone.report.sections.documents import document_cells, document_columns
from proofstone.report.sections.item_work import DescribedItems, described_items
from proofstone.report.sections.ranked_values import RankedValues
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.wording import counted, say, word

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
        title=say("Which items to look at first"),
        finding=_finding(ranked, flagged, known),
        plain=_plain(flagged),
        cannot=_cannot(len(ranked.respondents), negative),
        how=(
            say(
                "Difficulty is the mean score over the ranked models. Discrimination is the "
                "correlation of an item's scores with the mean of all other items. An item is "
                'flagged only with eight models or more; "the weak are right and the strong '
                'wrong" is tested at a false discovery rate of 10%.'
            )
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
        return say(
            "{models} are too few to judge single items by.",
            models=counted(len(ranked.respondents), "model"),
        )
    looked = {"items": counted(len(flagged), "item"), "n": len(ranked.units)}
    if not known:
        return say("{items} of {n:,} should be looked at.", **looked)
    return say(
        "{items} of {n:,} should be looked at; half of the items correlate with the rest by "
        "{median:.2f} or less.",
        median=float(np.median(known)),
        **looked,
    )


def _plain(flagged: Sequence[ItemStatistics]) -> str:
    suspects = sum(
        1 for item in flagged if {"weak-beat-strong", "strong-distractor"} & {*item.flags}
    )
    if not suspects:
        return ""
    return say(
        "On {questions} the best models disagree with the answer that counts as right: "
        "somebody should check these first.",
        questions=counted(suspects, "question"),
    )


def _cannot(n: int, negative: int) -> str:
    if n < _FEWEST:
        return say(
            "{models} are too few to tell a wrong answer key from sampling error (at least eight "
            "are needed).",
            models=counted(n, "model"),
        )
    if not negative:
        return ""
    return say(
        "{items} have negative discrimination. Some are expected by chance, so this alone does "
        "not show a wrong answer key.",
        items=counted(negative, "item"),
    )


def _reasons(counts: Counter[ItemFlag]) -> Table:
    return Table(
        title=say("Why items are listed"),
        columns=(Column(key="reason", name=say("reason")), Column(key="items", name=say("items"))),
        rows=tuple((word(ITEM_FLAGS[flag]), counts[flag]) for flag in ITEM_FLAGS if counts[flag]),
    )


def _worst(found: DescribedItems, flagged: Sequence[ItemStatistics]) -> Table:
    more = len(flagged) - _MOST_LISTED
    return Table(
        title=say("Look at these first"),
        columns=(
            Column(key="item", name=say("item")),
            *document_columns(found.table),
            Column(key="reason", name=say("reason")),
            Column(key="n", name=say("n"), help=say("models that were scored on it")),
            Column(key="difficulty", name=say("mean score"), unit="points"),
            Column(key="discrimination", name=say("discrimination"), digits=2,
                   help=say("correlation with the mean of all other items")),
            Column(key="strong", name=say("best third"), unit="points",
                   help=say("mean score of the third of the models that do best on the other "
                            "items")),
            Column(key="weak", name=say("worst third"), unit="points"),
            Column(key="distractor", name=say("wrong answer of the best")),
            Column(key="distractor_share", name=say("its share"), unit="share"),
        ),
        rows=tuple(_row(found, item) for item in flagged[:_MOST_LISTED]),
        note=say("{n:,} more are not shown; --work-list FILE writes all.", n=more)
        if more > 0
        else "",
    )  # fmt: skip


def _row(found: DescribedItems, item: ItemStatistics) -> tuple[Cell, ...]:
    return (
        found.name(item),
        *document_cells(found.table, found.documents(item)),
        "; ".join(ITEM_FLAGS[flag] for flag in item.flags),
        item.n,
        item.difficulty,
        item.discrimination,
        item.strong,
        item.weak,
        found.distractor(item),
        item.distractor_share if item.distractor >= 0 else None,
    )

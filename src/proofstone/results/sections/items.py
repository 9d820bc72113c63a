"""Which items to look at first: those that tell nobody apart, and keys that may be wrong."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from proofstone.page.section import Cell, Column, Section, Table
from proofstone.page.text import counted_keys, key_column
from proofstone.records.scores import ScoreTable
from proofstone.results.sections.documents import document_cells, document_columns
from proofstone.results.sections.evidence import Evidence, RankedValues
from proofstone.results.sections.item_model import (
    DescribedItems,
    DescribedStatement,
    DescribedStatements,
    described_items,
    described_statements,
    reasons_in_words,
)
from proofstone.stats.items import ITEM_FLAGS, ItemFlag, ItemStatistics
from proofstone.wording.messages import counted, paragraph, say, say_of, word

# Which statements are probably wrong: by all questions that hold them, and by answers alone.
#
# Of a file they are keys of its columns, and are called so: nothing says that they are statements.

_MOST_LISTED = 50


_FEWEST = 8  # models, for a statement to be called wrong by them


def statements_section(evidence: Evidence) -> Section | None:
    """The statements to look at first, with what accuses them. None where items hold no named
    statements, or only one each, or with fewer than three ranked respondents."""
    found = described_statements(evidence)
    if found is None:
        return None
    flagged = found.flagged()
    return Section(
        name="keys" if found.columns else "statements",
        title=_title(found.columns),
        finding=_finding(found, flagged),
        plain=_plain(flagged),
        cannot=_cannot(found),
        how=_how(evidence, found.columns),
        tables=(_worst(evidence, flagged, found.columns),) if flagged else (),
    )


def _title(columns: Sequence[str]) -> str:
    if not columns:
        return say("Which statements are probably wrong")
    return say("Which keys in {column} are probably wrong", column=key_column(columns))


def _finding(found: DescribedStatements, flagged: list[DescribedStatement]) -> str:
    n, wrong = len(found.statements), sum("probably-wrong" in each.flags for each in flagged)
    of = counted_keys(n, found.columns)
    if not flagged:
        return say("None of {statements} stands out.", statements=of)
    return say_of(
        wrong,
        "Of {statements} that items share, {wrong} is probably wrong, and {flagged} stand out.",
        "Of {statements} that items share, {wrong} are probably wrong, and {flagged} stand out.",
        statements=of,
        wrong=wrong,
        flagged=len(flagged),
    )


def _plain(flagged: list[DescribedStatement]) -> str:
    wrong = [each for each in flagged if "probably-wrong" in each.flags]
    if not wrong:
        return ""
    return say(
        "Look at {name} first: questions that hold it go wrong more often than the others, and "
        "knowing more does not help.",
        name=wrong[0].name,
    )


def _cannot(found: DescribedStatements) -> str:
    n = len(found.ranked.respondents)
    if n < _FEWEST and found.columns:
        return say(
            "{n} models are too few to tell a wrong key in {column} from a hard one (at least "
            "eight are needed).",
            column=key_column(found.columns),
            n=n,
        )
    if n < _FEWEST:
        return say(
            "{n} models are too few to tell a wrong statement from a hard one (at least eight "
            "are needed).",
            n=n,
        )
    alone = sum(1 for each in found.statements if each.by_items is None)
    if not alone:
        return ""
    return say(
        "The effect of {statements} is not estimated: fewer than two questions hold them.",
        statements=counted_keys(alone, found.columns),
    )


def _how(evidence: Evidence, columns: Sequence[str]) -> str:
    if columns:
        return say(
            "An item rests on several keys of {column}; over all items that hold one, the others "
            "differ, and what is left is its own. How far scores on them lie above or below each "
            "model's own level is tested with items as independent, at a false discovery rate "
            "of 10%. Probably wrong: missed more than the rest, and with no "
            "correlation over models between the score on its items and on all others, from eight "
            "models on.",
            column=key_column(columns),
        )
    first = say(
        "A question rests on several statements; over all questions that hold one, the others "
        "differ, and what is left is its own. How far scores on them lie above or below each "
        "model's own level is tested with questions as independent, at a false discovery rate "
        "of 10%. Probably wrong: missed more than the rest, and with "
        "no correlation over models between the score on its questions and on all others, from "
        "eight models on. A falsified statement counts for the true one that it came from."
    )
    if evidence.statements is None:
        return first
    return paragraph(
        first, say("Answers to a statement alone are taken in the same way, beside that.")
    )


def _worst(evidence: Evidence, flagged: list[DescribedStatement], columns: Sequence[str]) -> Table:
    table = None if evidence.sheet is None else evidence.sheet.table
    more = len(flagged) - _MOST_LISTED
    note = ""
    if more > 0:
        note = say("{n:,} more are not shown; --work-list FILE writes all.", n=more)
    return Table(
        title=say("Keys to look at first") if columns else say("Statements to look at first"),
        columns=(
            Column(
                key="key" if columns else "statement",
                name=key_column(columns) if columns else say("statement"),
            ),
            *document_columns(table),
            Column(key="reason", name=say("reason")),
            Column(key="n", name="n", help=say("items that hold it")),
            Column(key="score", name=say("score"), unit="points"),
            Column(key="lift", name=say("beside the rest"), unit="points",
                   help=say("how far scores on its items lie above the models' own level")),
            Column(key="discrimination", name=say("discrimination"), digits=2,
                   help=say("correlation over models of scores on its items and on all others")),
            Column(key="n_answers", name=say("answers to it"),
                   help=say("times that it was asked alone")),
            Column(key="score_alone", name=say("right alone"), unit="points"),
        ),
        rows=tuple(_row(table, each) for each in flagged[:_MOST_LISTED]),
        note=note,
    )  # fmt: skip


def _row(table: ScoreTable | None, found: DescribedStatement) -> tuple[Cell, ...]:
    items, alone = found.by_items, found.by_answers
    return (
        found.name,
        *document_cells(table, found.documents),
        reasons_in_words(found.flags, of_statement=True),
        items.n_units if items else 0,
        _known(items.mean) if items else None,
        _known(items.lift) if items else None,
        _known(items.discrimination) if items else None,
        alone.n_units if alone else 0,
        _known(alone.mean) if alone else None,
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


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
        finding=_items_finding(ranked, flagged, known),
        plain=_items_plain(flagged),
        cannot=_items_cannot(len(ranked.respondents), negative),
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
            *([_items_worst(found, flagged)] if flagged else []),
        ),
    )


def _items_finding(
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


def _items_plain(flagged: Sequence[ItemStatistics]) -> str:
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


def _items_cannot(n: int, negative: int) -> str:
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


def _items_worst(found: DescribedItems, flagged: Sequence[ItemStatistics]) -> Table:
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
        rows=tuple(_items_row(found, item) for item in flagged[:_MOST_LISTED]),
        note=say("{n:,} more are not shown; --work-list FILE writes all.", n=more)
        if more > 0
        else "",
    )  # fmt: skip


def _items_row(found: DescribedItems, item: ItemStatistics) -> tuple[Cell, ...]:
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

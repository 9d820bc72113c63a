"""Flagged items and statements: no discrimination, or possibly wrong answer keys."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from shlex import quote
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.page.section import Section, Table, column, table_of
from proofstone.page.text import counted_keys, key_column
from proofstone.records.ids import short
from proofstone.records.scores import DocumentPages, ScoreTable
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    key_codes,
    once_each,
    ranked_values,
    responses_of,
)
from proofstone.results.sections.strata import document_column, documents_text
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.items import (
    ITEM_FLAGS,
    ItemFlag,
    ItemStatistics,
    KeyFlag,
    KeyStatistics,
    correlation_interval,
    describe_items,
    describe_keys,
)
from proofstone.stats.multiple_comparisons import benjamini_hochberg, over_known
from proofstone.wording.messages import counted, language, noted, paragraph, say, say_of, word

# Statements that are probably wrong, by all questions with them and by direct answers.
#
# In a file they are keys of its columns and are called keys, as they may not be statements.

_FEWEST = 8  # minimum number of models for calling a statement wrong


def statements_section(evidence: Evidence) -> Section | None:
    """Return the flagged statements with the evidence.

    None if items have no named statements or only one each, or with fewer than three ranked models.
    """
    found = described_statements(evidence)
    if found is None:
        return None
    flagged = found.flagged()
    wrong = [each for each in flagged if "probably-wrong" in each.flags]
    return Section(
        name="keys" if found.columns else "statements",
        title=say("Which keys in {column} are probably wrong", column=key_column(found.columns))
        if found.columns
        else say("Which statements are probably wrong"),
        finding=say_of(
            len(wrong),
            "Of {statements} that items share, {wrong} is probably wrong, and {flagged} stand out.",
            "Of {statements} that items share, {wrong} are probably wrong, and {flagged} stand "
            "out.",
            statements=counted_keys(len(found.statements), found.columns),
            wrong=len(wrong),
            flagged=len(flagged),
        )
        if flagged
        else say(
            "None of {statements} stands out.",
            statements=counted_keys(len(found.statements), found.columns),
        ),
        plain=say(
            "Look at {name} first: questions that hold it go wrong more often than the others, and "
            "knowing more does not help.",
            name=wrong[0].name,
        )
        if wrong
        else "",
        cannot=_cannot(found),
        how=_how(evidence, found.columns),
        tables=(_worst(evidence, flagged, found.columns),) if flagged else (),
    )


def _cannot(found: DescribedStatements) -> str:
    n = len(found.ranked.respondents)
    if n < _FEWEST:
        return say(
            "{n} models are too few to tell a wrong key in {column} from a hard one (at least "
            "eight are needed)."
            if found.columns
            else "{n} models are too few to tell a wrong statement from a hard one (at least eight "
            "are needed).",
            column=key_column(found.columns),
            n=n,
        )
    alone = sum(each.by_items is None for each in found.statements)
    if not alone:
        return ""
    return say(
        "The effect of {statements} is not estimated: fewer than two questions hold them.",
        statements=counted_keys(alone, found.columns),
    )


def _how(evidence: Evidence, columns: Sequence[str]) -> str:
    if columns:
        return say(
            "Each key in {column} is judged over all items that contain it. The test compares "
            "scores on these items with each model's mean, treats items as independent, and "
            "controls the false discovery rate at 10%. Probably wrong: a lower score than "
            "the rest, and scores on its items do not correlate over models with scores on all "
            "others (at least eight models).",
            column=key_column(columns),
        )
    first = say(
        "Each statement is judged over all questions that contain it. The test compares scores "
        "on these questions with each model's mean, treats questions as independent, and "
        "controls the false discovery rate at 10%. Probably wrong: a lower score than the "
        "rest, and scores on its questions do not correlate over models with scores on all "
        "others (at least eight models). A false statement counts with the true statement that "
        "it came from."
    )
    if evidence.statements is None:
        return first
    return paragraph(first, say("Direct answers to single statements are judged in the same way."))


def _worst(evidence: Evidence, flagged: list[DescribedStatement], columns: Sequence[str]) -> Table:
    def known(by: str, what: str) -> Callable[[DescribedStatement], float | None]:
        """A number by items or by answers; None where there is none."""

        def cell(each: DescribedStatement) -> float | None:
            value: float = getattr(getattr(each, by), what, math.nan)
            return None if math.isnan(value) else value

        return cell

    return table_of(
        say("Keys to look at first") if columns else say("Statements to look at first"),
        flagged,
        column("key" if columns else "statement",
               key_column(columns) if columns else say("statement"), "name"),
        *document_column(evidence.sheet.table if evidence.sheet else None,
                         attrgetter("documents")),
        column("reason", say("reason"),
               lambda each: reasons_in_words(each.flags, of_statement=True)),
        column("n", "n", lambda each: each.by_items.n_units if each.by_items else 0,
               help=say("items that hold it")),
        column("score", say("score"), known("by_items", "mean"), unit="points"),
        column("lift", say("difference from the rest"), known("by_items", "lift"), unit="points",
               help=say("mean score difference of its items from the models' own mean")),
        column("discrimination", say("discrimination"), known("by_items", "discrimination"),
               help=say("correlation over models of scores on its items and on all others")),
        column("n_answers", say("answers to it"),
               lambda each: each.by_answers.n_units if each.by_answers else 0,
               help=say("times that it was asked alone")),
        column("score_alone", say("right alone"), known("by_answers", "mean"), unit="points"),
    )  # fmt: skip


def items_section(evidence: Evidence) -> Section | None:
    """Return counts of item problems, and a list of flagged items with reasons.

    None with fewer than three ranked models, for which discrimination is undefined.
    """
    found = described_items(evidence)
    if found is None:
        return None
    flagged = found.flagged()
    suspects = sum(bool({"weak-beat-strong", "strong-distractor"} & {*x.flags}) for x in flagged)
    return Section(
        name="items",
        title=say("Which items to look at first"),
        finding=_items_finding(found, len(flagged)),
        plain=say(
            "The best models disagree with the answer key on {questions}: check these first.",
            questions=counted(suspects, "question"),
        )
        if suspects
        else "",
        cannot=_items_cannot(found),
        how=say(
            "Difficulty is the mean score over the ranked models. Discrimination is the "
            "correlation of an item's scores with the mean of all other items. An item is "
            'flagged only with eight models or more; "the weak are right and the strong '
            'wrong" is tested at a false discovery rate of 10%.'
        ),
        tables=(
            *((_items_worst(found, flagged),) if flagged else ()),
            *_items_negative(found, evidence.board.confidence),
        ),
    )


def _items_finding(found: DescribedItems, n_flagged: int) -> str:
    n = len(found.ranked.respondents)
    if n < _FEWEST:
        return say("Items are not flagged: this needs at least 8 ranked models.")
    known = [each.discrimination for each in found.items if not math.isnan(each.discrimination)]
    n_items = len(found.ranked.units)
    flagged = (
        say("{items} of {n:,} should be looked at.", items=counted(n_flagged, "item"), n=n_items)
        if n_flagged
        else say("None of {n:,} items is flagged.", n=n_items)
    )
    if not known:
        return flagged
    return paragraph(
        flagged,
        say(
            "Half of the items correlate with the rest by {median:.2f} or less.",
            median=float(np.median(known)),
        ),
    )


def _items_cannot(found: DescribedItems) -> str:
    n, negative = len(found.ranked.respondents), sum(x.discrimination < 0 for x in found.items)
    if n < _FEWEST or not negative:
        return ""
    return say(
        "{items} have negative discrimination. Some are expected by chance, so this alone does "
        "not show a wrong answer key.",
        items=counted(negative, "item"),
    )


def _items_worst(found: DescribedItems, flagged: Sequence[ItemStatistics]) -> Table:
    return table_of(
        say("Flagged items"),
        flagged,
        column("item", say("item"), found.name),
        *document_column(found.table, found.documents),
        column("reason", say("reason"),
               lambda item: "; ".join(ITEM_FLAGS[flag] for flag in item.flags)),
        column("n", say("n"), help=say("models that were scored on it")),
        column("difficulty", say("mean score"), unit="points"),
        column("discrimination", say("discrimination"),
               help=say("correlation with the mean of all other items")),
        column("strong", say("best third"), unit="points",
               help=say("mean score of the third of the models that do best on the other items")),
        column("weak", say("worst third"), unit="points"),
        column("distractor", say("wrong answer of the best"), found.distractor),
        column("distractor_share", say("its share"),
               lambda item: item.distractor_share if item.distractor >= 0 else None, unit="share"),
    )  # fmt: skip


# The false discovery rate at which a negative discrimination is significant.
FALSE_DISCOVERIES = 0.1


def _items_negative(found: DescribedItems, confidence: float) -> Iterator[Table]:
    """Yield all items with negative discrimination, lowest first; none with too few models."""
    if len(found.ranked.respondents) < _FEWEST:
        return
    q = over_known(benjamini_hochberg, np.array([item.p for item in found.items]))
    negative = [
        (item, float(q[place]))
        for place, item in enumerate(found.items)
        if item.discrimination < 0 and item.n >= _FEWEST
    ]
    if not negative:
        return
    negative.sort(key=lambda row: row[0].discrimination)

    def interval(row: tuple[ItemStatistics, float]) -> str:
        low, high = correlation_interval(row[0].discrimination, row[0].n, confidence)
        return f"[{low:.2f}, {high:.2f}]"

    yield table_of(
        say("Negative discrimination"),
        negative,
        column("item", say("item"), lambda row: found.name(row[0])),
        *document_column(found.table, lambda row: found.documents(row[0])),
        column("n", say("n"), "0.n", help=say("models that were scored on it")),
        column("difficulty", say("mean score"), "0.difficulty", unit="points"),
        column("discrimination", say("discrimination"), "0.discrimination",
               help=say("correlation with the mean of all other items")),
        column("interval", say("{level:g}% CI", level=100 * confidence), interval, unit="mixed"),
        column("q", say("q (BH)"), "1", unit="probability"),
        column("significant", say("significance"),
               lambda row: say("significant") if row[1] < FALSE_DISCOVERIES
               else say("not significant")),
        note=say(
            "Significant means a q-value below 0.10 (one-sided, Benjamini-Hochberg over all "
            "items). The intervals are not adjusted. They use Fisher's z transform over the "
            "models, which is approximate for scores of 0 and 1."
        ),
    )  # fmt: skip


# Reasons for flagging an item or a statement, most severe first.

Reason = ItemFlag | KeyFlag


# Possible errors come before items that merely do not discriminate.
REASONS: dict[Reason, str] = {
    "strong-distractor": noted(
        "the strongest models agree on one wrong answer (it may be correct)"
    ),
    "probably-wrong": noted("lower scores on its questions, and no advantage for strong models"),
    "weak-beat-strong": noted(
        "negative discrimination: weak models beat strong ones (check the answer key)"
    ),
    "nearly-all-wrong": noted(
        "floor item: nearly all models are wrong (too hard or wrong answer key)"
    ),
    "harder-than-the-rest": noted("lower scores on its questions than on the others"),
    "nearly-all-right": noted("ceiling item: nearly all models are correct"),
}


_OF_STATEMENTS: dict[Reason, str] = {
    "weak-beat-strong": noted(
        "negative discrimination: weak models beat strong ones on its questions"
    ),
}


_PLACES = {flag: place for place, flag in enumerate(REASONS)}


def gravity(flags: Iterable[Reason]) -> int:
    """Return the index of the most severe of ``flags`` from 0; after all others without flags."""
    return min((_PLACES[flag] for flag in flags), default=len(_PLACES))


def reasons_in_words(flags: Iterable[Reason], *, of_statement: bool = False) -> str:
    """Return the reasons in the current language, most severe first."""
    said = REASONS | (_OF_STATEMENTS if of_statement else {})
    words = [word(said[flag]) for flag in sorted(flags, key=_PLACES.__getitem__)]
    return ("；" if language() == "zh" else "; ").join(words)


# Statements shared by items, judged over all items with them.
#
# Only if items have several: an item with one fact is judged as an item.

# Minimum items per statement; with one, its statistics repeat those of the item.
_FEWEST_HOLDING = 2


@dataclass(frozen=True, slots=True)
class DescribedStatement:
    """One named key, by the items with it and by direct answers, if any.

    ``documents`` are its documents with pages, if known.
    """

    name: str
    by_items: KeyStatistics | None
    by_answers: KeyStatistics | None
    documents: tuple[DocumentPages, ...] = ()

    @property
    def flags(self) -> tuple[KeyFlag, ...]:
        """Return the reasons from either."""
        found = [*(self.by_items.flags if self.by_items else ())]
        found += self.by_answers.flags if self.by_answers else ()
        return tuple(dict.fromkeys(found))

    @property
    def evidence(self) -> str:
        """Return the numbers behind the reasons as text."""
        parts = []
        if self.by_items is not None:
            parts.append(_told(self.by_items, counted(self.by_items.n_units, "item")))
        if self.by_answers is not None:
            answers = counted(self.by_answers.n_units, "answer asked alone", "answers asked alone")
            parts.append(_told(self.by_answers, answers))
        return paragraph(*parts)


@dataclass(frozen=True, slots=True)
class DescribedStatements:
    """All named keys shared by items; ``columns`` are those of a file, empty for statements."""

    ranked: RankedValues
    statements: Sequence[DescribedStatement]
    columns: tuple[str, ...] = ()

    def flagged(self) -> list[DescribedStatement]:
        """Return the flagged ones, most severe first, then by error rate."""
        found = [each for each in self.statements if each.flags]
        return sorted(found, key=lambda each: (gravity(each.flags), _lift(each), each.name))


def described_statements(evidence: Evidence) -> DescribedStatements | None:
    """Return statistics of shared statements.

    None if keys have no names, if no item has several, or with fewer than three ranked models.
    """
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    names = sheet.table.key_names
    if not names or ranked.keys.groups is not None:
        return None
    by_items = _described(names, ranked.values, ranked.keys, _FEWEST_HOLDING)
    by_answers: dict[str, KeyStatistics] = {}
    if (alone := evidence.statements) is not None:
        asked = alone.values[:, ~np.isnan(alone.values).all(axis=0)]
        by_answers = _described(alone.table.key_names, asked, alone.keys, 1)
    known = sheet.table.documents
    found = [
        DescribedStatement(
            name, by_items.get(name), by_answers.get(name), known.of_key(name) if known else ()
        )
        for name in dict.fromkeys([*by_items, *by_answers])
    ]
    return DescribedStatements(ranked, found, sheet.table.key_columns) if found else None


def _described(
    names: Mapping[int, str], values: NDArray[np.float64], keys: SharedKeys, fewest: int
) -> dict[str, KeyStatistics]:
    found = describe_keys(values, keys, fewest_units=fewest)
    return {names[each.key]: each for each in found if each.key in names}


def _lift(found: DescribedStatement) -> float:
    lifts = [each.lift for each in (found.by_items, found.by_answers) if each is not None]
    return min((lift for lift in lifts if not math.isnan(lift)), default=0.0)


def _told(found: KeyStatistics, what: str) -> str:
    return say(
        "{what}: {score:.0f}% correct, {lift:+.0f} points compared with the rest."
        if math.isnan(found.discrimination)
        else ("{what}: {score:.0f}% correct, {lift:+.0f} points compared with the rest; "
             "correlation with the rest {r:+.2f}."),
        what=what, score=100 * found.mean, lift=100 * found.lift, r=found.discrimination,
    )  # fmt: skip


# Flagged items, most severe first, with commands for those of the workspace.


@dataclass(frozen=True, slots=True)
class DescribedItems:
    """Statistics of each ranked item, in the order of ``ranked.units``."""

    table: ScoreTable
    ranked: RankedValues
    items: Sequence[ItemStatistics]

    def flagged(self) -> list[ItemStatistics]:
        """Return the flagged items, most severe first."""

        def first(item: ItemStatistics) -> tuple[int, float]:
            known = not math.isnan(item.discrimination)
            return gravity(item.flags), item.discrimination if known else 0.0

        return sorted((item for item in self.items if item.flags), key=first)

    def name(self, item: ItemStatistics) -> str:
        """Return the item's name in its file, or its id as commands accept it."""
        unit = int(self.ranked.units[item.unit])
        return self.table.item_names[unit] if self.table.item_names else item_name(self.table, unit)

    def documents(self, item: ItemStatistics) -> tuple[DocumentPages, ...]:
        """Return the documents of the item with its pages."""
        known = self.table.documents
        return () if known is None else known.of_unit(int(self.ranked.units[item.unit]))

    def distractor(self, item: ItemStatistics) -> str | None:
        """Return the most frequent wrong answer of the best models; None if unknown."""
        return self.table.answers[item.distractor] if item.distractor >= 0 else None


class FlaggedItem(Struct, frozen=True, kw_only=True):
    """A flagged item, statement, or key of a file's column.

    ``place`` counts from 1, most severe first. ``target`` is its name, ``document`` its document
    and page, if known. ``action`` is the likely correction. A person fills in ``decision`` (keep,
    exclude, edit, or correct, incorrect or invalidated for the ``responses``), ``why``, and the
    ``changes`` of an edit; 'correct apply' applies them with ``--from``. ``responses`` gave the
    wrong answer of the best models. Shares are in [0, 1], NaN if undefined. For items of the
    workspace, ``show``,
    ``edit``, ``exclude`` and ``rule`` are commands, with "..." in place of a reason; for a file
    they are empty.
    """

    place: int
    target: str
    document: str = ""
    reason: str
    action: str
    decision: str = ""
    why: str = ""
    changes: str = ""
    responses: str = ""
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
    exclude: str = ""
    rule: str = ""


@once_each
def described_items(evidence: Evidence) -> DescribedItems | None:
    """Return statistics of the ranked items; None with fewer than three ranked models."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or len(ranked.respondents) < 3:
        return None
    responses = responses_of(sheet, ranked)
    if not (responses.answers >= 0).any():  # without answers there are no distractors
        return DescribedItems(sheet.table, ranked, describe_items(ranked.values))
    answer_key = key_codes(sheet, ranked)
    found = describe_items(ranked.values, answers=responses.answers, answer_key=answer_key)
    return DescribedItems(sheet.table, ranked, found)


def flagged_items(evidence: Evidence) -> tuple[FlaggedItem, ...]:
    """Return all flagged items and statements, most severe first."""
    items, statements = described_items(evidence), described_statements(evidence)
    rows = [] if items is None else [_item_model_row(items, item) for item in items.flagged()]
    if statements is not None and evidence.sheet is not None:
        own = not evidence.sheet.table.item_names
        rows += [_statement_row(each, own=own) for each in statements.flagged()]
    rows.sort(key=lambda row: gravity(row.flags))
    return tuple(structs.replace(row, place=place) for place, row in enumerate(rows, start=1))


def work_rows(rows: Sequence[FlaggedItem]) -> Iterator[dict[str, str | int | float | None]]:
    """Yield flagged items as rows for a file: one value per cell, None if undefined."""
    for row in rows:
        values = structs.asdict(row) | {"flags": " ".join(row.flags)}
        yield {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in values.items()
        }


def _item_model_row(found: DescribedItems, item: ItemStatistics) -> FlaggedItem:
    name = found.name(item)
    row = FlaggedItem(
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
    responses = ",".join(_wrong_alike(found, item))
    row = _typed(row)
    if not responses:
        return row
    rule = f'proofstone correct override {responses} correct --reason "..."'
    return structs.replace(row, action="correct", responses=responses, rule=rule)


def _statement_row(found: DescribedStatement, *, own: bool) -> FlaggedItem:
    by = found.by_items or found.by_answers
    row = FlaggedItem(
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


def _typed(row: FlaggedItem) -> FlaggedItem:
    return structs.replace(
        row,
        show=f"proofstone show {quote(row.target)}",
        edit=f'proofstone correct edit {quote(row.target)} --reason "..."',
        exclude=f'proofstone correct exclude {quote(row.target)} --reason "..."',
    )


def _wrong_alike(found: DescribedItems, item: ItemStatistics) -> Iterator[str]:
    """Yield the responses with the wrong answer of the best models, as ``rule`` accepts them.

    Only if that answer may be correct. If a model has several runs, the run on the item's form is
    used. If several runs are on it, the response is omitted as ambiguous.
    """
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


def item_name(table: ScoreTable, unit: int) -> str:
    """Return a unit's item as commands accept it."""
    item = table.items[unit]
    return f"item:{table.called.get(item) or short(item)}"

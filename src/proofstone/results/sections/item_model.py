"""A model of all items and models at once: two-parameter item response theory, and its fit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Literal

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from proofstone.page.section import Cell, Column, Section, Table
from proofstone.records.ids import short
from proofstone.records.scores import DocumentPages, ScoreTable
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.documents import document_cells, document_columns, documents_text
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    gold_codes,
    once_each,
    ranked_values,
    replies_of,
)
from proofstone.stats.intervals import benjamini_hochberg
from proofstone.stats.irt import ItemResponse, fit_two_parameter
from proofstone.stats.items import (
    ItemFlag,
    ItemStatistics,
    KeyFlag,
    KeyStatistics,
    describe_items,
    describe_keys,
)
from proofstone.stats.stability import Reliability, measure_reliability
from proofstone.wording.messages import counted, language, noted, paragraph, say, say_of, word

# Why an item or a statement is to be looked at: the reasons in words, gravest first.

Reason = ItemFlag | KeyFlag


# Those that accuse come before those that only say that an item tells nobody apart.
REASONS: dict[Reason, str] = {
    "strong-distractor": noted("the strongest agree on one wrong answer: it may be the right one"),
    "probably-wrong": noted("its questions are missed more, and the strong gain nothing on them"),
    "weak-beat-strong": noted("the weak are right and the strong wrong: the key may be wrong"),
    "nearly-all-wrong": noted("nearly everybody is wrong: too hard, or the key is wrong"),
    "harder-than-the-rest": noted("questions that hold it are missed more than the others"),
    "nearly-all-right": noted("nearly everybody is right: it tells nobody apart"),
}


_OF_STATEMENTS: dict[Reason, str] = {
    "weak-beat-strong": noted("on questions that hold it the weak do better than the strong"),
}


_PLACES = {flag: place for place, flag in enumerate(REASONS)}


def gravity(flags: Iterable[Reason]) -> int:
    """The place of the gravest of ``flags``, from 0; after all where there is none."""
    return min((_PLACES[flag] for flag in flags), default=len(_PLACES))


def reasons_in_words(flags: Iterable[Reason], *, of_statement: bool = False) -> str:
    """The reasons, gravest first, in the language in force."""
    said = REASONS | (_OF_STATEMENTS if of_statement else {})
    words = [word(said[flag]) for flag in sorted(flags, key=_PLACES.__getitem__)]
    return ("；" if language() == "zh" else "; ").join(words)


# What items share, as each of it does in all items that hold it: statements to look at.
#
# Only where items hold several: an item that rests on one fact alone is judged as an item.

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


# What somebody should look at, worst first, with what to type for what is of our own.


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
    return DescribedItems(sheet.table, ranked, _item_work_described(sheet, ranked))


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


def _item_work_described(sheet: Sheet, ranked: RankedValues) -> Sequence[ItemStatistics]:
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


_FEWEST_MODELS, _FEWEST_ITEMS = 20, 20


_MOST_ITEMS = 3_000  # beyond, the fit takes longer than all the rest


_MOST_LISTED = 20


_FALSE_SHARE = 0.1


def item_model_section(evidence: Evidence) -> Section | None:
    """Skills, items that discriminate least, and items that the model does not fit. None with
    fewer than twenty items or ranked models, or with more than three thousand items."""
    found = described_items(evidence)
    if found is None or len(found.ranked.respondents) < _FEWEST_MODELS:
        return None
    if not _FEWEST_ITEMS <= len(found.ranked.units) <= _MOST_ITEMS:
        return None
    fit = fit_two_parameter(found.ranked.values)
    misfits = _misfits(fit)
    return Section(
        name="item-model",
        title=say("A model of items and skills"),
        finding=_finding(found, fit, misfits, evidence.board.confidence),
        cannot=_cannot(fit),
        how=paragraph(
            say(
                "Two-parameter logistic model by marginal maximum likelihood (Bock and Aitkin "
                "1981), with priors on slopes and intercepts (Mislevy 1986). Slopes are shrunken "
                "to {common:.2f}, the slope of a one-slope model; {n} iterations."
                if "not-converged" not in fit.flags
                else "Two-parameter logistic model by marginal maximum likelihood (Bock and "
                "Aitkin 1981), with priors on slopes and intercepts (Mislevy 1986). Slopes are "
                "shrunken to {common:.2f}, the slope of a one-slope model; {n} iterations, not "
                "converged.",
                n=fit.n_iterations,
                common=fit.common_slope,
            ),
            say(
                "Reliability is coefficient alpha, which is KR-20 for right-or-wrong items, with "
                "Feldt's (1965) interval."
            ),
            say(
                "Fit by Yen's Q1 over groups of similar skill, tested at a false discovery rate "
                "of 10%. Items count as independent given skill."
            ),
        ),
        tables=(_skills(found, fit), _items(found, fit, misfits)),
    )


def _misfits(fit: ItemResponse) -> NDArray[np.bool_]:
    """Whose curve is wrong, at a false discovery rate of 10%."""
    known = ~np.isnan(fit.fit_p)
    adjusted = np.ones(len(fit.fit_p))
    if known.any():
        adjusted[known] = benjamini_hochberg(fit.fit_p[known])
    return np.asarray(adjusted < _FALSE_SHARE)


def _finding(
    found: DescribedItems, fit: ItemResponse, misfits: NDArray[np.bool_], confidence: float
) -> str:
    ranked = found.ranked
    alpha = measure_reliability(ranked.values, ranked.keys, confidence=confidence)
    said = [_reliability(alpha)]
    if not np.isnan(fit.reliability):
        said.append(
            say(
                "Reliability under the two-parameter model: {reliability:.2f}.",
                reliability=fit.reliability,
            )
        )
    if alpha.low > 0.0:
        low, high = np.quantile(fit.difficulty, [0.1, 0.9])
        said.append(
            say(
                "80% of the items have a difficulty from {low:.1f} to {high:.1f} standard "
                "deviations of skill.",
                low=low,
                high=high,
            )
        )
    if tested := int((~np.isnan(fit.fit_p)).sum()):
        wrong = int(misfits.sum())
        said.append(
            say_of(
                wrong,
                "{items} of {n:,} does not follow the model.",
                "{items} of {n:,} do not follow the model.",
                items=counted(wrong, "item"),
                n=tested,
            )
        )
    return paragraph(*said)


def _reliability(alpha: Reliability) -> str:
    """KR-20 with its interval, and what an interval that includes 0 leaves open."""
    if np.isnan(alpha.low):
        return say("KR-20 is undefined: too few independent groups of items, or no spread.")
    ends = {"value": alpha.value, "low": alpha.low, "high": alpha.high}
    models = counted(alpha.n_respondents, "model")
    if alpha.low > 0.0:
        return say(
            "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}.", models=models, **ends
        )
    return say(
        "KR-20 is {value:.2f} [{low:.2f}, {high:.2f}], n = {models}. The interval includes 0, so "
        "these items do not show that the models differ in skill.",
        models=models,
        **ends,
    )


def _cannot(fit: ItemResponse) -> str:
    n = len(fit.skill)
    if "few-respondents" not in fit.flags:
        return ""
    return say(
        "Slopes and difficulties of single items: with {models} (fewer than 50) the priors "
        "speak with the data.",
        models=counted(n, "model"),
    )


def _skills(found: DescribedItems, fit: ItemResponse) -> Table:
    return Table(
        title=say("Skill by model"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name=say("n"), help=say("items")),
            Column(
                key="skill", name=say("skill"), help=say("in standard deviations of all skills")
            ),
            Column(key="skill_sd", name=say("its deviation"), help=say("of the posterior")),
        ),
        rows=tuple(
            (label, len(found.ranked.units), float(skill), float(sd))
            for label, skill, sd in zip(found.ranked.labels, fit.skill, fit.skill_sd, strict=True)
        ),
    )


def _items(found: DescribedItems, fit: ItemResponse, misfits: NDArray[np.bool_]) -> Table:
    order = np.lexsort((fit.slope, ~misfits))[:_MOST_LISTED]
    return Table(
        title=say("Items that fit or discriminate least"),
        columns=(
            Column(key="item", name=say("item")),
            *document_columns(found.table),
            Column(key="follows", name=say("follows the model")),
            Column(key="n", name=say("n"), help=say("models that were scored on it")),
            Column(key="slope", name=say("slope"),
                   help=say("change of the log odds per standard deviation of skill")),
            Column(key="difficulty", name=say("difficulty"),
                   help=say("the skill at which it is right half of the time")),
            Column(key="outfit", name=say("outfit"), help=say("about 1 where the model holds")),
            Column(key="infit", name=say("infit"), help=say("the same, weighted by information")),
            Column(key="fit_p", name=say("p"), unit="probability"),
        ),
        rows=tuple(
            _item_model_row(found, fit, place, wrong=bool(misfits[place]))
            for place in order.tolist()
        ),
        note=say("{most} of {items}.", most=_MOST_LISTED, items=counted(len(fit.slope), "item"))
        if len(fit.slope) > 20
        else "",
    )  # fmt: skip


def _item_model_row(
    found: DescribedItems, fit: ItemResponse, place: int, *, wrong: bool
) -> tuple[Cell, ...]:
    item = found.items[place]
    columns = (fit.slope, fit.difficulty, fit.outfit, fit.infit, fit.fit_p)
    values = (float(column[place]) for column in columns)
    return (
        found.name(item),
        *document_cells(found.table, found.documents(item)),
        say("no") if wrong else say("as far as seen"),
        item.n,
        *values,
    )

"""What tables say of items beside their scores: strata, clusters, right answers, options."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.knowledge import RoleName
from proofstone.records.models import Card, family_of
from proofstone.records.scores import Annotated, Coded, FileColumns, HeldRole, Judged, TextCodes
from proofstone.results.audit.cells import (
    CELLS,
    Problems,
    is_missing,
    number_of,
    problem_at,
    read_grades,
    read_letters,
    read_scores,
    refused,
)
from proofstone.results.audit.column_names import Layout, plain

# The scores that stand in a table: of which record, of whom, and how much.


class BadCell(NamedTuple):
    """A cell that is not what its column is to hold."""

    record: int
    column: str
    what: str


@dataclass(frozen=True, slots=True)
class ScoresIn:
    """The S scores of a table: ``record`` (S) says in which of its N records each stands, ``model``
    (S) whose it is, ``value`` (S) in [0, 1] what it is worth. Missing ones are not among them,
    except those whose outcome is told in words: their value is NaN. ``wrong`` are cells that are no
    score, and empty ones of items and models: with any, ``assemble`` refuses the whole."""

    table: FileColumns
    layout: Layout
    record: NDArray[np.int64]
    model: Coded
    value: NDArray[np.float64]
    wrong: tuple[BadCell, ...] = ()


def scores_in(table: FileColumns, layout: Layout) -> ScoresIn:
    """The scores of a wide or long table; raises BadInput where it holds none, good or bad."""
    wrong = _nameless(table, layout.item)
    if layout.kind == "long":
        wrong += _nameless(table, layout.model)
        value = _column(table, layout, layout.score, wrong)
        is_there = ~np.isnan(value)
        is_there[[cell.record for cell in wrong if cell.column == layout.score]] = True
        if layout.outcome:
            is_there |= table.columns[layout.outcome].codes >= 0
        record = np.flatnonzero(is_there)
        model, value = table.columns[layout.model].codes[record], value[record]
        names = table.columns[layout.model].names
    else:
        values = np.empty((len(table), len(layout.models)))
        for place_of, name in enumerate(layout.models):
            values[:, place_of] = _column(table, layout, name, wrong)
        record, at = np.nonzero(~np.isnan(values))
        model, value, names = at.astype(np.int32), values[record, at], layout.models
    if not wrong and not len(value):
        raise BadInput(f"{table.name} holds no score", hint=f"as read: {layout.told()}")
    named = (table.columns[layout.item].codes[record] >= 0) & (model >= 0)
    whose = Coded(model[named], names)
    return ScoresIn(table, layout, record[named], whose, value[named], tuple(wrong))


def no_scores(table: FileColumns, layout: Layout) -> ScoresIn:
    """A table of labels alone, in which there is none."""
    nobody = Coded(np.empty(0, dtype=np.int32), ())
    return ScoresIn(table, layout, np.empty(0, dtype=np.int64), nobody, np.empty(0))


def _column(
    table: FileColumns, layout: Layout, name: str, wrong: list[BadCell]
) -> NDArray[np.float64]:
    column = table.columns[name]
    if layout.graded == "answer_key":
        reading = read_letters(column, table.columns[layout.answer_key])
    elif layout.graded == "grades":
        reading = read_grades(column)
    else:
        reading = read_scores(column, percent=bool(layout.percent))
    if reading.wrong:
        codes = table.columns[name].codes
        records = np.flatnonzero(np.isin(codes, list(reading.wrong))).tolist()
        wrong += [BadCell(n, name, reading.wrong[int(codes[n])]) for n in records]
    return reading.values


def _nameless(table: FileColumns, column: str) -> list[BadCell]:
    empty = np.flatnonzero(table.columns[column].codes < 0).tolist()
    return [BadCell(record, column, "is empty") for record in empty]


def column_of(table: FileColumns, name: str) -> Coded:
    """A column by record; one missing value each where there is no such column."""
    found = table.columns.get(name) if name else None
    return found or Coded(np.full(len(table), -1, dtype=np.int32), ())


def text_codes(column: Coded, names: TextCodes) -> NDArray[np.int64]:
    """A column's texts by the codes of ``names``, which takes up what is new; -1 where there is
    none."""
    codes = np.array([*map(names.__getitem__, column.names), -1], dtype=np.int64)
    return np.asarray(codes[column.codes])


_DISAGREE = "give the items distinct names: --item-col COLUMN"


@dataclass(frozen=True, slots=True)
class Edges:
    """Which unit holds which key: parallel arrays, and each key's ``names`` as its cell has it."""

    unit: NDArray[np.int64]
    key: NDArray[np.int64]
    names: tuple[str, ...]


def fact_of_items(
    parts: Sequence[ScoresIn],
    units: Sequence[NDArray[np.int64]],
    column: str,
    n_units: int,
    problems: Problems,
) -> Coded:
    """A column's value by unit (n_units), -1 where no record gives one.

    ``units`` holds for each part the unit of each of its records, -1 where it names none. Where
    records of one item disagree, that is among ``problems``, and the first one holds.
    """
    names = TextCodes()
    found = np.full(n_units, -1, dtype=np.int32)
    for number, (part, unit) in enumerate(zip(parts, units, strict=True)):
        own = part.table.columns.get(column)
        if own is None:
            continue
        codes = np.array([*map(names.__getitem__, own.names), -1], dtype=np.int32)[own.codes]
        told = np.flatnonzero((codes >= 0) & (unit >= 0))
        first = told[np.unique(unit[told], return_index=True)[1]]
        unknown = first[found[unit[first]] < 0]
        found[unit[unknown]] = codes[unknown]
        unlike = told[found[unit[told]] != codes[told]]
        known = names.names()
        for record in unlike.tolist():
            what = (
                f"is {known[codes[record]]!r}, and another record of the same item "
                f"({_item(part, record)}) has {known[found[unit[record]]]!r}"
            )
            problems.add(number, record, what, column=column, hint=_DISAGREE)
    return Coded(found, names.names())


def _item(part: ScoresIn, record: int) -> str:
    column = part.table.columns[part.layout.item]
    return column.names[int(column.codes[record])]


def cluster_edges(facts: Sequence[Coded]) -> Edges:
    """The keys of each unit, from columns of one or several keys a cell; keys of one column are
    not those of another."""
    units, keys = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    names: list[str] = []
    for fact in facts:
        parts = TextCodes()
        held = [[parts[key] for key in _keys(name)] for name in fact.names]
        told = np.flatnonzero(fact.codes >= 0)
        counts = np.array([len(codes) for codes in held], dtype=np.int64)[fact.codes[told]]
        flat = [code for place_of in fact.codes[told].tolist() for code in held[place_of]]
        units.append(np.repeat(told, counts))
        keys.append(np.array(flat, dtype=np.int64) + len(names))
        names += parts.names()
    return Edges(np.concatenate(units), np.concatenate(keys), tuple(names))


def _keys(cell: str) -> Iterator[str]:
    """The keys in a cell: of a JSON list, or between semicolons or bars; else the cell itself."""
    if cell.startswith("["):
        try:
            listed = msgspec.json.decode(cell, type=list[str | int])
        except msgspec.DecodeError:
            listed = [cell]
        yield from (str(key) for key in listed)
        return
    yield from (key for part in re.split(r"[;|]", cell) if (key := part.strip()))


def option_counts(fact: Coded) -> NDArray[np.int32]:
    """How many options each unit has: the number in the cell, or the length of a JSON list; 0 where
    neither can be read."""
    counts = np.array([*(_option_count(name) for name in fact.names), 0], dtype=np.int32)
    return np.asarray(counts[fact.codes])


def _option_count(cell: str) -> int:
    if cell.strip().isdecimal():
        return int(cell) if 2 <= int(cell) <= 1000 else 0
    try:
        return len(msgspec.json.decode(cell, type=list[msgspec.Raw]))
    except msgspec.DecodeError:
        return 0


# What models did to the items of a file, as a user names it.


class HandNamed(Struct, frozen=True):
    """A role that ``model`` had in all items; with a ``column`` in those of its ``value``."""

    role: RoleName
    model: str
    column: str = ""
    value: str = ""


def held_roles(
    hands: Sequence[HandNamed], facts: Mapping[str, Coded], n_units: int
) -> Iterator[HeldRole]:
    """Each role with the units that it touched; ``facts`` are columns by unit. Raises BadUsage for
    a column that there is not, and for a value that no item has."""
    for hand in hands:
        if not hand.column:
            yield HeldRole(hand.role, hand.model, np.arange(n_units, dtype=np.int32))
            continue
        fact = facts[hand.column]
        if hand.value not in fact.names:
            known = ", ".join(fact.names[:10]) or "none: is there such a column?"
            raise BadUsage(
                f"no item has {hand.column} {hand.value!r}, as --role names it",
                hint=f"values there: {known}",
            )
        units = np.flatnonzero(fact.codes == fact.names.index(hand.value))
        yield HeldRole(hand.role, hand.model, units.astype(np.int32))


# What a table of results says of its models: their parameters and their family.

_COUNT = re.compile(r"(\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)\s*([kmbt]?)", re.IGNORECASE)


_BILLIONS = {"k": 1e-6, "m": 1e-3, "b": 1.0, "t": 1e3}


_RAW_FROM = 1e6  # no model has a million billions: from here a bare number counts single parameters


def model_facts(table: FileColumns, layout: Layout) -> dict[str, Card]:
    """The card of each model of a long table or one of accuracies, by its name; empty without
    columns of parameters or families.

    A bare number is billions, or millions under a name such as ``params_m``; from a million on it
    counts parameters. Raises BadInput for cells that are no number of parameters, and for models
    of which records say different things."""
    columns = {
        role: table.columns[name]
        for role in ("parameters", "active", "family")
        if (name := getattr(layout, role))
    }
    if not columns or layout.kind in ("wide", "labels") or not layout.model:
        return {}
    models = table.columns[layout.model]
    problems: list[Problem] = []
    found: dict[str, dict[str, str]] = {name: {} for name in models.names}
    for role, column in columns.items():
        header = getattr(layout, role)
        pairs = np.stack([models.codes, column.codes], axis=1)
        _, first = np.unique(pairs, axis=0, return_index=True)
        for record in sorted(first.tolist()):
            model, code = int(models.codes[record]), int(column.codes[record])
            if model < 0 or code < 0:
                continue
            text = column.names[code]
            known = found[models.names[model]].setdefault(role, text)
            if known != text:
                what = f"is {text!r}, and another record of {models.names[model]} has {known!r}"
                problems.append(problem_at(table, record, what, header))
            elif role != "family" and _billions(text, header) is None:
                what = f"{text!r} is no number of parameters (7B, 350M)"
                problems.append(problem_at(table, record, what, header))
    if problems:
        raise refused(table, problems)
    return {name: _card(name, told, layout) for name, told in found.items() if told}


def _card(name: str, told: dict[str, str], layout: Layout) -> Card:
    return Card(
        family=told.get("family") or family_of(name),
        total_parameters_b=_billions(told.get("parameters", ""), layout.parameters),
        active_parameters_b=_billions(told.get("active", ""), layout.active),
    )


def _billions(text: str, header: str) -> float | None:
    match = _COUNT.fullmatch(text.strip())
    if match is None:
        return None
    number = float(match[1].replace(",", ""))
    unit = match[2].lower()
    if unit:
        return number * _BILLIONS[unit] or None
    if number >= _RAW_FROM:
        return number / 1e9
    in_millions = {"m", "millions", "million"} & set(plain(header).split("_"))
    return number * (1e-3 if in_millions else 1.0) or None


# Columns of labels as codes of the same labels: numbers where all are, else words.

_MOST_LABELS = 20


Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelCodes:
    """The ``labels`` that columns hold: numbers, ascending, where all are (1, true and correct are
    the same then), else texts without the spaces around them, in the order of their coming."""

    labels: tuple[str, ...]
    numbers: Mapping[str, float] | None

    @property
    def values(self) -> NDArray[np.float64] | None:
        """The labels as numbers; None where they are words."""
        return None if self.numbers is None else np.array([float(each) for each in self.labels])

    def codes(self, column: Coded) -> Codes:
        """The labels of a column's records (N), -1 where there is none."""
        place = {label: code for code, label in enumerate(self.labels)}
        known = [place.get(self._label(name.strip()), -1) for name in column.names]
        return np.asarray(np.array([*known, -1], dtype=np.int64)[column.codes])

    def _label(self, text: str) -> str:
        if self.numbers is None:
            return text
        return f"{self.numbers.get(text, math.nan):.12g}"


def label_codes(columns: Sequence[Coded], *, whose: str, hint: str) -> LabelCodes:
    """The labels of several columns together; spellings of "missing" are none. Raises BadUsage
    where they are more than twenty; ``whose`` they are and ``hint`` are told then."""
    texts = (name.strip() for column in columns for name in column.names)
    names = [text for text in dict.fromkeys(texts) if text and not is_missing(text)]
    numbers = _numbers(names)
    found = names if numbers is None else [f"{each:.12g}" for each in sorted({*numbers.values()})]
    if len(found) > _MOST_LABELS:
        raise BadUsage(
            f"{whose} use {len(found):,} different labels; at most {_MOST_LABELS} are compared",
            hint=hint,
        )
    return LabelCodes(tuple(found), numbers)


def _numbers(names: Sequence[str]) -> dict[str, float] | None:
    found = {name: number_of(name) for name in names}
    known = {name: number for name, number in found.items() if number is not None}
    return known if len(known) == len(found) else None


@dataclass(frozen=True, slots=True)
class _Given:
    """L labels that were given: by file, its record, the record that is labelled, its item, the
    annotator and the label (L each)."""

    file: Codes
    row: Codes
    unit: Codes
    item: Codes
    annotator: Codes
    label: Codes


def annotator_labels(parts: Sequence[ScoresIn]) -> Annotated | None:
    """The labels of the files in which columns of labels are named; None where there are none.

    With a column of annotators each row is a label, and what is labelled is the item, or where
    these columns are known its model and sample; else each row is a record, and each column of
    labels an annotator's. Raises BadInput with all annotators who label a record twice, labels
    without an annotator or an item, and records of one item that disagree on its cluster; BadUsage
    where there are more than twenty labels.
    """
    chosen = [part for part in parts if part.layout.labels]
    if not chosen:
        return None
    columns = [column_of(part.table, name) for part in chosen for name in part.layout.labels]
    known = label_codes(
        columns,
        whose="annotators",
        hint="name columns of labels, or of scores with few steps: --label-col COLUMN,...",
    )
    problems = Problems([part.table for part in chosen])
    items, annotators = TextCodes(), TextCodes()
    units = _by_record(chosen, "item", items)
    given = _given(chosen, units, known, annotators, problems)
    _note_repeats(chosen, given, annotators, problems)
    edges = _clusters(chosen, units, len(items), problems)
    labelled, first, place = np.unique(given.unit, return_index=True, return_inverse=True)
    ratings = np.full((len(labelled), len(annotators) - 1), -1, dtype=np.int32)
    ratings[place, given.annotator] = given.label
    spoke = np.flatnonzero((ratings >= 0).any(axis=0))  # a column may be empty
    names = annotators.names()
    models, model = _models(chosen)
    return Annotated(
        labels=known.labels,
        annotators=tuple(names[place] for place in spoke.tolist()),
        ratings=ratings[:, spoke],
        item=given.item[first],
        values=known.values,
        cluster_item=edges.unit,
        cluster_key=edges.key,
        models=models,
        model=None if model is None else model[labelled],
    )


def _models(parts: Sequence[ScoresIn]) -> tuple[tuple[str, ...], Codes | None]:
    """Whose answer each row is, where each row is a record; nothing where rows are labels."""
    if any(part.layout.annotator or not part.layout.model for part in parts):
        return (), None
    known = TextCodes()
    codes = np.concatenate(_by_record(parts, "model", known))
    return known.names(), codes


def _by_record(parts: Sequence[ScoresIn], role: str, names: TextCodes) -> list[Codes]:
    """The column of a role in each part, by the codes of ``names``."""
    return [text_codes(column_of(part.table, getattr(part.layout, role)), names) for part in parts]


def _clusters(
    parts: Sequence[ScoresIn], units: Sequence[Codes], n_items: int, problems: Problems
) -> Edges:
    """What items share. Raises BadInput with all ``problems``, those of clusters among them."""
    named = dict.fromkeys(name for part in parts for name in part.layout.clusters)
    facts = [fact_of_items(parts, units, name, n_items, problems) for name in named]
    problems.refuse()
    return cluster_edges(facts)


def _given(
    parts: Sequence[ScoresIn],
    units: Sequence[Codes],
    known: LabelCodes,
    annotators: TextCodes,
    problems: Problems,
) -> _Given:
    """All labels, those of rows after each other where each has its row."""
    records, found, before = TextCodes(), [], 0
    for number, (part, item) in enumerate(zip(parts, units, strict=True)):
        table, layout = part.table, part.layout
        rows = np.arange(len(table))
        if layout.annotator:
            unit = _labelled(part, records)
            who = [text_codes(table.columns[layout.annotator], annotators)]
        else:
            unit = before + rows
            who = [np.full(len(table), annotators[name]) for name in layout.labels]
        before += len(table)
        for name, own in zip(layout.labels, who, strict=True):
            label = known.codes(table.columns[name])
            for column, codes in ((layout.item, item), (layout.annotator, own)):
                for record in np.flatnonzero((label >= 0) & (codes < 0)).tolist():
                    problems.add(number, record, "is empty", column=column, hint=CELLS)
            kept = (label >= 0) & (item >= 0) & (own >= 0)
            one = np.full(int(kept.sum()), number)
            found.append((one, *(each[kept] for each in (rows, unit, item, own, label))))
    return _Given(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _labelled(part: ScoresIn, records: TextCodes) -> Codes:
    """What each row labels: its item, of its model and sample, by the codes of ``records``."""
    layout = part.layout
    columns = [column_of(part.table, n) for n in (layout.item, layout.model, layout.sample)]
    named = [(*column.names, "") for column in columns]
    told = zip(*(column.codes.tolist() for column in columns), strict=True)
    keys = ("\x1f".join(names[c] for names, c in zip(named, codes, strict=True)) for codes in told)
    return np.fromiter(map(records.__getitem__, keys), dtype=np.int64, count=len(part.table))


def _note_repeats(
    parts: Sequence[ScoresIn], given: _Given, annotators: TextCodes, problems: Problems
) -> None:
    """Notes where an annotator labels a record again, with the first place."""
    key = given.unit * len(annotators) + given.annotator
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    names = annotators.names()
    for at in np.flatnonzero(first[place] != np.arange(len(key))).tolist():
        before = int(first[place[at]])
        where = problems.where(int(given.file[before]), int(given.row[before]))
        problems.add(
            int(given.file[at]),
            int(given.row[at]),
            f"{names[int(given.annotator[at])]} labels the same record again, as at {where}",
            column=parts[int(given.file[at])].layout.annotator,
            hint="each annotator may label a record once; if records differ by "
            "model or sample, name that column: --model-col COLUMN, "
            "--sample-col COLUMN",
        )


# The columns of people's and of a judge's labels, as codes of the same labels.


def judged_labels(parts: Sequence[ScoresIn]) -> Judged | None:
    """Both labels of every record of the files in which people's column is named; None where it is
    named in none. Labels are numbers where all are (1, true and correct are the same then), else
    texts without the spaces around them.

    Raises BadUsage without a judge's column, and where there are more than twenty labels.
    """
    chosen = [part for part in parts if part.layout.human]
    if not chosen:
        return None
    people = [column_of(part.table, part.layout.human) for part in chosen]
    judge = [column_of(part.table, _judge(part.layout)) for part in chosen]
    known = label_codes(
        [*people, *judge],
        whose="people and the judge",
        hint="name columns of labels, or of scores with few steps: --human-col COLUMN "
        "--judge-col COLUMN",
    )
    items, models = TextCodes(), TextCodes()
    units = _by_record(chosen, "item", items)
    edges = _clusters(chosen, units, len(items), Problems([part.table for part in chosen]))
    return Judged(
        labels=known.labels,
        people=np.concatenate([known.codes(column) for column in people]),
        judge=np.concatenate([known.codes(column) for column in judge]),
        item=np.concatenate(units),
        model=np.concatenate(_by_record(chosen, "model", models)),
        models=models.names(),
        values=known.values,
        cluster_item=edges.unit,
        cluster_key=edges.key,
    )


def _judge(layout: Layout) -> str:
    name = layout.judge or layout.score
    if not name:
        raise BadUsage(
            f"column {layout.human!r} has people's labels, but no column is known as the judge's",
            hint="name it: --judge-col COLUMN",
        )
    return name

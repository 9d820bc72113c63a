"""Scores of tables, and facts about items: strata, clusters, answer keys, options."""

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

# Scores of a table with record, model and value.


class BadCell(NamedTuple):
    """A cell that is invalid for its column."""

    record: int
    column: str
    what: str


@dataclass(frozen=True, slots=True)
class ScoresIn:
    """S scores of a table: ``record`` (S) of N, ``model`` (S) and ``value`` (S) in [0, 1].

    Missing scores are omitted, except those with an outcome in words, whose value is NaN. ``wrong``
    are cells that are not a score, and empty cells of items and models. With any of these,
    ``assemble`` raises an error.
    """

    table: FileColumns
    layout: Layout
    record: NDArray[np.int64]
    model: Coded
    value: NDArray[np.float64]
    wrong: tuple[BadCell, ...] = ()


def scores_in(table: FileColumns, layout: Layout) -> ScoresIn:
    """Return the scores of a wide or long table. Raises BadInput if it has none, valid or not."""
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
    """Return a table of labels, without scores."""
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
    """Return a column by record; missing values if there is no such column."""
    found = table.columns.get(name) if name else None
    return found or Coded(np.full(len(table), -1, dtype=np.int32), ())


def text_codes(column: Coded, names: TextCodes) -> NDArray[np.int64]:
    """Return a column's texts as codes of ``names``, adding new ones; -1 if missing."""
    codes = np.array([*map(names.__getitem__, column.names), -1], dtype=np.int64)
    return np.asarray(codes[column.codes])


_DISAGREE = "give the items distinct names: --item-col COLUMN"


@dataclass(frozen=True, slots=True)
class Edges:
    """Pairs of unit and key as parallel arrays; ``names`` are the keys as in the cells."""

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
    """Return a column's value by unit (n_units), -1 if no record gives one.

    ``units`` holds for each part the unit of each record, -1 if none. Disagreements between records
    of one item are added to ``problems``, and the first value is used.
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
    """Return the keys of each unit from columns with one or several keys per cell.

    Keys of different columns are different.
    """
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
    """Yield the keys in a cell: a JSON list, texts separated by ; or |, or the cell itself."""
    if cell.startswith("["):
        try:
            listed = msgspec.json.decode(cell, type=list[str | int])
        except msgspec.DecodeError:
            listed = [cell]
        yield from (str(key) for key in listed)
        return
    yield from (key for part in re.split(r"[;|]", cell) if (key := part.strip()))


def option_counts(fact: Coded) -> NDArray[np.int32]:
    """Return the number of options of each unit: a number, or the length of a JSON list.

    0 if neither can be parsed.
    """
    counts = np.array([*(_option_count(name) for name in fact.names), 0], dtype=np.int32)
    return np.asarray(counts[fact.codes])


def _option_count(cell: str) -> int:
    if cell.strip().isdecimal():
        return int(cell) if 2 <= int(cell) <= 1000 else 0
    try:
        return len(msgspec.json.decode(cell, type=list[msgspec.Raw]))
    except msgspec.DecodeError:
        return 0


# Roles of models in the items of a file, given by a user.


class NamedRole(Struct, frozen=True):
    """A role that ``model`` had in all items, or those with ``value`` in ``column``."""

    role: RoleName
    model: str
    column: str = ""
    value: str = ""


def held_roles(
    roles_held: Sequence[NamedRole], facts: Mapping[str, Coded], n_units: int
) -> Iterator[HeldRole]:
    """Yield each role with its units; ``facts`` are columns by unit.

    Raises BadUsage for an unknown column, and for a value that no item has.
    """
    for role in roles_held:
        if not role.column:
            yield HeldRole(role.role, role.model, np.arange(n_units, dtype=np.int32))
            continue
        fact = facts[role.column]
        if role.value not in fact.names:
            known = ", ".join(fact.names[:10]) or "none: is there such a column?"
            raise BadUsage(
                f"no item has {role.column} {role.value!r}, as --role names it",
                hint=f"values there: {known}",
            )
        units = np.flatnonzero(fact.codes == fact.names.index(role.value))
        yield HeldRole(role.role, role.model, units.astype(np.int32))


# Parameters and families of models in a table.

_COUNT = re.compile(r"(\d+(?:[.,]\d+)*(?:e[+-]?\d+)?)\s*([kmbt]?)", re.IGNORECASE)


_BILLIONS = {"k": 1e-6, "m": 1e-3, "b": 1.0, "t": 1e3}


_RAW_FROM = 1e6  # from here a bare number counts parameters, since no model has a million billions


def model_facts(table: FileColumns, layout: Layout) -> dict[str, Card]:
    """Return the card of each model of a long table or one of accuracies, by name.

    Empty without columns of parameters or families. A bare number is in billions, or millions under
    a name such as ``params_m``; from a million on it counts parameters. Raises BadInput for invalid
    numbers of parameters, and for contradictory records of a model.
    """
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


# Columns of labels as codes of common labels, numeric if all are numbers.

_MOST_LABELS = 20


Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LabelCodes:
    """The ``labels`` of columns.

    If all are numbers they are ascending (1, true and correct are then equal). Otherwise they are
    stripped texts in order of first appearance.
    """

    labels: tuple[str, ...]
    numbers: Mapping[str, float] | None

    @property
    def values(self) -> NDArray[np.float64] | None:
        """Return the labels as numbers; None if they are words."""
        return None if self.numbers is None else np.array([float(each) for each in self.labels])

    def codes(self, column: Coded) -> Codes:
        """Return the label codes of a column's records (N), -1 if missing."""
        place = {label: code for code, label in enumerate(self.labels)}
        known = [place.get(self._label(name.strip()), -1) for name in column.names]
        return np.asarray(np.array([*known, -1], dtype=np.int64)[column.codes])

    def _label(self, text: str) -> str:
        if self.numbers is None:
            return text
        return f"{self.numbers.get(text, math.nan):.12g}"


def label_codes(columns: Sequence[Coded], *, whose: str, hint: str) -> LabelCodes:
    """Return the labels of several columns jointly, without spellings of "missing".

    Raises BadUsage for more than twenty labels, with ``whose`` and ``hint`` in the message.
    """
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
    """L labels: file, row, labeled record, item, annotator and label code (L each)."""

    file: Codes
    row: Codes
    unit: Codes
    item: Codes
    annotator: Codes
    label: Codes


def annotator_labels(parts: Sequence[ScoresIn]) -> Annotated | None:
    """Return the labels of files with named columns of labels; None without any.

    With a column of annotators, each row is one label of an item, or of its model and sample if
    these columns exist. Otherwise each row is a record, and each column of labels is an annotator.
    Raises BadInput with all repeated labels of an annotator, labels without an annotator or item,
    and records of one item with different clusters; BadUsage for more than twenty labels.
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
    """Return the model of each row, if each row is a record; nothing if rows are labels."""
    if any(part.layout.annotator or not part.layout.model for part in parts):
        return (), None
    known = TextCodes()
    codes = np.concatenate(_by_record(parts, "model", known))
    return known.names(), codes


def _by_record(parts: Sequence[ScoresIn], role: str, names: TextCodes) -> list[Codes]:
    """Return the column of a role in each part as codes of ``names``."""
    return [text_codes(column_of(part.table, getattr(part.layout, role)), names) for part in parts]


def _clusters(
    parts: Sequence[ScoresIn], units: Sequence[Codes], n_items: int, problems: Problems
) -> Edges:
    """Return the clusters of items.

    Raises BadInput with all ``problems``, including those of clusters.
    """
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
    """Return all labels of all parts."""
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
    """Return the record that each row labels (item, model and sample) as codes of ``records``."""
    layout = part.layout
    columns = [column_of(part.table, n) for n in (layout.item, layout.model, layout.sample)]
    named = [(*column.names, "") for column in columns]
    told = zip(*(column.codes.tolist() for column in columns), strict=True)
    keys = ("\x1f".join(names[c] for names, c in zip(named, codes, strict=True)) for codes in told)
    return np.fromiter(map(records.__getitem__, keys), dtype=np.int64, count=len(part.table))


def _note_repeats(
    parts: Sequence[ScoresIn], given: _Given, annotators: TextCodes, problems: Problems
) -> None:
    """Record repeated labels of a record by an annotator, with the first place."""
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


# Columns of human labels and of a judge's labels, as codes of common labels.


def judged_labels(parts: Sequence[ScoresIn]) -> Judged | None:
    """Return both labels of every record in files with a named column of human labels.

    None if no file has one. If all labels are numbers they are compared as such (1, true and
    correct are then equal), otherwise as stripped texts. Raises BadUsage without a judge's column,
    and for more than twenty labels.
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

"""Several annotators' labels of the same records: a column each, or a row each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records.scores import Annotated, Coded, Judged, TextCodes
from proofstone.results.audit.cells import is_missing, number_of
from proofstone.results.audit.column_names import Layout
from proofstone.results.audit.problems import CELLS, Problems
from proofstone.results.audit.scores import (
    Edges,
    ScoresIn,
    cluster_edges,
    column_of,
    fact_of_items,
    text_codes,
)

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
    names = _names(columns)
    numbers = _numbers(names)
    found = names if numbers is None else [f"{each:.12g}" for each in sorted({*numbers.values()})]
    if len(found) > _MOST_LABELS:
        raise BadUsage(
            f"{whose} use {len(found):,} different labels; at most {_MOST_LABELS} are compared",
            hint=hint,
        )
    return LabelCodes(tuple(found), numbers)


def _names(columns: Sequence[Coded]) -> list[str]:
    """The labels as written, in the order of their first coming."""
    texts = (name.strip() for column in columns for name in column.names)
    return [text for text in dict.fromkeys(texts) if text and not is_missing(text)]


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
        hint="name columns of labels, or of scores with few steps: --labels COLUMN,...",
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
            hint="each annotator may label a record once; what else tells records apart can be "
            "named: --model COLUMN, --sample COLUMN",
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
        hint="name columns of labels, or of scores with few steps: --human COLUMN --judge COLUMN",
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
            hint="name it: --judge COLUMN",
        )
    return name

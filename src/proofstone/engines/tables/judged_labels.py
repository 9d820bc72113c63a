"""The columns of people's and of a judge's labels, as codes of the same labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.item_facts import cluster_edges, fact_of_items
from proofstone.engines.tables.layout import Layout
from proofstone.engines.tables.problems import Problems
from proofstone.engines.tables.score_texts import MISSING, number_of
from proofstone.engines.tables.scores_in import ScoresIn
from proofstone.errors import BadUsage
from proofstone.records import Coded, FileColumns, Judged, TextCodes

__all__ = ["judged_labels"]

_MOST_LABELS = 20
Codes = NDArray[np.int64]


def judged_labels(parts: Sequence[ScoresIn]) -> Judged | None:
    """Both labels of every record of the files in which people's column is named; None where it is
    named in none. Labels are numbers where all are (1, true and correct are the same then), else
    texts without the spaces around them.

    Raises BadUsage without a judge's column, and where there are more than twenty labels.
    """
    chosen = [part for part in parts if part.layout.human]
    if not chosen:
        return None
    people = [_column(part.table, part.layout.human) for part in chosen]
    judge = [_column(part.table, _judge(part.layout)) for part in chosen]
    names = _names([*people, *judge])
    numbers = _numbers(names)
    labels = _labels(names, numbers)
    items, models = TextCodes(), TextCodes()
    units = [_texts([_column(part.table, part.layout.item)], items) for part in chosen]
    named = dict.fromkeys(name for part in chosen for name in part.layout.clusters)
    problems = Problems([part.table for part in chosen])
    facts = [fact_of_items(chosen, units, name, len(items), problems) for name in named]
    problems.refuse()
    edges = cluster_edges(facts)
    return Judged(
        labels=labels,
        people=_coded(people, labels, numbers),
        judge=_coded(judge, labels, numbers),
        item=np.concatenate(units),
        model=_texts([_column(part.table, part.layout.model) for part in chosen], models),
        models=models.names(),
        values=None if numbers is None else np.array([float(label) for label in labels]),
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


def _column(table: FileColumns, name: str) -> Coded:
    found = table.columns.get(name) if name else None
    return found or Coded(np.full(len(table), -1, dtype=np.int32), ())


def _names(columns: Sequence[Coded]) -> list[str]:
    """The labels as written, in the order of their first coming; spellings of "missing" left
    out."""
    texts = (name.strip() for column in columns for name in column.names)
    return [text for text in dict.fromkeys(texts) if text and text.lower() not in MISSING]


def _numbers(names: Sequence[str]) -> dict[str, float] | None:
    found = {name: number_of(name) for name in names}
    known = {name: number for name, number in found.items() if number is not None}
    return known if len(known) == len(found) else None


def _labels(names: Sequence[str], numbers: dict[str, float] | None) -> tuple[str, ...]:
    found = names if numbers is None else [f"{each:.12g}" for each in sorted({*numbers.values()})]
    if len(found) > _MOST_LABELS:
        raise BadUsage(
            f"people and the judge use {len(found):,} different labels; "
            f"at most {_MOST_LABELS} are compared",
            hint="name columns of labels, or of scores with few steps: --human COLUMN --judge "
            "COLUMN",
        )
    return tuple(found)


def _coded(
    columns: Sequence[Coded], labels: Sequence[str], numbers: dict[str, float] | None
) -> Codes:
    place = {label: code for code, label in enumerate(labels)}

    def code_of(name: str) -> int:
        text = name.strip()
        number = math.nan if numbers is None else numbers.get(text, math.nan)
        return place.get(text if numbers is None else f"{number:.12g}", -1)

    parts = []
    for column in columns:
        codes = np.array([*map(code_of, column.names), -1], dtype=np.int64)
        parts.append(codes[column.codes])
    return np.concatenate(parts)


def _texts(columns: Sequence[Coded], names: TextCodes) -> Codes:
    parts = []
    for column in columns:
        codes = np.array([*map(names.__getitem__, column.names), -1], dtype=np.int64)
        parts.append(codes[column.codes])
    return np.concatenate(parts)

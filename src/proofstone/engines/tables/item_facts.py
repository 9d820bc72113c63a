"""What tables say of items beside their scores: strata, clusters, right answers, options."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.problems import Problems
from proofstone.engines.tables.scores_in import ScoresIn
from proofstone.records import Coded, TextCodes

__all__ = ["Edges", "cluster_edges", "fact_of_items", "option_counts"]


_DISAGREE = "two items of one name need names of their own: --item COLUMN"


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

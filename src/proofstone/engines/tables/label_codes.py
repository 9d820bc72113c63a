"""Columns of labels as codes of the same labels: numbers where all are, else words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.tables.score_texts import MISSING, number_of
from proofstone.errors import BadUsage
from proofstone.records import Coded, FileColumns, TextCodes

__all__ = ["LabelCodes", "column_of", "label_codes", "text_codes"]

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


def column_of(table: FileColumns, name: str) -> Coded:
    """A column by record; one missing value each where there is no such column."""
    found = table.columns.get(name) if name else None
    return found or Coded(np.full(len(table), -1, dtype=np.int32), ())


def text_codes(column: Coded, names: TextCodes) -> Codes:
    """A column's texts by the codes of ``names``, which takes up what is new; -1 where there is
    none."""
    codes = np.array([*map(names.__getitem__, column.names), -1], dtype=np.int64)
    return np.asarray(codes[column.codes])


def _names(columns: Sequence[Coded]) -> list[str]:
    """The labels as written, in the order of their first coming."""
    texts = (name.strip() for column in columns for name in column.names)
    return [text for text in dict.fromkeys(texts) if text and text.lower() not in MISSING]


def _numbers(names: Sequence[str]) -> dict[str, float] | None:
    found = {name: number_of(name) for name in names}
    known = {name: number for name, number in found.items() if number is not None}
    return known if len(known) == len(found) else None

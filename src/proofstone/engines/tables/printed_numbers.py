"""Numbers as they are printed: the range of those that a rounded one may stand for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from proofstone.engines.tables.score_texts import number_of
from proofstone.records import Coded

__all__ = ["Printed", "PrintedTable", "printed", "printed_column"]

_NUMBER = re.compile(r"^[+\-\u2212]?\d*[.,]?(\d*)$")
_HAIR = 1e-9  # of floating point, in units of the column


@dataclass(frozen=True, slots=True)
class Printed:
    """A number as printed: ``low`` and ``high`` are the least and greatest that print so."""

    text: str
    value: float
    low: float
    high: float
    digits: int

    @property
    def half(self) -> float:
        """Half a unit of the last digit."""
        return 0.5 * 10.0**-self.digits

    def within(self, low: float, high: float) -> bool:
        """Return True if some number from ``low`` to ``high`` prints so."""
        return low <= self.high + _HAIR and high >= self.low - _HAIR


@dataclass(frozen=True, slots=True)
class PrintedTable:
    """A table's rows by their names and its columns of printed numbers, None where none is; ``top``
    is 100 for columns of percentages and 1 for shares, ``n`` the stated items behind each column
    or cell."""

    rows: Sequence[str]
    columns: Mapping[str, Sequence[Printed | None]]
    top: Mapping[str, float]
    n: Mapping[str, Sequence[int]]


def printed(text: str) -> Printed | None:
    """A cell's number; None where it holds none, or a word."""
    short = text.strip().removesuffix("%").strip().replace("\u2212", "-")
    match = _NUMBER.fullmatch(short)
    value = number_of(short)
    if match is None or value is None or math.isnan(value):
        return None
    digits = len(match[1]) if re.search(r"[.,]", short) else 0
    half = 0.5 * 10.0**-digits
    return Printed(text.strip(), value, value - half, value + half, digits)


def printed_column(column: Coded, records: Sequence[int]) -> list[Printed | None]:
    """The numbers of a column's records as they are printed."""
    known = [*map(printed, column.names), None]
    return [known[code] for code in np.asarray(column.codes)[list(records)].tolist()]

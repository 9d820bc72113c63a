"""Cells that hold a score and its uncertainty (``48.55 ± 0.56``), split into two columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from proofstone.engines.tables.column_names import quantity_of
from proofstone.engines.tables.score_texts import MISSING
from proofstone.records import Coded, FileColumns, coded_texts

__all__ = ["UNCERTAINTY", "split_cells"]

# What the second number is called where the column's name does not say what it is.
UNCERTAINTY = "uncertainty"

_NUMBER = r"\d+(?:[.,]\d+)?|[.]\d+"
_PLUS_MINUS = re.compile(
    rf"\$?({_NUMBER})\s*(%?)\s*(?:_\{{)?\s*(?:\u00b1|\+/?-|\\pm)\s*({_NUMBER})\s*(%?)\s*\}}?\$?"
)
# In brackets a number may be anything (a rank, a count): an uncertainty has decimals as the score
# has them, and is less than half of it.
_BRACKETS = re.compile(rf"({_NUMBER})\s*(%?)\s*\(\s*({_NUMBER})\s*(%?)\s*\)")
_PARTS = re.compile(r"\s*(?:\u00b1|\+/?-|\\pm|\(|\[)")


def split_cells(table: FileColumns) -> FileColumns:
    """The table with each column whose filled cells hold two such numbers, or one in some of them,
    as two columns: the score, and its uncertainty by the name that the header gives it (a standard
    error, a standard deviation), else ``NAME uncertainty``."""
    columns: dict[str, Coded] = {}
    for name, column in table.columns.items():
        parts = _parts_of(column)
        if parts is None:
            columns[name] = column
            continue
        taken = {*table.columns, *columns}
        score, spread = _named(name, taken)
        first = ["" if code < 0 else parts[code][0] for code in column.codes.tolist()]
        second = ["" if code < 0 else parts[code][1] for code in column.codes.tolist()]
        columns[score], columns[spread] = coded_texts(first), coded_texts(second)
    return replace(table, columns=columns)


def _parts_of(column: Coded) -> Mapping[int, tuple[str, str]] | None:
    """Both numbers of each different cell, the second empty where a cell holds one; None where
    this is no such column."""
    found, n_pairs = {}, 0
    for code, text in enumerate(column.names):
        short = text.strip().replace("\u2212", "-")
        pair = _PLUS_MINUS.fullmatch(short) or _in_brackets(short)
        if pair is not None:
            found[code] = (f"{pair[1]}{pair[2] or pair[4]}", f"{pair[3]}{pair[4] or pair[2]}")
            n_pairs += 1
        elif short.lower() in MISSING or re.fullmatch(rf"({_NUMBER})\s*%?", short):
            found[code] = (text, "")
        else:
            return None
    return found if n_pairs else None


def _in_brackets(text: str) -> re.Match[str] | None:
    match = _BRACKETS.fullmatch(text)
    if match is None:
        return None
    score, spread = (float(match[place].replace(",", ".")) for place in (1, 3))
    digits = [len(re.split(r"[.,]", match[place] + ".")[1]) for place in (1, 3)]
    return match if digits[1] >= max(digits[0], 1) and spread < score / 2 else None


def _named(header: str, taken: set[str]) -> tuple[str, str]:
    """What the two columns are called. A header that names the uncertainty (``acc (± SE)``) names
    the second column; the first keeps what stands before."""
    score = _PARTS.split(header, maxsplit=1)[0].strip()
    what = re.sub(r"[^A-Za-z0-9]+", " ", header[len(score) :]).strip()
    if not score or score in taken - {header} or quantity_of(what) not in ("stderr", "spread"):
        return header, f"{header} {UNCERTAINTY}"
    return score, f"{score} {what}"

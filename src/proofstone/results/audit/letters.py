"""Cells that hold letters as scores: answers against the right ones, and grades A, B and C."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np

from proofstone.records.scores import Coded
from proofstone.results.audit.score_texts import MISSING, Reading

# One letter, also in brackets or before a point, or several different capitals: an exact set.
_LETTER = re.compile(r"^[(\[]?([A-Za-z])[)\].:]?$")


_SEVERAL = re.compile(r"^[A-J](?:[,;+ ]*[A-J]){1,9}$")


_GRADES: Mapping[str, float] = {"A": 1.0, "B": 0.0, "C": 0.0}


def _letters_of(text: str) -> str | None:
    """The letters of a cell in their order; None where it holds none."""
    short = text.strip()
    if match := _LETTER.fullmatch(short):
        return match[1].upper()
    if _SEVERAL.fullmatch(short):
        letters = re.sub(r"[^A-J]", "", short)
        return "".join(sorted(letters)) if len(set(letters)) == len(letters) else None
    return None


def is_letters(column: Coded) -> bool:
    """Return True if nine of ten filled cells or more hold letters, missing ones aside."""
    counts = np.bincount(column.codes[column.codes >= 0], minlength=len(column.names))
    filled = [
        (name, int(n))
        for name, n in zip(column.names, counts, strict=True)
        if name.strip().lower() not in MISSING
    ]
    good = sum(n for name, n in filled if _letters_of(name) is not None)
    return good > 0 and 10 * good >= 9 * sum(n for _, n in filled)


def is_grades(column: Coded) -> bool:
    """Return True if every filled cell is A, B or C, and one of them is A or B."""
    letters = {_letters_of(name) for name in column.names if name.strip().lower() not in MISSING}
    return bool(letters & {"A", "B"}) and letters <= set(_GRADES)


def read_letters(column: Coded, gold: Coded) -> Reading:
    """1 where a cell holds the letters of the right answer, else 0; NaN where either is missing.
    Texts that are no letters are among ``wrong``, by their codes."""
    known = {name: code for code, name in enumerate(dict.fromkeys(map(_key, gold.names)))}
    keys = np.array([*(known[_key(name)] for name in gold.names), -1])[gold.codes]
    own = np.array([*(known.get(_key(name), -2) for name in column.names), -1])[column.codes]
    missing = (keys < 0) | np.isin(column.codes, [-1, *_missing(column)])
    values = np.where(missing, np.nan, (own == keys).astype(np.float64))
    wrong = {
        code: f"expected a letter, came {name[:40]!r}"
        for code, name in enumerate(column.names)
        if _letters_of(name) is None and code not in _missing(column)
    }
    return Reading(values, wrong)


def read_grades(column: Coded) -> Reading:
    """1 for A (correct), 0 for B (incorrect) and C (not attempted)."""
    worth = [_GRADES.get(_letters_of(name) or "", np.nan) for name in column.names]
    wrong = {
        code: f"expected a grade A, B or C, came {name[:40]!r}"
        for code, name in enumerate(column.names)
        if np.isnan(worth[code]) and code not in _missing(column)
    }
    return Reading(np.array([*worth, np.nan])[column.codes], wrong)


def _key(name: str) -> str:
    return _letters_of(name) or name.strip()


def _missing(column: Coded) -> list[int]:
    return [code for code, name in enumerate(column.names) if name.strip().lower() in MISSING]

"""Read table cells as scores from 0 to 1; detect missing and invalid ones."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.records.scores import Coded, FileColumns, coded_texts
from proofstone.results.audit.column_names import quantity_of

# Spellings of a missing score in addition to the empty cell; compared in lower case.
MISSING = frozenset({"na", "n/a", "nan", "null", "none", "-", "--", "\u2013", "\u2014", "missing"})


# Scores are too small for a thousands separator, so a comma is a decimal separator.
_DECIMAL_COMMA = re.compile(r"^(\d+),(\d+)$")


_WORDS: Mapping[str, float] = {
    "true": 1.0, "correct": 1.0, "right": 1.0, "yes": 1.0, "pass": 1.0, "passed": 1.0,
    "not_attempted": 0.0, "not attempted": 0.0,
    "false": 0.0, "incorrect": 0.0, "wrong": 0.0, "no": 0.0, "fail": 0.0, "failed": 0.0,
}  # fmt: skip


class Reading(Struct, frozen=True):
    """A column as numbers (N, NaN if missing), and the texts that are not a score, by code."""

    values: NDArray[np.float64]
    wrong: Mapping[int, str]


def is_missing(text: str) -> bool:
    """Return True if a filled cell spells a missing score."""
    return text.strip().lower() in MISSING


def number_of(text: str) -> float | None:
    """Return the number in a cell, which may have a percent sign or be a word for right or wrong.

    NaN for a spelling of "missing"; None for other texts.
    """
    short = text.strip().lower()
    if short in MISSING or not short:
        return math.nan
    if short in _WORDS:
        return _WORDS[short]
    try:
        number = float(_DECIMAL_COMMA.sub(r"\1.\2", short.removesuffix("%").strip()))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_percent(columns: Iterable[Coded]) -> bool:
    """Return True if cells are percentages.

    Either most nonzero ones are greater than 1 and some greater than 10, or most have percent
    signs. Values up to 10 may be grades of a judge, so the user must decide.
    """
    above = others = 0
    is_clear = False
    for column in columns:
        for name, n in zip(column.names, _counts(column), strict=True):
            number = number_of(name)
            if number is None or math.isnan(number) or not number:
                continue
            if number > 100 or number < 0:
                others += n
            elif number > 1 or "%" in name:
                above += n
                is_clear = is_clear or number > 10 or "%" in name
            else:
                others += n
    return is_clear and above > others


def is_scores(column: Coded) -> bool:
    """Return True if at least half of the filled cells are numbers from 0 to 100 or words.

    The words are those for right and wrong. Other cells are then reported as problems.
    """
    good = sum(
        n
        for name, n in zip(column.names, _counts(column), strict=True)
        if (number := number_of(name)) is not None and not math.isnan(number) and 0 <= number <= 100
    )
    return good > 0 and 2 * good >= sum(_counts(column))


def is_flag(column: Coded) -> bool:
    """Return True if a column holds exactly 0 and 1: a property of a model rather than a score."""
    numbers = [number_of(name) for name in column.names]
    return {0.0, 1.0} == {each for each in numbers if each is None or not math.isnan(each)}


def read_numbers(column: Coded) -> NDArray[np.float64]:
    """Return the cells of a column as numbers; NaN if missing or not a number."""
    numbers = [number_of(name) for name in column.names]
    known = np.array([*(np.nan if number is None else number for number in numbers), np.nan])
    return np.asarray(known[column.codes])


def read_scores(column: Coded, *, percent: bool) -> Reading:
    """Return the cells of a column as scores, percentages divided by 100."""
    most = 100.0 if percent else 1.0
    scores = np.full(len(column.names) + 1, np.nan)  # the last one is for code -1
    wrong: dict[int, str] = {}
    for code, name in enumerate(column.names):
        number = number_of(name)
        if number is None:
            wrong[code] = f"expected a number from 0 to {most:g}, came {name[:40]!r}"
        elif number < 0 or number > most:
            wrong[code] = f"expected a score from 0 to {most:g}, came {name}"
        else:
            scores[code] = number / most
    return Reading(scores[column.codes], wrong)


def _counts(column: Coded) -> list[int]:
    codes = column.codes[column.codes >= 0]
    return [int(n) for n in np.bincount(codes, minlength=len(column.names))]


# Records with given values in given columns.


def chosen(table: FileColumns, where: Mapping[str, str]) -> FileColumns:
    """Return the records whose columns have these values, in order.

    Raises BadUsage for an unknown column, and if no record is left.
    """
    kept = np.ones(len(table), dtype=bool)
    for column, value in where.items():
        if column not in table.columns:
            raise BadUsage(
                f"{table.name} has no column {column!r}",
                hint=f"its columns: {', '.join(table.columns)}",
            )
        coded = table.columns[column]
        kept &= coded.codes == (coded.names.index(value) if value in coded.names else -2)
        if not kept.any():
            known = ", ".join(coded.names[:10])
            raise BadUsage(
                f"no record of {table.name} has {column} {value!r}", hint=f"values there: {known}"
            )
    if kept.all():
        return table
    columns = {name: _narrowed(column, kept) for name, column in table.columns.items()}
    return FileColumns(table.name, columns, table.lines[kept], table.unit, table.unread)


def _narrowed(column: Coded, kept: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Coded:
    codes = column.codes[kept]
    used = np.unique(codes[codes >= 0])
    place = np.full(len(column.names) + 1, -1, dtype=np.int32)
    place[used] = np.arange(len(used))
    return Coded(place[codes], tuple(column.names[code] for code in used.tolist()))


# Cells with letters: answers compared with answer keys, and grades A, B and C.

# One letter, also in brackets or before a point, or several different capitals: an exact set.
_LETTER = re.compile(r"^[(\[]?([A-Za-z])[)\].:]?$")


_SEVERAL = re.compile(r"^[A-J](?:[,;+ ]*[A-J]){1,9}$")


_GRADES: Mapping[str, float] = {"A": 1.0, "B": 0.0, "C": 0.0}


def _letters_of(text: str) -> str | None:
    """Return the letters of a cell in order; None without any."""
    short = text.strip()
    if match := _LETTER.fullmatch(short):
        return match[1].upper()
    if _SEVERAL.fullmatch(short):
        letters = re.sub(r"[^A-J]", "", short)
        return "".join(sorted(letters)) if len(set(letters)) == len(letters) else None
    return None


def is_letters(column: Coded) -> bool:
    """Return True if nine of ten filled cells or more hold letters, missing ones aside."""
    filled = [
        (name, n)
        for name, n in zip(column.names, _counts(column), strict=True)
        if not is_missing(name)
    ]
    good = sum(n for name, n in filled if _letters_of(name) is not None)
    return good > 0 and 10 * good >= 9 * sum(n for _, n in filled)


def is_grades(column: Coded) -> bool:
    """Return True if every filled cell is A, B or C, and one of them is A or B."""
    letters = {_letters_of(name) for name in column.names if not is_missing(name)}
    return bool(letters & {"A", "B"}) and letters <= set(_GRADES)


def read_letters(column: Coded, answer_key: Coded) -> Reading:
    """Return 1 where a cell has the letters of the answer key, 0 otherwise, NaN if either is
    missing.

    ``wrong`` holds the texts that are not letters, by code.
    """
    known = {name: code for code, name in enumerate(dict.fromkeys(map(_key, answer_key.names)))}
    keys = np.array([*(known[_key(name)] for name in answer_key.names), -1])[answer_key.codes]
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
    return [code for code, name in enumerate(column.names) if is_missing(name)]


# Cells that hold a score and its uncertainty (``48.55 ± 0.56``), split into two columns.

# Default name of the second number.
UNCERTAINTY = "uncertainty"


_NUMBER = r"\d+(?:[.,]\d+)?|[.]\d+"


_PLUS_MINUS = re.compile(
    rf"\$?({_NUMBER})\s*(%?)\s*(?:_\{{)?\s*(?:\u00b1|\+/?-|\\pm)\s*({_NUMBER})\s*(%?)\s*\}}?\$?"
)


# A number in brackets may also be a rank or a count. An uncertainty has as many decimals as the
# score and is less than half of it.
_BRACKETS = re.compile(rf"({_NUMBER})\s*(%?)\s*\(\s*({_NUMBER})\s*(%?)\s*\)")


_PARTS = re.compile(r"\s*(?:\u00b1|\+/?-|\\pm|\(|\[)")


def split_cells(table: FileColumns) -> FileColumns:
    """Split columns whose cells hold a score and its uncertainty into two columns.

    Some cells may hold the score only. The second column is named as the header says (standard
    error, standard deviation), otherwise ``NAME uncertainty``.
    """
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
    """Return both numbers of each distinct cell, the second one empty if absent.

    None if this is not such a column.
    """
    found, n_pairs = {}, 0
    for code, text in enumerate(column.names):
        short = text.strip().replace("\u2212", "-")
        pair = _PLUS_MINUS.fullmatch(short) or _in_brackets(short)
        if pair is not None:
            found[code] = (f"{pair[1]}{pair[2] or pair[4]}", f"{pair[3]}{pair[4] or pair[2]}")
            n_pairs += 1
        elif is_missing(short) or re.fullmatch(rf"({_NUMBER})\s*%?", short):
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
    """Return the names of the two columns.

    A header that names the uncertainty (``acc (± SE)``) names the second column; the first one
    keeps the text before it.
    """
    score = _PARTS.split(header, maxsplit=1)[0].strip()
    what = re.sub(r"[^A-Za-z0-9]+", " ", header[len(score) :]).strip()
    if not score or score in taken - {header} or quantity_of(what) not in ("stderr", "spread"):
        return header, f"{header} {UNCERTAINTY}"
    return score, f"{score} {what}"


# Remedies for invalid cells.
CELLS = (
    "correct the file, or name its columns (--model-cols, --score-col, --percent; see --help), "
    "and run the same command again"
)


def place(table: FileColumns, record: int) -> str:
    """Return the place of a record, such as ``line 12``."""
    return f"{table.unit} {table.lines[record]}"


def problem_at(table: FileColumns, record: int, what: str, column: str = "") -> Problem:
    """Return a problem of a record, or of its cell in a column."""
    return Problem(place(table, record) + (f", column {column}" if column else ""), what)


def _counted(problems: Sequence[object]) -> str:
    return "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"


def refused(table: FileColumns, problems: Sequence[Problem]) -> BadInput:
    """Return the error for one table with its problems in order of lines."""
    ordered = sorted(problems, key=lambda problem: int(problem.where.split(",")[0].split()[1]))
    said = f"{table.name} has {_counted(ordered)}; nothing of it was taken."
    return BadInput(said, ordered, hint=CELLS)


@dataclass(slots=True)
class Problems:
    """Problems of ``tables``, each at a record of one of them, with remedies."""

    tables: Sequence[FileColumns]
    found: list[tuple[int, int, str, str]] = field(default_factory=list)
    hints: dict[str, None] = field(default_factory=dict)

    def add(self, table: int, record: int, what: str, *, column: str = "", hint: str) -> None:
        """Add a problem at a record of the table with that number."""
        self.found.append((table, record, f", column {column}" if column else "", what))
        self.hints[hint] = None

    def where(self, table: int, record: int) -> str:
        """Return the place of a record, with its file if there are several."""
        name = f"{self.tables[table].name} " if len(self.tables) > 1 else ""
        return f"{name}{place(self.tables[table], record)}"

    def refuse(self) -> None:
        """Raise one BadInput with all problems in order of files and lines, if there are any."""
        if not self.found:
            return
        ordered = sorted(self.found, key=lambda each: each[:2])
        names = list(dict.fromkeys(self.tables[each[0]].name for each in ordered))
        have = "has" if len(names) == 1 else "have"
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        raise BadInput(
            f"{shown} {have} {_counted(ordered)}; nothing was taken.",
            [Problem(self.where(table, record) + at, what) for table, record, at, what in ordered],
            hint="; ".join(self.hints),
        )

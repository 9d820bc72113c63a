"""Rows of files in which people label questions, by the ids of an export."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from proofstone.errors import BadInput, Problem
from proofstone.files.tables import read_rows

SHORTEST = 8  # characters of an id
_YES, _NO = {"1", "yes", "true", "是"}, {"0", "no", "false", "否"}


class LabelRows:
    """Rows of a file of labels, whose problems are collected."""

    def __init__(self, path: Path, known: Sequence[str], *, whole: bool) -> None:
        self.path = path
        self.every = list(read_rows(path))
        self.problems: list[Problem] = []
        self._known, self._whole = sorted(known), whole
        if not self.every:
            self.problems.append(Problem(path.name, "has no rows"))

    def text(self, row: Any, column: str) -> str:
        """Return a text, which must not be empty."""
        value = row.values.get(column)
        found = "" if value is None else str(value).strip()
        if not found:
            self.problems.append(Problem(row.place, f"{column} is empty"))
        return found

    def yes(self, row: Any, column: str) -> bool:
        """Return an answer."""
        found = self.text(row, column).casefold().removesuffix(".0")
        if found and found not in _YES | _NO:
            self.problems.append(Problem(row.place, f"{column} is {found!r}, expected 1 or 0"))
        return found in _YES

    def number(self, row: Any, column: str, most: int) -> int:
        """Return a whole number from 0 to ``most``; 0 with a problem for anything else."""
        found = self.text(row, column).removesuffix(".0")
        if found.isdecimal() and int(found) <= most:
            return int(found)
        if found:
            self.problems.append(
                Problem(row.place, f"{column} is {found!r}, expected a whole number, 0 to {most}")
            )
        return 0

    def one(self, row: Any, column: str) -> str:
        """Return the whole id of a question."""
        text = self.text(row, column)
        found = whole_id(text, self._known) if text else ""
        if text and not found and self._whole:
            self.problems.append(
                Problem(row.place, f"{column} {text!r} is not a question of the pool")
            )
        return found

    def close(self, keys: Iterable[tuple[str, ...]]) -> None:
        """Note keys that occur twice. Raises BadInput with all problems."""
        twice = [key for key, n in Counter(keys).items() if n > 1 and all(key)]
        self.problems += [
            Problem(self.path.name, f"{key[-1]} labeled {' and '.join(key[:-1])} more than once")
            for key in twice
        ]
        if self.problems:
            raise BadInput(
                f"cannot use the labels of {self.path}",
                self.problems,
                hint="ids are those of 'proofstone export BANK'",
            )


def whole_id(text: str, known: Sequence[str]) -> str:
    """Return the only id of ``known`` that begins with a text of 8 characters or more, or ""."""
    folded = text.casefold().removeprefix("fact:")
    if len(folded) < SHORTEST:
        return ""
    found = [each for each in known if each.startswith(folded)]
    return found[0] if len(found) == 1 else ""

"""Read reviewers' marks on rubrics, and compute normalized scores."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage, Problem
from proofstone.methods.kina.label_rows import LabelRows
from proofstone.texts.templates import bundled_text

_RESERVED = ("id", "reviewer", "comment")


class Rubric(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A rubric: the column of its marks, what it asks, and its weight above 0."""

    name: str
    asks: str
    weight: float = 1.0


class Rubrics(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Rubrics with marks from 0 to ``most``."""

    most: int
    rubrics: tuple[Rubric, ...]

    def score(self, marks: Sequence[int]) -> float:
        """Return the weighted mean of marks (by rubric) as a share of the highest, 0 to 1."""
        total = sum(each.weight for each in self.rubrics)
        parts = zip(self.rubrics, marks, strict=True)
        return sum(each.weight * mark for each, mark in parts) / (self.most * total)


class Marks(Struct, frozen=True, kw_only=True):
    """A reviewer's marks on a question, by rubric, with the score and a comment."""

    reviewer: str
    marks: tuple[int, ...]
    score: float
    comment: str = ""


def read_rubrics(file: str) -> Rubrics:
    """Return the rubrics of a file, or the bundled ones for "". Raises BadInput."""
    try:
        text = Path(file).read_text(encoding="utf-8") if file else _bundled()
        found = msgspec.convert(tomllib.loads(text), Rubrics)
    except (OSError, ValueError) as failure:
        raise BadInput("cannot read the rubrics", [Problem(file, str(failure))]) from failure
    problems = []
    if found.most < 1:
        problems.append(Problem(file, f"most is {found.most}, expected 1 or more"))
    if not found.rubrics:
        problems.append(Problem(file, "has no rubrics"))
    names = [each.name for each in found.rubrics]
    for each in found.rubrics:
        if not each.weight > 0:
            problems.append(Problem(file, f"weight of {each.name!r} is {each.weight:g}"))
        if each.name in _RESERVED or names.count(each.name) > 1 or not each.name.strip():
            problems.append(Problem(file, f"{each.name!r} cannot be the name of a rubric"))
    if problems:
        raise BadInput("cannot use the rubrics", problems)
    return found


def _bundled() -> str:
    return bundled_text("proofstone.methods.kina", "rubrics/rubrics.toml")


def files_of(scores: str) -> list[Path]:
    """Return the files of an option. Raises BadUsage without any, BadInput for absent ones."""
    files = [Path(each.strip()) for each in scores.split(",") if each.strip()]
    if not files:
        names = ", ".join(each.name for each in read_rubrics("").rubrics)
        raise BadUsage(
            "no scores are given: --scores FILE,FILE",
            hint="each reviewer gets an own file (proofstone export BANK -o anna.xlsx) and adds "
            f"the columns {names}",
        )
    absent = [Problem(str(each), "no such file") for each in files if not each.is_file()]
    if absent:
        raise BadInput("cannot read the scores", absent)
    return files


def read_marks(
    files: Sequence[Path], rubrics: Rubrics, known: Sequence[str]
) -> tuple[dict[str, list[Marks]], int]:
    """Return the marks by question, in the order of the files, and the number of other rows.

    Rows without any mark are not scored yet, and rows of questions that are not ``known`` count as
    others. ``reviewer`` is by default the file's name. Raises BadInput with all problems.
    """
    found: dict[str, list[Marks]] = {}
    others, problems = 0, list[Problem]()
    for file in files:
        rows = LabelRows(file, known, whole=False)
        columns = {column for row in rows.every for column in row.values}
        lacking = [each.name for each in rubrics.rubrics if each.name not in columns]
        if lacking:
            problems.append(Problem(file.name, f"has no marks under {', '.join(lacking)}"))
            continue
        for row in rows.every:
            given = [row.values.get(each.name) for each in rubrics.rubrics]
            if all(value is None or not str(value).strip() for value in given):
                continue
            marks = tuple(rows.number(row, each.name, rubrics.most) for each in rubrics.rubrics)
            question = rows.one(row, "id")
            others += not question
            reviewer = _text(row.values, "reviewer") or file.stem
            if any(each.reviewer == reviewer for each in found.get(question, ())):
                rows.problems.append(Problem(row.place, f"{reviewer} scored this question already"))
            if question:
                found.setdefault(question, []).append(
                    Marks(
                        reviewer=reviewer, marks=marks, score=rubrics.score(marks),
                        comment=_text(row.values, "comment"),
                    )
                )  # fmt: skip
        problems += [Problem(f"{file.name}, {each.where}", each.what) for each in rows.problems]
    if problems:
        raise BadInput("cannot use the scores", problems)
    return found, others


def _text(values: Mapping[str, object], column: str) -> str:
    value = values.get(column)
    return "" if value is None else str(value).strip()

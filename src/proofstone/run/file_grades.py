"""Grades of replies in a file: by rule, and by judges whose calls are kept if there is a place."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from proofstone.errors import BadUsage, WorkspaceUnusable
from proofstone.files.tables import read_checked
from proofstone.method import FileGrades, Method, find_method, method_names
from proofstone.models.budget import Budget
from proofstone.models.config import load_config
from proofstone.models.reply_cache import CacheUse
from proofstone.records.items import Unit
from proofstone.records.runs import Score
from proofstone.records.tables import Row
from proofstone.run.judges import Judges, judge_spec
from proofstone.run.score import score_units
from proofstone.run.score_runs import judge_units
from proofstone.session.background import Background
from proofstone.session.folders import find_folder
from proofstone.session.permits import AskEgress
from proofstone.session.session import Session, create_session


class GradedFile(Struct, frozen=True):
    """The rows with what became of their replies; ``waiting`` of them only a judge can grade."""

    rows: tuple[dict[str, Any], ...]
    waiting: int


class _Replies(Struct, frozen=True):
    rows: tuple[Row, ...]
    units: Sequence[Unit]


def grading_method(name: str = "") -> tuple[Method, FileGrades]:
    """The method that grades files, the one of this name or else the first. Raises BadUsage."""
    for each in [name] if name else method_names():
        method = find_method(each)
        if method.grading_files is not None:
            return method, method.grading_files
    raise BadUsage(f"the method {name or 'wanted'} grades no files")


def metrics_of_file(
    path: Path, by: Sequence[str] = (), *, against: str = "", encoding: str = ""
) -> dict[str, Any]:
    """The measures of a file of grades, by the values of columns too, and how far its grades agree
    with people's in the column ``against``. Raises what reading does."""
    _method, grading = grading_method()
    return read_checked(path, lambda rows: grading.metrics_of(rows, by, against), encoding=encoding)


def grade_file(
    path: Path,
    *,
    judge: Judges = (),
    folder: Path | None = None,
    ask_egress: AskEgress | None = None,
    max_connections: int | None = None,
    cache: CacheUse = "same",
    budget: Budget | str | None = None,
    encoding: str = "",
) -> GradedFile:
    """Grades the replies of a file. What a judge was asked is kept in the workspace of ``folder``,
    or the nearest one; where there is none, nothing is kept.

    Raises what reading a file does, and what stopped a judge.
    """
    method, grading = grading_method()
    replies = read_checked(path, lambda rows: _read(grading, rows), encoding=encoding)
    spec = judge_spec(judge)
    if spec is None:
        scores = Background(lambda _stop: score_units(method, replies.units, None)).wait()
    else:
        with passing_workspace(folder) as session:
            session.ask_egress = ask_egress
            scores = judge_units(session,
                method, replies.units, spec, name=path.name, max_connections=max_connections,
                cache=cache, budget=budget,
            )  # fmt: skip
    by_unit: dict[int, list[Score]] = {}
    for score in scores:
        by_unit.setdefault(score.unit, []).append(score)
    made = [
        grading.graded_row(row.values, by_unit.get(place, ()))
        for place, row in enumerate(replies.rows)
    ]
    return GradedFile(tuple(made), waiting=len(made) - len(by_unit))


def _read(grading: FileGrades, rows: Iterable[Row]) -> _Replies:
    held = tuple(rows)
    return _Replies(held, grading.read_replies(held))


@contextmanager
def passing_workspace(folder: Path | None) -> Iterator[Session]:
    """The workspace of a folder, or the nearest one; else one that is gone afterwards, with the
    settings of models of the current folder."""
    try:
        found = find_folder(folder or Path.cwd())
    except WorkspaceUnusable:
        if folder is not None:
            raise
    else:
        with Session(found) as session:
            yield session
        return
    with (
        tempfile.TemporaryDirectory(prefix="proofstone-") as passing,
        create_session(passing) as session,
    ):
        session.config = load_config(other_tables=frozenset({"workspace"}))
        yield session

"""Apply a file of flagged items that reviewers filled in.

A row has a ``target`` (an item or a fact) and, after a review, a ``decision``. It is keep, exclude,
edit (with ``changes``), or correct, incorrect or invalidated for its ``responses``. Rows without a
decision are skipped. Corrections that are in force already are skipped, so a file can be applied
twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeVar

from msgspec import Struct

from proofstone.correct.edit import (
    AskedEdit,
    Edited,
    edit_all,
    fields_of,
    is_done,
    on_newest,
    revise,
    typed,
)
from proofstone.correct.overrides import (
    Answered,
    Overridden,
    Standing,
    exclude,
    find_response,
    override_response,
)
from proofstone.errors import BadInput, BadUsage, Problem, ProofstoneError
from proofstone.files.tables import read_rows, refused
from proofstone.records.reviews import Verdict
from proofstone.records.tables import Row
from proofstone.run.forms import run_again as run_as_before
from proofstone.session.session import Session, Target, acting, stated_reason
from proofstone.store.lookup import Found
from proofstone.store.store import Store

Action = Literal["exclude", "edit", "override"]


T = TypeVar("T")


_DECISIONS: Mapping[str, Action | None] = {
    "keep": None,
    "exclude": "exclude",
    "edit": "edit",
    "correct": "override",
    "incorrect": "override",
    "invalidated": "override",
}


_VERDICTS: Mapping[str, Verdict] = {
    "correct": "correct", "incorrect": "incorrect", "invalidated": "invalidated",
}  # fmt: skip


class Applied(Struct, frozen=True, kw_only=True):
    """Corrections applied from a file of flagged items.

    ``already`` counts targets (or responses) whose correction was in force before, ``kept`` rows
    with the decision keep, ``undecided`` rows without a decision.
    """

    excluded: tuple[Standing, ...] = ()
    edited: tuple[Edited, ...] = ()
    overridden: tuple[Overridden, ...] = ()
    already: int = 0
    kept: int = 0
    undecided: int = 0


class _Decided(Struct, frozen=True, kw_only=True):
    """Hold one row: its location and its content."""

    place: str
    decision: str
    target: str
    why: str
    changes: Any
    responses: tuple[str, ...]


def apply_flagged_items(
    session: Session, path: Path | str, *, reason: str = "", by: str = ""
) -> Applied:
    """Apply all decisions of a file of flagged items.

    ``reason`` is used for rows without one. Raises BadInput with every problem, by row; then
    nothing is changed. Applied again, corrections that are in force are skipped.
    """
    rows = _read(Path(path))
    problems = _Problems(Path(path))

    def deciding(action: Action) -> list[_Decided]:
        return [row for row in rows if row.decision and _DECISIONS[row.decision] == action]

    edits, edited_before = _edits(session, deciding("edit"), problems, reason)
    exclude, excluded_before = _exclusions(session, deciding("exclude"), problems, reason, by)
    override, overridden_before = _overrides(session, deciding("override"), problems, reason, by)
    problems.raise_any()
    with _problems_of(Path(path)):
        if edits:
            revise(session.store, edits)  # rejects invalid edits before anything is stored
        excluded, overridden = exclude(), override()
        edited = tuple(edit_all(session, edits, by=by))
    decided = [_DECISIONS[row.decision] for row in rows if row.decision]
    return Applied(
        excluded=excluded,
        edited=edited,
        overridden=overridden,
        already=edited_before + excluded_before + overridden_before,
        kept=decided.count(None),
        undecided=len(rows) - len(decided),
    )


@contextmanager
def _problems_of(path: Path) -> Iterator[None]:
    """Raise problems of edits as problems of the file."""
    try:
        yield
    except BadInput as error:
        raise refused(path, error.problems) if error.problems else error from None


# Functions that apply checked rows, and the number of targets corrected before.
_Prepared = tuple[Callable[[], tuple[T, ...]], int]


def _exclusions(
    session: Session, rows: Sequence[_Decided], problems: _Problems, reason: str, by: str
) -> _Prepared[Standing]:
    store = session.store
    found: dict[bytes, tuple[Found, str]] = {}
    for row in rows:
        with_it = problems.told(row, partial(_exclusion, store, row, reason))
        if with_it is not None:
            found.setdefault(with_it[0].id, with_it)
    left = [one for one in found.values() if not _is_excluded(store, one[0])]

    def carry_out() -> tuple[Standing, ...]:
        return tuple(exclude(session, one, reason=why, by=by) for one, why in left)

    return carry_out, len(found) - len(left)


def _edits(
    session: Session, rows: Sequence[_Decided], problems: _Problems, reason: str
) -> tuple[list[AskedEdit], int]:
    store = session.store
    made = (problems.told(row, partial(_edit, store, row, reason)) for row in rows)
    asked = [edit for edit in made if edit is not None]
    left = [on_newest(store, edit) for edit in asked if not is_done(store, edit)]
    return left, len(asked) - len(left)


def _overrides(
    session: Session, rows: Sequence[_Decided], problems: _Problems, reason: str, by: str
) -> _Prepared[Overridden]:
    store = session.store
    found: dict[tuple[bytes, bytes, int], tuple[Answered, str, str]] = {}
    for row in rows:
        if not row.responses:
            problems.add(row, f"decision {row.decision} needs responses; column responses is empty")
        for text in row.responses:
            response = problems.told(row, partial(find_response, store, text))
            why = problems.told(row, partial(_why, row, reason))
            if response is None or why is None:
                continue
            key = (response.run.id, response.item, response.response.sample)
            before = found.setdefault(key, (response, row.decision, why))
            if before[1] != row.decision:
                problems.add(row, f"{text} is {before[1]} in another row, but {row.decision} here")
    left = [one for one in found.values() if not _is_overridden(store, one[0], one[1])]

    def carry_out() -> tuple[Overridden, ...]:
        person = acting(session, by) if left else None
        return tuple(
            override_response(session, response, _VERDICTS[verdict], stated_reason(why), person)
            for response, verdict, why in left
            if person is not None
        )

    return carry_out, len(found) - len(left)


# ------------------------------------------------------------------- read


class _Problems:
    """Collect problems of the rows of a file, each with its location."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._found: list[Problem] = []

    def add(self, row: _Decided, what: str) -> None:
        self._found.append(Problem(row.place, what))

    def told(self, row: _Decided, make: Callable[[], T]) -> T | None:
        """Return the result of a row; None if it has a problem, which is recorded."""
        try:
            return make()
        except BadInput as error:
            self._found += [Problem(f"{row.place}, {p.where}", p.what) for p in error.problems]
            if not error.problems:
                self.add(row, error.message)
        except ProofstoneError as error:
            self.add(row, error.message)
        return None

    def raise_any(self) -> None:
        """Raise BadInput if there is any problem."""
        if self._found:
            raise refused(self.path, list(dict.fromkeys(self._found)))


def _read(path: Path) -> list[_Decided]:
    """Return the rows of the list.

    Raises BadInput with each invalid decision, BadUsage without a column for decisions.
    """
    rows = list(read_rows(path))
    if not any("decision" in row.values for row in rows):
        raise BadUsage(
            f"{path.name} has no column 'decision'; it is not a file of flagged items",
            hint="fill in the column decision of what audit --flagged-items FILE wrote",
        )
    known = ", ".join(_DECISIONS)
    wrong = [
        Problem(f"{row.place}, decision", f"expected one of {known}, or nothing, got {said!r}")
        for row in rows
        if (said := _text(row, "decision").lower()) and said not in _DECISIONS
    ]
    if wrong:
        raise refused(path, wrong)
    return [_decided(row) for row in rows]


def _decided(row: Row) -> _Decided:
    responses = _text(row, "responses").replace(";", ",").split(",")
    return _Decided(
        place=row.place,
        decision=_text(row, "decision").lower(),
        target=_text(row, "target"),
        why=_text(row, "why") or _text(row, "reason"),
        changes=row.values.get("changes"),
        responses=tuple(dict.fromkeys(text.strip() for text in responses if text.strip())),
    )


def _text(row: Row, name: str) -> str:
    value = row.values.get(name)
    return "" if value is None else str(value).strip()


def _target(store: Store, row: _Decided) -> Found:
    if not row.target:
        raise BadUsage("has no target: expected an item or a fact, such as item:9ab3c4d1")
    return store.lookup.find(row.target, ("item", "fact"))


def _why(row: _Decided, reason: str) -> str:
    """Return the row's reason, or the one given for all."""
    return stated_reason(row.why or reason)


def _exclusion(store: Store, row: _Decided, reason: str) -> tuple[Found, str]:
    return _target(store, row), _why(row, reason)


def _edit(store: Store, row: _Decided, reason: str) -> AskedEdit:
    found = _target(store, row)
    return AskedEdit(found, _changes(store, found, row.changes), _why(row, reason), row.place)


def _changes(store: Store, found: Found, cell: Any) -> Mapping[str, Any]:
    """Parse new values: a JSON object, or FIELD=VALUE, one per line."""
    if isinstance(cell, Mapping):
        return dict(cell)
    text = "" if cell is None else str(cell).strip()
    if text.startswith("{"):
        try:
            values = json.loads(text)
        except ValueError as error:
            raise BadUsage(f"changes: invalid JSON object: {error}") from error
        return dict(values)
    now, changes = fields_of(store, found), {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, equals, value = line.partition("=")
        if not equals or not name.strip():
            raise BadUsage(f"changes: expected FIELD=VALUE or a JSON object, got {line!r}")
        changes[name.strip()] = typed(value.strip(), now.get(name.strip(), ""))
    if not changes:
        raise BadUsage(f"edit has no changes (FIELD=VALUE); its fields are {', '.join(now)}")
    return changes


# ------------------------------------------------------------------- already applied


def _is_excluded(store: Store, found: Found) -> bool:
    former = store.corrections.exclusion(found.kind, found.key)
    return former is not None and former.action == "exclude"


def _is_overridden(store: Store, response: Answered, verdict: str) -> bool:
    overrides = store.overrides.over(response.response)
    return bool(overrides) and overrides[-1].verdict == verdict


# Next steps after corrections.


def run_forms(session: Session, names: Iterable[str]) -> list[str]:
    """Return those of these forms with runs: others have no leaderboard yet."""
    found = {name: session.find(name, "form").id for name in names}
    run = {run.item_set for _key, run in session.store.runs.of_sets(list(found.values()))}
    return [name for name, identity in found.items() if identity in run]


def run_again(session: Session, form: Target) -> list[str]:
    """Return the options of ``run`` that repeat a run on the former version of a form.

    One per prompting method. Empty if it was never run.
    """
    return run_as_before(session.store, session.find(form, "form").id)

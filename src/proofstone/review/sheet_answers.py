"""Sheets as they came back, read row by row: every answer, and every problem at its cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem
from proofstone.records.reviews import (
    Review,
    ReviewDecision,
    ReviewPlace,
    ReviewSheet,
    ReviewTask,
    review_id,
)
from proofstone.records.tables import Grid, Row, cell_name
from proofstone.review.decide import NoAddress, read_address
from proofstone.review.sheets import (
    QUESTIONS,
    TASKS,
    TITLES,
    Role,
    Task,
    answer_problems,
    is_private,
    row_key,
    stated_answer,
)
from proofstone.texts.languages import unseen_sign
from proofstone.wording.messages import LANGUAGES, speaking, word

# Reviews as rows of a JSONL file, and decisions as rows again.
#
# A row: ``target`` (``fact:...``, or any name where no workspace is asked), ``verdict``,
# ``reviewer`` (a name, or an actor's 64 digits) or ``judge`` (a model); and, where there is
# something to say, ``task``, ``reason``, ``changes``, ``rubric``, ``seconds``, ``round``, ``at``,
# ``id``, ``corrects``; of people who answer questions ``answer`` and ``urls``.

_TASKS: tuple[ReviewTask, ...] = get_args(ReviewTask)


class StatedReview(Struct, frozen=True, kw_only=True):
    """A review as a file states it: ``target`` and ``reviewer`` in its words. In ``review`` hashes
    of these stand for both where they are no ids themselves, which is enough to decide."""

    where: str
    target: str
    reviewer: str
    review: Review


class _Line(Struct, frozen=True, kw_only=True):
    """A row of the file."""

    target: str
    verdict: str
    task: str = "format"
    reviewer: str = ""
    judge: str = ""
    reason: str = ""
    changes: dict[str, Any] = {}
    rubric: dict[str, str | int | float] = {}
    seconds: float | None = None
    round: int = 1
    at: float = 0.0
    id: str = ""
    corrects: str = ""
    answer: str = ""
    urls: tuple[str, ...] = ()


def read_reviews(rows: Iterable[Row]) -> list[StatedReview]:
    """The reviews of a file, in its order. Raises BadInput with every problem of all rows."""
    problems: list[Problem] = []
    stated: list[StatedReview] = []
    for row in rows:
        try:
            line = msgspec.convert({k: v for k, v in row.values.items() if v is not None}, _Line)
        except msgspec.ValidationError as cause:
            problems.append(Problem(row.place, str(cause)))
            continue
        found = [Problem(row.place, what) for what in _wrong(line)]
        problems += found
        if not found:
            stated.append(_stated(row.place, line))
    if problems:
        raise BadInput("The reviews cannot be read.", problems)
    return stated


def _wrong(line: _Line) -> Iterable[str]:
    if line.task not in _TASKS:
        yield f"task: expected one of {', '.join(_TASKS)}; came {line.task!r}"
        return
    task = next(TASKS[name] for name in _TASKS if name == line.task)
    if line.verdict not in task.verdicts:
        yield f"verdict: expected one of {', '.join(task.verdicts)}; came {line.verdict!r}"
    if not line.target:
        yield "target: is empty; expected an item or a fact, as fact:51b0c2aa"
    if bool(line.reviewer) == bool(line.judge):
        yield "expected either a reviewer (a person) or a judge (a model)"
    if line.verdict in task.needs_text and not line.changes:
        yield f'changes: {line.verdict} needs the new text, as {{"text": "..."}}'
    if line.verdict in task.needs_reason and not line.reason.strip():
        yield f"reason: {line.verdict} needs one"
    yield from _unseen(line)
    yield from _answered(line, task)
    for name, digits in (("id", line.id), ("corrects", line.corrects)):
        if digits and _identity(digits) is None:
            yield f"{name}: expected 64 hexadecimal digits; came {digits!r}"


def _answered(line: _Line, task: Task) -> Iterable[str]:
    if line.verdict in task.needs_answer and not line.answer.strip():
        yield f"answer: {line.verdict} needs one"
    for url in line.urls:
        try:
            read_address(url)
        except NoAddress as cause:
            yield f"urls: {cause}"


def _unseen(line: _Line) -> Iterable[str]:
    texts = (*line.changes.items(), ("reason", line.reason), ("answer", line.answer))
    for name, text in texts:
        if isinstance(text, str) and (sign := unseen_sign(text)):
            yield f"{name}: holds a control character, {sign}: take it out"


def _stated(where: str, line: _Line) -> StatedReview:
    task = next(name for name in _TASKS if name == line.task)
    kind, _, digits = line.target.rpartition(":")
    review = Review(
        kind="item" if kind == "item" else "fact",
        target=_identity(digits) or sha256(line.target.encode()).digest(),
        task=task,
        verdict=line.verdict,
        reviewer=_identity(line.reviewer) or sha256(line.reviewer.encode()).digest()
        if line.reviewer
        else b"",
        judge=line.judge,
        reason=line.reason.strip(),
        changes=line.changes,
        rubric=line.rubric,
        seconds=line.seconds,
        round=line.round,
        at=line.at,
        corrects=_identity(line.corrects) if line.corrects else None,
        answer=line.answer.strip(),
        urls=line.urls,
    )
    own = _identity(line.id) if line.id else None
    review = structs.replace(review, id=own or review_id(review))
    return StatedReview(where=where, target=line.target, reviewer=line.reviewer, review=review)


def _identity(digits: str) -> bytes | None:
    try:
        found = bytes.fromhex(digits)
    except ValueError:
        return None
    return found if len(found) == 32 else None


def write_review(review: Review) -> dict[str, Any]:
    """The row from which ``read_reviews`` makes this review again; who sheets belong to stays."""
    row: dict[str, Any] = {
        "id": review.id.hex(),
        "target": f"{review.kind}:{review.target.hex()}",
        "task": review.task,
        "verdict": review.verdict,
        "reviewer": review.reviewer.hex(),
        "judge": review.judge,
        "reason": review.reason,
        "changes": dict(review.changes),
        "rubric": dict(review.rubric),
        "seconds": review.seconds,
        "round": review.round,
        "at": review.at,
        "corrects": review.corrects.hex() if review.corrects else "",
        "answer": review.answer,
        "urls": list(review.urls),
    }
    return {name: value for name, value in row.items() if value not in ("", None, {}, [])}


def write_decision(decision: ReviewDecision, target: str = "") -> dict[str, Any]:
    """A decision as a row; ``target`` in the words of the file that it was made from."""
    row: dict[str, Any] = {
        "target": target or f"{decision.kind}:{decision.target.hex()}",
        "task": decision.task,
        "outcome": decision.outcome,
        "votes": dict(decision.votes),
        "why": decision.why,
    }
    changes: Mapping[str, Any] = decision.changes
    return row | ({"changes": dict(changes)} if changes else {})


_FILLED: tuple[Role, ...] = ("verdict", "new", "claim", "answer", "url", "url2", "urls", "why")


_CHANGED = {
    False: "the statement was changed in its own column: put it back, and write the new one under "
    "'New wording'",
    True: "the question was changed in its own column: put it back; where it cannot be asked so, "
    "it is not fit",
}


_KEY = re.compile(r"([0-9a-f]{16})-([1-9][0-9]{0,8})-([0-9a-f]{8})")


class SheetOf(Struct, frozen=True, kw_only=True):
    """A sheet that was given out, with the texts that it showed, and the fields that new wordings
    go into, by target. A target without a text was purged since. Of a sheet that ``is_withdrawn``
    nothing is read."""

    sheet: ReviewSheet
    texts: Mapping[bytes, str]
    fields: Mapping[bytes, str] = {}
    is_withdrawn: bool = False


class Answer(Struct, frozen=True, kw_only=True):
    """A row that was filled in: where (``Statements!G14``), of which sheet, and what; ``field`` is
    the one that ``new`` is the new text of, and ``claim`` whether that is true. ``said`` is the
    answer to a question, and ``urls`` its pages; of a comparison ``said`` is what people had found,
    and ``model`` what it was set against; of a checked wording ``said`` is that wording.
    """

    where: str
    sheet: ReviewSheet
    place: ReviewPlace
    verdict: str
    field: str = ""
    new: str = ""
    claim: str = ""
    why: str = ""
    said: str = ""
    urls: tuple[str, ...] = ()
    model: str = ""


class ReadSheets(Struct, frozen=True, kw_only=True):
    """What all files held: an answer a row, the rows that were left empty, those that were given
    out and that no file has (``missing``), and what is wrong; how many rows are of statements that
    were purged since, of which nothing is read."""

    answers: tuple[Answer, ...]
    empty: tuple[tuple[ReviewSheet, ReviewPlace], ...]
    missing: tuple[tuple[ReviewSheet, ReviewPlace], ...]
    problems: tuple[Problem, ...]
    n_purged: int = 0


FindSheet = Callable[[str], SheetOf | None]


def read_answers(files: Sequence[tuple[str, Sequence[Grid]]], find: FindSheet) -> ReadSheets:
    """The answers in ``files`` (a name and its grids each); ``find`` gives the sheet whose id
    starts with these digits. Rows are known by their keys and columns by their heads, so that
    neither's order matters. A row that comes twice must say the same."""
    reading = _Reading(find)
    for name, grids in files:
        before = reading.n_tabs
        for grid in grids:
            reading.read(name, grid)
        if reading.n_tabs == before:
            reading.problems.append(
                Problem(name, "holds no sheet that 'review export' wrote: no column of row keys")
            )
    return ReadSheets(
        answers=tuple(reading.answers.values()),
        empty=tuple(empty for key, empty in reading.empty.items() if key not in reading.answers),
        missing=tuple(reading.missing()),
        problems=tuple(reading.problems),
        n_purged=len(reading.purged),
    )


def sheets_named(grids: Sequence[Grid]) -> list[str]:
    """The first 16 digits of each sheet that a file's row keys name, each once."""
    cells = (cell.strip() for grid in grids for row in grid.rows for cell in row)
    return list(dict.fromkeys(found[1] for cell in cells if (found := _KEY.fullmatch(cell))))


class _Reading:
    """The answers found so far, by sheet and row."""

    def __init__(self, find: FindSheet) -> None:
        self._find = cache(find)
        self.n_tabs = 0
        self.empty: dict[tuple[bytes, int], tuple[ReviewSheet, ReviewPlace]] = {}
        self.answers: dict[tuple[bytes, int], Answer] = {}
        self.purged: set[tuple[bytes, int]] = set()
        self._sheets: dict[bytes, ReviewSheet] = {}
        self._met: set[tuple[bytes, int]] = set()
        self.problems: list[Problem] = []

    def read(self, file: str, grid: Grid) -> None:
        head = _head(grid)
        if head is None:
            return
        self.n_tabs += 1
        first, columns = head
        for number in range(first + 1, len(grid.rows)):
            row = _Row(file, grid, number, columns)
            if row.is_blank:
                continue
            self._row(row)

    def missing(self) -> Iterator[tuple[ReviewSheet, ReviewPlace]]:
        """The rows of sheets that came back, in none of whose files they are."""
        for identity, sheet in self._sheets.items():
            for position, place in enumerate(sheet.places):
                if (identity, position) not in self._met:
                    yield sheet, place

    def _row(self, row: _Row) -> None:
        key = row.text("key")
        found = _KEY.fullmatch(key)
        if found is None:
            if any(row.text(role) for role in _FILLED):
                lost = f"came {key!r}" if key else "is empty"
                self._wrong(row, "key", f"the row's hidden key {lost}, so nobody can say which "
                            "statement this is: take the row from the file that was sent out"
                            )  # fmt: skip
            return
        of = self._find(found[1])
        if of is None:
            self._wrong(row, "key", f"sheet {found[1]} was not given out from this workspace")
            return
        if of.is_withdrawn:
            if any(row.text(role) for role in _FILLED):
                self._wrong(row, "key", f"sheet {found[1]} was withdrawn")
            return
        position = int(found[2]) - 1
        if position >= len(of.sheet.places) or row_key(of.sheet, position) != key:
            self._wrong(row, "key", f"the row's hidden key {key!r} was changed")
            return
        self._sheets[of.sheet.id] = of.sheet
        self._met.add((of.sheet.id, position))
        self._answer(row, of, position)

    def _answer(self, row: _Row, of: SheetOf, position: int) -> None:
        place = of.sheet.places[position]
        if place.target not in of.texts:
            self.purged.add((of.sheet.id, position))
            return
        task = TASKS[place.task]
        if is_private(of.sheet):
            task = structs.replace(task, n_pages=0)
        problems = list(_problems(row, task, of.texts[place.target]))
        self.problems += problems
        if problems:
            return
        said = row.text("verdict")
        if not said:
            self.empty[of.sheet.id, position] = (of.sheet, place)
            return
        answer = Answer(
            where=row.at("verdict"), sheet=of.sheet, place=place,
            verdict=_labels(task)[_plain(said)], field=of.fields.get(place.target, ""),
            new=row.text("new"), why=row.text("why"),
            claim=_labels(TASKS["wording"]).get(_plain(row.text("claim")), ""),
            **stated_answer(row.text, task),
        )  # fmt: skip
        before = self.answers.setdefault((of.sheet.id, position), answer)
        if structs.replace(before, where=answer.where) != answer:
            self._wrong(row, "verdict", f"says otherwise than {before.where}, which is the same "
                        "row of the same sheet: leave one of them out")  # fmt: skip

    def _wrong(self, row: _Row, role: Role, what: str) -> None:
        self.problems.append(Problem(row.at(role), what))


class _Row:
    """One row of a grid, its cells by what they are."""

    def __init__(self, file: str, grid: Grid, number: int, columns: Mapping[Role, int]) -> None:
        self._file, self._grid, self._number, self._columns = file, grid, number, columns

    @property
    def is_blank(self) -> bool:
        return not any(cell.strip() for cell in self._grid.rows[self._number])

    def has(self, role: Role) -> bool:
        """Whether the sheet has such a column."""
        return role in self._columns

    def text(self, role: Role) -> str:
        """The cell's text without white space around it; empty where there is no such column."""
        cells, column = self._grid.rows[self._number], self._columns.get(role)
        return cells[column].strip() if column is not None and column < len(cells) else ""

    def at(self, role: Role) -> str:
        """Where the cell is, for people: its file first."""
        return f"{self._file}, {self.cell(role)}"

    def cell(self, role: Role) -> str:
        """The cell by its sheet, column and row."""
        return cell_name(self._grid.name, self._number, self._columns.get(role, 0))


def _problems(row: _Row, task: Task, shown: str) -> Iterator[Problem]:
    """What is wrong with a row of a known statement."""
    if shown and _spaced(row.text("text")) != _spaced(shown):
        yield Problem(row.at("text"), _CHANGED[task.name in QUESTIONS])
    said, why = row.text("verdict"), row.text("why")
    if not said:
        filled = [role for role in _FILLED[1:] if row.text(role)]
        if filled:
            yield Problem(row.at("verdict"), f"no decision, and {row.cell(filled[0])} is filled in")
        return
    yield from _answers_unseen(row)
    verdict = _labels(task).get(_plain(said))
    if verdict is None:
        choices = ", ".join(word(text) for text in task.verdicts.values())
        yield Problem(row.at("verdict"), f"expected one of: {choices}; came {said!r}")
        return
    words = word(task.verdicts[verdict])
    yield from _wording_problems(row, task, verdict, words, shown)
    if task.name in QUESTIONS or task.name == "wording":
        found = answer_problems(row.text, task, verdict, words)
        yield from (Problem(row.at(role), what) for role, what in found)
    if verdict in task.needs_reason and not why:
        yield Problem(row.at("why"), f"{words!r} needs a reason, and there is none")


def _wording_problems(
    row: _Row, task: Task, verdict: str, words: str, shown: str
) -> Iterator[Problem]:
    new = row.text("new")
    if verdict in task.needs_text:
        if not new:
            yield Problem(row.at("new"), f"{words!r} needs the new wording, and there is none")
        elif _spaced(new) == _spaced(shown):
            yield Problem(row.at("new"), "the new wording is the old one")
        yield from _claim_problems(row)
    elif new or row.text("claim"):
        role: Role = "new" if new else "claim"
        what = "a new wording" if new else "something about a new wording"
        yield Problem(row.at(role), f"there is {what}, and the decision is {words!r}")


def _claim_problems(row: _Row) -> Iterator[Problem]:
    """A reader must say whether the new wording is true, of every statement alike: what is asked of
    falsified ones alone would tell which they are. Sheets of before have no such column."""
    said, truth = row.text("claim"), TASKS["wording"]
    if row.has("claim") and _plain(said) not in _labels(truth):
        choices = ", ".join(word(text) for text in truth.verdicts.values())
        came = f"came {said!r}" if said else "it is empty"
        yield Problem(row.at("claim"), f"expected one of: {choices}; {came}")


def _answers_unseen(row: _Row) -> Iterator[Problem]:
    for role in _FILLED[1:]:
        if sign := unseen_sign(row.text(role)):
            yield Problem(row.at(role), f"holds a control character, {sign}: take it out")


def _head(grid: Grid) -> tuple[int, dict[Role, int]] | None:
    """The row that holds the heads, and the column of each; None for a grid without keys."""
    roles = _roles()
    for number, cells in enumerate(grid.rows[:50]):
        columns: dict[Role, int] = {}
        for column, cell in enumerate(cells):
            role = roles.get(_plain(cell))
            if role is not None:
                columns.setdefault(role, column)
        if "key" in columns and "verdict" in columns:
            return number, columns
    return None


@cache
def _roles() -> dict[str, Role]:
    found: dict[str, Role] = {}
    for language in LANGUAGES:
        with speaking(language):
            for role, titles in TITLES.items():
                found |= {_plain(word(title)): role for title in titles}
    return found


@cache
def _labels_of(name: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for language in LANGUAGES:
        with speaking(language):
            for verdict, text in next(t for t in TASKS.values() if t.name == name).verdicts.items():
                found |= {_plain(word(text)): verdict, verdict: verdict}
    return found


def _labels(task: Task) -> dict[str, str]:
    """The verdicts by their words in every language, and by their names."""
    return _labels_of(task.name)


def _plain(text: str) -> str:
    """A head or a label as it is known again."""
    return _spaced(text).casefold()


def _spaced(text: str) -> str:
    """A text as cells are compared: spreadsheets change line ends and spaces around."""
    return " ".join(text.split())

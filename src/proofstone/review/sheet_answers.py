"""Sheets as they came back, read row by row: every answer, and every problem at its cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TypedDict

from msgspec import Struct, structs

from proofstone.errors import Problem
from proofstone.records.reviews import QUESTIONS, ReviewPlace, ReviewSheet, ReviewTask
from proofstone.records.tables import Grid, cell_name
from proofstone.review.addresses import NoAddress, pages_of, read_address, split_addresses
from proofstone.review.workbook import TASKS, TITLES, Role, Task, is_private, row_key
from proofstone.texts.languages import unseen_sign
from proofstone.wording.messages import LANGUAGES, speaking, word

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
            **_stated_answer(row.text, task),
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
        found = _answer_problems(row.text, task, verdict, words)
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


# The cells of a sheet in which a question is answered: the answer and the pages that say so.


_Cell = Callable[[Role], str]


_PAGES: tuple[Role, ...] = ("url", "url2", "urls")


# What a decision speaks of besides the text itself, and so must still be in its row.
_COMPARED: Mapping[ReviewTask, tuple[Role, ...]] = {
    "same": ("found", "model"), "wording": ("reworded",),
}  # fmt: skip


_LOST = "what was compared is no longer there: take the row from the file that was sent out"


class _Stated(TypedDict, total=False):
    """What of an ``Answer`` these cells give."""

    said: str
    urls: tuple[str, ...]
    model: str


def _stated_answer(cell: _Cell, task: Task) -> _Stated:
    """The answer and its pages as they were typed; of a comparison the two texts that were shown,
    of the model's its first line: aliases stand below. Empty for tasks without any."""
    if task.name == "same":
        return {"said": cell("found"), "model": next(iter(cell("model").splitlines()), "")}
    if task.name == "wording":
        return {"said": cell("reworded")}
    if not task.needs_answer:
        return {}
    urls = tuple(url for role in _PAGES for url in split_addresses(cell(role)))
    return {"said": cell("answer"), "urls": urls}


def _answer_problems(
    cell: _Cell, task: Task, verdict: str, words: str
) -> Iterator[tuple[Role, str]]:
    """What is wrong with the cells of a row with this ``verdict`` (``words`` as it is shown): a
    cell each."""
    if task.name in _COMPARED:
        yield from ((role, _LOST) for role in _COMPARED[task.name] if not cell(role))
        return
    yield from _page_problems(cell)
    answer, pages = cell("answer"), [url for role in _PAGES for url in split_addresses(cell(role))]
    if verdict in task.needs_answer:
        if not answer:
            yield "answer", f"{words!r} needs your answer, and there is none"
        n = len(pages_of(pages))
        if n < task.n_pages and not any(_page_problems(cell)):
            same = ": two addresses of one page are one" if len(pages) > n else ""
            yield "url", f"expected {task.n_pages} different pages or more, came {n}{same}"
    elif answer or pages:
        filled: Role = "answer" if answer else next(role for role in _PAGES if cell(role))
        yield filled, f"there is an answer or a page, and the decision is {words!r}"


def _page_problems(cell: _Cell) -> Iterator[tuple[Role, str]]:
    for role in _PAGES:
        for url in split_addresses(cell(role)):
            try:
                read_address(url)
            except NoAddress as cause:
                yield role, str(cause)

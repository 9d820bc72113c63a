"""Read returned reviews: spreadsheets with problems by cell, and files of rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from typing import Any, get_args
from urllib.parse import SplitResult, unquote, urlsplit

import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import collapsed
from proofstone.records.reviews import (
    QUESTIONS,
    Review,
    ReviewPlace,
    ReviewSheet,
    ReviewTask,
    review_id,
)
from proofstone.records.tables import Grid, Row, cell_name
from proofstone.review.workbook import TASKS, TITLES, Role, Task, is_private, row_key
from proofstone.texts.languages import unseen_sign
from proofstone.wording.messages import LANGUAGES, speaking, word

# Web addresses given as evidence, and their sites.
#
# Two addresses mean one page if they differ only in scheme, case of the host, default port, percent
# encoding, a trailing slash, or a fragment. A host belongs to a site if it equals it or ends in a
# dot and its name. ``zh.wikipedia.org`` belongs to Wikipedia; ``notwikipedia.org`` and
# ``wikipedia.org.example.com`` do not.

_HOST_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")


# Separators of addresses: white space, or a comma or semicolon before another address.
_BETWEEN = re.compile(r"\s+|[,;\uff0c\uff1b\u3001]\s*(?=[a-zA-Z]+:)")


_PORTS = {"http": 80, "https": 443}


class NoAddress(ValueError):
    """Signal a text that is not a web address; the message gives the reason."""


class WebAddress(Struct, frozen=True, gc=False):
    """Hold an address: its host in network form (lower case, ``xn--``), and a normalized form of
    the page.
    """

    host: str
    page: str


def split_addresses(text: str) -> list[str]:
    """Split a cell into addresses, separated by white space or commas."""
    return [part for part in _BETWEEN.split(text.strip()) if part]


def read_address(text: str) -> WebAddress:
    """Parse a web address. Raises NoAddress for anything that is not a page of a named site.

    Other schemes, a missing host, credentials and numeric hosts are rejected.
    """
    parts, port = _parts(text.strip())
    if parts.scheme not in _PORTS:
        raise NoAddress(f"expected https:// or http://, got {_cut(text)!r}")
    if "@" in parts.netloc:
        raise NoAddress(f"credentials before the host of {_cut(text)!r}")
    host = _host(parts.hostname or "", text)
    own_port = "" if port in (None, _PORTS[parts.scheme]) else f":{port}"
    # A fragment is a position on the page, except for single-page applications (#/ and #!).
    behind = f"#{parts.fragment}" if parts.fragment.startswith(("/", "!")) else ""
    query = f"?{unquote(parts.query)}" if parts.query else ""
    path = unquote(parts.path).rstrip("/")
    return WebAddress(host, f"{host}{own_port}{path}{query}{behind}")


def pages_of(texts: Iterable[str]) -> tuple[WebAddress, ...]:
    """Return the distinct pages of addresses in order; other texts are skipped."""
    found: dict[str, WebAddress] = {}
    for text in texts:
        try:
            address = read_address(text)
        except NoAddress:
            continue
        found.setdefault(address.page, address)
    return tuple(found.values())


def read_site(text: str) -> str:
    """Parse a site for host matching: ``wikipedia.org``, or ``.edu`` for a top-level domain.

    Raises NoAddress for anything else, including full addresses.
    """
    plain = text.strip().lower()
    if plain.startswith(".") and plain.count(".") == 1:
        return f".{_ascii(plain[1:], text)}"
    if re.search(r"[/:@?#\s]", plain):
        raise NoAddress(f"expected a site such as wikipedia.org, got {_cut(text)!r}")
    return _host(plain.removeprefix("."), text)


def is_of_site(host: str, site: str) -> bool:
    """Return True if a host is a site or one of its subdomains, both normalized."""
    return host == site or host.endswith(site if site.startswith(".") else f".{site}")


def _parts(text: str) -> tuple[SplitResult, int | None]:
    # Browsers read a backslash before the query as a slash, so it may end the host.
    if re.search(r"[\s\x00-\x1f]", text.split("#", 1)[0]) or "\\" in re.split("[?#]", text)[0]:
        raise NoAddress(f"white space, control character or backslash in {_cut(text)!r}")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as cause:
        raise NoAddress(f"invalid address {_cut(text)!r}: {cause}") from None
    return parts, port


def _host(name: str, text: str) -> str:
    host = _ascii(name.rstrip("."), text)
    if "." not in host:
        raise NoAddress(f"expected the host of a site such as zh.wikipedia.org, got {_cut(text)!r}")
    if host.rpartition(".")[2].isdigit():
        raise NoAddress(f"the host of {_cut(text)!r} is a number")
    return host


def _ascii(name: str, text: str) -> str:
    try:
        host = name.encode("idna").decode("ascii").lower()
    except UnicodeError:
        host = ""
    if not host or not all(_HOST_LABEL.fullmatch(label) for label in host.split(".")):
        raise NoAddress(f"invalid host in {_cut(text)!r}")
    return host


def _cut(text: str) -> str:
    plain = text.strip()
    return plain if len(plain) <= 80 else f"{plain[:77]}..."


_FILLED: tuple[Role, ...] = ("verdict", "new", "claim", "answer", "url", "url2", "urls", "why")


_CHANGED = {
    False: (
        "the statement was changed in its column: restore it, and write the new one under 'New "
        "wording'"
    ),
    True: (
        "the question was changed in its column: restore it; if it is unsuitable, mark it as "
        "not fit"
    ),
}


_KEY = re.compile(r"([0-9a-f]{16})-([1-9][0-9]{0,8})-([0-9a-f]{8})")


class SheetOf(Struct, frozen=True, kw_only=True):
    """Hold an exported spreadsheet with its texts, and the fields of new wordings, by target.

    A target without a text was purged. A spreadsheet with ``is_withdrawn`` is not read.
    """

    sheet: ReviewSheet
    texts: Mapping[bytes, str]
    fields: Mapping[bytes, str] = {}
    is_withdrawn: bool = False


class Answer(Struct, frozen=True, kw_only=True):
    """Hold a completed row: location (``Statements!G14``), spreadsheet, and content.

    ``field`` is the field of the new text ``new``, ``claim`` whether that is true. ``said`` is the
    answer to a question, ``urls`` its pages. For a comparison, ``said`` is people's answer and
    ``model`` the model's; for a checked wording, ``said`` is that wording.
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
    """Hold the contents of all files.

    These are an answer per completed row, empty rows, exported rows in no file (``missing``),
    problems, and the number of rows of purged statements, which are not read.
    """

    answers: tuple[Answer, ...]
    empty: tuple[tuple[ReviewSheet, ReviewPlace], ...]
    missing: tuple[tuple[ReviewSheet, ReviewPlace], ...]
    problems: tuple[Problem, ...]
    n_purged: int = 0


FindSheet = Callable[[str], SheetOf | None]


def read_answers(files: Sequence[tuple[str, Sequence[Grid]]], find: FindSheet) -> ReadSheets:
    """Read the answers in ``files`` (a name and its grids each).

    ``find`` returns the spreadsheet by the first digits of its id. Rows are matched by key and
    columns by heading, in any order. Repeated rows must be equal.
    """
    reading = _Reading(find)
    for name, grids in files:
        before = reading.n_tabs
        for grid in grids:
            reading.read(name, grid)
        if reading.n_tabs == before:
            reading.problems.append(
                Problem(
                    name, ("is not a spreadsheet of 'review export': it has no column of row keys")
                )
            )
    return ReadSheets(
        answers=tuple(reading.answers.values()),
        empty=tuple(empty for key, empty in reading.empty.items() if key not in reading.answers),
        missing=tuple(reading.missing()),
        problems=tuple(reading.problems),
        n_purged=len(reading.purged),
    )


def sheets_named(grids: Sequence[Grid]) -> list[str]:
    """Return the distinct 16-digit prefixes of spreadsheets in a file's row keys."""
    cells = (cell.strip() for grid in grids for row in grid.rows for cell in row)
    return list(dict.fromkeys(found[1] for cell in cells if (found := _KEY.fullmatch(cell))))


class _Reading:
    """Collect answers by spreadsheet and row."""

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
        """Return the rows that are in none of the files of the returned spreadsheets."""
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
                self._wrong(row, "key", (
                    f"the row's hidden key {lost}, so its statement is unknown: take the row "
                    "from the exported file"
                )
                            )  # fmt: skip
            return
        of = self._find(found[1])
        if of is None:
            self._wrong(row, "key", f"spreadsheet {found[1]} was not exported from this workspace")
            return
        if of.is_withdrawn:
            if any(row.text(role) for role in _FILLED):
                self._wrong(row, "key", f"spreadsheet {found[1]} was withdrawn")
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
            self._wrong(row, "verdict", (
                f"contradicts {before.where}, the same row of the same spreadsheet: remove one "
                "of them"
            ))  # fmt: skip

    def _wrong(self, row: _Row, role: Role, what: str) -> None:
        self.problems.append(Problem(row.at(role), what))


class _Row:
    """Hold one row of a grid, its cells by role."""

    def __init__(self, file: str, grid: Grid, number: int, columns: Mapping[Role, int]) -> None:
        self._file, self._grid, self._number, self._columns = file, grid, number, columns

    @property
    def is_blank(self) -> bool:
        return not any(cell.strip() for cell in self._grid.rows[self._number])

    def has(self, role: Role) -> bool:
        """Return True if the spreadsheet has this column."""
        return role in self._columns

    def text(self, role: Role) -> str:
        """Return the cell's text without surrounding white space; empty without the column."""
        cells, column = self._grid.rows[self._number], self._columns.get(role)
        return cells[column].strip() if column is not None and column < len(cells) else ""

    def at(self, role: Role) -> str:
        """Return the location of the cell for display, starting with its file."""
        return f"{self._file}, {self.cell(role)}"

    def cell(self, role: Role) -> str:
        """Return the cell's spreadsheet tab, column and row."""
        return cell_name(self._grid.name, self._number, self._columns.get(role, 0))


def _problems(row: _Row, task: Task, shown: str) -> Iterator[Problem]:
    """Return problems of a row of a known statement."""
    if shown and collapsed(row.text("text")) != collapsed(shown):
        yield Problem(row.at("text"), _CHANGED[task.name in QUESTIONS])
    said, why = row.text("verdict"), row.text("why")
    if not said:
        filled = [role for role in _FILLED[1:] if row.text(role)]
        if filled:
            yield Problem(
                row.at("verdict"), (f"there is no decision, but {row.cell(filled[0])} is filled in")
            )
        return
    yield from _answers_unseen(row)
    verdict = _labels(task).get(_plain(said))
    if verdict is None:
        choices = ", ".join(word(text) for text in task.verdicts.values())
        yield Problem(row.at("verdict"), f"expected one of: {choices}; got {said!r}")
        return
    words = word(task.verdicts[verdict])
    yield from _wording_problems(row, task, verdict, words, shown)
    if task.name in QUESTIONS or task.name == "wording":
        found = _answer_problems(row.text, task, verdict, words)
        yield from (Problem(row.at(role), what) for role, what in found)
    if verdict in task.needs_reason and not why:
        yield Problem(row.at("why"), f"{words!r} needs a reason")


def _wording_problems(
    row: _Row, task: Task, verdict: str, words: str, shown: str
) -> Iterator[Problem]:
    new = row.text("new")
    if verdict in task.needs_text:
        if not new:
            yield Problem(row.at("new"), f"{words!r} needs the new wording")
        elif collapsed(new) == collapsed(shown):
            yield Problem(row.at("new"), "the new wording equals the old one")
        yield from _claim_problems(row)
    elif new or row.text("claim"):
        role: Role = "new" if new else "claim"
        what = "a new wording" if new else "something about a new wording"
        yield Problem(row.at(role), f"there is {what}, and the decision is {words!r}")


def _claim_problems(row: _Row) -> Iterator[Problem]:
    """Check that a reviewer says whether the new wording is true, for true and false statements
    alike.

    Asking only about false statements would reveal them. Older spreadsheets lack the column.
    """
    said, truth = row.text("claim"), TASKS["wording"]
    if row.has("claim") and _plain(said) not in _labels(truth):
        choices = ", ".join(word(text) for text in truth.verdicts.values())
        came = f"came {said!r}" if said else "it is empty"
        yield Problem(row.at("claim"), f"expected one of: {choices}; {came}")


def _answers_unseen(row: _Row) -> Iterator[Problem]:
    for role in _FILLED[1:]:
        if sign := unseen_sign(row.text(role)):
            yield Problem(row.at(role), f"contains a control character, {sign}: remove it")


def _head(grid: Grid) -> tuple[int, dict[Role, int]] | None:
    """Return the heading row, and the column of each role; None for a grid without keys."""
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
    """Return the verdicts by their words in every language, and by name."""
    return _labels_of(task.name)


def _plain(text: str) -> str:
    """Normalize a heading or a label for matching."""
    return collapsed(text).casefold()


# The cells of an answer to a question: the answer and its pages.


_Cell = Callable[[Role], str]


_PAGES: tuple[Role, ...] = ("url", "url2", "urls")


# Columns, beside the text, that a decision refers to, and that must be unchanged.
_COMPARED: Mapping[ReviewTask, tuple[Role, ...]] = {
    "same": ("found", "model"), "wording": ("reworded",),
}  # fmt: skip


_LOST = "the compared texts are missing: take the row from the exported file"


def _stated_answer(cell: _Cell, task: Task) -> dict[str, Any]:
    """Return the answer and its pages as entered; empty for tasks without answers.

    For a comparison, the two texts as shown; of the model's, the first line (aliases follow below).
    """
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
    """Return problems of the cells of a row with this ``verdict`` (``words`` as displayed), one per
    cell.
    """
    if task.name in _COMPARED:
        yield from ((role, _LOST) for role in _COMPARED[task.name] if not cell(role))
        return
    yield from _page_problems(cell)
    answer, pages = cell("answer"), [url for role in _PAGES for url in split_addresses(cell(role))]
    if verdict in task.needs_answer:
        if not answer:
            yield "answer", f"{words!r} needs your answer"
        n = len(pages_of(pages))
        if n < task.n_pages and not any(_page_problems(cell)):
            same = "; several addresses of one page count once" if len(pages) > n else ""
            yield "url", f"expected {task.n_pages} different pages or more, got {n}{same}"
    elif answer or pages:
        filled: Role = "answer" if answer else next(role for role in _PAGES if cell(role))
        yield filled, f"an answer or a page is given, but the decision is {words!r}"


def _page_problems(cell: _Cell) -> Iterator[tuple[Role, str]]:
    for role in _PAGES:
        for url in split_addresses(cell(role)):
            try:
                read_address(url)
            except NoAddress as cause:
                yield role, str(cause)


# Reviews as rows of a JSONL file.
#
# Required are ``target`` (``fact:...``, or any name without a workspace), ``verdict``, and
# ``reviewer`` (a name, or an actor's 64 digits) or ``judge`` (a model). Optional are ``task``,
# ``reason``, ``changes``, ``rubric``, ``seconds``, ``round``, ``at``, ``id``, ``corrects``; for
# answers to questions also ``answer`` and ``urls``.


_TASKS: tuple[ReviewTask, ...] = get_args(ReviewTask)


class StatedReview(Struct, frozen=True, kw_only=True):
    """Hold a review as given in a file, with ``target`` and ``reviewer`` as written.

    In ``review``, values that are not ids are replaced by hashes, which suffice for decisions.
    """

    where: str
    target: str
    reviewer: str
    review: Review


class _Line(Struct, frozen=True, kw_only=True):
    """Hold a row of the file."""

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
    """Read the reviews of a file in order. Raises BadInput with every problem of all rows."""
    problems: list[Problem] = []
    stated: list[StatedReview] = []
    for row in rows:
        try:
            line = msgspec.convert({k: v for k, v in row.values.items() if v is not None}, _Line)
        except msgspec.ValidationError as cause:
            problems.append(Problem(row.place, str(cause)))
            continue
        found = [Problem(row.place, what) for what in _line_problems(line)]
        problems += found
        if not found:
            stated.append(_stated(row.place, line))
    if problems:
        raise BadInput("The reviews cannot be read.", problems)
    return stated


def _line_problems(line: _Line) -> Iterable[str]:
    if line.task not in _TASKS:
        yield f"task: expected one of {', '.join(_TASKS)}; got {line.task!r}"
        return
    task = next(TASKS[name] for name in _TASKS if name == line.task)
    if line.verdict not in task.verdicts:
        yield f"verdict: expected one of {', '.join(task.verdicts)}; got {line.verdict!r}"
    if not line.target:
        yield "target: is empty; expected an item or a fact, such as fact:51b0c2aa"
    if bool(line.reviewer) == bool(line.judge):
        yield "expected either a reviewer (a person) or a judge (a model)"
    if line.verdict in task.needs_text and not line.changes:
        yield f'changes: {line.verdict} needs the new text, as {{"text": "..."}}'
    if line.verdict in task.needs_reason and not line.reason.strip():
        yield f"reason: {line.verdict} needs one"
    yield from _unseen(line)
    yield from _line_answer_problems(line, task)
    for name, digits in (("id", line.id), ("corrects", line.corrects)):
        if digits and _identity(digits) is None:
            yield f"{name}: expected 64 hexadecimal digits, got {digits!r}"


def _line_answer_problems(line: _Line, task: Task) -> Iterable[str]:
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
            yield f"{name}: contains a control character, {sign}: remove it"


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
    """Return the row of a review; ``read_reviews`` reads it back. Spreadsheet owners are
    omitted."""
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

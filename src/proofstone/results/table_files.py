"""The tables of a page as files in a folder: CSV for programs, TeX for papers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from proofstone import __version__
from proofstone.files.write import write_rows
from proofstone.page.section import Section
from proofstone.page.table import PageTable, flat_rows
from proofstone.page.tex import tex_table
from proofstone.page.tex_text import tex_document, tex_paragraphs
from proofstone.page.text import visible
from proofstone.results.board_tables import asked_tables, board_tables
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page_parts import PageData
from proofstone.results.sections.documents import all_documents
from proofstone.results.sections.pairs import all_pairs
from proofstone.session.written_files import check_folder, files_into
from proofstone.wording.messages import say

TableKind = Literal["csv", "tex"]


TABLE_KINDS: tuple[TableKind, ...] = get_args(TableKind)


DOCUMENT = "tables.tex"


METHODS = ("methods.txt", "methods.tex")


class TablesAsked(Struct, frozen=True):
    """Where tables are to be written, and as what."""

    folder: Path
    kinds: tuple[TableKind, ...]


class MoreTables(NamedTuple):
    """CSV files besides the tables of the page: the names that they may have, and what writes them
    into a folder and says what each holds."""

    names: tuple[str, ...]
    write: Callable[[Path], Mapping[str, str]]


class TablesWritten(Struct, frozen=True):
    """The folder, and the names of the files in it by the order of the page."""

    folder: str
    files: tuple[str, ...]


def check_tables(data: PageData, asked: TablesAsked, others: MoreTables | None = None) -> None:
    """Raises BadUsage where the folder cannot be written to without touching another's files."""
    names = [f"{page.name}.{kind}" for page in page_tables(data) for kind in asked.kinds]
    more = [*METHODS, *([DOCUMENT] if "tex" in asked.kinds else [])]
    more += [f"{name}.csv" for name in LONG_TABLES] if "csv" in asked.kinds else []
    more += others.names if others is not None else ()
    check_folder(asked.folder, [*names, *more])


def write_tables(
    data: PageData, asked: TablesAsked, others: MoreTables | None = None
) -> TablesWritten:
    """Writes every table of the page in each of the kinds, and ``others`` where CSV is asked for,
    all of them or nothing."""
    pages = page_tables(data)
    how = _how(data)
    with files_into(asked.folder, f"proofstone {__version__}") as (folder, about):
        for page in pages:
            for kind in asked.kinds:
                name = f"{page.name}.{kind}"
                _WRITERS[kind](folder / name, page, data, how)
                about[name] = page.table.title
        for page in long_tables(data) if "csv" in asked.kinds else ():
            _WRITERS["csv"](folder / f"{page.name}.csv", page, data, how)
            about[f"{page.name}.csv"] = page.table.title
        if "tex" in asked.kinds:
            text = tex_document([f"{page.name}.tex" for page in pages])
            (folder / DOCUMENT).write_text(text, encoding="utf-8", newline="\n")
            about[DOCUMENT] = say("a document that shows all of these tables")
        if others is not None and "csv" in asked.kinds:
            about.update(others.write(folder))
        _write_methods(folder, data, asked.kinds, about)
        files = tuple(about)
    return TablesWritten(folder=str(asked.folder), files=files)


def _write_methods(
    folder: Path, data: PageData, kinds: Sequence[TableKind], about: dict[str, str]
) -> None:
    """The methods text as plain paragraphs, and as TeX where that is wanted."""
    paragraphs = methods_text(data)
    written = {"methods.txt": "\n\n".join(visible(each) for each in paragraphs)}
    if "tex" in kinds:
        written["methods.tex"] = tex_paragraphs(paragraphs)
    for name, text in written.items() if paragraphs else ():
        (folder / name).write_text(f"{text}\n", encoding="utf-8", newline="\n")
        about[name] = say("Methods paragraph")


def _how(data: PageData) -> tuple[str, ...]:
    """What stands beneath every table: the seed of all draws, and what made it."""
    made = say(
        "Made {at} by proofstone {version}.",
        at=data.provenance.made_at,
        version=data.provenance.version,
    )
    seed = "" if data.seed is None else say("Seed of all draws: {seed}.", seed=data.seed)
    return (made, seed)


def _write_csv(path: Path, page: PageTable, _data: PageData, _how: Sequence[str]) -> None:
    columns, rows = flat_rows(page.table)
    write_rows(path, rows, columns=columns)


def _write_tex(path: Path, page: PageTable, data: PageData, how: Sequence[str]) -> None:
    text = tex_table(page, about=data.title, how=how)
    path.write_text(text, encoding="utf-8", newline="\n")


_WRITERS: Mapping[TableKind, Callable[[Path, PageTable, PageData, Sequence[str]], None]] = {
    "csv": _write_csv,
    "tex": _write_tex,
}


ALL_PAIRS = "pairs-all"


ALL_DOCUMENTS = "documents-all"


LONG_TABLES = (ALL_PAIRS, ALL_DOCUMENTS)


def page_tables(data: PageData) -> tuple[PageTable, ...]:
    """Those of the opening, of the leaderboard, of the sections (``strata-1``, ``strata-2``), and
    of what was asked. Names are the same whatever the language; no two are alike."""
    sections = (table for section in data.sections for table in _of_section(section))
    return (*_of_opening(data), *board_tables(data), *sections, *asked_tables(data))


def long_tables(data: PageData) -> tuple[PageTable, ...]:
    """Tables that are too long for a page and for TeX: all pairs of many models, all of many
    documents."""
    found = {ALL_PAIRS: all_pairs(data.board), ALL_DOCUMENTS: all_documents(data.board)}
    return tuple(PageTable(name=name, table=table) for name, table in found.items() if table)


def _of_opening(data: PageData) -> Iterator[PageTable]:
    tables = [part.table for part in data.opening.parts if part.table is not None]
    for number, table in enumerate(tables, start=1):
        yield PageTable(name=f"opening-{number}", table=table, notes=data.opening.words)


def _of_section(section: Section) -> Iterator[PageTable]:
    notes = tuple(
        filter(None, (*section.notes, section.how and say("How: {how}", how=section.how)))
    )
    for number, table in enumerate(section.tables, start=1):
        yield PageTable(name=f"{section.name}-{number}", table=table, notes=notes)

"""A page as files: itself, its tables (CSV for programs, TeX for papers), and its figures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, structs

from proofstone import __version__
from proofstone.errors import StoreFailed
from proofstone.files.write import write_rows
from proofstone.page.figure import (
    BeginDrawing,
    FigureFile,
    figure_files,
    has_chinese_font,
    needed,
    use_fonts,
)
from proofstone.page.section import (
    Figure,
    Section,
)
from proofstone.page.table import PageTable, flat_rows
from proofstone.page.tex import tex_document, tex_paragraphs, tex_table
from proofstone.page.text import visible
from proofstone.results.board_tables import asked_tables, board_tables
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page import render_page
from proofstone.results.page_parts import (
    PageData,
    page_for,
)
from proofstone.results.sections.documents import all_documents
from proofstone.results.sections.figures import leaderboard_figure, models_of
from proofstone.results.sections.pairs import all_pairs
from proofstone.session.written_files import FIGURES, check_folder, files_into
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


# The figures of a page as files in a folder.


class FiguresAsked(Struct, frozen=True):
    """Where figures are to be written, as what, and a folder of ``fonts`` besides the system's."""

    folder: Path
    kinds: tuple[FigureFile, ...]
    fonts: Path | None = None


class FiguresWritten(Struct, frozen=True):
    """The folder, the names of the files in it, and whether Chinese in them can be read."""

    folder: str
    files: tuple[str, ...]
    shows_chinese: bool = True


def check_figures(data: PageData, asked: FiguresAsked) -> None:
    """Raises BadUsage where the folder cannot be written to without touching another's files, and
    ExtraMissing where nothing can be drawn."""
    check_drawn(page_figures(page_for(data)), asked)


def write_figures(data: PageData, asked: FiguresAsked) -> FiguresWritten:
    """Writes every figure of the page in each of the kinds, all of them or nothing."""
    data = page_for(data)
    return write_drawn(page_figures(data), models_of(data.board), asked)


def check_drawn(figures: Sequence[Figure], asked: FiguresAsked) -> None:
    """Raises BadUsage where the folder cannot be written to without touching another's files, and
    ExtraMissing where nothing can be drawn."""
    endings = (*(kind for kind in asked.kinds if kind != "json"), "vl.json")
    if set(asked.kinds) - {"json"}:
        needed("vl_convert")
    names = [f"{figure.name}.{ending}" for figure in figures for ending in endings]
    check_folder(asked.folder, names, FIGURES)


def write_drawn(
    figures: Sequence[Figure], models: Sequence[str], asked: FiguresAsked
) -> FiguresWritten:
    """Writes figures in each of the kinds, all of them or nothing; ``models`` in the order by which
    each gets its colour."""
    if asked.fonts is not None:
        use_fonts(asked.fonts)
    with files_into(asked.folder, f"proofstone {__version__}", FIGURES) as (folder, about):
        for figure in figures:
            for ending, content in figure_files(figure, asked.kinds, models).items():
                name = f"{figure.name}.{ending}"
                (folder / name).write_bytes(content)
                about[name] = figure.title
        files = tuple(about)
    readable = "png" not in asked.kinds or has_chinese_font(figures)
    return FiguresWritten(folder=str(asked.folder), files=files, shows_chinese=readable)


def page_figures(data: PageData) -> tuple[Figure, ...]:
    """The leaderboards', then those of the sections in their order; no two of one name."""
    used: dict[str, int] = {}
    return tuple(_apart(figure, used) for figure in _figures(data))


def _figures(data: PageData) -> Iterator[Figure]:
    for group in data.board.standings:
        if figure := leaderboard_figure(data.board, group):
            yield structs.replace(figure, name=f"{figure.name}{'-simulated' * group.simulated}")
    for section in data.sections:
        yield from section.figures


def _apart(figure: Figure, used: dict[str, int]) -> Figure:
    """With a name that a file may have everywhere, and that no figure before has."""
    name = re.sub(r"[^\w-]+", "-", figure.name).strip("-").lower() or "figure"
    used[name] = used.get(name, 0) + 1
    return structs.replace(figure, name=name if used[name] == 1 else f"{name}-{used[name]}")


# Pages as files, with their tables and figures.


class BesideAsked(NamedTuple):
    """What is to be written beside a page; ``others`` are tables besides its own."""

    tables: TablesAsked | None = None
    figures: FiguresAsked | None = None
    others: MoreTables | None = None


class PageWritten(Struct, frozen=True, kw_only=True):
    """Where a page, its tables and its figures were written (None where they were not asked for),
    and the paragraphs of its methods text. ``rows`` is the folder of what the page itself needs
    beside it, None where it needs none."""

    page: str | None
    tables: TablesWritten | None
    figures: FiguresWritten | None
    methods: tuple[str, ...]
    rows: str | None = None


NOTHING = BesideAsked()


def write_page(
    data: PageData,
    path: Path | None,
    beside: BesideAsked = NOTHING,
    begin_drawing: BeginDrawing | None = None,
) -> PageWritten:
    """Writes a page, its tables and its figures, each where it is asked for; nothing where the
    tables or figures may not be written. ``begin_drawing`` may draw the page's. Raises what
    ``check_tables``, ``check_figures`` and ``write_text`` do."""
    tables, figures, others = beside
    if tables is not None:
        check_tables(data, tables, others)
    if figures is not None:
        check_figures(data, figures)
    if path is not None:
        write_text(path, render_page(data, begin_drawing))
    return PageWritten(
        page=None if path is None else str(path),
        tables=None if tables is None else write_tables(data, tables, others),
        figures=None if figures is None else write_figures(data, figures),
        methods=methods_text(data),
    )


def write_text(path: Path, text: str) -> None:
    """Writes a page; StoreFailed, naming the cause, where it cannot be."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with -o"
        ) from error

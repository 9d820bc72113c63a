"""Pages as files, with their tables and figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from proofstone.errors import StoreFailed

if TYPE_CHECKING:
    from proofstone.report.figures.ahead import BeginDrawing
    from proofstone.report.page_data import PageData
    from proofstone.stages.figure_files import FiguresAsked, FiguresWritten
    from proofstone.stages.table_files import MoreTables, TablesAsked, TablesWritten

__all__ = ["BesideAsked", "PageWritten", "write_page", "write_text"]


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
    from proofstone.report import render_page  # noqa: PLC0415 - numpy
    from proofstone.report.methods_text import methods_text  # noqa: PLC0415
    from proofstone.stages.figure_files import check_figures, write_figures  # noqa: PLC0415
    from proofstone.stages.table_files import check_tables, write_tables  # noqa: PLC0415

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

"""Pages as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.errors import StoreFailed

if TYPE_CHECKING:
    from proofstone.report.page_data import PageData
    from proofstone.stages.table_files import TablesAsked, TablesWritten

__all__ = ["PageWritten", "write_page", "write_text"]


class PageWritten(Struct, frozen=True):
    """Where a page and its tables were written (None where they were not asked for), and the
    paragraphs of its methods text."""

    page: str | None
    tables: TablesWritten | None
    methods: tuple[str, ...]


def write_page(data: PageData, path: Path | None, tables: TablesAsked | None = None) -> PageWritten:
    """Writes a page and its tables, each where it is asked for; nothing where the tables may not
    be written. Raises what ``check_tables`` and ``write_text`` do."""
    from proofstone.report import render_page  # noqa: PLC0415 - numpy
    from proofstone.report.methods_text import methods_text  # noqa: PLC0415
    from proofstone.stages.table_files import check_tables, write_tables  # noqa: PLC0415

    if tables is not None:
        check_tables(data, tables)
    if path is not None:
        write_text(path, render_page(data))
    return PageWritten(
        page=None if path is None else str(path),
        tables=None if tables is None else write_tables(data, tables),
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

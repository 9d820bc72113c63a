"""Pages as files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.errors import StoreFailed

if TYPE_CHECKING:
    from proofstone.report.page_data import PageData
    from proofstone.stages.table_files import TablesAsked, TablesWritten

__all__ = ["write_page", "write_text"]


def write_page(
    data: PageData, path: Path | None, tables: TablesAsked | None = None
) -> TablesWritten | None:
    """Writes a page and its tables, each where it is asked for; nothing where the tables may not
    be written. Raises what ``check_tables`` and ``write_text`` do."""
    from proofstone.report import render_page  # noqa: PLC0415 - numpy
    from proofstone.stages.table_files import check_tables, write_tables  # noqa: PLC0415

    if tables is not None:
        check_tables(data, tables)
    if path is not None:
        write_text(path, render_page(data))
    return None if tables is None else write_tables(data, tables)


def write_text(path: Path, text: str) -> None:
    """Writes a page; StoreFailed, naming the cause, where it cannot be."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise StoreFailed(
            f"cannot write {path}: {error.strerror or error}", hint="name another file with -o"
        ) from error

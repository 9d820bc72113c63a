"""``--tables`` and ``--tables-to``: the tables of a page as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.cli.files_of_page import FilesOfPage
from proofstone.cli.options import with_options

if TYPE_CHECKING:
    from proofstone.stages.table_files import TablesAsked, TablesWritten

__all__ = ["read_tables", "table_options", "tables_line"]

_TABLES = FilesOfPage("tables", ("csv", "tex"), ("csv", "tex"), "csv or tex, or both")
# The options of a command that writes a page.
table_options = with_options(*_TABLES.options(metavar="csv,tex", more="", usual="both csv and tex"))


def read_tables(kinds: Sequence[str], folder: Path | None, page: Path | None) -> TablesAsked | None:
    """What the options ask for; None where nothing. Raises as ``FilesOfPage.read``."""
    found = _TABLES.read(kinds, folder, page)
    if found is None:
        return None
    from proofstone.stages.table_files import TABLE_KINDS, TablesAsked  # noqa: PLC0415 - numpy

    beside, chosen = found
    return TablesAsked(beside, tuple(kind for kind in TABLE_KINDS if kind in chosen))


def tables_line(written: TablesWritten) -> str:
    """``report-tables   23 files, listed in tables.json``."""
    return _TABLES.line(written.folder, written.files)

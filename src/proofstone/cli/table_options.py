"""``--tables`` and ``--tables-to``: the tables of a page as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.cli.options import read_list
from proofstone.cli.output import visible

if TYPE_CHECKING:
    from proofstone.stages.table_files import TablesAsked, TablesWritten

__all__ = ["read_tables", "table_options", "tables_line"]

Command = TypeVar("Command", bound=Callable[..., Any])
_KINDS = ("csv", "tex")


def table_options(command: Command) -> Command:
    """The options of a command that writes a page."""
    options = [
        click.option(
            "--tables",
            multiple=True,
            metavar="csv,tex",
            help="Every table of the page as files, too, in a folder beside it: report.html has "
            "report-tables.",
        ),
        click.option(
            "--tables-to",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="The folder for them; without --tables as both csv and tex.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def read_tables(kinds: Sequence[str], folder: Path | None, page: Path | None) -> TablesAsked | None:
    """What the options ask for; None where nothing. Raises BadUsage where there is no page whose
    name the folder could have."""
    named = read_list(kinds)
    wrong = [kind for kind in named if kind not in _KINDS]
    if wrong:
        raise click.BadParameter(
            f"{', '.join(map(repr, wrong))}: expected {' or '.join(_KINDS)}, or both",
            param_hint="--tables",
        )
    if not named and folder is None:
        return None
    if folder is None and page is None:
        raise click.UsageError("--tables needs a place: -o report.html, or --tables-to DIR")
    from proofstone.stages.table_files import TABLE_KINDS, TablesAsked  # noqa: PLC0415 - numpy

    beside = folder or (page or Path()).with_name(f"{(page or Path()).stem}-tables")
    return TablesAsked(beside, tuple(kind for kind in TABLE_KINDS if kind in named or not named))


def tables_line(written: TablesWritten) -> str:
    """``tables   report-tables   23 files, listed in tables.json``."""
    n = len(written.files)
    return visible(f"{written.folder}   {n} {'file' if n == 1 else 'files'}, listed in tables.json")

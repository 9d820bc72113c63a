"""What stands on a page as files beside it: which kinds are asked for, and in which folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from proofstone.cli.options import read_list
from proofstone.cli.output import visible

__all__ = ["FilesOfPage"]


@dataclass(frozen=True, slots=True)
class FilesOfPage:
    """The options ``--NAME`` and ``--NAME-to``: which of ``kinds`` are wanted (``usual`` where only
    the folder is said; ``expected`` tells them in an error)."""

    name: str
    kinds: tuple[str, ...]
    usual: tuple[str, ...]
    expected: str

    def options(self, *, metavar: str, more: str, usual: str) -> list[Callable[[Any], Any]]:
        """Both options; ``more`` ends the help of the first, ``usual`` names the usual kinds."""
        thing = self.name.removesuffix("s")
        return [
            click.option(
                f"--{self.name}",
                multiple=True,
                metavar=metavar,
                help=f"Every {thing} of the page as files, too, in a folder beside it: report.html "
                f"has report-{self.name}.{more}",
            ),
            click.option(
                f"--{self.name}-to",
                type=click.Path(path_type=Path, file_okay=False),
                metavar="DIR",
                help=f"The folder for them; without --{self.name} as {usual}.",
            ),
        ]

    def read(
        self, named: Sequence[str], folder: Path | None, page: Path | None
    ) -> tuple[Path, tuple[str, ...]] | None:
        """The folder and the kinds that the options ask for; None where nothing. Raises UsageError
        where there is no page whose name the folder could have, BadParameter for other kinds."""
        kinds = read_list(named)
        wrong = [kind for kind in kinds if kind not in self.kinds]
        if wrong:
            raise click.BadParameter(
                f"{', '.join(map(repr, wrong))}: expected {self.expected}",
                param_hint=f"--{self.name}",
            )
        if not kinds and folder is None:
            return None
        if folder is None and page is None:
            raise click.UsageError(
                f"--{self.name} needs a place: -o report.html, or --{self.name}-to DIR"
            )
        beside = folder or (page or Path()).with_name(f"{(page or Path()).stem}-{self.name}")
        return beside, tuple(kind for kind in self.kinds if kind in (kinds or self.usual))

    def line(self, folder: str, files: Sequence[str]) -> str:
        """``report-tables   23 files, listed in tables.json``."""
        n = len(files)
        counted = f"{n} {'file' if n == 1 else 'files'}"
        return visible(f"{folder}   {counted}, listed in {self.name}.json")

"""``--figures``, ``--figures-to`` and ``--fonts``: the figures of a page as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.cli.options import read_list
from proofstone.cli.output import say, visible

if TYPE_CHECKING:
    from proofstone.stages.figure_files import FiguresAsked, FiguresWritten

__all__ = ["figure_options", "figures_line", "read_figures"]

Command = TypeVar("Command", bound=Callable[..., Any])
_KINDS = ("svg", "png", "html", "json")


def figure_options(command: Command) -> Command:
    """The options of a command that writes a page."""
    options = [
        click.option(
            "--figures",
            multiple=True,
            metavar="svg,png,html",
            help="Every figure of the page as files, too, in a folder beside it: report.html has "
            "report-figures. html can be pointed at; json (Vega-Lite with its data) comes always.",
        ),
        click.option(
            "--figures-to",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="The folder for them; without --figures as svg and png.",
        ),
        click.option(
            "--fonts",
            type=click.Path(path_type=Path, file_okay=False, exists=True),
            metavar="DIR",
            help="Fonts for them besides the system's: Chinese in a PNG needs one that has it.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def read_figures(
    kinds: Sequence[str], folder: Path | None, fonts: Path | None, page: Path | None
) -> FiguresAsked | None:
    """What the options ask for; None where nothing. Raises BadUsage where there is no page whose
    name the folder could have."""
    named = read_list(kinds)
    wrong = [kind for kind in named if kind not in _KINDS]
    if wrong:
        raise click.BadParameter(
            f"{', '.join(map(repr, wrong))}: expected svg, png, html or json, or several",
            param_hint="--figures",
        )
    if not named and folder is None:
        return None
    if folder is None and page is None:
        raise click.UsageError("--figures needs a place: -o report.html, or --figures-to DIR")
    from proofstone.stages.figure_files import FIGURE_KINDS, FiguresAsked  # noqa: PLC0415 - numpy

    beside = folder or (page or Path()).with_name(f"{(page or Path()).stem}-figures")
    chosen = named or ["svg", "png"]
    return FiguresAsked(beside, tuple(kind for kind in FIGURE_KINDS if kind in chosen), fonts)


def figures_line(written: FiguresWritten) -> str:
    """``report-figures   23 files, listed in figures.json``; says where Chinese is not drawn."""
    if not written.shows_chinese:
        say("no font here has Chinese: a PNG shows empty boxes for it; give one: --fonts DIR")
    n = len(written.files)
    files = f"{n} {'file' if n == 1 else 'files'}, listed in figures.json"
    return visible(f"{written.folder}   {files}")

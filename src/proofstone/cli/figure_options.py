"""``--figures``, ``--figures-to`` and ``--fonts``: the figures of a page as files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.files_of_page import FilesOfPage
from proofstone.cli.options import with_options
from proofstone.cli.output import say

if TYPE_CHECKING:
    from proofstone.stages.figure_files import FiguresAsked, FiguresWritten

__all__ = ["figure_options", "figures_line", "read_figures"]

_FIGURES = FilesOfPage(
    "figures", ("svg", "png", "html", "json"), ("svg", "png"), "svg, png, html or json, or several"
)
# The options of a command that writes a page.
figure_options = with_options(
    *_FIGURES.options(
        metavar="svg,png,html",
        more=" html can be pointed at; json (Vega-Lite with its data) comes always.",
        usual="svg and png",
    ),
    click.option(
        "--fonts",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        metavar="DIR",
        help="Fonts for them besides the system's: Chinese in a PNG needs one that has it.",
    ),
)


def read_figures(
    kinds: Sequence[str], folder: Path | None, fonts: Path | None, page: Path | None
) -> FiguresAsked | None:
    """What the options ask for; None where nothing. Raises as ``FilesOfPage.read``."""
    found = _FIGURES.read(kinds, folder, page)
    if found is None:
        return None
    from proofstone.stages.figure_files import FIGURE_KINDS, FiguresAsked  # noqa: PLC0415 - numpy

    beside, chosen = found
    return FiguresAsked(beside, tuple(kind for kind in FIGURE_KINDS if kind in chosen), fonts)


def figures_line(written: FiguresWritten) -> str:
    """``report-figures   23 files, listed in figures.json``; says where Chinese is not drawn."""
    if not written.shows_chinese:
        say("no font here has Chinese: a PNG shows empty boxes for it; give one: --fonts DIR")
    return _FIGURES.line(written.folder, written.files)

"""The figures of a page as files in a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from proofstone import __version__
from proofstone.report.audience import page_for
from proofstone.report.figures.drawing import needed
from proofstone.report.figures.files import (
    FIGURE_KINDS,
    FigureFile,
    figure_files,
    has_chinese_font,
    use_fonts,
)
from proofstone.report.figures.on_page import models_of, page_figures
from proofstone.report.page_data import PageData
from proofstone.report.sections.section import Figure
from proofstone.stages.own_files import FIGURES, check_folder, files_into

__all__ = [
    "FIGURE_KINDS",
    "FiguresAsked",
    "FiguresWritten",
    "check_drawn",
    "check_figures",
    "write_drawn",
    "write_figures",
]


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

"""A figure's data as a chart, and the chart as SVG for a page."""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proofstone.errors import ExtraMissing
from proofstone.report.figures.bars import bars_chart
from proofstone.report.figures.calibrated import calibration_chart
from proofstone.report.figures.densities import ridges_chart, violins_chart
from proofstone.report.figures.described import described
from proofstone.report.figures.dots import dots_chart, strips_chart
from proofstone.report.figures.grids import heat_chart, matrix_chart, ranks_chart
from proofstone.report.figures.labels import wrapped
from proofstone.report.figures.maps import map_chart
from proofstone.report.figures.paired_rows import dumbbells_chart, slopes_chart
from proofstone.report.figures.planes import curves_chart, points_chart
from proofstone.report.figures.sets import sets_chart
from proofstone.report.figures.style import CONFIG, QUIET, Look, looks_of
from proofstone.report.figures.vega import Part, chart, layer, specification
from proofstone.report.sections.section import Figure, FigureKind
from proofstone.wording import say

__all__ = ["can_draw", "chart_of", "draw", "for_page", "needed", "svg_of", "vega_lite"]

_CHARTS: Mapping[FigureKind, Callable[[Figure, Mapping[str, Look]], Part]] = {
    "dots": dots_chart,
    "strips": strips_chart,
    "heat": heat_chart,
    "matrix": matrix_chart,
    "ranks": ranks_chart,
    "curves": curves_chart,
    "points": points_chart,
    "calibration": calibration_chart,
    "dumbbells": dumbbells_chart,
    "slopes": slopes_chart,
    "bars": bars_chart,
    "ridges": ridges_chart,
    "violins": violins_chart,
    "sets": sets_chart,
    "map": map_chart,
}

# Within an HTML page they mean nothing, and would be the only addresses on it.
_NAMESPACES = ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
# Clips, gradients and what refers to them.
_IDS = re.compile(r"\b(?:clip|gradient_)\d+\b")
_TITLE_CELLS = 84


def can_draw() -> bool:
    """Whether the extra is installed."""
    return importlib.util.find_spec("vl_convert") is not None


def draw(figure: Figure, models: Sequence[str] = ()) -> str:
    """The figure as one SVG element for an HTML page, its texts escaped; the same for the same.

    ``models`` are the page's in their order: each looks the same in every figure. Title and
    subtitle are the page's to write. The empty text without the extra: the tables hold the same
    numbers.
    """
    if not can_draw():
        return ""
    return for_page(needed("vl_convert").vegalite_to_svg(vega_lite(figure, models)), figure)


def for_page(svg: str, figure: Figure) -> str:
    """A figure as it was drawn, as an element of an HTML page."""
    return _named(svg, figure).replace(_NAMESPACES, "", 1)


def svg_of(spec: Mapping[str, Any], figure: Figure) -> str:
    """A specification as SVG."""
    return _named(needed("vl_convert").vegalite_to_svg(spec), figure)


def _named(svg: str, figure: Figure) -> str:
    """What a drawing names within itself is named for the figure: vl-convert counts on from one
    drawing to the next, and ids of a page must differ."""
    numbers: dict[str, int] = {}
    name = re.sub(r"\W+", "-", figure.name)
    return _IDS.sub(lambda found: f"{name}-{numbers.setdefault(found[0], len(numbers) + 1)}", svg)


def vega_lite(
    figure: Figure, models: Sequence[str] = (), *, is_titled: bool = False
) -> dict[str, Any]:
    """The figure as a Vega-Lite specification with its data; ``is_titled``: with title and subtitle
    in it, to stand alone. It needs nothing installed."""
    part = _CHARTS[figure.kind](figure, looks_of(models)) if figure.marks else _nothing()
    if is_titled:
        subtitle = wrapped(figure.subtitle, _TITLE_CELLS).split("\n")
        title = {"text": wrapped(figure.title, _TITLE_CELLS).split("\n"), "subtitle": subtitle}
        part = part.properties(title=title)
    return specification(part.properties(description=described(figure)), CONFIG)


def _nothing() -> Part:
    """The plane of a figure without marks, saying so."""
    words = chart([{"text": say("no value is known")}]).encode(text="text:N")
    return layer(words.mark("text", color=QUIET)).properties(width=200, height=40)


def chart_of(figure: Figure, models: Sequence[str] = ()) -> Any:
    """The figure as an ``altair`` chart, to show in a notebook or to change; ExtraMissing
    without it."""
    altair = needed("altair")
    return altair.Chart.from_dict(vega_lite(figure, models, is_titled=True))


def needed(name: str) -> Any:
    """A module of the extra; ExtraMissing where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as cause:
        raise ExtraMissing(
            f"this needs {name}, which is not installed", hint="pip install 'proofstone[figures]'"
        ) from cause

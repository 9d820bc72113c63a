"""Write a figure as files: SVG, PDF, PNG, an interactive page, Vega-Lite."""

from __future__ import annotations

import importlib
import importlib.util
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from functools import cache
from html import escape
from importlib import resources
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal, get_args

from proofstone.errors import ExtraMissing
from proofstone.page.chart import (
    bars_chart,
    dots_chart,
    dumbbells_chart,
    heat_chart,
    matrix_chart,
    ranks_chart,
    slopes_chart,
    strips_chart,
)
from proofstone.page.distributions import ridges_chart, violins_chart
from proofstone.page.planes import calibration_chart, curves_chart, map_chart, points_chart
from proofstone.page.section import (
    AxisUnit,
    Cell,
    Column,
    Figure,
    FigureKind,
    Mark,
    Table,
    Unit,
    shown_cell,
)
from proofstone.page.sets import sets_chart
from proofstone.page.vega import (
    CONFIG,
    QUIET,
    Look,
    Part,
    chart,
    layer,
    looks_of,
    named,
    specification,
    wrapped,
)
from proofstone.wording.messages import counted, language_tag, listed, noted, say, word

# Text alternative of a figure: contents, number of rows, range.

_FORMS: Mapping[FigureKind, str] = {
    "dots": noted("Dots with intervals"),
    "strips": noted("Dots with intervals by group"),
    "heat": noted("Heat map"),
    "matrix": noted("Matrix of pairs"),
    "ranks": noted("Shares of ranks"),
    "curves": noted("Curves"),
    "points": noted("Scatter"),
    "calibration": noted("Reliability diagram"),
    "dumbbells": noted("Dumbbells"),
    "slopes": noted("Lines between two ranks"),
    "bars": noted("Bars"),
    "violins": noted("Violins"),
    "ridges": noted("Ridge lines"),
    "sets": noted("Sets by combination"),
    "map": noted("Map"),
}


def described(figure: Figure) -> str:
    """Return a text alternative: form, title, subtitle, number of rows, extremes and levels."""
    form = say("{form}: {title}", form=word(_FORMS[figure.kind]), title=figure.title)
    said = [form, figure.subtitle, *_range(figure)]
    said += [
        say("line at {level}", level=level.text)
        for level in figure.levels
        if not math.isnan(level.value)
    ]
    return say("{parts}.", parts=say("; ").join(part for part in said if part))


def _range(figure: Figure) -> Sequence[str]:
    known = [mark for mark in figure.marks if not math.isnan(mark.value)]
    if not known:
        return (say("no value is known"),)
    rows = counted(len({mark.row for mark in figure.marks}), "row")
    if figure.kind == "map":
        return (rows,)
    low, high = (pick(known, key=attrgetter("value")) for pick in (min, max))
    ends = {"low": _at(low, figure), "high": _at(high, figure)}
    if low.value == high.value:
        return (rows, say("all {value}", value=ends["low"]))
    return (rows, say("from {low} to {high}", **ends))


def _at(mark: Mark, figure: Figure) -> str:
    where = listed([named(part) for part in (mark.row, mark.column) if part])
    value = shown_value(mark.value, figure.value_unit)
    return say("{value} ({where})", value=value, where=where) if where else value


def shown_value(value: float, unit: AxisUnit) -> str:
    """Return a value as tables show it."""
    if math.isnan(value):
        return "\N{EM DASH}"
    if unit == "points":
        return f"{100 * value:z.1f}"
    if unit == "usd":
        return f"{value:.3g} USD"
    return f"{value:z,.0f}" if value == int(value) and math.isfinite(value) else f"{value:.4g}"


# From a figure's data to a chart and to SVG for a page.

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
    "violins": violins_chart,
    "ridges": ridges_chart,
    "sets": sets_chart,
    "map": map_chart,
}


# These have no effect within an HTML page and would be its only URLs.
_NAMESPACES = ' xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'


# Clips, gradients and references to them.
_IDS = re.compile(r"\b(?:clip|gradient_)\d+\b")


_TITLE_CELLS = 84


def can_draw() -> bool:
    """Return True if the extra is installed."""
    return importlib.util.find_spec("vl_convert") is not None


def draw(figure: Figure, models: Sequence[str] = ()) -> str:
    """Return the figure as one SVG element for an HTML page, with escaped texts.

    The output depends on the arguments only. ``models`` are those of the page in order, so that
    each looks the same in every figure. The page shows title and subtitle. Empty without the extra:
    tables hold the same numbers.
    """
    if not can_draw():
        return ""
    return for_page(needed("vl_convert").vegalite_to_svg(vega_lite(figure, models)), figure)


def for_page(svg: str, figure: Figure) -> str:
    """Return a drawn figure as an element of an HTML page.

    The page names the whole figure, so the roles of its parts, which have no names, are removed.
    """
    return _ROLES.sub("", _named(svg, figure)).replace(_NAMESPACES, "", 1)


_ROLES = re.compile(
    r' (?:role="graphics-[a-z]+"|aria-roledescription="[^"]*"|aria-label="Title text [^"]*")'
)


def svg_of(spec: Mapping[str, Any], figure: Figure) -> str:
    """Return a specification as SVG."""
    return _named(needed("vl_convert").vegalite_to_svg(spec), figure)


def _named(svg: str, figure: Figure) -> str:
    """Return the drawing with ids that contain the figure's name.

    Ids of a page must be unique, and vl-convert continues its numbering between drawings.
    """
    numbers: dict[str, int] = {}
    name = re.sub(r"\W+", "-", figure.name)
    return _IDS.sub(
        lambda found: f"{name}-drawn-{numbers.setdefault(found[0], len(numbers) + 1)}", svg
    )


def vega_lite(
    figure: Figure, models: Sequence[str] = (), *, is_titled: bool = False
) -> dict[str, Any]:
    """Return the figure as a Vega-Lite specification with its data.

    ``is_titled`` adds title and subtitle. No extra is needed.
    """
    part = _CHARTS[figure.kind](figure, looks_of(models)) if figure.marks else _nothing()
    if is_titled:
        subtitle = wrapped(figure.subtitle, _TITLE_CELLS).split("\n")
        title = {"text": wrapped(figure.title, _TITLE_CELLS).split("\n"), "subtitle": subtitle}
        part = part.properties(title=title)
    return specification(part.properties(description=described(figure)), CONFIG)


def _nothing() -> Part:
    words = chart([{"text": say("no value is known")}]).encode(text="text:N")
    return layer(words.mark("text", color=QUIET)).properties(width=200, height=40)


def chart_of(figure: Figure, models: Sequence[str] = ()) -> Any:
    """Return the figure as an ``altair`` chart for a notebook. Raises ExtraMissing without it."""
    altair = needed("altair")
    return altair.Chart.from_dict(vega_lite(figure, models, is_titled=True))


def needed(name: str) -> Any:
    """Return a module of the extra. Raises ExtraMissing if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as cause:
        raise ExtraMissing(
            f"this needs {name}, which is not installed", hint="pip install 'proofstone[figures]'"
        ) from cause


# The numbers of a figure as a table.

_UNITS: dict[AxisUnit, Unit] = {"points": "points", "number": "", "usd": ""}


def numbers_table(figure: Figure) -> Table:
    """Return a row per mark: names, position, value with interval, n; without empty columns."""
    columns = [column for column in _columns(figure) if _is_used(column, figure)]
    return Table(
        title=say("The numbers of this figure"),
        columns=tuple(columns),
        rows=tuple(tuple(_cell(column.key, mark) for column in columns) for mark in figure.marks),
    )


def _columns(figure: Figure) -> tuple[Column, ...]:
    unit, x_unit = _UNITS[figure.value_unit], _UNITS[figure.x_unit]
    digits = 0 if all(_is_whole(mark.value) for mark in figure.marks) else 3
    x_digits = 0 if all(_is_whole(mark.x) for mark in figure.marks) else 3
    across = figure.x_axis or "x"
    return (
        Column(key="row", name=figure.row_axis or say("series")),
        Column(key="column", name=figure.column_axis or say("part")),
        Column(key="x", name=across, unit=x_unit, digits=x_digits),
        Column(key="value", name=figure.value_axis or say("value"), unit=unit, digits=digits),
        Column(key="low", name=say("from"), unit=unit, digits=digits),
        Column(key="high", name=say("to"), unit=unit, digits=digits),
        Column(key="n", name="n"),
        Column(key="text", name=say("in words")),
    )


def _is_whole(value: float) -> bool:
    return math.isnan(value) or value == int(value)


def _is_used(column: Column, figure: Figure) -> bool:
    cells = [_cell(column.key, mark) for mark in figure.marks]
    if column.key in {"row", "value"}:
        return True
    return any(cell not in {None, "", 0} for cell in cells)


def _cell(key: str, mark: Mark) -> Cell:
    if key in {"row", "column", "text"}:
        text: str = getattr(mark, key)
        return named(text) if text else ""
    value: float = getattr(mark, key)
    return None if math.isnan(value) else value


FigureFile = Literal["svg", "pdf", "png", "html", "json"]


FIGURE_KINDS: tuple[FigureFile, ...] = get_args(FigureFile)


_TIMES = 2  # scale of a PNG, for print


_CHINESE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


# No network access. Vega compiles a figure's expressions with eval.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def figure_files(
    figure: Figure, kinds: Sequence[FigureFile], models: Sequence[str] = ()
) -> dict[str, bytes]:
    """Return the bytes of each file by suffix, always including ``vl.json`` (Vega-Lite).

    The output depends on the arguments only. Raises ExtraMissing without vl-convert.
    """
    spec = vega_lite(figure, models, is_titled=True)
    text = json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    files = {"vl.json": f"{text}\n".encode()}
    svg = _svg(figure, spec) if {"svg", "pdf", "png", "html"} & set(kinds) else ""
    makers: Mapping[str, Callable[[], bytes]] = {
        "svg": f"{svg}\n".encode,
        "pdf": lambda: bytes(needed("vl_convert").svg_to_pdf(svg)),
        "png": lambda: bytes(needed("vl_convert").svg_to_png(svg, scale=_TIMES)),
        "html": lambda: _page(figure, spec, svg).encode(),
    }
    return {**files, **{kind: makers[kind]() for kind in kinds if kind in makers}}


def _svg(figure: Figure, spec: Mapping[str, Any]) -> str:
    """Return the drawing with its text alternative."""
    words = f"<title>{escape(figure.title)}</title><desc>{escape(described(figure))}</desc>"
    head, close, rest = svg_of(spec, figure).partition(">")
    return f'{head} role="img"{close}{words}{rest}'


def _page(figure: Figure, spec: Mapping[str, Any], svg: str) -> str:
    """Return a page that needs no network: interactive figure, static figure without scripts,
    text alternative and numbers."""
    # A script ends at the first "</", even within a string.
    data = json.dumps(spec, ensure_ascii=False, sort_keys=True, allow_nan=False)
    template = resources.files(__package__) / "templates" / "figure.html"
    return template.read_text(encoding="utf-8").format(
        lang=language_tag(),
        policy=_POLICY,
        title=escape(figure.title),
        words=escape(described(figure)),
        svg=svg,
        table=_table(figure),
        script=_runtime(),
        data=data.replace("<", "\\u003c"),
    )


@cache
def _runtime() -> str:
    """Return Vega, Vega-Lite and vega-embed as bundled with vl-convert, and their start code."""
    bundle: str = needed("vl_convert").javascript_bundle(
        "const still = document.getElementById('figure');"
        "const spec = JSON.parse(document.getElementById('data').textContent);"
        "const host = document.createElement('div');"
        "vegaEmbed(host, spec, {actions: false, renderer: 'svg'})"
        ".then(() => still.replaceChildren(host));"
    )
    return bundle.replace("</script", "<\\/script")


def _table(figure: Figure) -> str:
    table = numbers_table(figure)
    heads = "".join(f'<th scope="col">{escape(column.name)}</th>' for column in table.columns)
    rows = "\n".join(
        "<tr>"
        + "".join(
            f"<td>{escape(shown_cell(cell, column).text)}</td>"
            for cell, column in zip(row, table.columns, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    return f"<table>\n<caption>{escape(table.title)}</caption>\n<tr>{heads}</tr>\n{rows}\n</table>"


def use_fonts(folder: Path) -> None:
    """Use the fonts of a folder in addition to system fonts for later drawings."""
    needed("vl_convert").register_font_directory(str(folder.resolve()))


def has_chinese_font(figures: Sequence[Figure]) -> bool:
    """Return True if the figures have no Chinese text, or a font can draw it."""
    texts = (
        text for figure in figures
        for text in (figure.title, figure.subtitle, *figure.rows(), *figure.columns())
    )  # fmt: skip
    return not any(map(_CHINESE.search, texts)) or _draws("\u56fd")


@cache
def _draws(character: str) -> bool:
    """Return True if a character is drawn differently from a missing one."""
    with_it, without = (
        needed("vl_convert").svg_to_png(
            '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
            f'<text x="4" y="30" font-size="24" font-family="sans-serif">{each}</text></svg>'
        )
        for each in (character, "\U0010fffd")
    )
    return bytes(with_it) != bytes(without)


# Figures of a page that another process draws while the rest is built.

# Returns the future SVG of a Vega-Lite specification; None if no process is available.
BeginDrawing = Callable[[Mapping[str, Any]], Future[str] | None]


class DrawnAhead:
    """Replacement for ``draw`` that starts drawing all figures at once.

    Figures that were not started are drawn in this process. If the drawing process crashed, its
    figure is omitted, since it could crash this process as well. Its table has the same numbers.
    """

    def __init__(
        self, begin: BeginDrawing, figures: Iterable[Figure], models: Sequence[str]
    ) -> None:
        self._models = models
        self._begun: dict[str, tuple[Figure, Future[str]]] = {}
        for figure in figures:
            if (svg := begin(vega_lite(figure, models))) is not None:
                self._begun[figure.name] = (figure, svg)

    def draw(self, figure: Figure, models: Sequence[str] = ()) -> str:
        """Return the figure as SVG; wait for one that is being drawn."""
        begun, svg = self._begun.get(figure.name, (None, None))
        if svg is not None and (begun, self._models) == (figure, models):
            try:
                return for_page(svg.result(), figure)
            except BrokenExecutor:
                return ""
        return draw(figure, models)

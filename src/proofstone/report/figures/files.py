"""A figure as files: SVG, PNG, a page to point at things in, and its Vega-Lite specification."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

from proofstone.report.figures.described import described
from proofstone.report.figures.drawing import needed, svg_of, vega_lite
from proofstone.report.figures.numbers_behind import numbers_table
from proofstone.report.section_cells import shown_cell
from proofstone.report.sections.section import Figure
from proofstone.wording import language_tag

__all__ = ["FIGURE_KINDS", "FigureFile", "figure_files", "has_chinese_font", "use_fonts"]

FigureFile = Literal["svg", "png", "html", "json"]
FIGURE_KINDS: tuple[FigureFile, ...] = get_args(FigureFile)
_TIMES = 2  # pixels of a PNG for each of the drawing's, so that it is sharp in print
_CHINESE = re.compile("[\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# No network and nothing from anywhere: Vega makes functions of a figure's expressions by eval.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def figure_files(
    figure: Figure, kinds: Sequence[FigureFile], models: Sequence[str] = ()
) -> dict[str, bytes]:
    """The bytes of each file by its ending; ``vl.json`` always, drawn from in any tool that reads
    Vega-Lite. The same for the same figure. Raises ExtraMissing without vl-convert."""
    spec = vega_lite(figure, models, is_titled=True)
    text = json.dumps(spec, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    files = {"vl.json": f"{text}\n".encode()}
    svg = _svg(figure, spec) if {"svg", "png", "html"} & set(kinds) else ""
    makers: Mapping[str, Callable[[], bytes]] = {
        "svg": f"{svg}\n".encode,
        "png": lambda: bytes(needed("vl_convert").svg_to_png(svg, scale=_TIMES)),
        "html": lambda: _page(figure, spec, svg).encode(),
    }
    return {**files, **{kind: makers[kind]() for kind in kinds if kind in makers}}


def _svg(figure: Figure, spec: Mapping[str, Any]) -> str:
    """The drawing with its words in it, for a reader who cannot see it."""
    words = f"<title>{escape(figure.title)}</title><desc>{escape(described(figure))}</desc>"
    head, close, rest = svg_of(spec, figure).partition(">")
    return f'{head} role="img"{close}{words}{rest}'


def _page(figure: Figure, spec: Mapping[str, Any], svg: str) -> str:
    """A page that opens without a network: the figure to point at, the same still without scripts,
    in words, and its numbers."""
    # A script ends at the first "</", whatever it stands in.
    data = json.dumps(spec, ensure_ascii=False, sort_keys=True, allow_nan=False)
    return _HTML.format(
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
    """Vega, Vega-Lite and vega-embed as vl-convert carries them, with what starts them."""
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
    """Fonts of a folder, besides those of the system, for what is drawn from now on."""
    needed("vl_convert").register_font_directory(str(folder.resolve()))


def has_chinese_font(figures: Sequence[Figure]) -> bool:
    """Whether a PNG shows these figures' Chinese: there is none in them, or there is a font for it
    and not the empty box of a missing character."""
    texts = (text for figure in figures for text in _texts(figure))
    return not any(_CHINESE.search(text) for text in texts) or _draws("\u56fd")


def _texts(figure: Figure) -> Sequence[str]:
    names = [name for mark in figure.marks for name in (mark.row, mark.column)]
    return [figure.title, figure.subtitle, *names]


@cache
def _draws(character: str) -> bool:
    """Whether a character looks unlike one that no font has."""
    with_it, without = (_drawn(each) for each in (character, "\U0010fffd"))
    return with_it != without


def _drawn(character: str) -> bytes:
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40">'
        f'<text x="4" y="30" font-size="24" font-family="sans-serif">{character}</text></svg>'
    )
    return bytes(needed("vl_convert").svg_to_png(svg))


_HTML = """<!DOCTYPE html>
<html lang="{lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; margin: 1.5rem auto;
  max-width: 64rem; padding: 0 1rem; }}
figure {{ margin: 0; overflow-x: auto; }}
table {{ border-collapse: collapse; font-size: .9375rem; font-variant-numeric: tabular-nums; }}
caption {{ text-align: left; color: #555; padding: .5rem 0; }}
th, td {{ padding: .2rem .75rem .2rem 0; text-align: left; border-bottom: 1px solid #c8c8c8; }}
p {{ max-width: 72ch; color: #555; }}
#vg-tooltip-element {{ position: fixed; visibility: hidden; z-index: 1; padding: .4rem .6rem;
  background: #fff; border: 1px solid #555; font-size: .8125rem; pointer-events: none; }}
#vg-tooltip-element.visible {{ visibility: visible; }}
</style>
</head>
<body>
<main>
<figure id="figure">{svg}</figure>
<p>{words}</p>
{table}
</main>
<script type="application/json" id="data">{data}</script>
<script type="module">{script}</script>
</body>
</html>
"""

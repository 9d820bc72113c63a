"""Render one self-contained HTML page from records, without network or store access."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import importlib
import math
import os
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import jinja2
from jinja2.bccache import Bucket, BytecodeCache
from msgspec import Struct

from proofstone.page.figure import BeginDrawing, DrawnAhead, described, draw, numbers_table
from proofstone.page.html import ITEM_SCRIPT, page_script, script_words
from proofstone.page.section import (
    MISSING,
    Cell,
    Figure,
    Section,
    Table,
    estimates_in,
    number_columns,
    points,
    shown_cell,
    shown_estimate,
    shown_interval,
    shown_rank,
    shown_share,
    tie_lanes,
    tie_letters,
    told_estimate,
)
from proofstone.page.text import visible
from proofstone.records.runs import FLAGS, Estimate
from proofstone.results.board import Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.cards import card_value
from proofstone.results.corrections import OVERRIDE_HEADS, overridden_rows, override_cells
from proofstone.results.item_browser import (
    FLAG_NAMES,
    SHOWN_FIRST,
    STATES,
    HeldItems,
    hold_items,
    items_json,
)
from proofstone.results.methods_paragraph import methods_text
from proofstone.results.page_layout import (
    chapters,
    contents,
    context_line,
    details_note,
    limitations,
    partial_lines,
    setting_of,
    shared_setting,
    unrecorded,
)
from proofstone.results.page_parts import (
    Download,
    PageData,
    css_string,
    estimate_tables,
    page_for,
    page_texts,
    paper_line,
    same_recipe,
    table_bodies,
)
from proofstone.results.sections.strata import documents_text
from proofstone.results.sentences import (
    SELF_EVALUATION_MARK,
    answer_sentences,
    apart_name,
    apart_reason,
    deeds,
    scale_head,
    self_evaluation_sentence,
    shared_name,
    where_lines,
)
from proofstone.results.summary import spent_columns
from proofstone.wording.messages import say, word

if TYPE_CHECKING:
    from jinja2 import Environment


# With more overlapping tie groups, letters are unreadable: bars show the rank ranges.
MOST_LANES = 6


# Models of a long table that are shown before "Show all" is chosen.
ROWS_OPEN = 20


# A table of more columns is printed row by row, each value next to the name of its column.
MOST_COLUMNS_ON_PAPER = 12


# A longer table is not printed: its CSV file has all rows.
MOST_ROWS_ON_PAPER = 50


# A shaded table of more groups is not printed either.
MOST_GROUPS_ON_PAPER = 15


# Sections under a heading shared with others, whose figures are all folded.
FOLDED_FIGURES = ("stability",)


def render_page(
    data: PageData,
    begin_drawing: BeginDrawing | None = None,
    held: HeldItems | None = None,
    downloads: Sequence[Download] = (),
) -> str:
    """Return the page as HTML text.

    The text depends on ``data`` only, also if ``begin_drawing`` draws its figures elsewhere.
    ``held`` lists the item rows in files next to the page; without it the page holds all rows.
    ``downloads`` are files within the page, linked at its head.
    Texts of models and items are escaped; control and direction characters are made visible. A
    content security policy allows only the page's own style and script, by hash.
    """
    data = page_for(data)
    models = models_of(data.board)
    drawn = draw
    if begin_drawing is not None:
        figures = (figure for part in data.sections for figure in part.figures)
        drawn = DrawnAhead(begin_drawing, figures, models).draw
    environment = page_environment()
    style = environment.get_template("page.css.jinja").render(
        n_lanes=_n_lanes(data),
        rows_open=ROWS_OPEN,
        paper_line=visible(paper_line(data.title, data.provenance)),
    )
    script = page_script(*ITEM_SCRIPT)
    if data.items is not None and held is None:
        held = hold_items(data.items)
    return environment.get_template("page.html.jinja").render(
        data=data,
        board=data.board,
        models=models,
        drawn=drawn,
        answers=answer_sentences(data.board, with_scale=not shared_name(data.board)),
        shared_name=shared_name(data.board),
        style=style,
        script=script,
        policy=page_policy(style, script, more_scripts=held is not None and held.is_beside),
        held=held,
        downloads=downloads,
        chapters=chapters(data),
        contents=contents(data),
        context_line=context_line(data),
        limitations=limitations(data),
        partial_lines=tuple(partial_lines(data)),
        unrecorded=unrecorded(data),
        flags=_flags_used(data),
    )


@cache
def page_environment(*packages: str) -> Environment:
    """Return the template environment, with the templates of ``packages`` and the text
    functions."""
    # Imported here, because a leaderboard in the terminal needs no template engine.
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined  # noqa: PLC0415

    environment = Environment(
        bytecode_cache=KeptTemplates(),
        loader=ChoiceLoader([PackageLoader(name) for name in ("proofstone.page", *packages)]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    shown: Mapping[str, Any] = {
        "bracketed": lambda estimate: shown_interval(estimate.low, estimate.high),
        "css_string": css_string,
        "in_column": _in_column,
        "points": points,
        "rank": shown_rank,
        "share": shown_share,
        "told": told_estimate,
        "visible": visible,
        "sortable": _sortable,
        "letters": tie_letters,
        "card_fact": lambda card, field: word(card_value(card, field)),
        "worded": word,
    }
    environment.filters.update(shown)
    named: Mapping[str, Any] = {
        "SELF_EVALUATION_MARK": SELF_EVALUATION_MARK,
        "MISSING": MISSING,
        "FLAG_NAMES": FLAG_NAMES,
        "SHOWN_FIRST": SHOWN_FIRST,
        "STATES": STATES,
        "items_json": items_json,
        "states_used": lambda items: {code for item in items.items for code in item.cells},
        "MOST_COLUMNS_ON_PAPER": MOST_COLUMNS_ON_PAPER,
        "MOST_ROWS_ON_PAPER": MOST_ROWS_ON_PAPER,
        "MOST_GROUPS_ON_PAPER": MOST_GROUPS_ON_PAPER,
        "OVERRIDE_HEADS": OVERRIDE_HEADS,
        "bodies": table_bodies,
        "cell_of": shown_cell,
        "is_long_word": lambda head: any(len(part) > 14 for part in head.split()),
        "has_lanes": _has_lanes,
        "has_judges": lambda board: any(row.judge for row in board.rows),
        "has_prompt_methods": lambda board: any(
            (row.prompt_method or row.settings) and not row.is_setting_shared for row in board.rows
        ),
        # In percent of the space of all ranks.
        "rank_place": lambda rank, group: round(100 * (rank - 1) / len(group.ranked), 2),
        "has_averages": _has_averages,
        "number_columns": number_columns,
        "tells": _told_outcomes,
        "tells_any": _tells_any,
        "details_note": details_note,
        "deeds": deeds,
        "described": described,
        "all_above_chance": _all_above_chance,
        "dot_plot": dot_plot,
        "dots_of": lambda plot: {dot.label: dot for dot in plot.dots} if plot else {},
        "figures_shown": _figures_shown,
        "FOLDED_FIGURES": FOLDED_FIGURES,
        "has_own_n": _has_own_n,
        "heat_shades": heat_shades,
        "ROWS_OPEN": ROWS_OPEN,
        "setting_of": setting_of,
        "shared_setting": shared_setting,
        "spent_columns": lambda group: list(spent_columns(group.ranked)),
        "estimate_tables": estimate_tables,
        "self_evaluation_sentence": self_evaluation_sentence,
        "has_samples": lambda rows: any(row.average and row.average.k > 1 for row in rows),
        "lanes": _lanes,
        "numbers_table": numbers_table,
        "overridden_rows": overridden_rows,
        "override_cells": override_cells,
        "documents_text": documents_text,
        "same_recipe": same_recipe,
        "script_words": script_words,
        "scale_head": scale_head,
        "apart_name": apart_name,
        "apart_reason": apart_reason,
        "methods_text": methods_text,
        "where_lines": where_lines,
    }
    environment.globals.update({**named, **page_texts()})
    return environment


def page_policy(style: str, script: str, *, more_scripts: bool = False) -> str:
    """Return the content security policy: only the page's own style and script, by hash.

    With ``more_scripts``, files that this script loads (data next to the page) are also allowed.
    """
    trusted = f"{_source(script)} 'strict-dynamic'" if more_scripts else _source(script)
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {trusted}; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _in_column(estimate: Estimate) -> str:
    """Return ``shown_estimate`` without line breaks inside brackets; without an interval, the
    value."""
    if math.isnan(estimate.low):
        return points(estimate.value)
    return shown_estimate(estimate).replace(", ", ",\u00a0")


def _sortable(number: float | None) -> str:
    """A number for the script to sort by; empty where it is missing, which sorts last."""
    return "" if number is None or math.isnan(number) else f"{number:.6g}"


def _lanes(group: Standings) -> tuple[int, ...]:
    return tie_lanes(group.ties)


def _n_lanes(data: PageData) -> int:
    return max((lane + 1 for group in data.board.standings for lane in _lanes(group)), default=0)


def _told_outcomes(group: Standings) -> list[str]:
    """Return the outcomes without an answer that some response here had."""
    found = {rate.outcome for row in group.ranked for rate in row.rates if rate.count}
    return [name for name in ("refused", "unparsed", "truncated") if name in found]


def _tells_any(board: Leaderboard) -> bool:
    """Return True if the values of outcomes should be shown; also if nothing is scored yet."""
    groups = board.standings
    return bool(board.counts) and (
        not groups or any(row.rates for group in groups for row in group.rows)
    )


def _all_above_chance(group: Standings) -> bool:
    """Return True if every interval lies above the chance level."""
    return all(row.estimate.low > group.chance for row in group.ranked)


def _has_own_n(group: Standings) -> bool:
    """Return True if rows have different numbers of items, or none is known."""
    return len({row.estimate.n for row in group.ranked}) > 1


def _figures_shown(part: Section) -> tuple[Figure, ...]:
    """Return the figures of a section that do not repeat one of its shaded tables."""
    if not any(table.is_heat for table in part.tables):
        return part.figures
    return tuple(figure for figure in part.figures if figure.kind not in ("heat", "strips"))


def _has_lanes(group: Standings) -> bool:
    """Return True if ties are few enough to be drawn in parallel, with a letter each."""
    return max(_lanes(group), default=0) < MOST_LANES


def _has_averages(data: PageData) -> bool:
    """Return True if there is more than the average that the leaderboard shows."""
    groups = [group for group in data.board.standings if group.ranked]
    return any(row.levels or row.others for group in groups for row in group.ranked)


def _flags_used(data: PageData) -> list[str]:
    used = {flag for row in data.board.rows for flag in row.estimate.flags}
    return [text for flag, text in FLAGS.items() if flag in used]


class KeptTemplates(BytecodeCache):
    """Cache of compiled page templates, whose compilation takes half a second.

    It is in the ``__pycache__`` of this package or under ``PYTHONPYCACHEPREFIX``. Nothing is
    written with ``PYTHONDONTWRITEBYTECODE`` or without write access. An entry of another template
    text or Jinja version is ignored.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill the bucket if the cached entry is readable and current."""
        # It begins with a pickle. A damaged one may raise anything: then recompile.
        with contextlib.suppress(Exception), _place(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Write the compiled template atomically."""
        if sys.dont_write_bytecode:
            return
        place = _place(bucket)
        new = place.with_name(f"{place.name}.{os.getpid()}")  # another process may do the same
        with contextlib.suppress(OSError):
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                with new.open("wb") as file:
                    bucket.write_bytecode(file)
                new.replace(place)
            finally:
                new.unlink(missing_ok=True)


def _place(bucket: Bucket) -> Path:
    template = Path(__file__).with_name(f"template_{jinja2.__version__}_{bucket.key}.py")
    return Path(importlib.util.cache_from_source(str(template)))


# Shades of a table of scores by group.

_N_SHADES = 7


class HeatShades(NamedTuple):
    """Ends of the color scale: the lowest and highest value of a table, in [0, 1]."""

    low: float
    high: float

    def of(self, cell: Cell) -> str:
        """Return the CSS class of a cell with a leading space; empty without a value."""
        if not isinstance(cell, Estimate) or math.isnan(cell.value):
            return ""
        share = (cell.value - self.low) / (self.high - self.low) if self.high > self.low else 0.0
        return f" shade-{min(int(share * _N_SHADES), _N_SHADES - 1)}"


def heat_shades(table: Table) -> HeatShades:
    """Return the color scale of a table."""
    values = [estimate.value for estimate in estimates_in(table)]
    return HeatShades(min(values, default=math.nan), max(values, default=math.nan))


# Dots with intervals next to a leaderboard: positions on their axis in percent of its width.


Anchor = Literal["start", "middle", "end"]


# Room at both ends of the axis, so that dots and end labels are not cut.
_MARGIN = 2.0


_MOST_TICKS = 6


class Tick(Struct, frozen=True):
    """A position on the axis with its label and text alignment."""

    x: float
    text: str
    anchor: Anchor = "middle"


class Dot(Struct, frozen=True):
    """One model: its dot, the ends of its interval, and its value as text."""

    label: str
    x: float
    low: float
    high: float
    text: str


class DotPlot(Struct, frozen=True):
    """Dots of one group in order, the axis, and the chance line, if any."""

    dots: tuple[Dot, ...]
    ticks: tuple[Tick, ...]
    chance: Tick | None


def dot_plot(group: Standings) -> DotPlot | None:
    """Return the figure of a group's ranked rows; None if no row has an interval."""
    rows = [row for row in group.ranked if not math.isnan(row.estimate.low)]
    if not rows:
        return None
    drawn = [(row.label, row.estimate) for row in rows]
    drawn += [(each.name, each.estimate) for each in group.people]
    shown = [end for _label, each in drawn for end in (each.low, each.high)]
    ends = _axis([share for share in (*shown, group.chance) if not math.isnan(share)])
    dots = [
        Dot(
            label=label,
            x=_place_on_axis(estimate.value, ends),
            low=_place_on_axis(estimate.low, ends),
            high=_place_on_axis(estimate.high, ends),
            text=shown_estimate(estimate),
        )
        for label, estimate in drawn
        if not math.isnan(estimate.low)
    ]
    return DotPlot(tuple(dots), _ticks(ends), _chance_line(group.chance, ends))


def _axis(shares: list[float]) -> tuple[float, float]:
    """Return the tenths that enclose all ``shares``, at least one tenth wide."""
    low = math.floor(min(shares) * 10 + 1e-9) / 10
    return low, max(math.ceil(max(shares) * 10 - 1e-9) / 10, low + 0.1)


def _place_on_axis(share: float, ends: tuple[float, float]) -> float:
    low, high = ends
    return round(_MARGIN + (100 - 2 * _MARGIN) * (share - low) / (high - low), 2)


def _ticks(ends: tuple[float, float]) -> tuple[Tick, ...]:
    """Return a tick per tenth, per fifth if those are too many, and a middle one if too few."""
    low, high = (round(end * 20) for end in ends)
    step = next(step for step in (1, 2, 4, 10) if (high - low) // step < _MOST_TICKS)
    shares = [twentieth / 20 for twentieth in range(low, high + 1, step)]
    return tuple(Tick(_place_on_axis(share, ends), f"{100 * share:g}") for share in shares)


def _chance_line(chance: float, ends: tuple[float, float]) -> Tick | None:
    """Return the chance level; its label stays inside the figure on narrow screens."""
    if math.isnan(chance):
        return None
    x = _place_on_axis(chance, ends)
    anchor: Anchor = "start" if x < 15 else "end" if x > 85 else "middle"
    return Tick(x, say("chance {points}", points=points(chance)), anchor)


def models_of(board: Leaderboard) -> tuple[str, ...]:
    """Return the models of a page in order, which sets their color and shape in every figure."""
    return tuple(row.label for group in board.standings for row in group.ranked)

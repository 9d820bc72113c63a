"""A part of a report as data: terminal, JSON and page all show the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from msgspec import Struct

from proofstone.engines.stats import Estimand, RankInterval
from proofstone.records.accuracies import Accuracies
from proofstone.records.annotated import Annotated
from proofstone.records.judged import Judged
from proofstone.records.results import Estimate
from proofstone.records.upkeep import Upkeep
from proofstone.report.board import Leaderboard
from proofstone.report.sheet import Sheet

__all__ = [
    "AxisUnit",
    "Cell",
    "Column",
    "Curve",
    "Evidence",
    "Figure",
    "FigureKind",
    "Level",
    "Mark",
    "Section",
    "Span",
    "Table",
]

Cell: TypeAlias = str | int | float | Estimate | RankInterval | None
Unit = Literal["", "points", "share", "probability", "rank"]
FigureKind = Literal[
    "dots",
    "strips",
    "heat",
    "matrix",
    "ranks",
    "curves",
    "points",
    "calibration",
    "dumbbells",
    "slopes",
    "bars",
    "ridges",
    "violins",
    "sets",
    "map",
]
AxisUnit = Literal["points", "number", "usd"]


class Column(Struct, frozen=True, kw_only=True):
    """One column: ``key`` names its values for programs, ``name`` heads it for people, ``help`` is
    its meaning in plain words. ``unit`` says how its numbers are written: points out of 100,
    shares with their percent sign, probabilities, ranks; else ``digits`` behind the point."""

    key: str
    name: str
    help: str = ""
    unit: Unit = ""
    digits: int = 2


class Table(Struct, frozen=True, kw_only=True):
    """Rows of cells under columns; None is a value that there is not. An estimate is shown with its
    interval, and asked for its n, estimand and what was resampled. ``sorts``: whether its order
    means nothing, so that a reader may change it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    sorts: bool = True


class Mark(Struct, frozen=True, kw_only=True):
    """One mark of a figure: ``value`` at ``row`` and ``column``, with its interval and n where it
    has them, and its ``text`` in words. Where both axes are numbers ``row`` is the series, ``x``
    the place across with its own interval, and ``column`` the panel."""

    row: str
    column: str = ""
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    text: str = ""
    x: float = float("nan")
    x_low: float = float("nan")
    x_high: float = float("nan")


class Curve(Struct, frozen=True, kw_only=True):
    """A line without marks, in the series ``row`` and the panel ``column``: a fit, or a density.
    ``is_reference``: it belongs to no series but is there to be read against (F = 0.5), with its
    ``text`` beside it; ``is_firm`` draws such a one as the edge of something, not as a scale."""

    row: str = ""
    column: str = ""
    x: tuple[float, ...]
    values: tuple[float, ...]
    text: str = ""
    is_reference: bool = False
    is_firm: bool = False


class Level(Struct, frozen=True, kw_only=True):
    """A level drawn as a line across a figure, with its text: chance, people."""

    value: float
    text: str


class Span(Struct, frozen=True, kw_only=True):
    """Rows from ``first`` to ``last`` (places from 0) that the data cannot tell apart."""

    first: int
    last: int


class Figure(Struct, frozen=True, kw_only=True):
    """What a figure shows, whoever draws it; docs/figures.md says what each kind takes.

    Rows, columns and series are in the order of their first mark. A unit of "points" is a share
    that is written out of 100. ``table`` says which table of its section (from 1) holds the
    same numbers; where it is 0 the page makes a table of the marks.
    """

    name: str
    kind: FigureKind
    title: str
    subtitle: str
    marks: tuple[Mark, ...]
    curves: tuple[Curve, ...] = ()
    levels: tuple[Level, ...] = ()
    spans: tuple[Span, ...] = ()
    row_axis: str = ""
    column_axis: str = ""
    value_axis: str = ""
    value_unit: AxisUnit = "points"
    x_axis: str = ""
    x_unit: AxisUnit = "points"
    is_log: bool = False
    table: int = 0


class Section(Struct, frozen=True, kw_only=True):
    """One part of a report. ``finding`` is its answer in a sentence, ``plain`` what that means to
    someone without statistics, ``cannot`` what these data leave open (or nothing). ``how`` says how
    it was computed: what was resampled, the seed, the source."""

    name: str
    title: str
    finding: str
    plain: str = ""
    cannot: str = ""
    how: str = ""
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Evidence:
    """What sections are made from: the leaderboard; the scores as its measure values them, where
    there are items; the accuracies, where there is nothing else; labels by people and by a judge,
    and by several annotators, where they were named; of our own runs what else is known of their
    items; ``statements``, scores of the parts that items are made of, by the same respondents,
    where these were asked for; ``families`` of models by their names, where a file has a column of
    them.
    ``seed`` is that of all draws; ``estimand`` is what
    intervals speak of."""

    board: Leaderboard
    sheet: Sheet | None = None
    accuracies: Accuracies | None = None
    judged: Judged | None = None
    annotated: Annotated | None = None
    upkeep: Upkeep | None = None
    statements: Sheet | None = None
    families: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    estimand: Estimand = "knowledge"

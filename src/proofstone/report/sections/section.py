"""A part of a report as data: terminal, JSON and page all show the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec import Struct

from proofstone.engines.stats import Estimand, RankInterval
from proofstone.records.accuracies import Accuracies
from proofstone.records.judged import Judged
from proofstone.records.results import Estimate
from proofstone.report.board import Leaderboard
from proofstone.report.sheet import Sheet

__all__ = ["Cell", "Column", "Evidence", "Figure", "FigureKind", "Mark", "Section", "Table"]

Cell: TypeAlias = str | int | float | Estimate | RankInterval | None
Unit = Literal["", "points", "share", "probability", "rank"]
FigureKind = Literal["dots", "heat", "matrix", "ranks"]


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
    has them, and its ``text`` in words."""

    row: str
    column: str = ""
    value: float
    low: float = float("nan")
    high: float = float("nan")
    n: int = 0
    text: str = ""


class Figure(Struct, frozen=True, kw_only=True):
    """What a figure shows, whoever draws it. ``line`` is a level drawn across it (chance), with its
    text. Rows and columns are in the order of their first mark."""

    name: str
    kind: FigureKind
    title: str
    subtitle: str
    marks: tuple[Mark, ...]
    row_axis: str = ""
    column_axis: str = ""
    value_axis: str = ""
    line: float = float("nan")
    line_text: str = ""


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


@dataclass(frozen=True, slots=True)
class Evidence:
    """What sections are made from: the leaderboard; the scores as its measure values them, where
    there are items; the accuracies, where there is nothing else; labels by people
    and by a judge, where they were named. ``seed`` is that of all draws; ``estimand`` is what
    intervals speak of."""

    board: Leaderboard
    sheet: Sheet | None = None
    accuracies: Accuracies | None = None
    judged: Judged | None = None
    seed: int = 0
    estimand: Estimand = "knowledge"

"""What a study gives, as records: text, JSON and files all show the same."""

from __future__ import annotations

from msgspec import Struct

from proofstone.records.results import Estimate
from proofstone.report.sections.section import Figure

__all__ = ["Point", "Study", "StudyTable", "point_of"]


class Point(Struct, frozen=True, kw_only=True):
    """One mark of a study's figure: ``y`` at ``x`` in a series, with n and the interval.

    ``x`` is a number or a name, as the figure's axis is; shares are in [0, 1].
    """

    series: str
    x: float | str
    y: float
    n: int
    low: float = float("nan")
    high: float = float("nan")


class StudyTable(Struct, frozen=True, kw_only=True):
    """A further table of a study: cells as people read them, under columns, of which the first
    ``n_names`` hold names."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_names: int = 1


class Study(Struct, frozen=True, kw_only=True):
    """A study's answer. ``finding`` is its sentence; ``rows`` are cells as people read them, under
    ``columns``, and ``more`` further tables; ``points`` the figure's data with its axes named;
    ``notes`` say what limits it; ``figures`` are drawn from the same numbers. As text it is what
    ``report --study`` prints."""

    name: str
    title: str
    finding: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    x_axis: str
    y_axis: str
    points: tuple[Point, ...]
    notes: tuple[str, ...] = ()
    more: tuple[StudyTable, ...] = ()
    figures: tuple[Figure, ...] = ()

    def __str__(self) -> str:
        from proofstone.report.studies.text import render_study  # noqa: PLC0415 - it reads studies

        return render_study(self).rstrip("\n")

    def __repr__(self) -> str:  # a notebook shows this
        return str(self)


def point_of(series: str, x: float | str, estimate: Estimate) -> Point:
    """An estimate as a mark."""
    return Point(
        series=series, x=x, y=estimate.value, n=estimate.n, low=estimate.low, high=estimate.high
    )

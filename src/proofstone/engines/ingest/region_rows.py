"""Regions of pages that people chose: a table with a row a box."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from proofstone.engines.ingest.fields import Fields
from proofstone.engines.ingest.rows import read_checked
from proofstone.errors import BadInput, Problem
from proofstone.ports import Row
from proofstone.records import Box

__all__ = ["ChosenRegion", "read_regions"]

_SIDES = ("left", "top", "right", "bottom")


class ChosenRegion(Struct, frozen=True):
    """A box on a page, and the place of its row; ``file`` is empty where there is one source."""

    page: int
    box: Box
    place: str
    file: str = ""
    heading: str = ""


def read_regions(path: Path | str) -> tuple[ChosenRegion, ...]:
    """The rows of a table (CSV, JSONL, ...): page, left, top, right, bottom; where there are
    several sources also file (a source's origin or title), and heading where one is known.

    Points from the top left corner of the page as displayed. Raises BadInput with every problem.
    """
    return read_checked(Path(path), _rows)


def _rows(rows: Iterable[Row]) -> tuple[ChosenRegion, ...]:
    problems: list[Problem] = []
    found = []
    for row in rows:
        fields = Fields(row, problems)
        page = fields.number("page")
        box = Box(*(_side(row, side, problems) for side in _SIDES))
        if page is None:
            fields.wrong("page", "is missing: the number of the page, from 1")
        elif box.left >= box.right or box.top >= box.bottom:
            fields.wrong("right", "right and bottom must be more than left and top")
        else:
            heading, file = fields.text("heading").strip(), fields.text("file", "source").strip()
            found.append(ChosenRegion(page, box, row.place, file, heading))
    if problems:
        raise BadInput("The regions cannot be read.", problems)
    return tuple(found)


def _side(row: Row, side: str, problems: list[Problem]) -> float:
    value = row.values.get(side)
    try:
        points = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        points = float("nan")
    if not 0 <= points < 1e6:
        problems.append(Problem(f"{row.place}, {side}", f"expected points, not {value!r}"))
        return 0.0
    return points

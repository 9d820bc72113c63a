"""Which parts of a page are regions: by rule over its layout, or where a person put a box."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

from msgspec import Struct

from proofstone.errors import BadInput, Problem
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked
from proofstone.records.knowledge import Passage
from proofstone.records.pages import Box, Page, PageLayout, PlacedLine
from proofstone.records.tables import Row

# Regions of pages that people chose: a table with a row a box.

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


Rule = Literal["passages", "points"]


RULES: tuple[Rule, ...] = get_args(Rule)


_BETWEEN = "\n\n"


_POINT = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})*\.?\s*)?"
    r"(?:(?:Definition|Theorem|Lemma|Corollary|Proposition|Axiom|Postulate|Law|Principle|Rule)\b"
    r"|(?:定义|定理|引理|推论|命题|公理|公设|定律|原理|法则))",
    re.IGNORECASE,
)


_ENDS_POINT = re.compile(
    r"(?:Proof|Remark|Example|Exercise|Solution)\b|证明|例\s*\d|习题|注[：:]", re.IGNORECASE
)


_BELONGING = {"equation", "list", "table"}


class Region(Struct, frozen=True):
    """Where a region is printed, what the page's text has there, and the passage that holds most
    of it."""

    boxes: tuple[Box, ...]
    text: str
    passage: Passage | None = None


def regions_by_rule(page: Page, passages: Sequence[Passage], rule: Rule) -> Iterator[Region]:
    """The regions of a page, in order of its text: one a passage, or one a knowledge point.

    A point is a paragraph that begins as definitions, theorems and laws do, with the formulas,
    lists and continuations that belong to it. None of a page without boxes.
    """
    places = page.places
    spans: Iterable[tuple[int, int]]
    if rule == "passages":
        spans = [(passage.start, passage.end) for passage in passages]
    else:
        spans = _points(page.text, places)
    for start, end in spans:
        boxes = places.boxes(start, end)
        if boxes:
            yield Region(boxes, page.text[start:end], _holding(passages, [(start, end)]))


def region_in_box(page: Page, passages: Sequence[Passage], box: Box) -> Region:
    """The region that a person chose, with the lines whose middle is in it; no text where the page
    has none there."""
    inside = [line for line in page.places.lines if _is_within(line.box, box)]
    spans = [(line.start, line.end) for line in inside]
    return Region((box,), _text(page.text, inside), _holding(passages, spans))


def _points(text: str, places: PageLayout) -> Iterator[tuple[int, int]]:
    open_at: int | None = None
    end = 0
    for start, stop in _paragraphs(text):
        block, kinds = text[start:stop], set(places.kinds(start, stop))
        belongs = (
            open_at is not None
            and "heading" not in kinds
            and not _POINT.match(block)
            and not _ENDS_POINT.match(block)
            and (bool(kinds & _BELONGING) or block[:1].islower())
        )
        if belongs:
            end = stop
            continue
        if open_at is not None:
            yield open_at, end
            open_at = None
        if _POINT.match(block) and "heading" not in kinds:
            open_at, end = start, stop
    if open_at is not None:
        yield open_at, end


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for block in text.split(_BETWEEN):
        if block.strip():
            yield start, start + len(block)
        start += len(block) + len(_BETWEEN)


def _is_within(line: Box, box: Box) -> bool:
    across, down = (line.left + line.right) / 2, (line.top + line.bottom) / 2
    return box.left <= across <= box.right and box.top <= down <= box.bottom


def _text(text: str, lines: Sequence[PlacedLine]) -> str:
    """The text of lines; as it stands on the page where they follow each other."""
    parts: list[list[int]] = []
    for line in sorted(lines, key=lambda line: line.start):
        if parts and not text[parts[-1][1] : line.start].strip():
            parts[-1][1] = line.end
        else:
            parts.append([line.start, line.end])
    return "\n".join(text[start:end].strip() for start, end in parts)


def _holding(passages: Sequence[Passage], spans: Sequence[tuple[int, int]]) -> Passage | None:
    shared = [
        (sum(max(0, min(p.end, end) - max(p.start, start)) for start, end in spans), -place, p)
        for place, p in enumerate(passages)
    ]
    most = max(shared, key=lambda entry: entry[:2], default=None)
    return most[2] if most is not None and most[0] else None

"""Pages of a source: text, layout and regions."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, get_args

from msgspec import Struct

from proofstone.records.calls import ImagePart
from proofstone.records.ids import content_id
from proofstone.records.knowledge import Passage, Source

MarkKind = Literal[
    "text",
    "heading",
    "list",
    "table",
    "equation",
    "code",
    "caption",
    "figure",
    "note",
    "contents",
]


PageState = Literal["read", "unread"]


# Reasons why a page was not read: an image without text, or unreadable characters (both are sent to
# OCR), or a reader limit. A blank page counts as read, with empty text.
Unread = Literal["", "image only", "garbled", "too large", "too slow", "broken"]


_KINDS = get_args(MarkKind)


_SCALE = 65535


_UNSURE = 1 << 31  # flag in the line count: confidences follow


_BYTE = 255


_REQUEST = re.compile(r"\brequest ([0-9a-f]{64})\b")


_VISION = "vision "  # prefix of model reader names; a version and the model follow


_PLACED, _MARK = struct.Struct(">IIHHHH"), struct.Struct(">BIIHHHH")


class Box(NamedTuple):
    """A rectangle on a displayed page: points from its top left corner, y downwards."""

    left: float
    top: float
    right: float
    bottom: float


class PlacedLine(NamedTuple):
    """Code points [start, end) of a page's text, with the box where they are printed.

    ``confidence`` is the reader's, from 0 to 1; 1 except for OCR.
    """

    start: int
    end: int
    box: Box
    confidence: float = 1.0


class Mark(NamedTuple):
    """The kind of a stretch of a page's text that is not body text.

    ``start == end`` for a figure without text. ``box`` is None if the document has no pages to
    show.
    """

    kind: MarkKind
    start: int
    end: int
    box: Box | None


class PageLayout(NamedTuple):
    """Lines of a page in text order, and its marks."""

    lines: tuple[PlacedLine, ...] = ()
    marks: tuple[Mark, ...] = ()

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """Return the boxes of the lines that contain [start, end), as whole lines."""
        return tuple(line.box for line in self.lines if line.start < end and line.end > start)

    def confidence(self, start: int, end: int) -> float:
        """Return the mean confidence over the characters in [start, end); 1 without any."""
        within = (
            (min(line.end, end) - max(line.start, start), line.confidence)
            for line in self.lines
            if line.start < end and line.end > start
        )
        weighed = [(n, n * sure) for n, sure in within]
        total = sum(n for n, _part in weighed)
        return sum(part for _n, part in weighed) / total if total else 1.0

    def kinds(self, start: int, end: int) -> tuple[MarkKind, ...]:
        """Return the distinct kinds of marks within [start, end), in order; body text has none."""
        inside = (m.kind for m in self.marks if m.start < end and m.end > start)
        return tuple(dict.fromkeys(inside))


class Page(Struct, frozen=True, gc=False, kw_only=True):
    """One reading of a page of a source.

    ``number`` counts from 1 in file order; None for a whole document without pages. ``label`` is
    the printed page number (xii), if the file has it. ``width`` and ``height`` are points as
    displayed, 0 without an image. ``reader`` is the reader's name and version. An unread page has a
    ``reason`` and no text. ``detail`` gives more information, including the requests that read it
    by a model. ``layout`` is packed (``pack_layout``).
    """

    id: bytes = b""
    source: bytes
    number: int | None
    text: str
    label: str = ""
    width: float = 0.0
    height: float = 0.0
    reader: str = ""
    state: PageState = "read"
    reason: Unread = ""
    detail: str = ""
    layout: bytes = b""

    @property
    def places(self) -> PageLayout:
        """Return the unpacked layout: where lines are printed, and the marks."""
        return unpack_layout(self.layout, self.width, self.height)

    @property
    def confidence(self) -> float:
        """Return the mean confidence of the page's text, from 0 to 1; 1 if empty."""
        return self.places.confidence(0, len(self.text))


def page_id(page: Page) -> bytes:
    """Return the id of a page's reading: its position, text, layout and reader."""
    key = [page.source, page.number, page.label, page.text, page.width, page.height, page.reader]
    return content_id("page", [*key, page.state, page.reason, page.detail, page.layout])


def vision_reader(model: str, version: int) -> str:
    """Return the reader name for pages that ``model`` transcribed from images.

    Another ``version`` of its instructions is another reader.
    """
    return f"{_VISION}{version} {model}"


def model_that_read(reader: str) -> str:
    """Return the model behind a reader's name; empty if it is not a model."""
    return reader.removeprefix(_VISION).partition(" ")[2] if reader.startswith(_VISION) else ""


def naming_request(request_hash: bytes) -> str:
    """Return how a page's ``detail`` refers to a model request."""
    return f"request {request_hash.hex()}"


def requests_named(detail: str) -> tuple[bytes, ...]:
    """Return the request hashes in a page's ``detail``."""
    return tuple(bytes.fromhex(found) for found in _REQUEST.findall(detail))


def pack_layout(layout: PageLayout, width: float, height: float) -> bytes:
    """Pack a layout into 16 bytes per line and 17 per mark, with corners as fractions of the page.

    If any line has a confidence below 1, one byte per line follows.
    """
    is_unsure = any(line.confidence < 1 for line in layout.lines)
    parts = [struct.pack(">I", len(layout.lines) | (_UNSURE if is_unsure else 0))]
    parts += [
        _PLACED.pack(line.start, line.end, *_corners(line.box, width, height))
        for line in layout.lines
    ]
    if is_unsure:
        parts.append(bytes(round(_BYTE * min(max(c, 0.0), 1.0)) for *_, c in layout.lines))
    parts += [
        _MARK.pack(_KINDS.index(kind) + (0 if box else 128), s, e, *_corners(box, width, height))
        for kind, s, e, box in layout.marks
    ]
    return b"".join(parts) if layout.lines or layout.marks else b""


def unpack_layout(data: bytes, width: float, height: float) -> PageLayout:
    """Return the unpacked layout; empty for no bytes."""
    if not data:
        return PageLayout()
    (head,) = struct.unpack_from(">I", data)
    n = head & ~_UNSURE
    middle = 4 + n * _PLACED.size
    sure: Sequence[float] = [1.0] * n
    placed = data[4:middle]
    if head & _UNSURE:
        sure = [byte / _BYTE for byte in data[middle : middle + n]]
        middle += n
    lines = (
        PlacedLine(start, end, _box(corners, width, height), confidence)
        for (start, end, *corners), confidence in zip(
            _PLACED.iter_unpack(placed), sure, strict=True
        )
    )
    marks = (
        Mark(_KINDS[kind % 128], s, e, None if kind >= 128 else _box(corners, width, height))
        for kind, s, e, *corners in _MARK.iter_unpack(data[middle:])
    )
    return PageLayout(tuple(lines), tuple(marks))


def _corners(box: Box | None, width: float, height: float) -> Iterable[int]:
    sides = (width, height, width, height)
    if box is None:
        return (0, 0, 0, 0)
    return (
        round(min(max(value / side, 0.0), 1.0) * _SCALE) if side else 0
        for value, side in zip(box, sides, strict=True)
    )


def _box(corners: Sequence[int], width: float, height: float) -> Box:
    left, top, right, bottom = corners
    across, down = width / _SCALE, height / _SCALE
    return Box(left * across, top * down, right * across, bottom * down)


# Page regions as images: inputs for vision models.


class PageRegion(Struct, frozen=True, kw_only=True):
    """A page region as an image, cropped to its boxes with everything else masked.

    ``text`` is the page's own text there; empty if unknown. ``passage`` is the passage with most of
    it, or None.
    """

    source: Source
    page: int
    image: ImagePart
    boxes: tuple[Box, ...]
    text: str = ""
    passage: Passage | None = None
    heading: str = ""
    language: str = ""


def page_ranges(numbers: Sequence[int]) -> str:
    """Return page numbers as ranges, such as 3, 7-12."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)

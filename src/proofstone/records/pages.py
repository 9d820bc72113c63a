"""Pages of a source: their text, and where each line of it stands on the page's image."""

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


# Why a page was not read: an image and no text, or characters that are no words (both are for OCR);
# or what its reader could not do. A page with nothing on it is read, and its text is empty.
Unread = Literal["", "image only", "garbled", "too large", "too slow", "broken"]


_KINDS = get_args(MarkKind)


_SCALE = 65535


_UNSURE = 1 << 31  # in the number of lines: their confidences follow


_BYTE = 255


_REQUEST = re.compile(r"\brequest ([0-9a-f]{64})\b")


_VISION = "vision "  # how the names of models as readers begin; a number and the model follow


_PLACED, _MARK = struct.Struct(">IIHHHH"), struct.Struct(">BIIHHHH")


class Box(NamedTuple):
    """A rectangle on a displayed page: points from its top left corner, y downwards."""

    left: float
    top: float
    right: float
    bottom: float


class PlacedLine(NamedTuple):
    """Code points [start, end) of a page's text, and the box in which they are printed; how sure
    their reader is of them, from 0 to 1, which is 1 of all but characters read from an image."""

    start: int
    end: int
    box: Box
    confidence: float = 1.0


class Mark(NamedTuple):
    """What a stretch of a page's text is, where it is no plain text; ``start == end`` of a figure
    without text. ``box`` is None where the document has no pages to show."""

    kind: MarkKind
    start: int
    end: int
    box: Box | None


class PageLayout(NamedTuple):
    """The lines of a page in the order of its text, and its marks."""

    lines: tuple[PlacedLine, ...] = ()
    marks: tuple[Mark, ...] = ()

    def boxes(self, start: int, end: int) -> tuple[Box, ...]:
        """The boxes of the lines in which [start, end) is printed, whole lines."""
        return tuple(line.box for line in self.lines if line.start < end and line.end > start)

    def confidence(self, start: int, end: int) -> float:
        """How sure the reader is of [start, end): the mean over its characters; 1 without any."""
        within = (
            (min(line.end, end) - max(line.start, start), line.confidence)
            for line in self.lines
            if line.start < end and line.end > start
        )
        weighed = [(n, n * sure) for n, sure in within]
        total = sum(n for n, _part in weighed)
        return sum(part for _n, part in weighed) / total if total else 1.0

    def kinds(self, start: int, end: int) -> tuple[MarkKind, ...]:
        """The kinds of marks within [start, end), each once, in order; plain text has none."""
        inside = (m.kind for m in self.marks if m.start < end and m.end > start)
        return tuple(dict.fromkeys(inside))


class Page(Struct, frozen=True, gc=False, kw_only=True):
    """One reading of a page of a source.

    ``number`` counts from 1 in the order of the file; None for the whole of a document that has no
    pages. ``label`` is what is printed for it (xii), where the file says. ``width`` and ``height``
    are points as displayed, 0 where there is no image. ``reader`` names what read it, with its
    version. An unread page has a ``reason`` and no text. ``detail`` says more of either, and names
    the requests by which a model was asked for it. ``layout`` is packed (``pack_layout``).
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
        """Where the lines of the text are printed, and what they are."""
        return unpack_layout(self.layout, self.width, self.height)

    @property
    def confidence(self) -> float:
        """How sure the reader is of the page's text, from 0 to 1; 1 of an empty one."""
        return self.places.confidence(0, len(self.text))


def page_id(page: Page) -> bytes:
    """The id of a page's reading: its place, its text and layout, and what read it."""
    key = [page.source, page.number, page.label, page.text, page.width, page.height, page.reader]
    return content_id("page", [*key, page.state, page.reason, page.detail, page.layout])


def vision_reader(model: str, version: int) -> str:
    """The reader's name on pages that ``model`` wrote down from their images; another ``version``
    of what it is told is another reader."""
    return f"{_VISION}{version} {model}"


def model_that_read(reader: str) -> str:
    """The model behind a reader's name; empty where it is no model."""
    return reader.removeprefix(_VISION).partition(" ")[2] if reader.startswith(_VISION) else ""


def naming_request(request_hash: bytes) -> str:
    """How a page's ``detail`` names the request by which a model was asked for it."""
    return f"request {request_hash.hex()}"


def requests_named(detail: str) -> tuple[bytes, ...]:
    """The hashes of the requests that a page's ``detail`` names."""
    return tuple(bytes.fromhex(found) for found in _REQUEST.findall(detail))


def pack_layout(layout: PageLayout, width: float, height: float) -> bytes:
    """A layout in 16 bytes a line and 17 a mark: corners as fractions of the page's sides. Where
    not all lines are sure, their confidences follow, a byte each."""
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
    """The layout that was packed; empty for no bytes."""
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


# Parts of pages as images: what a vision model takes knowledge from.


class PageRegion(Struct, frozen=True, kw_only=True):
    """A part of a page of a source as an image, cropped to its boxes and with all else masked, as
    it enters a build.

    ``text`` is what the page's own text has there; empty where that is not known. ``passage`` is
    the one in which most of it stands, None where there is none.
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
    """Page numbers as people write them: 3, 7-12."""
    parts: list[list[int]] = []
    for number in sorted(numbers):
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    return ", ".join(f"{p[0]}-{p[-1]}" if len(p) > 1 else str(p[0]) for p in parts)

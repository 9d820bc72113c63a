"""Read a PDF page by page, holding only a window of pages in memory."""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proofstone.documents.passages import Block, BlockLine, Said, box_around, garbled
from proofstone.documents.pdf_blocks import Mender, blocks_of, reading_order
from proofstone.documents.pdf_headings import (
    WINDOW,
    EdgeRow,
    Titles,
    edge_rows,
    furniture,
    plain_title,
)
from proofstone.documents.pdf_lines import (
    Line,
    Segment,
    Style,
    TooManyCharacters,
    lines_of,
    plain_call,
    read_glyphs,
    segments_of,
    style_of,
    upright,
)
from proofstone.errors import BadInput, needed
from proofstone.records.pages import Box, Unread

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Map a PDF page's coordinates to the displayed page, and back.


def display_of(page: Any, turn: int) -> NDArray[np.float64]:
    """Return the map (2, 3) to points from the top left corner, y downwards.

    The page is rotated clockwise by ``turn`` degrees (0, 90, 180 or 270).
    """
    left, bottom, right, top = page.get_bbox()
    rows = {
        0: [[1, 0, -left], [0, -1, top]],
        90: [[0, 1, -bottom], [1, 0, -left]],
        180: [[-1, 0, right], [0, 1, -bottom]],
        270: [[0, -1, top], [-1, 0, right]],
    }
    return np.array(rows[turn % 360], dtype=np.float64)


def box_between(box: Box, origin: NDArray[np.float64], target: NDArray[np.float64]) -> Box:
    """Map a box from ``origin`` to ``target``; a tilted box becomes the box around it."""
    across, down = (box.left, box.right), (box.top, box.bottom)
    corners = np.array([[x, y] for x in across for y in down])
    own = (corners - origin[:, 2]) @ np.linalg.inv(origin[:, :2]).T
    there = own @ target[:, :2].T + target[:, 2]
    (x0, y0), (x1, y1) = there.min(axis=0).tolist(), there.max(axis=0).tolist()
    return Box(x0, y0, x1, y1)


# Locate figures on a page: images, and drawings other than rules and frames.

_MOST_OBJECTS = 20_000


_MOST_PARTS = 2_000


_PATH, _IMAGE, _SHADING, _FORM = 2, 3, 4, 5


_DRAWN = {_PATH, _IMAGE, _SHADING, _FORM}


_THIN = 2.5  # points: a rule


_LEAST_SIDE = 24.0


_NEAR = 6.0  # points between parts of one figure


_LEAST_PARTS = 6  # fewer objects are a frame, a background box or an underline


_WHOLE = 0.92  # of the page: a background or a scan


_TEXT_SHARE = 0.4  # of a figure's height covered by lines of text


_LONG = 7  # words: a label has fewer


def parts_of(page: Any, to_display: np.ndarray) -> list[tuple[bool, Box]]:
    """Return (is image, box) of each object of the page except text and rules."""
    handle, calls = ctypes.cast(page.raw, ctypes.c_void_p).value, _calls()
    edges = [ctypes.c_float() for _ in range(4)]
    places = [ctypes.addressof(edge) for edge in edges]
    parts: list[tuple[bool, Box]] = []
    for k in range(min(calls.count(handle), _MOST_OBJECTS)):
        thing = calls.thing(handle, k)
        kind = calls.kind(thing)
        if kind not in _DRAWN or not calls.bounds(thing, *places):
            continue
        left, bottom, right, top = (edge.value for edge in edges)
        corners = np.array([[left, bottom], [right, top]]) @ to_display[:, :2].T + to_display[:, 2]
        (x0, y0), (x1, y1) = corners.min(axis=0).tolist(), corners.max(axis=0).tolist()
        if kind == _PATH and (x1 - x0 < _THIN or y1 - y0 < _THIN):
            continue
        parts.append((kind == _IMAGE, Box(x0, y0, x1, y1)))
        if len(parts) >= _MOST_PARTS:
            break
    return parts


class _Calls:
    def __init__(self) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 - in an extra

        pointer, index = ctypes.c_void_p, ctypes.c_int
        self.count = plain_call(raw.FPDFPage_CountObjects, index, pointer)
        self.thing = plain_call(raw.FPDFPage_GetObject, pointer, pointer, index)
        self.kind = plain_call(raw.FPDFPageObj_GetType, index, pointer)
        self.bounds = plain_call(raw.FPDFPageObj_GetBounds, index, *[pointer] * 5)


@cache
def _calls() -> _Calls:
    return _Calls()


def figures_of(
    parts: Sequence[tuple[bool, Box]], lines: Sequence[Line], width: float, height: float
) -> list[Box]:
    """Return the figures' boxes, from the top down, without backgrounds of text."""
    drawn = [(is_image, box) for is_image, box in parts if _area(box) < _WHOLE * width * height]
    found = []
    for n, n_images, box in _clusters(drawn):
        if box.right - box.left < _LEAST_SIDE or box.bottom - box.top < _LEAST_SIDE:
            continue
        if not n_images and n < _LEAST_PARTS:
            continue
        inside = [line for line in lines if _holds(box, line)]
        long = sum(line.size for line in inside if len(line.text.split()) > _LONG)
        if long <= _TEXT_SHARE * (box.bottom - box.top):
            found.append(box)
    return sorted(found, key=lambda box: (box.top, box.left))


def _holds(box: Box, line: Line) -> bool:
    middle, level = (line.left + line.right) / 2, line.baseline - 0.3 * line.size
    return box.left <= middle <= box.right and box.top <= level <= box.bottom


def _area(box: Box) -> float:
    return max(0.0, box.right - box.left) * max(0.0, box.bottom - box.top)


def _clusters(parts: Sequence[tuple[bool, Box]]) -> list[tuple[int, int, Box]]:
    """Return groups of nearly touching parts as (parts, images, box around)."""
    clusters: list[tuple[int, int, Box]] = []
    for is_image, box in sorted(parts, key=lambda part: part[1].top):
        n, images = 1, int(is_image)
        merged = box
        apart = []
        for other in clusters:
            if _touch(merged, other[2]):
                n, images = n + other[0], images + other[1]
                merged = box_around((merged, other[2])) or merged
            else:
                apart.append(other)
        clusters = [*apart, (n, images, merged)]
    return clusters


def _touch(a: Box, b: Box) -> bool:
    return (
        a.left - _NEAR <= b.right
        and b.left - _NEAR <= a.right
        and a.top - _NEAR <= b.bottom
        and b.top - _NEAR <= a.bottom
    )


_AXIS = 2.6  # ems around a figure


_LABEL = 10  # characters


@dataclass(frozen=True)
class PrintedPage:
    """The content of a page, rotated so that most of its text is upright.

    ``parts`` are images and drawings. ``shown`` and ``upright`` map the page's coordinates to the
    displayed ones and to those of the segments.
    """

    width: float
    height: float
    segments: list[Segment]
    edges: list[EdgeRow]
    parts: list[tuple[bool, Box]]
    n_unmapped: int
    shown: NDArray[np.float64]
    upright: NDArray[np.float64]

    @property
    def image_share(self) -> float:
        """Return the share of the page that its largest image covers."""
        areas = [(b.right - b.left) * (b.bottom - b.top) for is_image, b in self.parts if is_image]
        whole = self.width * self.height
        return max(areas, default=0.0) / whole if whole else 0.0


def read_printed(document: Any, index: int) -> PrintedPage:
    """Return the content of the page with this index from 0.

    Raises pdfium's PdfiumError for a page that cannot be loaded, TooManyCharacters.
    """
    page = document[index]
    text_page = None
    try:
        text_page = page.get_textpage()
        width, height = page.get_size()
        turn = page.get_rotation()
        shown = display_of(page, turn)
        glyphs = read_glyphs(text_page, shown, turn)
        angle, mapped = upright(glyphs), shown
        if angle:
            mapped = display_of(page, turn + angle)
            glyphs = read_glyphs(text_page, mapped, turn + angle)
        segments = segments_of(glyphs)
        extent = width if angle in {90, 270} else height
        edges = edge_rows(segments, extent)
        parts = parts_of(page, mapped)
        return PrintedPage(width, height, segments, edges, parts, glyphs.unmapped, shown, mapped)
    finally:
        if text_page is not None:
            text_page.close()
        page.close()


def blocks_on(
    page: PrintedPage, left_out: set[int], style: Style, titles: Titles, mender: Mender
) -> list[Block]:
    """Return the blocks of a page without the segments ``left_out``, with displayed boxes.

    Figures are placed where they begin; labels within a figure are its text.
    """
    segments = [s for k, s in enumerate(page.segments) if k not in left_out]
    columns = [lines_of(group) for group in reading_order(segments)]
    figures = figures_of(page.parts, [line for lines in columns for line in lines],
                         page.width, page.height) if page.parts else []  # fmt: skip
    labels: list[list[Line]] = [[] for _ in figures]
    kept = [_without(lines, figures, labels) for lines in columns]
    blocks = blocks_of(kept, style, titles, mender)
    for box, inside in zip(figures, labels, strict=True):
        _insert(blocks, _figure(box, inside))
    if page.upright is page.shown:
        return blocks
    return [_displayed(block, page) for block in blocks]


def _without(lines: Iterable[Line], figures: list[Box], labels: list[list[Line]]) -> list[Line]:
    kept = []
    for line in lines:
        middle, level = (line.left + line.right) / 2, line.baseline - 0.3 * line.size
        # Axis labels of a plot lie just outside of it.
        reach = _AXIS * line.size if line.n_letters <= _LABEL else 0.0
        for box, inside in zip(figures, labels, strict=True):
            across = box.left - reach <= middle <= box.right + reach
            if across and box.top - reach <= level <= box.bottom + reach:
                inside.append(line)
                break
        else:
            kept.append(line)
    return kept


def _figure(box: Box, labels: list[Line]) -> Block:
    lines, text = [], ""
    for line in labels:
        text += "\n" if text else ""
        box_of_line = Box(line.left, line.top, line.right, line.bottom)
        lines.append(BlockLine(len(text), box_of_line, line.confidence))
        text += line.text
    return Block("figure", text, tuple(lines), box=box)


def _insert(blocks: list[Block], figure: Block) -> None:
    """Insert a figure before the first block below its middle in the same column."""
    box = figure.box or Box(0, 0, 0, 0)
    middle = (box.top + box.bottom) / 2
    for place, block in enumerate(blocks):
        first = block.lines[0].box if block.lines else block.box
        if first and first.top >= middle and first.left < box.right and first.right > box.left:
            blocks.insert(place, figure)
            return
    blocks.append(figure)


def _displayed(block: Block, page: PrintedPage) -> Block:
    def turned(box: Box) -> Box:
        return box_between(box, page.upright, page.shown)

    lines = tuple(replace(line, box=turned(line.box)) for line in block.lines)
    return replace(block, lines=lines, box=turned(block.box) if block.box else None)


# Open a PDF, or report why it cannot be opened.

MAX_PAGES = 20_000


_ENCRYPT, _CHUNK = b"/Encrypt", 2**20


def open_pdf(path: Path | bytes, name: str) -> tuple[Any, int]:
    """Return pdfium's document and its number of pages.

    Raises ExtraMissing without pypdfium2; BadInput for a file that is encrypted, damaged, without
    pages or of more than ``MAX_PAGES``.
    """
    message = f"{name} is a PDF, and its reader is not installed"
    with needed(message, "pip install 'proofstone[pdf]'"):
        import pypdfium2  # noqa: PLC0415 - in an extra
    try:
        document: Any = pypdfium2.PdfDocument(path)
        n_pages = len(document)
    except pypdfium2.PdfiumError as cause:
        raise _refusal(name, str(cause), path) from cause
    if n_pages == 0:
        raise BadInput(f"{name} has no pages")
    if n_pages > MAX_PAGES:
        raise BadInput(
            f"{name} has {n_pages:,} pages; the limit is {MAX_PAGES:,}",
            hint="split it into volumes",
        )
    return document, n_pages


def _refusal(name: str, cause: str, content: Path | bytes) -> BadInput:
    if "assword" in cause and _is_encrypted(content):  # also reported for a file without pages
        return BadInput(
            f"{name} is encrypted and opens only with a password",
            hint=("save it without a password, for example by printing it from a viewer to a file"),
        )
    if "ecurity" in cause:
        return BadInput(f"{name} is encrypted in a way that cannot be opened")
    return BadInput(
        f"{name} is damaged, has no pages, or is not a PDF",
        hint="open it in a viewer; if it opens, save it again",
    )


def _is_encrypted(content: Path | bytes) -> bool:
    """Return True if a PDF names an encryption dictionary; that name is never encrypted itself."""
    if isinstance(content, bytes):
        return _ENCRYPT in content
    before = b""
    with content.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if _ENCRYPT in before + chunk:
                return True
            before = chunk[-len(_ENCRYPT) :]
    return False


# A PDF's outline: headings by page, with their levels.

_MOST_ENTRIES = 50_000


_MOST_LEVELS = 12


_LEVELS = 6


_LONGEST = 400


def outline_of(document: Any) -> dict[int, dict[str, int]]:
    """Return the titles by page (from 0), as ``plain_title`` gives them, with levels from 1.

    Empty if there is no outline, or only one entry.
    """
    pages: dict[int, dict[str, int]] = {}
    n = 0
    for entry in islice(document.get_toc(max_depth=_MOST_LEVELS), _MOST_ENTRIES):
        target = entry.get_dest()
        page = target.get_index() if target else None
        title = plain_title((entry.get_title() or "")[:_LONGEST])
        if page is None or page < 0 or not title:
            continue
        n += 1
        pages.setdefault(page, {}).setdefault(title, min(_LEVELS, entry.level + 1))
    return pages if n > 1 else {}


READER = "pdf 1"  # change this with every change that can alter a text


_SURVEYED = 16


_LEAST_LETTERS = 40  # on a page covered by an image, fewer characters are a stamp on a scan


_COVERED = 0.5


_RARE = 0.4  # of the letters


_YEAR = re.compile(r"D:(\d{4})")


@dataclass(frozen=True)
class PdfPage:
    """A page as read: its blocks, or why it has none."""

    number: int
    label: str
    width: float
    height: float
    blocks: list[Block] = field(default_factory=list)
    reason: Unread = ""
    detail: str = ""


@dataclass
class _Window:
    printed: dict[int, PrintedPage | PdfPage] = field(default_factory=dict)
    edges: dict[int, list[EdgeRow]] = field(default_factory=dict)


class PdfFile:
    """An open PDF. Close it, or use it as a context manager."""

    def __init__(
        self,
        path: Path | bytes,
        name: str,
        *,
        tell: Callable[[int], None] | None = None,
        skip: Collection[int] = (),
    ) -> None:
        """Open the file. ``tell`` receives each page number before the page is read.

        Pages to ``skip`` are not read. Raises as ``open_pdf`` does.
        """
        self._document, self.n_pages = open_pdf(path, name)
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - in an extra

        self._error = PdfiumError
        self.skip = frozenset(skip)
        self._tell = tell or (lambda _number: None)
        self._titles = outline_of(self._document)
        self._known = Mender()
        self._style, self.sample = self._survey()

    def __enter__(self) -> PdfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._document.close()

    @property
    def metadata(self) -> dict[str, str]:
        """Return the file's metadata: Title, Author, CreationDate."""
        try:
            return dict(self._document.get_metadata_dict(skip_empty=True))
        except self._error:
            return {}

    @property
    def year(self) -> int | None:
        """Return the year of the file's creation, from its metadata."""
        found = _YEAR.match(self.metadata.get("CreationDate", ""))
        return int(found[1]) if found and 1900 < int(found[1]) < 2100 else None

    def pages(self, first: int = 1, last: int | None = None) -> Iterator[PdfPage]:
        """Yield the pages from ``first`` to ``last`` (numbers from 1) in order."""
        start, stop = first - 1, min(last or self.n_pages, self.n_pages)
        window, ahead = _Window(), max(0, start - WINDOW)
        # Separate for each range of pages, so that its text does not depend on earlier ones.
        self._mender = self._known.copy()
        for index in range(start, stop):
            while ahead < min(index + WINDOW + 1, self.n_pages):
                self._read_ahead(window, ahead)
                ahead += 1
            window.edges.pop(index - WINDOW - 1, None)
            for old in [k for k in window.printed if k < index]:
                del window.printed[old]
            yield self._laid_out(window, index)

    def _read_ahead(self, window: _Window, index: int) -> None:
        printed = self._printed(index)
        window.printed[index] = printed
        if isinstance(printed, PrintedPage):
            window.edges[index] = printed.edges
            self._mender.learn(segment.text for segment in printed.segments)
        else:
            window.edges[index] = []

    def _printed(self, index: int) -> PrintedPage | PdfPage:
        number, label = index + 1, self._label(index)
        if number in self.skip:
            return PdfPage(number, label, 0, 0, [], "broken", "skipped")
        self._tell(number)
        try:
            return read_printed(self._document, index)
        except self._error as cause:
            return PdfPage(number, label, 0, 0, [], "broken", str(cause))
        except TooManyCharacters as cause:
            detail = f"{cause.args[0]:,} characters"
            return PdfPage(number, label, 0, 0, [], "too large", detail)

    def _label(self, index: int) -> str:
        try:
            label = self._document.get_page_label(index) or ""
        except (self._error, UnicodeDecodeError):
            return ""
        return "" if label == str(index + 1) else str(label)[:20]

    def _laid_out(self, window: _Window, index: int) -> PdfPage:
        printed = window.printed[index]
        if isinstance(printed, PdfPage):
            return printed
        number, label = index + 1, self._label(index)
        self._tell(number)
        left_out = furniture(index, window.edges, len(printed.segments))
        blocks = blocks_on(
            printed, left_out, self._style, self._titles.get(index, {}), self._mender
        )
        reason, detail = _unread(printed, blocks)
        width, height = printed.width, printed.height
        return PdfPage(number, label, width, height, [] if reason else blocks, reason, detail)

    def _survey(self) -> tuple[Style, str]:
        """Return the document's style, from pages all over it, and a sample of its text."""
        letters: Counter[float] = Counter()
        n_bold = 0
        sample = []
        step = max(1, self.n_pages // _SURVEYED)
        for index in range(step // 2, self.n_pages, step)[:_SURVEYED]:
            printed = self._printed(index)
            if isinstance(printed, PrintedPage):
                for segment in printed.segments:
                    letters[round(segment.size, 1)] += len(segment.text)
                    n_bold += len(segment.text) if segment.font.is_bold else 0
                self._known.learn(segment.text for segment in printed.segments)
                sample.append(" ".join(segment.text for segment in printed.segments)[:2000])
        is_bold_rare = n_bold < _RARE * letters.total()
        has_outline = sum(map(len, self._titles.values())) >= max(4, self.n_pages // 30)
        style = style_of(letters, has_outline=has_outline, is_bold_rare=is_bold_rare)
        return style, "\n".join(sample)


def _unread(page: PrintedPage, blocks: list[Block]) -> tuple[Unread, str]:
    text = "\n".join(block.text for block in blocks)
    n_letters = sum(map(len, text.split()))
    if page.image_share >= _COVERED and n_letters < _LEAST_LETTERS:
        return "image only", ""
    wrong = garbled(text, page.n_unmapped)
    return ("garbled", wrong) if wrong else ("", "")


# Find a PDF's title and authors in its metadata and on its first page.

_TOOLS = re.compile(
    r"^(microsoft word|untitled|slide 1|presentation|document\d*|title)\b"
    r"|\.(docx?|dvi|tex|indd|qxd|ps|pdf|pptx?|xlsx?)$",
    re.IGNORECASE,
)


_AND = re.compile(r"\s*(?:;|,|\band\b|&|、|，)\s*")


_LARGE = 1.3  # of the page's usual size


_FRONT_LONGEST = 200


def front_matter(pdf: PdfFile) -> Said:
    """Return the title and authors; empty if not found.

    The title comes from the metadata, unless it names a program or is printed on the first page in
    smaller type than another text; then that text in the largest type.
    """
    metadata = pdf.metadata
    named = " ".join(metadata.get("Title", "").split())
    authors = tuple(
        part for part in _AND.split(" ".join(metadata.get("Author", "").split())) if part
    )
    page = next(pdf.pages(1, 1))
    printed = _largest(page)
    everything = " ".join(" ".join(block.text.split()) for block in page.blocks).casefold()
    in_print = named.casefold() in everything
    is_smaller = printed and in_print and named.casefold() not in printed.casefold()
    title = printed if not named or _TOOLS.search(named) or is_smaller else named
    return Said(title=title, authors=authors)


def _largest(page: PdfPage) -> str:
    """Return the heading in the largest type of a page, if it is larger than the rest."""
    sizes = [
        (round(max(line.box.bottom - line.box.top for line in block.lines), 1), -place, block)
        for place, block in enumerate(page.blocks)
        if block.kind == "heading" and block.lines
    ]
    if not sizes:
        return ""
    largest, _place, block = max(sizes, key=lambda entry: entry[:2])
    ordinary = [
        line.box.bottom - line.box.top
        for other in page.blocks
        if other is not block
        for line in other.lines
    ]
    if ordinary and largest < _LARGE * sorted(ordinary)[len(ordinary) // 2]:
        return ""
    return " ".join(block.text.split())[:_FRONT_LONGEST]

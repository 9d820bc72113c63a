"""The pages of a document as pictures, whatever file they come from."""

from __future__ import annotations

import struct
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from proofstone.documents.layout import Block
from proofstone.documents.ocr.engine import OcrEngine, printed_from
from proofstone.documents.pdf.blocks import Mender
from proofstone.documents.pdf.headings import EdgeRow, furniture
from proofstone.documents.pdf.lines import Style, style_of
from proofstone.documents.pdf.page import PrintedPage, blocks_on
from proofstone.documents.pdf.reader import PdfPage, open_pdf
from proofstone.documents.reader import INSTALL_OCR, Draw
from proofstone.documents.sources import kind_of, plain_name
from proofstone.errors import BadInput, BadUsage, needed
from proofstone.files.csv import read_whole_file
from proofstone.records.pages import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Image files as documents: PNG, JPEG and WebP with one page, TIFF with as many as it holds.

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")


_SCREEN_DPI = 96.0


_LEAST_DPI, _MOST_DPI = 60.0, 2400.0


_MOST_PIXELS = 120_000_000


_MOST_PAGES = 5_000


class ImageTooLarge(Exception):
    """A page has more pixels than are read; the argument is how many."""


class ImageFile:
    """An open image file. Close it; or use it as a context manager."""

    def __init__(self, path: Path) -> None:
        """Raises ExtraMissing without Pillow, BadInput for what is none of these images."""
        message = f"{path.name} is an image, and what reads those is not installed."
        with needed(message, INSTALL_OCR):
            from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - in an extra
        Image.MAX_IMAGE_PIXELS = None  # told by the size, before a pixel is unpacked
        content = _content(path)
        try:
            self._image: Any = Image.open(content, formats=_FORMATS)
            self.n_pages = int(getattr(self._image, "n_frames", 1))
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as cause:
            raise BadInput(
                f"{path.name} is damaged, or no PNG, JPEG, TIFF or WebP image.",
                hint="Open it in a viewer; if it opens, save it anew.",
            ) from cause
        if self.n_pages > _MOST_PAGES:
            raise BadInput(f"{path.name} has {self.n_pages:,} images; {_MOST_PAGES:,} are read.")
        if self._image.format == "WEBP":
            self.n_pages = 1  # an animation is no document

    def __enter__(self) -> ImageFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file back."""
        self._image.close()

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page in points, by the resolution that the file states; 96 dots an
        inch where it states none that can be."""
        self._image.seek(index)
        width, height = self._image.size
        stated = self._image.info.get("dpi")
        dpi = float(stated[0]) if isinstance(stated, tuple) and stated else 0.0
        dpi = dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _SCREEN_DPI
        if self._is_turned():
            width, height = height, width
        return 72 * width / dpi, 72 * height / dpi

    def pixels(self, index: int, _dpi: float = 0.0) -> NDArray[np.uint8]:
        """A page as it is displayed: rows, columns, RGB. Raises ImageTooLarge, and BadInput where
        it is damaged."""
        from PIL import Image, ImageOps  # noqa: PLC0415 - in an extra

        try:
            self._image.seek(index)
            width, height = self._image.size
            if width * height > _MOST_PIXELS:
                raise ImageTooLarge(width * height)
            upright = ImageOps.exif_transpose(self._image)
            if upright.mode in {"RGBA", "LA", "P", "PA"}:  # what is clear is paper
                upright = upright.convert("RGBA")
                paper = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(paper, upright)
            elif upright.mode.startswith("I"):
                upright = upright.point(lambda value: value / 256).convert("L")
            return np.asarray(upright.convert("RGB"))
        except (OSError, ValueError, SyntaxError, EOFError) as cause:
            raise BadInput(f"image {index + 1} is damaged: {cause}") from cause

    def _is_turned(self) -> bool:
        """Whether the camera lay on its side, so that the image is displayed turned."""
        return int(self._image.getexif().get(0x0112, 1)) >= 5


def _content(path: Path) -> Any:
    return BytesIO(read_whole_file(path)) if path.suffix.lower() == ".gz" else path


POINTS = 72.0  # an inch


_LONGEST_SIDE = 6000  # pixels of a picture that is made


class Pictures(Protocol):
    """Pages that can be seen; sizes are points as displayed."""

    n_pages: int

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page."""

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        """A page as rows, columns, RGB, at about ``dpi``; of an image file its own pixels."""

    def close(self) -> None:
        """Gives the file back."""


class PdfPictures:
    """The pages of a PDF, drawn."""

    def __init__(self, path: Path | bytes, name: str) -> None:
        """Raises as ``open_pdf`` does."""
        self._document, self.n_pages = open_pdf(path, name)
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - in an extra

        self._error = PdfiumError

    def close(self) -> None:
        """Gives the file back."""
        self._document.close()

    def size(self, index: int) -> tuple[float, float]:
        """Width and height of a page in points. Raises BadInput where it cannot be loaded."""
        try:
            width, height = self._document.get_page_size(index)
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        return float(width), float(height)

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        """A page as rows, columns, RGB; at less than ``dpi`` where it would be larger than can be
        held. Raises BadInput where it cannot be loaded."""
        try:
            page = self._document[index]
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        try:
            width, height = page.get_size()
            scale = min(dpi / POINTS, _LONGEST_SIDE / max(width, height, 1.0))
            drawn = page.render(scale=scale, rev_byteorder=True)
            pixels: NDArray[np.uint8] = drawn.to_numpy().copy()
            drawn.close()
        finally:
            page.close()
        return pixels[:, :, :3]


def open_pictures(path: Path) -> Pictures:
    """The pages of a PDF or an image file. Raises BadUsage for any other document, and what opening
    these raises."""
    kind = kind_of(path)
    if kind == "pdf":
        content = read_whole_file(path) if path.suffix.lower() == ".gz" else path
        return PdfPictures(content, plain_name(path))
    if kind == "image":
        return ImageFile(path)
    raise BadUsage(f"{path.name} has no pages that can be seen: only PDF and image files do")


# A page as a PNG file: whole or a part of it, with boxes marked, or with all else masked.

_MARK = np.array([255, 196, 0], dtype=np.float32)  # amber, as a highlighter has it


_INK = 0.3  # of a mark's colour over what it marks


_EDGE = np.array([200, 90, 0], dtype=np.uint8)


_PAPER = 255


_AROUND = 1.5  # points left around what is kept: boxes hold type, not its strokes' ends


def draw_page(pictures: Pictures, draw: Draw, pixels: NDArray[np.uint8] | None = None) -> bytes:
    """What ``draw`` asks for, as PNG. ``pixels`` is the page where it is at hand.

    Raises BadInput for a page that the document does not have or that cannot be drawn.
    """
    page = page_pixels(pictures, draw.page, draw.dpi) if pixels is None else pixels
    width, height = pictures.size(draw.page - 1)
    across, down = page.shape[1] / width, page.shape[0] / height
    if draw.keep:
        page = _masked(page, [_pixels(box, across, down, page, _AROUND) for box in draw.keep])
    for box in draw.marks:
        page = _marked(page, _pixels(box, across, down, page, _AROUND))
    if draw.crop is not None:
        left, top, right, bottom = _pixels(draw.crop, across, down, page, _AROUND)
        page = page[top:bottom, left:right]
    if draw.longest and max(page.shape[:2]) > draw.longest:
        page = _smaller(page, -(-max(page.shape[:2]) // draw.longest))
    return png_bytes(page)


def page_pixels(pictures: Pictures, number: int, dpi: float) -> NDArray[np.uint8]:
    """A page's picture. Raises BadInput for a page that is not there or cannot be drawn."""
    if not 1 <= number <= pictures.n_pages:
        raise BadInput(f"there is no page {number}: the document has {pictures.n_pages}")
    try:
        return pictures.pixels(number - 1, dpi)
    except ImageTooLarge as cause:
        raise BadInput(f"page {number} has {cause.args[0]:,} pixels and is not drawn") from cause


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """An image of rows, columns, RGB as a PNG file; the same pixels give the same bytes."""
    rows, columns = pixels.shape[:2]
    lines = np.zeros((rows, 1 + 3 * columns), dtype=np.uint8)  # each begins with its filter, none
    lines[:, 1:] = np.ascontiguousarray(pixels[:, :, :3]).reshape(rows, 3 * columns)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 6)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _smaller(page: NDArray[np.uint8], by: int) -> NDArray[np.uint8]:
    """Each square of ``by`` pixels as their mean; what is left over at the edges falls away."""
    rows, columns = max(page.shape[0] // by, 1), max(page.shape[1] // by, 1)
    whole = page[: rows * by, : columns * by].astype(np.uint16)
    high, wide = whole.shape[0] // rows, whole.shape[1] // columns
    squares = whole.reshape(rows, high, columns, wide, whole.shape[2])
    mean: NDArray[np.uint32] = squares.sum(axis=(1, 3), dtype=np.uint32) // (high * wide)
    return mean.astype(np.uint8)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _pixels(
    box: Box, across: float, down: float, page: NDArray[np.uint8], around: float
) -> tuple[int, int, int, int]:
    """A box in pixels, within the page and never empty."""
    rows, columns = page.shape[:2]
    left = min(max(int((box.left - around) * across), 0), columns - 1)
    top = min(max(int((box.top - around) * down), 0), rows - 1)
    right = min(max(round((box.right + around) * across), left + 1), columns)
    bottom = min(max(round((box.bottom + around) * down), top + 1), rows)
    return left, top, right, bottom


def _masked(
    page: NDArray[np.uint8], kept: Sequence[tuple[int, int, int, int]]
) -> NDArray[np.uint8]:
    """The page as blank paper but for what is kept."""
    blank = np.full_like(page, _PAPER)
    for left, top, right, bottom in kept:
        blank[top:bottom, left:right] = page[top:bottom, left:right]
    return blank


def _marked(page: NDArray[np.uint8], box: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    left, top, right, bottom = box
    page = page.copy()
    inside = page[top:bottom, left:right].astype(np.float32)
    tinted = inside * (1 - _INK * (1 - _MARK / _PAPER))
    page[top:bottom, left:right] = tinted.astype(np.uint8)
    box_of_page = page[top:bottom, left:right]
    for edge in (box_of_page[:, :2], box_of_page[:, -2:], box_of_page[:2], box_of_page[-2:]):
        edge[:] = _EDGE
    return page


# Pages read from their pictures, in the order in which they are asked for.

_DPI = 200.0


_FOUND_AT = 100.0  # dots an inch: enough to find lines, and half the time


_LEAST_FOUND, _MOST_FOUND = 736, 1600  # pixels of the longer side


_AHEAD = 3  # pages that are read before one is laid out, for what comes back on them


_BEHIND = 8


def scanned_pages(
    pictures: Pictures, numbers: Iterable[int], engine: OcrEngine, tell: Callable[[int], None]
) -> Iterator[PdfPage]:
    """The pages ``numbers`` (from 1, ascending), each laid out with those around it at hand.
    ``tell`` hears of a page before it is touched."""
    waiting: deque[int] = deque()
    printed: dict[int, PrintedPage | PdfPage] = {}
    edges: dict[int, list[EdgeRow]] = {}
    mender = Mender()
    for number in numbers:
        tell(number)
        found = _printed(pictures, number, engine)
        printed[number] = found
        if isinstance(found, PrintedPage):
            edges[number] = found.edges
            mender.learn(segment.text for segment in found.segments)
        waiting.append(number)
        if len(waiting) > _AHEAD:
            yield _laid_out(waiting.popleft(), printed, edges, mender)
    while waiting:
        yield _laid_out(waiting.popleft(), printed, edges, mender)


def _printed(pictures: Pictures, number: int, engine: OcrEngine) -> PrintedPage | PdfPage:
    try:
        width, height = pictures.size(number - 1)
        pixels = pictures.pixels(number - 1, _DPI)
    except BadInput as cause:
        return PdfPage(number, "", 0, 0, [], "broken", cause.message)
    except ImageTooLarge as cause:
        return PdfPage(number, "", 0, 0, [], "too large", f"{cause.args[0]:,} pixels")
    lines, turns = engine.read(pixels, _find_in(max(width, height), max(pixels.shape)))
    return printed_from(lines, turns, pixels.shape[:2], width, height)


def _find_in(points: float, pixels: int) -> int:
    """The pixels of the longer side in which lines are looked for."""
    wanted = min(max(_FOUND_AT * points / POINTS, _LEAST_FOUND), _MOST_FOUND)
    return int(min(wanted, pixels))


def _laid_out(
    number: int,
    printed: dict[int, PrintedPage | PdfPage],
    edges: dict[int, list[EdgeRow]],
    mender: Mender,
) -> PdfPage:
    page = printed[number]
    style = _style(printed.values())
    for old in [key for key in printed if key < number - _BEHIND]:
        del printed[old]
        edges.pop(old, None)
    if isinstance(page, PdfPage):
        return page
    left_out = furniture(number, edges, len(page.segments))
    blocks: list[Block] = blocks_on(page, left_out, style, {}, mender)
    return PdfPage(number, "", page.width, page.height, blocks)


def _style(pages: Iterable[PrintedPage | PdfPage]) -> Style:
    letters: Counter[float] = Counter()
    for page in pages:
        if isinstance(page, PrintedPage):
            for segment in page.segments:
                letters[round(segment.size, 1)] += len(segment.text)
    return style_of(letters, has_outline=False, is_bold_rare=True)

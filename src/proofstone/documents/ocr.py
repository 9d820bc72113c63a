"""Recognize lines of print in an image, each with its corners and confidence.

The package rapidocr includes the models: one finds lines and one reads them, for English and
Chinese. Nothing is downloaded.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from proofstone.documents.passages import Block
from proofstone.documents.pdf import PdfPage, PrintedPage, blocks_on, open_pdf
from proofstone.documents.pdf_blocks import Mender
from proofstone.documents.pdf_headings import EdgeRow, edge_rows, furniture
from proofstone.documents.pdf_lines import Font, Segment, Style, style_of
from proofstone.documents.reader import INSTALL_OCR, Draw, is_ocr_installed
from proofstone.documents.sources import kind_of, plain_name
from proofstone.errors import BadInput, BadUsage, ExtraMissing, needed
from proofstone.files.csv import read_whole_file
from proofstone.records.pages import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST_SURE = 0.5  # lines below this confidence are specks and rules


_DOUBTFUL = 0.75  # a page below this confidence may be upside down


_TALL = 1.5


_LONGEST_SIDE = 6000  # pixels; larger images are scaled down


class OcrLine(NamedTuple):
    """A line of print: its corners in pixels (x, y), clockwise from the top left."""

    text: str
    confidence: float
    corners: NDArray[np.float64]


class OcrEngine:
    """Read images with one thread; the models are loaded once. Raises ExtraMissing."""

    def __init__(self) -> None:
        if not is_ocr_installed():
            raise ExtraMissing("OCR of page images is not installed", hint=INSTALL_OCR)
        from rapidocr import RapidOCR  # noqa: PLC0415 - in an extra, and slow to import

        self._engine: Any = RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.text_score": 0.0,
                "Global.use_cls": False,
                "Global.max_side_len": _LONGEST_SIDE,
                "Det.limit_type": "max",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def read(self, image: NDArray[np.uint8], find_in: int) -> tuple[list[OcrLine], int]:
        """Return the lines of an image (rows, columns, RGB), and its rotation in quarter turns.

        The rotation is counterclockwise; corners are those of the rotated image. Lines are located
        in a copy whose longer side has ``find_in`` pixels, and read in the image itself. An image
        that lies on its side, or with low confidence, is tried rotated.
        """
        best = self._lines(image, find_in)
        turns = 0
        for candidate in _other_turns(best):
            lines = self._lines(np.ascontiguousarray(np.rot90(image, candidate)), find_in)
            if _weight(lines) > 1.1 * _weight(best):
                best, turns = lines, candidate
        return [line for line in best if line.confidence >= _LEAST_SURE], turns

    def _lines(self, image: NDArray[np.uint8], find_in: int) -> list[OcrLine]:
        engine = self._engine
        engine._load_det_model().limit_side_len = find_in  # noqa: SLF001 - set at its making only
        found = engine(np.ascontiguousarray(image[:, :, ::-1]))  # the color order of OpenCV
        boxes, texts, scores = found.boxes, found.txts, found.scores
        if boxes is None or texts is None or scores is None:
            return []
        return [
            OcrLine(" ".join(text.split()), float(score), np.asarray(corners, dtype=np.float64))
            for corners, text, score in zip(boxes, texts, scores, strict=True)
            if text.strip()
        ]


def _other_turns(lines: list[OcrLine]) -> tuple[int, ...]:
    n = sum(len(line.text) for line in lines)
    if n < 20:
        return ()
    tall = sum(len(line.text) for line in lines if _is_tall(line.corners))
    if tall > 0.5 * n:
        return 1, 3
    sure = sum(line.confidence * len(line.text) for line in lines) / n
    return (2,) if sure < _DOUBTFUL else ()


def _is_tall(corners: NDArray[np.float64]) -> bool:
    across, down = corners[1] - corners[0], corners[3] - corners[0]
    return bool(np.hypot(*down) > _TALL * np.hypot(*across))


def _weight(lines: list[OcrLine]) -> float:
    """Return the amount of text weighted by confidence, without vertical lines."""
    return sum(
        line.confidence**2 * len(line.text)
        for line in lines
        if line.confidence >= _LEAST_SURE and not _is_tall(line.corners)
    )


# Normalize lines from an image to a printed page: uniform sizes, level and upright.
#
# Heights of detected boxes vary by a tenth or more, and a scan is tilted by a degree or two. Layout
# analysis needs neither: sizes near the page's usual one are set to it, and the page is rotated by
# the angle of its lines.

_PLAIN = Font(is_bold=False, is_math=False, is_mono=False)


_BOLD = _PLAIN._replace(is_bold=True)


# Font weight is unknown in an image; a numbered title is recognized without it.
_TITLE = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})+\.?\s*[^\W\d_]|第[一二三四五六七八九十百\d]+[章节節]).{0,70}$"
)


_FORMULA = re.compile(r"[=<>≤≥≈≡∑∏∫∂√∞]")


_HEIGHT = 1.38  # of a line's box, in ems


_LEVEL = 0.27  # ems from a box's middle down to the baseline


_USUAL = 0.17  # deviation of boxes of one size from the usual height


_STEP = 0.1  # of the usual size, between other sizes


_LONG = 5.0  # times its height: a line long enough to measure the page's tilt


_LEAST_TILT = 0.1  # degrees


def printed_from(
    lines: Sequence[OcrLine], turns: int, pixels: tuple[int, int], width: float, height: float
) -> PrintedPage:
    """Return a page of ``width`` by ``height`` points from the lines of its image.

    The image has ``pixels`` rows and columns, and was read after ``turns`` counterclockwise quarter
    turns.
    """
    shown = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    scale = np.array([width / pixels[1], height / pixels[0]])
    corners = [_unturned(line.corners, turns, pixels) * scale for line in lines]
    upright = _upright(corners, turns, width, height)
    placed = [own @ upright[:, :2].T + upright[:, 2] for own in corners]
    segments = _segments(lines, placed)
    extent = width if turns % 2 else height
    return PrintedPage(
        width, height, segments, edge_rows(segments, extent), [], 0, shown,
        shown if np.array_equal(upright, shown) else upright,
    )  # fmt: skip


def _unturned(
    corners: NDArray[np.float64], turns: int, pixels: tuple[int, int]
) -> NDArray[np.float64]:
    """Return corners of a rotated image in the coordinates of the original image."""
    rows, columns = pixels
    x, y = corners[:, 0], corners[:, 1]
    by_turn = {
        0: (x, y),
        1: (columns - y, x),
        2: (columns - x, rows - y),
        3: (y, rows - x),
    }
    return np.stack(by_turn[turns % 4], axis=1)


def _upright(
    corners: Sequence[NDArray[np.float64]], turns: int, width: float, height: float
) -> NDArray[np.float64]:
    """Return the map (2, 3) from the displayed page to one with level lines."""
    quarter = {
        0: [[1, 0, 0], [0, 1, 0]],
        1: [[0, 1, 0], [-1, 0, width]],
        2: [[-1, 0, width], [0, -1, height]],
        3: [[0, -1, height], [1, 0, 0]],
    }
    turned = np.array(quarter[turns % 4], dtype=np.float64)
    tilt = _tilt([own @ turned[:, :2].T + turned[:, 2] for own in corners])
    if abs(tilt) < np.radians(_LEAST_TILT):
        return turned
    centre = turned[:, :2] @ np.array([width / 2, height / 2]) + turned[:, 2]
    back = np.array([[np.cos(tilt), np.sin(tilt)], [-np.sin(tilt), np.cos(tilt)]])
    linear = back @ turned[:, :2]
    shift = back @ (turned[:, 2] - centre) + centre
    return np.column_stack([linear, shift])


def _tilt(corners: Sequence[NDArray[np.float64]]) -> float:
    """Return the angle in radians of the longer lines, clockwise positive."""
    angles, lengths = [], []
    for own in corners:
        across = (own[1] + own[2] - own[0] - own[3]) / 2
        length, depth = float(np.hypot(*across)), float(np.hypot(*(own[3] - own[0])))
        if length > _LONG * depth and across[0] > 0:
            angles.append(float(np.arctan2(across[1], across[0])))
            lengths.append(length)
    if len(angles) < 2:
        return 0.0
    order = np.argsort(angles)
    reached = np.cumsum(np.array(lengths)[order])
    return float(np.array(angles)[order][np.searchsorted(reached, reached[-1] / 2)])


def _segments(lines: Sequence[OcrLine], placed: Sequence[NDArray[np.float64]]) -> list[Segment]:
    depths = [float(np.hypot(*(own[3] - own[0]))) for own in placed]
    usual = _usual(lines, depths)
    segments = []
    for line, own, depth in zip(lines, placed, depths, strict=True):
        (left, top), (right, bottom) = own.min(axis=0).tolist(), own.max(axis=0).tolist()
        size = _size(line.text, depth, usual, right - left) / _HEIGHT
        font = _BOLD if _TITLE.match(line.text) and line.text[-1] not in ".。,，" else _PLAIN
        baseline = (top + bottom) / 2 + _LEVEL * size
        segments.append(
            Segment(
                line.text, left, top, right, bottom, baseline, size, font, True,
                min(1.0, line.confidence),
            )
        )  # fmt: skip
    return segments


def _usual(lines: Sequence[OcrLine], depths: Sequence[float]) -> float:
    """Return the median line height, weighted by characters."""
    if not lines:
        return 0.0
    order = np.argsort(depths)
    reached = np.cumsum(np.array([len(line.text) for line in lines])[order])
    return float(np.array(depths)[order][np.searchsorted(reached, reached[-1] / 2)])


def _size(text: str, depth: float, usual: float, width: float) -> float:
    """Return the assumed height of a line.

    Boxes of a few characters are unreliable, and those of formulas more so.
    """
    tolerance = _USUAL if width > _LONG * depth else 2 * _USUAL
    if _FORMULA.search(text):
        tolerance = 1.0
    if abs(depth - usual) <= tolerance * usual:
        return usual
    return max(_STEP, round(depth / usual / _STEP) * _STEP) * usual


# The pages of a document as images, from any format.

# Image files as documents: PNG, JPEG and WebP with one page, TIFF with any number.

_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")


_SCREEN_DPI = 96.0


_LEAST_DPI, _MOST_DPI = 60.0, 2400.0


_MOST_PIXELS = 120_000_000


_MOST_PAGES = 5_000


class ImageTooLarge(Exception):
    """A page has too many pixels; the argument is their number."""


class ImageFile:
    """An open image file; close it."""

    def __init__(self, path: Path) -> None:
        """Open the file. Raises ExtraMissing without Pillow, BadInput for other files."""
        message = f"{path.name} is an image, and its reader is not installed"
        with needed(message, INSTALL_OCR):
            from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 - in an extra
        Image.MAX_IMAGE_PIXELS = None  # known from the size, before a pixel is unpacked
        content = _content(path)
        try:
            self._image: Any = Image.open(content, formats=_FORMATS)
            self.n_pages = int(getattr(self._image, "n_frames", 1))
        except (UnidentifiedImageError, OSError, ValueError, SyntaxError) as cause:
            raise BadInput(
                f"{path.name} is damaged, or not a PNG, JPEG, TIFF or WebP image",
                hint="open it in a viewer; if it opens, save it again",
            ) from cause
        if self.n_pages > _MOST_PAGES:
            raise BadInput(f"{path.name} has {self.n_pages:,} images; the limit is {_MOST_PAGES:,}")
        if self._image.format == "WEBP":
            self.n_pages = 1  # an animation is not a document

    def close(self) -> None:
        """Close the file."""
        self._image.close()

    def size(self, index: int) -> tuple[float, float]:
        """Return width and height of a page in points, by the file's resolution or 96 dpi."""
        self._image.seek(index)
        width, height = self._image.size
        stated = self._image.info.get("dpi")
        dpi = float(stated[0]) if isinstance(stated, tuple) and stated else 0.0
        dpi = dpi if _LEAST_DPI <= dpi <= _MOST_DPI else _SCREEN_DPI
        if self._is_turned():
            width, height = height, width
        return 72 * width / dpi, 72 * height / dpi

    def pixels(self, index: int, _dpi: float) -> NDArray[np.uint8]:
        """Return a page as rows, columns, RGB. Raises ImageTooLarge, BadInput if damaged."""
        from PIL import Image, ImageOps  # noqa: PLC0415 - in an extra

        try:
            self._image.seek(index)
            width, height = self._image.size
            if width * height > _MOST_PIXELS:
                raise ImageTooLarge(width * height)
            upright = ImageOps.exif_transpose(self._image)
            if upright.mode in {"RGBA", "LA", "P", "PA"}:  # transparent parts are white
                upright = upright.convert("RGBA")
                paper = Image.new("RGBA", upright.size, "white")
                upright = Image.alpha_composite(paper, upright)
            elif upright.mode.startswith("I"):
                upright = upright.point(lambda value: value / 256).convert("L")
            return np.asarray(upright.convert("RGB"))
        except (OSError, ValueError, SyntaxError, EOFError) as cause:
            raise BadInput(f"image {index + 1} is damaged: {cause}") from cause

    def _is_turned(self) -> bool:
        """Return True if the image is rotated by a quarter turn for display."""
        return int(self._image.getexif().get(0x0112, 1)) >= 5


def _content(path: Path) -> Any:
    return BytesIO(read_whole_file(path)) if path.suffix.lower() == ".gz" else path


POINTS = 72.0  # an inch


_LONGEST_DRAWN = 6000  # maximum pixels of a rendered image


class PdfPictures:
    """The rendered pages of a PDF."""

    def __init__(self, path: Path | bytes, name: str) -> None:
        """Open the file. Raises as ``open_pdf`` does."""
        self._document, self.n_pages = open_pdf(path, name)
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - in an extra

        self._error = PdfiumError

    def close(self) -> None:
        """Close the file."""
        self._document.close()

    def size(self, index: int) -> tuple[float, float]:
        """Return width and height of a page in points. Raises BadInput if it cannot be loaded."""
        try:
            width, height = self._document.get_page_size(index)
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        return float(width), float(height)

    def pixels(self, index: int, dpi: float) -> NDArray[np.uint8]:
        """Return a page as rows, columns, RGB; below ``dpi`` if it would be too large.

        Raises BadInput if it cannot be loaded.
        """
        try:
            page = self._document[index]
        except self._error as cause:
            raise BadInput(f"page {index + 1} cannot be loaded: {cause}") from cause
        try:
            width, height = page.get_size()
            scale = min(dpi / POINTS, _LONGEST_DRAWN / max(width, height, 1.0))
            drawn = page.render(scale=scale, rev_byteorder=True)
            pixels: NDArray[np.uint8] = drawn.to_numpy().copy()
            drawn.close()
        finally:
            page.close()
        return pixels[:, :, :3]


Pictures = ImageFile | PdfPictures  # formats with visible pages


def open_pictures(path: Path) -> Pictures:
    """Open the pages of a PDF or an image file.

    Raises BadUsage for other documents, and what opening these raises.
    """
    kind = kind_of(path)
    if kind == "pdf":
        content = read_whole_file(path) if path.suffix.lower() == ".gz" else path
        return PdfPictures(content, plain_name(path))
    if kind == "image":
        return ImageFile(path)
    raise BadUsage(f"{path.name} has no page images: only PDF and image files do")


# Draw a page as PNG: whole or in part, with boxes marked, or with the rest masked.

_MARK = np.array([255, 196, 0], dtype=np.float32)  # amber, like a highlighter


_INK = 0.3  # opacity of a mark's color


_EDGE = np.array([200, 90, 0], dtype=np.uint8)


_PAPER = 255


_AROUND = 1.5  # points left around visible parts: boxes do not cover all strokes


def draw_page(pictures: Pictures, draw: Draw, pixels: NDArray[np.uint8] | None = None) -> bytes:
    """Return the requested image as PNG. ``pixels`` is the page, if available.

    Raises BadInput for a page that does not exist or cannot be drawn.
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
    """Return a page's image. Raises BadInput for a page that is missing or cannot be drawn."""
    if not 1 <= number <= pictures.n_pages:
        raise BadInput(f"page {number} does not exist: the document has {pictures.n_pages}")
    try:
        return pictures.pixels(number - 1, dpi)
    except ImageTooLarge as cause:
        raise BadInput(f"page {number} has {cause.args[0]:,} pixels, too many to draw") from cause


def png_bytes(pixels: NDArray[np.uint8]) -> bytes:
    """Return rows, columns, RGB as a PNG file; the same pixels give the same bytes."""
    rows, columns = pixels.shape[:2]
    lines = np.zeros(
        (rows, 1 + 3 * columns), dtype=np.uint8
    )  # each begins with its filter type, none
    lines[:, 1:] = np.ascontiguousarray(pixels[:, :, :3]).reshape(rows, 3 * columns)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    body = zlib.compress(lines.tobytes(), 6)
    chunks = ((b"IHDR", head), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _smaller(page: NDArray[np.uint8], by: int) -> NDArray[np.uint8]:
    """Replace each square of ``by`` pixels by its mean; drop incomplete ones at the edges."""
    rows, columns = max(page.shape[0] // by, 1), max(page.shape[1] // by, 1)
    whole = page[: rows * by, : columns * by].astype(np.uint16)
    high, wide = whole.shape[0] // rows, whole.shape[1] // columns
    squares = whole.reshape(rows, high, columns, wide, whole.shape[2])
    mean: NDArray[np.uint32] = squares.sum(axis=(1, 3), dtype=np.uint32) // (high * wide)
    return mean.astype(np.uint8)


def _pixels(
    box: Box, across: float, down: float, page: NDArray[np.uint8], around: float
) -> tuple[int, int, int, int]:
    """Return a box in pixels, within the page and never empty."""
    rows, columns = page.shape[:2]
    left = min(max(int((box.left - around) * across), 0), columns - 1)
    top = min(max(int((box.top - around) * down), 0), rows - 1)
    right = min(max(round((box.right + around) * across), left + 1), columns)
    bottom = min(max(round((box.bottom + around) * down), top + 1), rows)
    return left, top, right, bottom


def _masked(
    page: NDArray[np.uint8], kept: Sequence[tuple[int, int, int, int]]
) -> NDArray[np.uint8]:
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


# Read pages from their images, in the requested order.

_DPI = 200.0


_FOUND_AT = 100.0  # dots per inch: enough to find lines, in half the time


_LEAST_FOUND, _MOST_FOUND = 736, 1600  # pixels of the longer side


_AHEAD = 3  # pages that are read before one is laid out, to find repeated elements


_BEHIND = 8


def scanned_pages(
    pictures: Pictures, numbers: Iterable[int], engine: OcrEngine, tell: Callable[[int], None]
) -> Iterator[PdfPage]:
    """Yield the pages ``numbers`` (from 1, ascending), laid out with their neighbors at hand.

    ``tell`` receives each page number before the page is read.
    """
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
    wanted = min(max(_FOUND_AT * max(width, height) / POINTS, _LEAST_FOUND), _MOST_FOUND)
    lines, turns = engine.read(pixels, int(min(wanted, max(pixels.shape))))
    return printed_from(lines, turns, pixels.shape[:2], width, height)


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

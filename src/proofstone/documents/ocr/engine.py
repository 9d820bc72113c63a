"""Lines of print read from an image, each with its corners and how sure the reading is.

The models are inside the package of rapidocr: one that finds lines and one that reads them, both
for English and Chinese. Nothing is fetched.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from proofstone.documents.pdf.headings import edge_rows
from proofstone.documents.pdf.lines import Font, Segment
from proofstone.documents.pdf.page import PrintedPage
from proofstone.documents.reader import INSTALL_OCR, is_ocr_installed
from proofstone.errors import ExtraMissing

if TYPE_CHECKING:
    from numpy.typing import NDArray


_LEAST_SURE = 0.5  # lines that are read with less are specks and rules


_DOUBTFUL = 0.75  # a page read with less may stand on its head


_TALL = 1.5


_LONGEST_SIDE = 6000  # pixels; what is larger is made smaller


class OcrLine(NamedTuple):
    """A line of print: its corners in pixels (x, y), clockwise from the top left."""

    text: str
    confidence: float
    corners: NDArray[np.float64]


class OcrEngine:
    """Reads images with one thread; the models are loaded once. Raises ExtraMissing."""

    def __init__(self) -> None:
        if not is_ocr_installed():
            raise ExtraMissing("What reads images of pages is not installed.", hint=INSTALL_OCR)
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
        """The lines of an image (rows, columns, RGB), and by how many quarters anticlockwise it was
        turned to read them; corners are those of the turned image.

        Lines are looked for in a copy whose longer side has ``find_in`` pixels, and read in the
        image itself. An image that lies on its side, or that reads badly, is tried turned.
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
        found = engine(np.ascontiguousarray(image[:, :, ::-1]))  # as OpenCV has colours
        boxes, texts, scores = found.boxes, found.txts, found.scores
        if boxes is None or texts is None or scores is None:
            return []
        return [
            OcrLine(" ".join(text.split()), float(score), np.asarray(corners, dtype=np.float64))
            for corners, text, score in zip(boxes, texts, scores, strict=True)
            if text.strip()
        ]


def _other_turns(lines: list[OcrLine]) -> tuple[int, ...]:
    """The turns, in quarters, that may read better than none."""
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
    """How much is read how surely, lines that stand on their side not counted."""
    return sum(
        line.confidence**2 * len(line.text)
        for line in lines
        if line.confidence >= _LEAST_SURE and not _is_tall(line.corners)
    )


# Lines read from an image as what is printed on a page: of one size and level, and upright.
#
# The heights of boxes found in an image tremble by a tenth or more, and a scan lies askew by a
# degree or two. Layout needs neither: sizes near the page's usual one are that one, and the page is
# turned by the angle at which its lines run.

_PLAIN = Font(is_bold=False, is_math=False, is_mono=False)


_BOLD = _PLAIN._replace(is_bold=True)


# Weight cannot be told from an image; a title with a number of parts is one without it, too.
_TITLE = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})+\.?\s*[^\W\d_]|第[一二三四五六七八九十百\d]+[章节節]).{0,70}$"
)


_FORMULA = re.compile(r"[=<>≤≥≈≡∑∏∫∂√∞]")


_HEIGHT = 1.38  # of a line's box, in ems


_LEVEL = 0.27  # ems from a box's middle down to the baseline


_USUAL = 0.17  # by which boxes of one size differ from the usual height


_STEP = 0.1  # of the usual size, between other sizes


_LONG = 5.0  # times its height: a line that says how the page lies


_LEAST_TILT = 0.1  # degrees


def printed_from(
    lines: Sequence[OcrLine], turns: int, pixels: tuple[int, int], width: float, height: float
) -> PrintedPage:
    """A page of ``width`` by ``height`` points whose image has ``pixels`` rows and columns, read
    after ``turns`` quarters anticlockwise."""
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
    """Corners in an image that was turned, as they stand in the image before."""
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
    """The map (2, 3) from the page as displayed to one whose lines run level."""
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
    """The angle in radians at which the longer lines run, clockwise positive."""
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
    """The height at which half of the page's characters are set in lower lines."""
    if not lines:
        return 0.0
    order = np.argsort(depths)
    reached = np.cumsum(np.array([len(line.text) for line in lines])[order])
    return float(np.array(depths)[order][np.searchsorted(reached, reached[-1] / 2)])


def _size(text: str, depth: float, usual: float, width: float) -> float:
    """The height that a line is taken to have; boxes of a few characters tell little of theirs, and
    those of formulas less."""
    tolerance = _USUAL if width > _LONG * depth else 2 * _USUAL
    if _FORMULA.search(text):
        tolerance = 1.0
    if abs(depth - usual) <= tolerance * usual:
        return usual
    return max(_STEP, round(depth / usual / _STEP) * _STEP) * usual

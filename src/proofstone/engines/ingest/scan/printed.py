"""Lines read from an image as what is printed on a page: of one size and level, and upright.

The heights of boxes found in an image tremble by a tenth or more, and a scan lies askew by a degree
or two. Layout needs neither: sizes near the page's usual one are that one, and the page is turned
by the angle at which its lines run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from proofstone.engines.ingest.pdf.furniture import edge_rows
from proofstone.engines.ingest.pdf.page import PrintedPage
from proofstone.engines.ingest.pdf.segments import Font, Segment
from proofstone.engines.ingest.scan.engine import OcrLine

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["printed_from"]

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

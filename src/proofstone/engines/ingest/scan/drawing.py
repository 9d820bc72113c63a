"""A page as a PNG file: whole or a part of it, with boxes marked, or with all else masked."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from proofstone.engines.ingest.messages import Draw
from proofstone.engines.ingest.scan.image_file import ImageTooLarge
from proofstone.engines.ingest.scan.pictures import Pictures
from proofstone.errors import BadInput
from proofstone.records import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["draw_page", "page_pixels", "png_bytes"]

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

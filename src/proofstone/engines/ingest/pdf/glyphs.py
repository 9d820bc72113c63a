"""The characters of a PDF page with their boxes, as pdfium finds them, in the page as displayed.

Coordinates are points from the top left corner of the displayed page, y downwards; a character's
box spans its advance and its font's ascent and descent. Characters come in the order of the file.
"""

from __future__ import annotations

import ctypes
import math
from collections import deque
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from proofstone.engines.ingest.pdf.pdfium import plain_call
from proofstone.engines.ingest.pdf.tex_fonts import BRACKET_PIECES, tex_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAX_CHARACTERS", "Glyphs", "Run", "TooManyCharacters", "read_glyphs"]

MAX_CHARACTERS = 200_000  # a dense page of print holds 10,000
_HYPHENS = (0x02, 0xFFFE, 0xAD)  # how pdfium marks a hyphen at a line's end
_HYPHEN = ord("-")
_NAME_BYTES = 128
_HAIR = 0.02  # of the height
_PIECES = tuple(BRACKET_PIECES)


class TooManyCharacters(Exception):
    """A page holds more than ``MAX_CHARACTERS``."""


class Run(NamedTuple):
    """Characters [start, end) set in one font and size on one baseline."""

    start: int
    end: int
    baseline: float
    size: float
    angle: int
    font: str
    weight: int


class Glyphs(NamedTuple):
    """The visible characters of a page.

    ``codes`` are their code points, ``boxes`` (n, 4) left, top, right, bottom; ``spaced`` says
    whether white space stands before a character, in the file or as pdfium found it.
    """

    codes: NDArray[np.uint32]
    boxes: NDArray[np.float64]
    spaced: NDArray[np.bool_]
    runs: list[Run]
    unmapped: int


class _Calls:
    """pdfium's functions for single characters."""

    def __init__(self) -> None:
        from pypdfium2 import raw  # noqa: PLC0415 - in an extra

        pointer, index, long = ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong
        one = (pointer, index)
        self.box = plain_call(raw.FPDFText_GetLooseCharBox, index, *one, pointer)
        self.code = plain_call(raw.FPDFText_GetUnicode, index, *one)
        self.origin = plain_call(raw.FPDFText_GetCharOrigin, index, *one, pointer, pointer)
        self.matrix = plain_call(raw.FPDFText_GetMatrix, index, *one, pointer)
        self.weight = plain_call(raw.FPDFText_GetFontWeight, index, *one)
        self.unmapped = plain_call(raw.FPDFText_HasUnicodeMapError, index, *one)
        self.size = plain_call(raw.FPDFText_GetFontSize, ctypes.c_double, *one)
        self.font = plain_call(raw.FPDFText_GetFontInfo, long, *one, pointer, long, pointer)
        self.name = ctypes.create_string_buffer(_NAME_BYTES)
        self.name_at = ctypes.addressof(self.name)


@cache
def _calls() -> _Calls:
    return _Calls()


def read_glyphs(text_page: Any, to_display: NDArray[np.float64], turn: int) -> Glyphs:
    """The characters of pdfium's ``text_page``.

    ``to_display`` (2, 3) maps the page's own coordinates to displayed ones, ``turn`` is the page's
    rotation in degrees. Raises TooManyCharacters.
    """
    from pypdfium2 import raw  # noqa: PLC0415 - in an extra

    n = raw.FPDFText_CountChars(text_page)
    if n > MAX_CHARACTERS:
        raise TooManyCharacters(n)
    if n <= 0:
        empty = np.zeros(0)
        return Glyphs(empty.astype(np.uint32), empty.reshape(0, 4), empty.astype(bool), [], 0)
    handle = ctypes.cast(text_page.raw, ctypes.c_void_p).value
    codes = _codes(raw, text_page, handle, n)
    corners = _boxes(handle, n)
    hyphens = (codes == _HYPHENS[0]) | (codes == _HYPHENS[1]) | (codes == _HYPHENS[2])
    codes = np.where(hyphens, _HYPHEN, codes).astype(np.uint32)
    _map_controls(handle, codes)
    shown = (codes > 0x20) & (codes != 0xA0) & (codes != 0x3000) & (codes != 0xFEFF)
    kept = np.flatnonzero(shown)
    spaced = np.diff(kept, prepend=-1) > 1
    runs, unmapped = _runs(handle, codes, kept, corners, to_display, turn)
    return Glyphs(codes[kept], _displayed(corners[kept], to_display), spaced, runs, unmapped)


def _codes(raw: Any, text_page: Any, handle: int | None, n: int) -> NDArray[np.uint32]:
    """The code point of each character; a lone surrogate becomes the replacement character."""
    buffer = (ctypes.c_ushort * (n + 2))()
    if raw.FPDFText_GetText(text_page, 0, n + 1, buffer) - 1 == n:
        units = np.ctypeslib.as_array(buffer)[:n].astype(np.uint32)
    else:  # what has no code point is left out of the text, and characters beyond 0xFFFF are two
        code = _calls().code
        units = np.array([code(handle, k) & 0xFFFFFFFF for k in range(n)], dtype=np.uint32)
    strange = ((units >= 0xD800) & (units < 0xE000)) | (units > 0x10FFFF)
    return np.where(strange, 0xFFFD, units).astype(np.uint32)


def _boxes(handle: int | None, n: int) -> NDArray[np.float64]:
    """Left, top, right, bottom of each character in the page's own coordinates."""
    buffer = (ctypes.c_float * (4 * n))()
    address, box = ctypes.addressof(buffer), _calls().box
    # A call a character: the loop itself must cost nothing.
    calls = map(box, repeat(handle), range(n), range(address, address + 16 * n, 16))
    deque(calls, maxlen=0)
    boxes: NDArray[np.float64] = np.ctypeslib.as_array(buffer).reshape(n, 4).astype(np.float64)
    return np.nan_to_num(boxes, nan=0.0, posinf=0.0, neginf=0.0)


def _displayed(
    corners: NDArray[np.float64], to_display: NDArray[np.float64]
) -> NDArray[np.float64]:
    linear, shift = to_display[:, :2], to_display[:, 2]
    one = corners[:, 0:2] @ linear.T + shift
    two = corners[:, 2:4] @ linear.T + shift
    return np.hstack([np.minimum(one, two), np.maximum(one, two)])


def _font(handle: int | None, k: int) -> str:
    """The name of a character's font, without the letters before a + that mark a subset."""
    calls = _calls()
    length = calls.font(handle, k, calls.name_at, _NAME_BYTES, None)
    found = calls.name.raw[: length - 1] if 0 < length <= _NAME_BYTES else b""
    return found.decode("utf-8", "replace").rpartition("+")[2]


def _map_controls(handle: int | None, codes: NDArray[np.uint32]) -> None:
    """Gives control characters of TeX's fonts what they stand for: they are signs there."""
    pieces = np.flatnonzero((codes >= _PIECES[0]) & (codes <= _PIECES[-1]))
    for k in pieces.tolist():
        codes[k] = BRACKET_PIECES[int(codes[k])]
    controls = (codes < 0x20) & (codes != 0x09) & (codes != 0x0A) & (codes != 0x0D)
    for k in np.flatnonzero(controls).tolist():
        codes[k] = tex_signs(_font(handle, k)).get(int(codes[k]), int(codes[k]))


def _map_signs(
    handle: int | None, codes: NDArray[np.uint32], places: NDArray[np.intp], font: str
) -> int:
    """Gives characters without a code point what their font of TeX says; how many have none."""
    signs, unmapped = tex_signs(font), _calls().unmapped
    n = 0
    for k in places.tolist():
        if unmapped(handle, k) == 1 and codes[k] < 0x80:
            sign = signs.get(int(codes[k]))
            n += sign is None
            codes[k] = codes[k] if sign is None else sign
    return n


def _runs(
    handle: int | None,
    codes: NDArray[np.uint32],
    kept: NDArray[np.intp],
    corners: NDArray[np.float64],
    to_display: NDArray[np.float64],
    turn: int,
) -> tuple[list[Run], int]:
    """Runs by where the vertical extent of the boxes changes, each asked for its font once."""
    if not len(kept):
        return [], 0
    extents = corners[kept][:, (1, 3)]
    # Boxes of one slanted font differ by a hair.
    limit = _HAIR * np.abs(extents[1:, 0] - extents[1:, 1])
    changes = np.flatnonzero(np.abs(np.diff(extents, axis=0)).max(axis=1) > limit) + 1
    starts = [0, *changes.tolist()]
    calls = _calls()
    x, y = ctypes.c_double(), ctypes.c_double()
    across, down, shift = to_display[1].tolist()
    matrix = (ctypes.c_float * 6)()
    places = [ctypes.addressof(each) for each in (x, y, matrix)]
    runs, n_unmapped = [], 0
    for start, end in zip(starts, [*starts[1:], len(kept)], strict=True):
        k = int(kept[start])
        calls.origin(handle, k, places[0], places[1])
        calls.matrix(handle, k, places[2])
        a, b, c, d = matrix[0], matrix[1], matrix[2], matrix[3]
        angle = round(math.degrees(math.atan2(b, a)) / 90) * 90 - turn
        baseline = across * x.value + down * y.value + shift
        size = calls.size(handle, k) * math.hypot(c, d)
        font = _font(handle, k)
        if tex_signs(font):
            n_unmapped += _map_signs(handle, codes, kept[start:end], font)
        elif calls.unmapped(handle, k) == 1:
            n_unmapped += end - start
        weight = calls.weight(handle, k)
        runs.append(Run(start, end, baseline, abs(size), angle % 360, font, weight))
    return runs, n_unmapped

"""Where the figures of a page are: images, and drawings that are more than rules and frames."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from proofstone.engines.ingest.pdf.lines import Line
from proofstone.engines.ingest.pdf.pdfium import plain_call
from proofstone.records import Box

__all__ = ["figures_of", "parts_of"]

_MOST_OBJECTS = 20_000
_MOST_PARTS = 2_000
_PATH, _IMAGE, _SHADING, _FORM = 2, 3, 4, 5
_DRAWN = {_PATH, _IMAGE, _SHADING, _FORM}
_THIN = 2.5  # points: a rule
_LEAST_SIDE = 24.0
_NEAR = 6.0  # points between parts of one figure
_LEAST_PARTS = 6  # a drawing of fewer is a frame, a box behind text or an underline
_WHOLE = 0.92  # of the page: a background or a scan
_TEXT_SHARE = 0.4  # of a figure's height that lines of text may take
_LONG = 7  # words: a label has fewer


def parts_of(page: Any, to_display: np.ndarray) -> list[tuple[bool, Box]]:
    """Whether image, and the box, of each object of the page that is neither text nor a rule."""
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
    """pdfium's functions for the objects of a page."""

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
    """The figures' boxes, from the top down; what lies behind running text is none."""
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
    """Parts that touch or nearly so, as (how many, how many images, box around)."""
    clusters: list[tuple[int, int, Box]] = []
    for is_image, box in sorted(parts, key=lambda part: part[1].top):
        n, images = 1, int(is_image)
        merged = box
        apart = []
        for other in clusters:
            if _touch(merged, other[2]):
                n, images, merged = n + other[0], images + other[1], _union(merged, other[2])
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


def _union(a: Box, b: Box) -> Box:
    return Box(
        min(a.left, b.left), min(a.top, b.top), max(a.right, b.right), max(a.bottom, b.bottom)
    )

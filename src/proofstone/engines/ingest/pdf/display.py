"""From a PDF page's own coordinates to the page as it is displayed, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from proofstone.records import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["box_between", "display_of"]


def display_of(page: Any, turn: int) -> NDArray[np.float64]:
    """The map (2, 3) to points from the top left corner, y downwards, where the page is turned
    clockwise by ``turn`` degrees (0, 90, 180 or 270)."""
    left, bottom, right, top = page.get_bbox()
    rows = {
        0: [[1, 0, -left], [0, -1, top]],
        90: [[0, 1, -bottom], [1, 0, -left]],
        180: [[-1, 0, right], [0, 1, -bottom]],
        270: [[0, -1, top], [-1, 0, right]],
    }
    return np.array(rows[turn % 360], dtype=np.float64)


def box_between(box: Box, origin: NDArray[np.float64], target: NDArray[np.float64]) -> Box:
    """A box under the map ``origin`` as it stands under ``target``; one that is tilted there, the
    box around it."""
    across, down = (box.left, box.right), (box.top, box.bottom)
    corners = np.array([[x, y] for x in across for y in down])
    own = (corners - origin[:, 2]) @ np.linalg.inv(origin[:, :2]).T
    there = own @ target[:, :2].T + target[:, 2]
    (x0, y0), (x1, y1) = there.min(axis=0).tolist(), there.max(axis=0).tolist()
    return Box(x0, y0, x1, y1)

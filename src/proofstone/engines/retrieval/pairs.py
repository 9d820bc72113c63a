"""Texts that are near each other, found without comparing every two of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["NearPair", "near_pairs"]

_ROWS = 512  # rows of the product that are held at once


class NearPair(Struct, frozen=True, gc=False):
    """The places of two texts, the lower first, and the cosine of their vectors."""

    one: int
    other: int
    near: float


def near_pairs(
    vectors: NDArray[np.float64], *, most: int = 5, least: float = 0.6, groups: Sequence[int] = ()
) -> list[NearPair]:
    """Each text's ``most`` nearest others that are at least ``least`` near, the nearest first.

    ``vectors`` (texts, dimensions) are of length 1. Texts of one group (of ``groups``, negative for
    none) are not paired. So there are at most ``most`` pairs a text; the product of all rows is
    taken in blocks and never held whole.
    """
    import numpy as np  # noqa: PLC0415

    vectors = np.asarray(vectors, dtype=np.float32)
    n = len(vectors)
    group = np.asarray(groups if len(groups) else np.full(n, -1))
    found: dict[tuple[int, int], float] = {}
    for start in range(0, n, _ROWS):
        rows = np.arange(start, min(n, start + _ROWS))
        near = vectors[rows] @ vectors.T
        near[np.arange(len(rows)), rows] = -2.0
        near[(group[rows][:, None] == group[None, :]) & (group[rows][:, None] >= 0)] = -2.0
        kept = min(most, n - 1)
        if kept < 1:
            continue
        best = np.argpartition(-near, kept - 1, axis=1)[:, :kept]
        for at, row in enumerate(rows.tolist()):
            for other in best[at].tolist():
                value = float(near[at, other])
                if value >= least:
                    found[min(row, other), max(row, other)] = value
    pairs = [NearPair(one, other, near) for (one, other), near in found.items()]
    return sorted(pairs, key=lambda pair: (-pair.near, pair.one, pair.other))

"""All pairs of a large set of vectors that are near each other, by a glance at a part of each.

A random rotation spreads what two vectors have in common evenly over all dimensions, whatever the
data look like (Johnson and Lindenstrauss, 1984). So the cosine of their first m rotated dimensions
lies about their own, with a spread of (1 - cosine^2) / sqrt(m), that of a correlation over m draws.
Every two are compared by 64 dimensions; who comes within four spreads of the bar is compared by
256, and who still does, whole. What is found is exact; what is missed is a pair whose glance was
four spreads too low, one of some thousands at the bar itself and none well above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from proofstone.engines.retrieval.pairs import NearPair

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

__all__ = ["close_pairs"]

_GLANCES = (64, 256)  # dimensions, the fewest first
_SPREADS = 4.0
_ROWS, _COLUMNS = 2048, 8192  # compared at once: 64 MB
_AT_ONCE = 1 << 14  # pairs compared again at once
_SEED = 20_220  # of the rotation: the same vectors give the same pairs


def close_pairs(vectors: NDArray[np.floating], *, least: float = 0.8) -> list[NearPair]:
    """The pairs with a cosine of ``least`` or more, by their places; none of fewer than two.

    ``vectors`` (texts, dimensions) are of length 1. Takes the square of their number, at a
    hundredth of a microsecond or so a pair, and 64 MB beside two copies of them. ``least`` is
    meant well above chance (0.5 and more): near it nearly all would have to be compared whole.
    """
    import numpy as np  # noqa: PLC0415

    whole = np.ascontiguousarray(vectors, dtype=np.float32)
    if len(whole) < 2:
        return []
    exact = (whole, least)
    first, *others = [*((part, _bar(least, part.shape[1])) for part in _glances(whole)), exact]
    found: list[tuple[int, int, float]] = []
    for passing in _passing(*first):
        one, other = passing
        for part, bar in others[:-1]:
            kept = _cosines(part, one, other) >= bar
            one, other = one[kept], other[kept]
        cosines = _cosines(whole, one, other)
        kept = cosines >= least
        columns = (one[kept].tolist(), other[kept].tolist(), cosines[kept].tolist())
        found += zip(*columns, strict=True)
    return [NearPair(one, other, near) for one, other, near in sorted(found)]


def _bar(least: float, n_dimensions: int) -> float:
    """What a glance at so many dimensions must come to."""
    return float(least - _SPREADS * (1 - least**2) / n_dimensions**0.5)


def _glances(whole: Floats) -> Iterator[Floats]:
    """The first dimensions of the vectors turned at random, each row of length 1; the vectors
    themselves where they have no more."""
    import numpy as np  # noqa: PLC0415

    n_dimensions = whole.shape[1]
    drawn = np.random.default_rng(_SEED).standard_normal((n_dimensions, n_dimensions))
    axes = np.linalg.qr(drawn)[0].astype(np.float32)
    for n in _GLANCES:
        if n < n_dimensions:
            part = whole @ axes[:, :n]
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            lengths[lengths == 0] = 1.0  # a vector of nothing stays one
            part /= lengths
            yield part


def _passing(part: Floats, bar: float) -> Iterator[tuple[Ints, Ints]]:
    """The pairs, the lower place first, whose product is ``bar`` or more, some at a time."""
    import numpy as np  # noqa: PLC0415

    n = len(part)
    for start in range(0, n, _ROWS):
        rows = part[start : start + _ROWS]
        for first in range(start, n, _COLUMNS):
            near = rows @ part[first : first + _COLUMNS].T
            places = np.flatnonzero(near >= bar)
            one, other = np.divmod(places, near.shape[1])
            one, other = one + start, other + first
            kept = one < other
            if kept.any():
                yield one[kept], other[kept]


def _cosines(part: Floats, one: Ints, other: Ints) -> Floats:
    """The product of each pair's rows."""
    import numpy as np  # noqa: PLC0415

    made = [np.zeros(0, np.float32)]
    for start in range(0, len(one), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        made.append(np.einsum("ij,ij->i", part[one[some]], part[other[some]]))
    return np.concatenate(made)

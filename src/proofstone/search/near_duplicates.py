"""Texts that are near each other: pairs by words, short texts by runs of letters, and vectors."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import ceil
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

# Texts that are near each other, found without comparing every two of them.

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


# Short texts that say nearly the same in nearly the same words, by the runs of letters in them.

_WIDTH = 5


_ROUNDING = 1e-9  # 0.55 * 100 is a little more than 55, and no pair may be lost to that


_SPACE = re.compile(r"[\W_]+")


def near_duplicates(
    texts: Iterable[str],
    least: float,
    *,
    n_known: int = 0,
    fits: Callable[[int, int], bool] | None = None,
) -> dict[int, int]:
    """Places of texts that are at least ``least`` alike (Jaccard, of their runs of five letters
    or characters, case and signs aside) to an earlier one that stays, and the place of that one.
    The first ``n_known`` stay whatever they are like; ``fits`` says of two that are so alike, the
    earlier one first, whether they count.

    By prefix filtering: two sets that are so alike share one of their rarest members, so only
    texts that do are compared (Chaudhuri, Ganti and Kaushik 2006).
    """
    sets = [_runs(text) for text in texts]
    order = Counter(run for runs in sets for run in runs)
    rare = [sorted(runs, key=lambda run: (order[run], run)) for runs in sets]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for place, runs in enumerate(rare):
        prefix = runs[: len(runs) - ceil(least * len(runs) - _ROUNDING) + 1]
        if place >= n_known:
            near = sorted({other for run in prefix for other in holders[run]})
            like = next(
                (
                    other
                    for other in near
                    if _jaccard(sets[other], sets[place]) >= least
                    and (fits is None or fits(other, place))
                ),
                None,
            )
            if like is not None:
                found[place] = like
                continue
        for run in prefix:
            holders[run].append(place)
    return found


def _runs(text: str) -> frozenset[str]:
    plain = _SPACE.sub(" ", text.casefold()).strip()
    if len(plain) <= _WIDTH:
        return frozenset({plain})
    return frozenset(plain[at : at + _WIDTH] for at in range(len(plain) - _WIDTH + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


# All pairs of a large set of vectors that are near each other, by a glance at a part of each.
#
# A random rotation spreads what two vectors have in common evenly over all dimensions, whatever the
# data look like (Johnson and Lindenstrauss, 1984). So the cosine of their first m rotated
# dimensions lies about their own, with a spread of (1 - cosine^2) / sqrt(m), that of a correlation
# over m draws. Every two are compared by 64 dimensions; who comes within four spreads of the bar is
# compared by 256, and who still does, whole. What is found is exact; what is missed is a pair whose
# glance was four spreads too low, one of some thousands at the bar itself and none well above it.


_GLANCES = (64, 256)  # dimensions, the fewest first


_SPREADS = 4.0


_CLOSE_PAIRS_ROWS, _COLUMNS = 2048, 8192  # compared at once: 64 MB


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
    for start in range(0, n, _CLOSE_PAIRS_ROWS):
        rows = part[start : start + _CLOSE_PAIRS_ROWS]
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

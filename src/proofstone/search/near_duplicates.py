"""Find similar texts: pairs by vectors, and short texts by their character n-grams."""

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

# Find similar vectors without comparing every pair in one array.

_ROWS = 512  # rows of the product in memory at a time


class NearPair(Struct, frozen=True, gc=False):
    """The indexes of two texts, the lower first, and the cosine of their vectors."""

    one: int
    other: int
    near: float


def near_pairs(
    vectors: NDArray[np.float64], *, most: int = 5, least: float = 0.6, groups: Sequence[int] = ()
) -> list[NearPair]:
    """Return each text's ``most`` nearest others of cosine ``least`` or more, nearest first.

    ``vectors`` (texts, dimensions) are of length 1. Texts of one group (of ``groups``; negative:
    none) are not paired. There are at most ``most`` pairs per text. The product of all rows is
    computed in blocks and never held whole.
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


# Near-duplicates among short texts, by their character n-grams.

_WIDTH = 5


_ROUNDING = 1e-9  # 0.55 * 100 is slightly above 55, and no pair may be lost by that


_SPACE = re.compile(r"[\W_]+")


def near_duplicates(
    texts: Iterable[str],
    least: float,
    *,
    n_known: int = 0,
    fits: Callable[[int, int], bool] | None = None,
) -> dict[int, int]:
    """Return texts similar to an earlier text that stays, with the index of that text.

    Similarity is the Jaccard index of character 5-grams, ignoring case and punctuation; pairs need
    at least ``least``. The first ``n_known`` always stay. ``fits`` decides for two such texts, the
    earlier one first, whether the pair counts.

    Uses prefix filtering: two such sets share one of their rarest members, so only texts that share
    one are compared (Chaudhuri, Ganti and Kaushik 2006).
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


# Find all similar pairs in a large set of vectors, by comparing a few dimensions of each first.
#
# A random rotation spreads what two vectors have in common evenly over all dimensions, whatever the
# data (Johnson and Lindenstrauss, 1984). The cosine of their first m rotated dimensions is
# therefore near their own, with a standard deviation of (1 - cosine^2) / sqrt(m), as for a
# correlation over m samples. All pairs are compared by 64 dimensions. Pairs within four standard
# deviations of the threshold are compared by 256, and the remaining ones in full. Reported pairs
# are exact. A pair is missed if its estimate was four standard deviations too low: one of some
# thousands at the threshold itself, and none well above it.


_GLANCES = (64, 256)  # dimensions, the fewest first


_SPREADS = 4.0


_CLOSE_PAIRS_ROWS, _COLUMNS = 2048, 8192  # compared in one step: 64 MB


_AT_ONCE = 1 << 14  # pairs compared again in one step


_SEED = 20_220  # of the rotation: the same vectors give the same pairs


def close_pairs(vectors: NDArray[np.floating], *, least: float = 0.8) -> list[NearPair]:
    """Return the pairs with a cosine of ``least`` or more, by index; none for a single vector.

    ``vectors`` (texts, dimensions) are of length 1. Time is quadratic, at about 0.01 microseconds
    per pair; memory is 64 MB plus two copies of the vectors. ``least`` should be well above chance
    (0.5 and more): near it, nearly all pairs would be compared in full.
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
    """Return the minimum cosine over so many dimensions."""
    return float(least - _SPREADS * (1 - least**2) / n_dimensions**0.5)


def _glances(whole: Floats) -> Iterator[Floats]:
    """Yield the first dimensions of the randomly rotated vectors, each row of length 1.

    Vectors with no more dimensions than that are yielded themselves.
    """
    import numpy as np  # noqa: PLC0415

    n_dimensions = whole.shape[1]
    drawn = np.random.default_rng(_SEED).standard_normal((n_dimensions, n_dimensions))
    axes = np.linalg.qr(drawn)[0].astype(np.float32)
    for n in _GLANCES:
        if n < n_dimensions:
            part = whole @ axes[:, :n]
            lengths = np.linalg.norm(part, axis=1, keepdims=True)
            lengths[lengths == 0] = 1.0  # a zero vector stays zero
            part /= lengths
            yield part


def _passing(part: Floats, bar: float) -> Iterator[tuple[Ints, Ints]]:
    """Yield batches of pairs, the lower index first, whose product is ``bar`` or more."""
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
    """Return the product of each pair's rows."""
    import numpy as np  # noqa: PLC0415

    made = [np.zeros(0, np.float32)]
    for start in range(0, len(one), _AT_ONCE):
        some = slice(start, start + _AT_ONCE)
        made.append(np.einsum("ij,ij->i", part[one[some]], part[other[some]]))
    return np.concatenate(made)

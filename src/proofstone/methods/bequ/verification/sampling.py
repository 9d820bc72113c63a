"""Which triples are verified: drawn by seed, as the paper draws or uniformly over triples.

The paper draws an entity, then one of its triples: an entity with three triples is heard as often
as one with ninety, and the mean is one over entities, as long as they have triples left. Drawn
uniformly over triples, talkative entities weigh as much as they talk. Both go without replacement,
and a longer sample begins with the shorter one of its seed: more can be drawn without verifying
anything twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, islice
from typing import Literal, get_args

from proofstone.draws import Draws

__all__ = ["SAMPLING_WAYS", "SamplingWay", "sample_places"]

SamplingWay = Literal["entities", "triples"]
SAMPLING_WAYS: tuple[SamplingWay, ...] = get_args(SamplingWay)


def sample_places(
    counts: Sequence[int], n: int, way: SamplingWay, *, seed: int, purpose: str
) -> list[tuple[int, int]]:
    """``n`` different (entity, triple) places in the order of drawing, of entities with ``counts``
    triples each; all of them where there are fewer. 0 means all, then in their order."""
    total = sum(counts)
    if not n:
        return [(entity, place) for entity, n in enumerate(counts) for place in range(n)]
    draws = Draws(seed, 0, f"bequ {way} {purpose}")
    drawn = _by_entity(counts, draws) if way == "entities" else _by_triple(counts, total, draws)
    return list(islice(drawn, min(n, total)))


def _by_entity(counts: Sequence[int], draws: Draws) -> Iterator[tuple[int, int]]:
    """An entity of those with triples left, each as likely, then one of these."""
    left = {entity: _Pool(n) for entity, n in enumerate(counts) if n}
    alive = list(left)
    while alive:
        at = draws.below(len(alive))
        entity = alive[at]
        yield entity, left[entity].take(draws)
        if not left[entity].n:
            alive[at] = alive[-1]
            alive.pop()


def _by_triple(counts: Sequence[int], total: int, draws: Draws) -> Iterator[tuple[int, int]]:
    ends = list(accumulate(counts))
    pool = _Pool(total)
    while pool.n:
        place = pool.take(draws)
        entity = bisect_right(ends, place)
        yield entity, place - (ends[entity] - counts[entity])


class _Pool:
    """The places 0 to n - 1, taken one by one; what was taken is held, not what is left."""

    __slots__ = ("_moved", "n")

    def __init__(self, n: int) -> None:
        self.n = n
        self._moved: dict[int, int] = {}

    def take(self, draws: Draws) -> int:
        """One of those that are left."""
        at = draws.below(self.n)
        self.n -= 1
        last = self._moved.pop(self.n, self.n)
        if at == self.n:
            return last
        taken = self._moved.get(at, at)
        self._moved[at] = last
        return taken

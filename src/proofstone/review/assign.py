"""Who reads what: drawn by seed, in even shares, some of it by several people.

A reader cannot tell what others read too: each one's rows come in an order of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.ids import Draws

_PURPOSE = "truth sample"


_Z = 1.959963984540054  # the normal quantile of 95%


def draw_by_stratum(strata: Sequence[str], size: int, seed: int) -> list[int]:
    """The places, ascending, of ``size`` things drawn so that each stratum has its share.

    Shares are rounded by largest remainders, equal ones in an order drawn by seed. Raises BadUsage
    for more than there are.
    """
    if not 0 < size <= len(strata):
        raise BadUsage(
            f"a sample of {size:,} cannot be drawn of {len(strata):,}",
            hint=f"take 1 to {len(strata):,}",
        )
    members: dict[str, list[int]] = {}
    for place, stratum in enumerate(strata):
        members.setdefault(stratum, []).append(place)
    draws = Draws(seed, 0, _PURPOSE)
    quotas = _quotas({name: len(places) for name, places in members.items()}, size, draws)
    chosen = [
        place
        for number, name in enumerate(sorted(members))
        for place in Draws(seed, number + 1, _PURPOSE).sample(members[name], quotas[name])
    ]
    return sorted(chosen)


def _quotas(counts: dict[str, int], size: int, draws: Draws) -> dict[str, int]:
    """How many of each stratum: whole numbers that sum to ``size``."""
    total = sum(counts.values())
    exact = {name: size * n / total for name, n in counts.items()}
    quotas = {name: math.floor(share) for name, share in exact.items()}
    order = draws.shuffled(sorted(counts))
    order.sort(key=lambda name: quotas[name] - exact[name])
    for name in order[: size - sum(quotas.values())]:
        quotas[name] += 1
    return quotas


def size_for(half_width: float, population: int, expected: float = 0.05) -> int:
    """How many of ``population`` must be checked so that a rate of ``expected`` is known to within
    ``half_width`` at 95%: normal approximation, with the correction for a finite population
    (Cochran 1977, 4.4)."""
    if not 0.0 < half_width < 1.0 or not 0.0 < expected < 1.0:
        raise BadUsage("a half width and an expected rate lie between 0 and 1, as 0.02")
    endless = _Z**2 * expected * (1.0 - expected) / half_width**2
    return min(population, math.ceil(endless / (1.0 + (endless - 1.0) / population)))


_ASSIGNING_PURPOSE = "review assignment"


class Assignment(Struct, frozen=True, kw_only=True):
    """The places (from 0) of what each reader is given, in the order to read it; those that several
    read (``shared``); and those that nobody could be given, for all who are asked have read them
    (``barred``), or since none may be given more (``left``)."""

    rows: tuple[tuple[int, ...], ...]
    shared: tuple[int, ...]
    barred: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


def assign(
    n: int,
    people: int,
    *,
    overlap: float,
    readers: int | None = None,
    most: int | None = None,
    seed: int = 0,
    barred: Mapping[int, frozenset[int]] | None = None,
) -> Assignment:
    """Shares ``n`` things out among ``people`` readers.

    ``round(overlap * n)`` of them, drawn by seed, go to ``readers`` people each (all, where that is
    None), the others to one. Each goes to those who have least so far; among these to whom it pairs
    least often before, so that with two readers all pairs meet about as often. ``most`` is the most
    that one reader is given. ``barred`` says, by place, whom a thing must not go to.
    """
    draws = Draws(seed, 0, _ASSIGNING_PURPOSE)
    order = draws.shuffled(range(n))
    order = order[: _fitting(n, people, overlap, readers or people, most)]
    kept_apart = barred or {}
    n_shared = round(overlap * len(order)) if people > 1 else 0
    sharing = _Sharing(people, draws.shuffled(range(people)))
    shared, nobody = [], []
    for number, place in enumerate(order):
        wanted = min(readers or people, people) if number < n_shared else 1
        given = sharing.give(place, wanted, kept_apart.get(place, frozenset()))
        if not given:
            nobody.append(place)
        elif given > 1:
            shared.append(place)
    rows = [
        tuple(Draws(seed, reader + 1, _ASSIGNING_PURPOSE).shuffled(sorted(held)))
        for reader, held in enumerate(sharing.held)
    ]
    given_out = {place for held in sharing.held for place in held} | set(nobody)
    return Assignment(
        rows=tuple(rows),
        shared=tuple(sorted(shared)),
        barred=tuple(sorted(nobody)),
        left=tuple(place for place in range(n) if place not in given_out),
    )


class _Sharing:
    """What each reader holds so far, and how often two of them met."""

    def __init__(self, people: int, order: Sequence[int]) -> None:
        self.held: list[list[int]] = [[] for _ in range(people)]
        self._order = order
        self._met: Counter[tuple[int, int]] = Counter()

    def give(self, place: int, wanted: int, barred: frozenset[int]) -> int:
        """Gives a thing to ``wanted`` readers, or to as many as may read it; returns how many."""
        able = [reader for reader in self._order if reader not in barred]
        chosen: list[int] = []
        for _ in range(min(wanted, len(able))):
            reader = min(
                (one for one in able if one not in chosen),
                key=lambda one: (len(self.held[one]), sum(self._met[one, c] for c in chosen)),
            )
            for other in chosen:
                self._met[reader, other] += 1
                self._met[other, reader] += 1
            chosen.append(reader)
        for reader in chosen:
            self.held[reader].append(place)
        return len(chosen)


def _fitting(n: int, people: int, overlap: float, readers: int, most: int | None) -> int:
    """How many things of ``n`` can be shared out with at most ``most`` a reader."""
    if most is None:
        return n
    fits = n
    while fits and -(-_copies(fits, overlap, min(readers, people)) // people) > most:
        fits -= 1
    return fits


def _copies(n: int, overlap: float, readers: int) -> int:
    shared = round(overlap * n)
    return shared * readers + n - shared

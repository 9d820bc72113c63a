"""Who reads what: drawn by seed, in even shares, some of it by several people.

A reader cannot tell what others read too: each one's rows come in an order of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from msgspec import Struct

from proofstone.draws import Draws

__all__ = ["Assignment", "assign"]

_PURPOSE = "review assignment"


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
    draws = Draws(seed, 0, _PURPOSE)
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
        tuple(Draws(seed, reader + 1, _PURPOSE).shuffled(sorted(held)))
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

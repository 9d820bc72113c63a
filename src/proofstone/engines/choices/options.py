"""Options that are sets of places: which can be drawn, how they are drawn and ordered.

A question has ``places`` numbered things, some of them asked for: the gold set. An option is a
set of places of a permitted size; a distractor holds at least one place outside the gold set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations
from math import comb
from typing import NamedTuple, TypeAlias

from proofstone.engines.choices.roman import roman

__all__ = [
    "MOST_OPTIONS",
    "MOST_PLACES",
    "MOST_TOGETHER",
    "OptionSet",
    "Subset",
    "distractor_supply",
    "draw_options",
    "option_text",
    "subsets",
]

MOST_OPTIONS = 26  # letters
MOST_PLACES = 20  # with MOST_TOGETHER: tables of at most C(20, 6) = 38,760 subsets
MOST_TOGETHER = 6


class Subset(NamedTuple):
    """A set of places as a bit mask and as the ascending tuple of them."""

    mask: int
    places: tuple[int, ...]


class OptionSet(NamedTuple):
    """Options in the order shown, and where the gold one stands."""

    options: tuple[tuple[int, ...], ...]
    gold: int


@lru_cache(maxsize=256)
def subsets(places: int, size: int) -> tuple[Subset, ...]:
    """All subsets of ``size`` of ``places`` places, in lexicographic order of their places."""
    return tuple(
        Subset(sum(1 << place for place in chosen), chosen)
        for chosen in combinations(range(places), size)
    )


def option_text(option: tuple[int, ...]) -> str:
    """An option as it is shown: ``option_text((0, 2, 7)) == "i, iii, viii"``."""
    return ", ".join([roman(place + 1) for place in option])


def distractor_supply(places: int, gold: int, sizes: range, *, forbid_subsets: bool) -> int:
    """How many distractors can always be drawn beside a gold set of size ``gold``.

    With ``forbid_subsets`` no option may be a proper subset of another. Options of one size never
    are, so the size with the most candidates gives a number that can be kept (draw_options does).
    """
    if forbid_subsets:
        first = Subset((1 << gold) - 1, tuple(range(gold)))
        return max(len(group) for group in _apart(_candidates(places, first, sizes), first.mask))
    return sum(comb(places, size) - comb(gold, size) for size in sizes)


def draw_options(
    words: Iterator[int],
    places: int,
    gold: Subset,
    count: int,
    sizes: range,
    *,
    forbid_subsets: bool = False,
) -> OptionSet:
    """The gold option among ``count`` - 1 distractors, in uniformly random order.

    The draws of ``count`` options are the first of those of ``count`` + 1: so the shorter set is
    the longer one without its last distractor, in the same relative order. A distractor's size is
    uniform over the sizes that have any left, then its set over those left of that size. Needs
    2 <= count <= 1 + distractor_supply(...).
    """
    if forbid_subsets:
        return _draw_apart(words, places, gold, count, sizes)
    outside = ~gold.mask
    tables, left = _tables(places, len(gold.places), sizes)
    options = [gold.places]
    at = 0
    used = set()
    while len(options) < count:
        word, which = divmod(next(words), len(tables))
        table = tables[which]
        word, rank = divmod(word, len(table))
        mask, distractor = table[rank]
        if not mask & outside or mask in used:
            continue
        used.add(mask)
        position = word % (len(options) + 1)
        options.insert(position, distractor)
        if position <= at:
            at += 1
        if len(used) >= left[which]:
            tables, left = _without_exhausted(tables, left, used)
    return OptionSet(tuple(options), at)


def _draw_apart(
    words: Iterator[int], places: int, gold: Subset, count: int, sizes: range
) -> OptionSet:
    """The same with no option a proper subset of another.

    A candidate is passed over when taking it could leave too few for MOST_OPTIONS options (or for
    as many as there can be): so the last ones can always be drawn, however many are wanted, and
    the first ones do not depend on how many are.
    """
    groups = _apart(_candidates(places, gold, sizes), gold.mask)
    wanted = min(MOST_OPTIONS, 1 + max(map(len, groups)))
    options = [gold.places]
    at = 0
    while len(options) < count:
        some = [group for group in groups if group]
        word, which = divmod(next(words), len(some))
        word, rank = divmod(word, len(some[which]))
        mask, distractor = some[which][rank]
        remaining = _apart(groups, mask)
        if len(options) + 1 + max(map(len, remaining)) < wanted:
            continue
        groups = remaining
        position = word % (len(options) + 1)
        options.insert(position, distractor)
        if position <= at:
            at += 1
    return OptionSet(tuple(options), at)


_Tables: TypeAlias = tuple[tuple[Subset, ...], ...]


@lru_cache(maxsize=256)
def _tables(places: int, gold: int, sizes: range) -> tuple[_Tables, tuple[int, ...]]:
    """By size that has a distractor: all subsets, and how many of them are distractors."""
    counts = [(size, comb(places, size) - comb(gold, size)) for size in sizes]
    some = [(size, count) for size, count in counts if count > 0]
    return tuple(subsets(places, size) for size, _ in some), tuple(count for _, count in some)


def _without_exhausted(
    tables: _Tables, left: tuple[int, ...], used: set[int]
) -> tuple[_Tables, tuple[int, ...]]:
    """The tables that hold a distractor not used yet. Cheap to ask for, since it is not asked
    before as many are used as the smallest table has."""
    drawn = Counter(mask.bit_count() for mask in used)
    kept = [
        (table, count)
        for table, count in zip(tables, left, strict=True)
        if drawn[len(table[0].places)] < count
    ]
    return tuple(table for table, _ in kept), tuple(count for _, count in kept)


def _candidates(places: int, gold: Subset, sizes: range) -> list[list[Subset]]:
    outside = ~gold.mask
    return [[one for one in subsets(places, size) if one[0] & outside] for size in sizes]


def _apart(groups: list[list[Subset]], mask: int) -> list[list[Subset]]:
    """The subsets of each group that neither hold ``mask`` nor lie within it."""
    return [[one for one in group if one[0] & mask not in (mask, one[0])] for group in groups]

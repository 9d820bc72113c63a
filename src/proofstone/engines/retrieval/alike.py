"""Short texts that say nearly the same in nearly the same words, by the runs of letters in them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from math import ceil

__all__ = ["near_duplicates"]

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

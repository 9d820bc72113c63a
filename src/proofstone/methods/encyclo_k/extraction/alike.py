"""Statements that say nearly the same in nearly the same words: the first of them stays."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import ceil

from proofstone.methods.encyclo_k.extraction.rows import Draft
from proofstone.ports import BatchRows, BatchStep, Drop, Kept, StepContext

__all__ = ["alike_step", "near_duplicates"]

_SAME = "same as another"
_WIDTH = 5
_SPACE = re.compile(r"[\W_]+")


def near_duplicates(texts: Iterable[str], least: float) -> dict[int, int]:
    """Places of texts that are at least ``least`` alike (Jaccard, of their runs of five letters
    or characters, case and signs aside) to an earlier one that stays, and the place of that one.

    By prefix filtering: two sets that are so alike share one of their rarest members, so only
    texts that do are compared (Chaudhuri, Ganti and Kaushik 2006).
    """
    sets = [_runs(text) for text in texts]
    order = Counter(run for runs in sets for run in runs)
    rare = [sorted(runs, key=lambda run: (order[run], run)) for runs in sets]
    holders: defaultdict[str, list[int]] = defaultdict(list)
    found: dict[int, int] = {}
    for place, runs in enumerate(rare):
        prefix = runs[: len(runs) - ceil(least * len(runs)) + 1]
        near = sorted({other for run in prefix for other in holders[run]})
        like = next((o for o in near if _jaccard(sets[o], sets[place]) >= least), None)
        if like is not None:
            found[place] = like
            continue
        for run in prefix:
            holders[run].append(place)
    return found


def alike_step(least: float) -> BatchStep:
    """Drops near-duplicates, the first in the order of the rows stays."""

    def check(rows: BatchRows, _context: StepContext) -> Mapping[int, Kept]:
        texts: Sequence[str] = [row.text for row in rows]
        found = near_duplicates(texts, least)
        return {place: Drop(_SAME, texts[first]) for place, first in found.items()}

    return BatchStep(
        name="near-duplicates",
        version=1,
        takes=Draft,
        work=check,
        reasons=(_SAME,),
        config={"least": least},
    )


def _runs(text: str) -> frozenset[str]:
    plain = _SPACE.sub(" ", text.casefold()).strip()
    if len(plain) <= _WIDTH:
        return frozenset({plain})
    return frozenset(plain[at : at + _WIDTH] for at in range(len(plain) - _WIDTH + 1))


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)

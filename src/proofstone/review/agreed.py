"""Decisions as a table of ratings: what several reviewers said of the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from proofstone.records.reviews import Review, ReviewTask
from proofstone.review.decide import latest
from proofstone.review.sheets import TASKS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Ratings(Struct, frozen=True, kw_only=True):
    """Codes of verdicts (units, raters), -1 where a reviewer did not read a unit. ``reviewers`` are
    actor ids or names of judges; ``labels`` are the verdicts in the order of their codes."""

    targets: tuple[bytes, ...]
    reviewers: tuple[bytes | str, ...]
    labels: tuple[str, ...]
    codes: NDArray[np.int64]


def rate(reviews: Iterable[Review], task: ReviewTask) -> Ratings:
    """The newest decisions for one task; units and reviewers in the order in which they came."""
    import numpy as np  # noqa: PLC0415 - not everything that reviews counts

    kept = [one for one in latest(reviews) if one.task == task]
    labels = tuple(TASKS[task].verdicts)
    targets = list(dict.fromkeys(one.target for one in kept))
    reviewers = list(dict.fromkeys(one.who for one in kept))
    row = {target: place for place, target in enumerate(targets)}
    column = {who: place for place, who in enumerate(reviewers)}
    codes = np.full((len(targets), len(reviewers)), -1, dtype=np.int64)
    for one in kept:
        codes[row[one.target], column[one.who]] = labels.index(one.verdict)
    return Ratings(targets=tuple(targets), reviewers=tuple(reviewers), labels=labels, codes=codes)


def shared_targets(ratings: Ratings) -> tuple[Sequence[int], Sequence[int]]:
    """The places of units that two or more read, and of those of them that they judged
    differently."""
    n = (ratings.codes >= 0).sum(axis=1)
    shared = [int(place) for place in (n > 1).nonzero()[0]]
    differ = [
        place
        for place in shared
        if len({code for code in ratings.codes[place].tolist() if code >= 0}) > 1
    ]
    return shared, differ

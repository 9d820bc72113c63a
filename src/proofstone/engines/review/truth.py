"""What people found a statement to be, against what it is meant to be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import Struct

from proofstone.engines.review.deciding import latest
from proofstone.records import Review, ReviewTask

__all__ = ["Found", "found_otherwise"]


class Found(Struct, frozen=True, kw_only=True):
    """What those who checked a version came to: as it is meant to be, ``otherwise``, or
    ``unsure`` where none could tell or as many said the one as the other."""

    target: bytes
    task: ReviewTask
    state: Literal["as meant", "otherwise", "unsure"]
    votes: Mapping[str, int]
    reasons: tuple[str, ...] = ()


def found_otherwise(
    reviews: Iterable[Review], meant: Mapping[bytes, str], task: ReviewTask
) -> list[Found]:
    """One entry a version that was checked, in the order of first reviews: by the majority of
    those who could tell. ``meant`` says what a version should be found to be: ``true`` or ``false``
    for the task ``truth``, ``fits`` for ``reason``; others are left out."""
    of: dict[bytes, list[Review]] = {}
    for one in latest(reviews):
        if one.task == task and one.target in meant:
            of.setdefault(one.target, []).append(one)
    return [_found(target, task, members, meant[target]) for target, members in of.items()]


def _found(target: bytes, task: ReviewTask, reviews: list[Review], meant: str) -> Found:
    votes = Counter(one.verdict for one in reviews)
    right, unsure = votes[meant], votes["unsure"]
    wrong = len(reviews) - right - unsure
    state: Literal["as meant", "otherwise", "unsure"] = "unsure"
    if right != wrong:
        state = "as meant" if right > wrong else "otherwise"
    said = (one.reason for one in reviews if one.verdict not in (meant, "unsure") and one.reason)
    return Found(
        target=target, task=task, state=state, votes=dict(votes),
        reasons=tuple(dict.fromkeys(said)),
    )  # fmt: skip

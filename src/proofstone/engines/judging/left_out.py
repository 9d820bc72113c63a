"""A ranking by a panel, and what becomes of it when each judge is left out.

A panel's ranking that one judge makes is that judge's ranking. So the panel decides each cell anew
without each of its members in turn, by the same rules, and ranks are compared with ties as ties.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.records import PanelRules

__all__ = ["LeftOut", "PanelRanking", "PanelStanding", "decide_cells", "leave_each_out"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
_SAME = 1e-12


class PanelStanding(Struct, frozen=True):
    """A contestant: its ``score`` is the mean worth of what was decided in ``n`` of its cells (NaN
    where n is 0), and its rank among all is ``best`` to ``worst``: more than one where others have
    the very score."""

    score: float
    n: int
    best: int
    worst: int


class LeftOut(Struct, frozen=True):
    """What the panel comes to without ``judge``: the standings, the cells decided in another way or
    no more (``otherwise``; newly decided ones count too), the contestants (places) whose ranks no
    longer overlap with those by all judges (``moved``), and the pairs of contestants that stand the
    other way round (``reversed_pairs``: a tie on either side is none)."""

    judge: str
    standings: tuple[PanelStanding, ...]
    otherwise: int
    moved: tuple[int, ...]
    reversed_pairs: tuple[tuple[int, int], ...]


class PanelRanking(Struct, frozen=True):
    """The standings by the whole panel, in the order of the contestants, and without each judge."""

    standings: tuple[PanelStanding, ...]
    without: tuple[LeftOut, ...]


def decide_cells(votes: Codes, n_labels: int, rules: PanelRules, tie: int = -1) -> Codes:
    """What votes (..., judges) come to cell by cell (...), as ``votes.decide`` says of one: a code
    of a label from 0, -1 where nothing is decided. Votes of -1 are none. ``tie`` is the code of the
    rule for ties, -1 without one.

    Raises BadUsage for a quorum below 1.
    """
    if rules.quorum < 1:
        raise BadUsage(f"a panel needs a quorum of one judge at least, not {rules.quorum}")
    counts = np.stack([(votes == code).sum(axis=-1) for code in range(n_labels)], axis=-1)
    cast, most = counts.sum(axis=-1), counts.max(axis=-1)
    suffices = (counts == most[..., None]).sum(axis=-1) == 1
    if rules.majority == "all":
        suffices &= most == cast
    elif rules.majority == "half":
        suffices &= 2 * most > cast
    decided = np.where(suffices, counts.argmax(axis=-1), tie)
    return np.where(cast >= rules.quorum, decided, -1)


def leave_each_out(
    votes: Codes, worth: Sequence[float], judges: Sequence[str], rules: PanelRules, tie: int = -1
) -> PanelRanking:
    """The ranking by ``votes`` (contestants, items, judges: codes of labels from 0, -1 for none),
    where label k is worth ``worth[k]``, and the rankings without each of the ``judges``.

    Without a judge the quorum is one less where all were needed, as in ``votes.without``. Raises
    BadUsage for fewer than two judges, and for a quorum that cannot be.
    """
    if len(judges) < 2:
        raise BadUsage(f"leaving a judge out needs two or more, not {len(judges)}")
    values, n_labels = np.asarray(worth, dtype=np.float64), len(worth)
    decided = decide_cells(votes, n_labels, rules, tie)
    standings = _standings(decided, values)
    fewer = PanelRules(
        quorum=min(rules.quorum, len(judges) - 1), majority=rules.majority, tie=rules.tie
    )
    found = []
    for place, judge in enumerate(judges):
        others = decide_cells(np.delete(votes, place, axis=-1), n_labels, fewer, tie)
        then = _standings(others, values)
        found.append(
            LeftOut(
                judge=judge,
                standings=then,
                otherwise=int((others != decided).sum()),
                moved=_moved(standings, then),
                reversed_pairs=_reversed(standings, then),
            )
        )
    return PanelRanking(standings, tuple(found))


def _standings(decided: Codes, worth: Floats) -> tuple[PanelStanding, ...]:
    """Contestants in their order. Scores that differ by less than 1e-12 are the same: the order of
    adding makes no rank."""
    is_decided = decided >= 0
    n = is_decided.sum(axis=1)
    total = np.where(is_decided, worth[decided], 0.0).sum(axis=1)
    with np.errstate(invalid="ignore"):
        scores = np.where(n > 0, total / n, np.nan)
    ranked = scores[~np.isnan(scores)]
    return tuple(
        PanelStanding(
            float(score),
            int(count),
            int((ranked > score + _SAME).sum()) + 1,
            int((ranked > score - _SAME).sum()),
        )
        if count
        else PanelStanding(float("nan"), 0, 0, 0)
        for score, count in zip(scores, n, strict=True)
    )


def _moved(first: Sequence[PanelStanding], then: Sequence[PanelStanding]) -> tuple[int, ...]:
    return tuple(
        place
        for place, (one, other) in enumerate(zip(first, then, strict=True))
        if one.n and other.n and (one.worst < other.best or other.worst < one.best)
    )


def _reversed(
    first: Sequence[PanelStanding], then: Sequence[PanelStanding]
) -> tuple[tuple[int, int], ...]:
    """Pairs that stand the other way round; a contestant without a score is in none."""
    return tuple(
        (one, other)
        for one in range(len(first))
        for other in range(one + 1, len(first))
        if _side(first[one], first[other]) * _side(then[one], then[other]) < 0
    )


def _side(one: PanelStanding, other: PanelStanding) -> int:
    """1 where ``one`` stands before ``other``, -1 behind it, 0 beside it or where one has none."""
    if not one.n or not other.n:
        return 0
    return (one.worst < other.best) - (other.worst < one.best)

"""A leaderboard of accuracies alone, with what can be said of them without the items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import RankInterval, tied_runs
from proofstone.engines.stats.shares import rank_shares, share_estimate
from proofstone.records.accuracies import Accuracies
from proofstone.records.cards import Card
from proofstone.report.board import (
    BoardRow,
    Breakdown,
    BreakdownGroup,
    Leaderboard,
    Standings,
)
from proofstone.wording import say

__all__ = ["accuracy_board", "accuracy_notes", "overall_accuracies"]


def accuracy_board(found: Accuracies, *, confidence: float = 0.95) -> Leaderboard:
    """The models of a table of accuracies, best first; with intervals, ranks and ties where the
    numbers of items are known. A model without an overall accuracy is left out."""
    overall = overall_accuracies(found)
    n = found.n_items
    known = np.flatnonzero(~np.isnan(overall))
    order = sorted(known.tolist(), key=lambda place: (-overall[place], found.models[place]))
    ranking = rank_shares(overall[order], n, confidence=confidence)
    ties = tied_runs(ranking.better) if n else ()
    rows = tuple(
        _row(
            found.models[model],
            float(overall[model]),
            n,
            confidence,
            rank=ranking.intervals[place] if n else None,
            ties=tuple(i for i, (low, high) in enumerate(ties) if low <= place <= high),
            card=found.cards.get(found.models[model]),
        )
        for place, model in enumerate(order)
    )
    group = Standings(
        simulated=False,
        n_items=n,
        is_common=True,
        is_paired=False,
        ranked=rows,
        incomplete=(),
        compared=ranking.comparisons if n else (),
        ties=ties,
        chance=float("nan"),
        chance_sentence="",
        breakdowns=tuple(_breakdown(found, order, confidence)),
    )
    return Leaderboard(
        measure="accuracy",
        denominator="all items" if n else "a number of items that is not known",
        counts=(),
        estimand=rows[0].estimate.estimand if rows else "",
        level="sample",
        confidence=confidence,
        n_items=n,
        forms=(found.name,),
        standings=(group,) if rows else (),
    )


def overall_accuracies(found: Accuracies) -> NDArray[np.float64]:
    """As the source states it; else the mean of the strata, weighted by items where known."""
    if not len(found.strata):
        return found.overall
    if (found.counts > 0).all():
        means = found.value @ (found.counts / found.counts.sum())
    else:
        means = found.value.mean(axis=1)
    return np.where(np.isnan(found.overall), means, found.overall)


def _row(
    name: str,
    value: float,
    n: int,
    confidence: float,
    *,
    rank: RankInterval | None,
    ties: tuple[int, ...],
    card: Card | None,
) -> BoardRow:
    estimate = share_estimate(value, n, confidence)
    return BoardRow(
        name=name,
        way="",
        settings="",
        simulated=False,
        runs=(),
        estimate=estimate,
        bank=estimate,
        knowledge=estimate,
        rank=rank,
        ties=ties,
        card=card,
    )


def _breakdown(found: Accuracies, order: Sequence[int], confidence: float) -> Iterator[Breakdown]:
    if not len(found.strata):
        return
    groups = [
        BreakdownGroup(
            name=name,
            n=int(found.counts[place]),
            estimates=tuple(
                share_estimate(float(found.value[m, place]), int(found.counts[place]), confidence)
                for m in order
            ),
        )
        for place, name in enumerate(found.strata)
    ]
    yield Breakdown(by=found.by, groups=tuple(groups))


def accuracy_notes(found: Accuracies) -> Iterator[str]:
    """What accuracies alone leave open."""
    n = found.n_items
    yield say(
        "Only accuracies are known here, no items: what needs items (paired comparisons, stability "
        "of ranks, which items tell models apart) is not computed."
    )
    if not n:
        yield say(
            "The numbers of items are not known, so nothing here has an interval, and no rank can "
            "be defended: give them in a row called n, or as --items."
        )
    else:
        yield say(
            "Intervals take every item as asked once and independent of the others; an average of "
            "several samples varies less, items that share a source vary more."
        )
    if np.isnan(found.overall).all() and len(found.strata):
        yield say(
            "No overall accuracy is given: it is the mean of the groups, weighted by their items."
            if n
            else "No overall accuracy is given: it is the mean of the groups, each counted the "
            "same."
        )

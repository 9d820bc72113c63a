"""A leaderboard of accuracies alone, with what can be said of them without the items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import RankInterval, tied_runs
from proofstone.engines.stats.shares import rank_shares, share_estimate, stated_estimate
from proofstone.engines.tables.accuracy_columns import quoted
from proofstone.engines.tables.column_names import quantity_of
from proofstone.engines.tables.score_texts import number_of
from proofstone.engines.tables.uncertain_cells import UNCERTAINTY
from proofstone.records.accuracies import Accuracies
from proofstone.records.cards import Card
from proofstone.records.results import Estimate
from proofstone.report.board import (
    BoardRow,
    Breakdown,
    BreakdownGroup,
    Leaderboard,
    Standings,
)
from proofstone.wording import joined, listed, say

__all__ = ["accuracy_board", "accuracy_notes", "overall_accuracies"]


def accuracy_board(found: Accuracies, *, confidence: float = 0.95) -> Leaderboard:
    """The models of a table of accuracies, best first; with intervals, ranks and ties where the
    numbers of items are known. A model without an overall accuracy is left out."""
    overall = overall_accuracies(found)
    known = np.flatnonzero(~np.isnan(overall))
    order = sorted(known.tolist(), key=lambda place: (-overall[place], found.models[place]))
    sizes = _sizes(found)
    n = found.n_items if found.is_mean else 0
    errors = None if found.stderr is None else found.stderr[order]
    is_ranked = errors is not None or bool((sizes[order] > 0).all())
    ranking = rank_shares(overall[order], sizes[order], confidence=confidence, stderr=errors)
    ties = tied_runs(ranking.better) if is_ranked else ()
    is_sure = sizes[order] > 0 if errors is None else ~np.isnan(errors)
    tested = tuple(
        pair for pair in ranking.comparisons if is_sure[pair.first] and is_sure[pair.second]
    )
    rows = tuple(
        _row(
            found.models[model],
            _estimate(found, float(overall[model]), model, int(sizes[model]), confidence),
            rank=ranking.intervals[place] if is_ranked else None,
            ties=tuple(i for i, (low, high) in enumerate(ties) if low <= place <= high),
            card=found.cards.get(found.models[model]),
            judge=found.judge,
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
        compared=tested if is_ranked else (),
        ties=ties,
        chance=float("nan"),
        chance_sentence="",
        breakdowns=tuple(_breakdown(found, order, confidence)),
    )
    return Leaderboard(
        measure=found.score,
        denominator="all items" if is_ranked else "a number of items that is not known",
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


def _sizes(found: Accuracies) -> NDArray[np.int64]:
    """The items behind each model's score; 0 where that is not known, and of a score that is no
    mean over items, whose spread their number does not tell."""
    if not found.is_mean:
        return np.zeros(len(found.models), dtype=np.int64)
    if found.n_of is not None:
        return found.n_of
    return np.full(len(found.models), found.n_items, dtype=np.int64)


def _estimate(found: Accuracies, value: float, model: int, n: int, confidence: float) -> Estimate:
    """By the standard error as stated, else by the number of items."""
    if found.stderr is not None:
        return stated_estimate(value, float(found.stderr[model]), n, confidence)
    return share_estimate(value, n, confidence)


def _row(
    name: str,
    estimate: Estimate,
    *,
    rank: RankInterval | None,
    ties: tuple[int, ...],
    card: Card | None,
    judge: str,
) -> BoardRow:
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
        judge=judge,
    )


def _breakdown(found: Accuracies, order: Sequence[int], confidence: float) -> Iterator[Breakdown]:
    if not len(found.strata):
        return
    counts = found.counts.tolist() if found.is_mean else [0] * len(found.strata)
    groups = [
        BreakdownGroup(
            name=name,
            n=n,
            estimates=tuple(_on_stratum(found, m, place, n, confidence) for m in order),
        )
        for place, (name, n) in enumerate(zip(found.strata, counts, strict=True))
    ]
    yield Breakdown(by=found.by, groups=tuple(groups))


def _on_stratum(found: Accuracies, model: int, stratum: int, n: int, confidence: float) -> Estimate:
    value = float(found.value[model, stratum])
    if found.errors is not None and not np.isnan(found.errors[model, stratum]):
        return stated_estimate(value, float(found.errors[model, stratum]), n, confidence)
    return share_estimate(value, n, confidence)


def accuracy_notes(found: Accuracies) -> Iterator[str]:
    """What accuracies alone leave open."""
    n = found.n_items
    yield say(
        "Only accuracies are known here, no items: what needs items (paired comparisons, stability "
        "of ranks, which items tell models apart) is not computed."
    )
    if found.stderr is not None:
        yield say("Intervals and ranks come from the standard errors as stated in the file.")
        unsure = np.isnan(found.stderr) & ~np.isnan(overall_accuracies(found))
        if unsure.any():
            yield say(
                "No interval for {models}: the standard error is missing or 0, which says nothing "
                "about sampling error. Pairs with them are not tested.",
                models=joined([found.models[m] for m in np.flatnonzero(unsure)], 5),
            )
    elif not found.is_mean:
        yield say(
            "{score} is taken for a corpus metric, whose spread the number of items does not tell, "
            "so there is no interval and no rank: that needs standard errors, in a column called "
            "stderr.",
            score=found.score,
        )
    elif n or (found.n_of is not None and (found.n_of > 0).all()):
        yield say(
            "Intervals take every item as asked once and independent of the others; an average of "
            "several samples varies less, items that share a source vary more."
        )
    elif found.n_of is not None and (found.n_of > 0).any():
        yield say(
            "The number of items is not known for {models}: no interval there, and no rank "
            "can be defended.",
            models=joined([found.models[m] for m in np.flatnonzero(found.n_of <= 0)], 5),
        )
    elif _has_zero_errors(found):
        yield say(
            "All standard errors in the file are 0, which says nothing about sampling error, and "
            "the numbers of items are not known. So nothing here has an interval, and no rank can "
            "be defended: give the numbers of items in a row called n, or as --items."
        )
    else:
        yield say(
            "The numbers of items are not known, so nothing here has an interval, and no rank can "
            "be defended: give them in a row called n, or as --items."
        )
    unnamed = [each.name for each in found.metrics if each.name.endswith(f" {UNCERTAINTY}")]
    if unnamed:
        yield say(
            "Cells hold a score and a second number, shown as {columns}. Whether it is a standard "
            "error, a standard deviation or half an interval is not stated, so no interval comes "
            "from it. If it is a standard error of the score: --stderr {option}.",
            columns=listed(unnamed[:4]),
            option=quoted(unnamed[0]),
        )
    if np.isnan(found.overall).all() and len(found.strata):
        yield say(
            "No overall accuracy is given: it is the mean of the groups, weighted by their items."
            if n
            else "No overall accuracy is given: it is the mean of the groups, each counted the "
            "same."
        )


def _has_zero_errors(found: Accuracies) -> bool:
    """Return True if the file states standard errors, and all are 0."""
    cells = [
        number_of(cell)
        for column in found.metrics
        if quantity_of(column.name) == "stderr"
        for cell in column.cells
        if cell
    ]
    return bool(cells) and not any(cells)

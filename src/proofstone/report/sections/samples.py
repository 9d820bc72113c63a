"""The same items asked several times: what repetition adds, and what it cannot."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    average_at_k,
    consistency,
    majority_scores,
    mean_estimates,
    pass_at_k,
    split_variance,
)
from proofstone.engines.stats.weights import equal_weights
from proofstone.records.results import Estimate
from proofstone.report.numbers import points, shown_share
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.replies import replies_of
from proofstone.report.sections.section import Cell, Column, Evidence, Section, Table
from proofstone.report.sheet import Sheet

__all__ = ["samples_section"]

# Votes compare all samples of an item with each other; beyond this many pairs they are left out.
_MOST_PAIRS = 100_000_000
Cube = NDArray[np.float64]


def samples_section(evidence: Evidence) -> Section | None:
    """AVG@k, at least one of k right, the majority's answer, and how much of the uncertainty comes
    from items. None unless the ranked respondents have two or more samples of an item."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None:
        return None
    replies = replies_of(sheet, ranked)
    scores, answers = replies.scores, replies.answers
    k = int((~np.isnan(scores)).sum(axis=2).min(initial=10**9)) if scores.size else 0
    if scores.shape[2] < 2 or k < 1:
        return None
    columns = dict(_measures(scores, answers, k))
    estimates = {
        name: mean_estimates(
            np.nan_to_num(values),
            equal_weights(len(values)),
            ranked.keys,
            estimand=evidence.estimand,
            confidence=evidence.board.confidence,
        )
        for name, values in columns.items()
        if not np.isnan(values).any()
    }
    splits = [split_variance(scores[:, place]) for place in range(scores.shape[1])]
    rows: list[tuple[Cell, ...]] = []
    for place, label in enumerate(ranked.labels):
        average = average_at_k(*_own(sheet, ranked, place))
        split = splits[place]
        rows.append(
            (
                label,
                *(estimate[place] for estimate in estimates.values()),
                average.sd,
                average.sd_population,
                split.repeatability,
                split.error,
                split.error_at_best,
            )
        )
    return Section(
        name="samples",
        title="The same items asked again",
        finding=_finding(ranked, k, splits[0].repeatability, estimates),
        plain=_plain(ranked, estimates, k),
        how=(
            f"Each item was asked {k} times or more. At least one of {k} is unbiased from all "
            "samples (Chen et al. 2021); it needs somebody who knows which answer is right. The "
            "spread over samples divides by k - 1; beside it by k. Variance is split by one-way "
            "random effects; the error at best is what any number of samples leaves."
        ),
        tables=(_table(tuple(estimates), rows),),
    )


def _own(
    sheet: Sheet, ranked: RankedValues, place: int
) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    rows = sheet.table.respondent == ranked.respondents[place]
    return sheet.table.sample[rows], sheet.counted[rows]


def _measures(scores: Cube, answers: NDArray[np.int32], k: int) -> Iterator[tuple[str, Cube]]:
    yield f"AVG@{k}", np.nanmean(scores, axis=2)
    if k < 2:
        return
    yield f"one of {k} right", pass_at_k(scores, k)
    if (answers >= 0).any() and scores.size * scores.shape[2] <= _MOST_PAIRS:
        yield "majority", majority_scores(scores, answers)
    yield "alike", consistency(scores)


def _finding(
    ranked: RankedValues, k: int, repeatability: float, found: dict[str, tuple[Estimate, ...]]
) -> str:
    alike = found.get("alike")
    said = f"Items were asked {k} times or more"
    if alike is not None:
        said += f"; two answers of {ranked.labels[0]} to one item score alike in "
        said += shown_share(alike[0].value)
    if not np.isnan(repeatability):
        said += f", and {shown_share(repeatability)} of the variance lies between items"
    return f"{said}."


def _plain(ranked: RankedValues, found: dict[str, tuple[Estimate, ...]], k: int) -> str:
    best = found.get(f"one of {k} right")
    if best is None:
        return ""
    mean = next(iter(found.values()))[0]
    return (
        f"Asked {k} times, {ranked.labels[0]} is right at least once on {points(best[0].value)} of "
        f"100 questions, and {points(mean.value)} on average: the difference is what somebody who "
        "can tell right answers from wrong ones would gain by asking again."
    )


def _table(measures: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> Table:
    return Table(
        title="What repetition shows",
        columns=(
            Column(key="model", name="model"),
            *(
                Column(
                    key=name.replace(" ", "_"),
                    name=name,
                    unit="points",
                    help=_HELP.get(name, ""),
                )
                for name in measures
            ),
            Column(key="sd", name="SD over samples", unit="points", help="dividing by k - 1"),
            Column(key="sd_population", name="by k", unit="points", help="the same, dividing by k"),
            Column(key="repeatability", name="between items", unit="share",
                   help="share of the variance that lies between items, not between samples"),
            Column(key="error", name="standard error", unit="points",
                   help="of the mean, items taken as independent"),
            Column(key="error_at_best", name="at best", unit="points",
                   help="what any number of samples would leave of it"),
        ),
        rows=tuple(rows),
    )  # fmt: skip


_HELP = {
    "majority": "the score of the answer given most often",
    "alike": "how often two answers to one item score the same",
}

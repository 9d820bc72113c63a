"""The same items asked several times: what repetition adds, and what it cannot."""

from __future__ import annotations

import re
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
from proofstone.wording import noted, say, word

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
        title=say("The same items asked again"),
        finding=_finding(ranked, k, splits[0].repeatability, estimates),
        plain=_plain(ranked, estimates, k),
        how=say(
            "Each item was asked {k} times or more. At least one of {k} is unbiased from "
            "all samples (Chen et al. 2021); it needs somebody who knows which answer is "
            "right. The spread over samples divides by k - 1; beside it by k. Variance is "
            "split by one-way random effects; the error at best is what any number of "
            "samples leaves.",
            k=k,
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
    yield _ONE_OF.format(k=k), pass_at_k(scores, k)
    if (answers >= 0).any() and scores.size * scores.shape[2] <= _MOST_PAIRS:
        yield "majority", majority_scores(scores, answers)
    yield "alike", consistency(scores)


def _finding(
    ranked: RankedValues, k: int, repeatability: float, found: dict[str, tuple[Estimate, ...]]
) -> str:
    alike = found.get("alike")
    said = [say("Items were asked {k} times or more", k=k)]
    if alike is not None:
        said.append(
            say(
                "two answers of {model} to one item score alike in {share}",
                model=ranked.labels[0],
                share=shown_share(alike[0].value),
            )
        )
    if not np.isnan(repeatability):
        said.append(
            say(
                "{share} of the variance lies between items",
                share=shown_share(repeatability),
            )
        )
    return say("{places}.", places=say("; ").join(said))


def _plain(ranked: RankedValues, found: dict[str, tuple[Estimate, ...]], k: int) -> str:
    best = found.get(_ONE_OF.format(k=k))
    if best is None:
        return ""
    mean = next(iter(found.values()))[0]
    return say(
        "Asked {k} times, {model} is right at least once on {best} of 100 questions, and "
        "{mean} on average: the difference is what somebody who can tell right answers from "
        "wrong ones would gain by asking again.",
        k=k,
        model=ranked.labels[0],
        best=points(best[0].value),
        mean=points(mean.value),
    )


def _heading(name: str) -> str:
    """A measure's name as a column's head: of k the number is read back from the name."""
    found = re.fullmatch(r"one of (\d+) right", name)
    return say(_ONE_OF, k=found[1]) if found else word(name)


def _table(measures: tuple[str, ...], rows: list[tuple[Cell, ...]]) -> Table:
    return Table(
        title=say("What repetition shows"),
        columns=(
            Column(key="model", name=say("model")),
            *(
                Column(
                    key=name.replace(" ", "_"),
                    name=_heading(name),
                    unit="points",
                    help=word(_HELP.get(name, "")),
                )
                for name in measures
            ),
            Column(key="sd", name=say("SD over samples"), unit="points",
                   help=say("dividing by k - 1")),
            Column(key="sd_population", name=say("by k"), unit="points",
                   help=say("the same, dividing by k")),
            Column(key="repeatability", name=say("between items"), unit="share",
                   help=say("share of the variance that lies between items, not between samples")),
            Column(key="error", name=say("standard error"), unit="points",
                   help=say("of the mean, items taken as independent")),
            Column(key="error_at_best", name=say("at best"), unit="points",
                   help=say("what any number of samples would leave of it")),
        ),
        rows=tuple(rows),
    )  # fmt: skip


_ONE_OF = noted("one of {k} right")
_HELP = {
    "majority": noted("the score of the answer given most often"),
    "alike": noted("how often two answers to one item score the same"),
}

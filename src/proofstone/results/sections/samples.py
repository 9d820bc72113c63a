"""The same items asked several times: what repetition adds, and what it cannot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Level,
    Section,
    Table,
    estimate_mark,
    points,
    shown_share,
)
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    Replies,
    chance_levels,
    ranked_values,
    replies_of,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.stats.power import split_variance
from proofstone.stats.repeats import (
    average_at_k,
    consistency,
    majority_at_k,
    majority_scores,
    pass_at_k,
    surest_at_k,
)
from proofstone.wording.messages import joined, noted, say, word

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


# What more samples buy, with somebody who knows the right answer and without.

_SIZES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256)


_MOST_SIZES = 8


_MOST_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 200, 20, 500_000_000


Curves = dict[str, dict[int, tuple[Estimate, ...]]]


_NAMES = {
    "oracle": noted("at least one right"),
    "majority": "majority",
    "surest": "surest",
}


def best_of_section(evidence: Evidence) -> Section | None:
    """Best-of-N, and the majority and the surest of N, for N up to the samples at hand. None unless
    each item has two or more samples of every ranked respondent."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None:
        return None
    replies = replies_of(sheet, ranked)
    k = int((~np.isnan(replies.scores)).sum(axis=2).min(initial=10**9)) if len(ranked.units) else 0
    if replies.scores.shape[2] < 2 or k < 2:
        return None
    sizes = _chosen(k)
    curves = _curves(evidence, ranked, replies, sizes)
    return Section(
        name="best-of",
        title=say("What asking again buys"),
        finding=_best_of_finding(ranked.labels, curves, k),
        plain=_best_of_plain(ranked.labels, curves, k),
        cannot=(
            ""
            if {"majority", "surest"} & curves.keys()
            else say(
                "The gain from asking again is not known: there are no answers or confidences "
                "to choose by."
            )
        ),
        how=(
            say(
                "At least one of N right is unbiased from all samples (Chen et al. 2021) and "
                "needs somebody who knows the right answer. What a user can have without one: "
                "the answer that most of N samples give (mean over draws of N samples, seed "
                "{seed}), and the one stated as surest (exact). Intervals by items, as on the "
                "leaderboard.",
                seed=evidence.seed,
            )
        ),
        tables=(_best_of_table(ranked.labels, curves, sizes),),
        figures=(
            samples_figure(
                ranked.labels,
                {word(_NAMES[name]): curve for name, curve in curves.items()},
                level=evidence.board.confidence,
                chance=chance_levels(ranked.group),
                table=1,
            ),
        ),
    )


def _chosen(k: int) -> list[int]:
    """At most eight sizes from 1 to k, both among them."""
    sizes = [size for size in _SIZES if size < k] + [k]
    if len(sizes) <= _MOST_SIZES:
        return sizes
    places = np.unique(np.linspace(0, len(sizes) - 1, _MOST_SIZES).round().astype(int))
    return [sizes[place] for place in places.tolist()]


def _curves(
    evidence: Evidence, ranked: RankedValues, replies: Replies, sizes: Sequence[int]
) -> Curves:
    found: Curves = {}
    for size in sizes:
        for name, values in _values(replies, size, evidence.seed):
            if not np.isnan(values).any():
                found.setdefault(name, {})[size] = mean_estimates(
                    values,
                    equal_weights(len(values)),
                    ranked.keys,
                    estimand=evidence.estimand,
                    confidence=evidence.board.confidence,
                )
    return found


def _values(replies: Replies, size: int, seed: int) -> Iterator[tuple[str, NDArray[np.float64]]]:
    yield "oracle", pass_at_k(replies.scores, size)
    n_pairs = replies.scores.size * replies.scores.shape[2]
    if (replies.answers >= 0).any() and n_pairs <= _MOST_PAIRS:
        n_draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _MOST_WORK // max(n_pairs, 1)))
        yield (
            "majority",
            majority_at_k(replies.scores, replies.answers, size, n_draws=n_draws, seed=seed),
        )
    if replies.stated is not None and n_pairs <= _MOST_PAIRS:
        yield "surest", surest_at_k(replies.scores, replies.stated, size)


def _best_of_finding(labels: Sequence[str], curves: Curves, k: int) -> str:
    one = curves["oracle"][1][0].value
    said = say(
        "{model} goes from {one} with one sample to {best} where one of {k} has to be right",
        model=labels[0],
        one=points(one),
        best=points(curves["oracle"][k][0].value),
        k=k,
    )
    others = [
        say(message, points=points(curves[name][k][0].value))
        for name, message in _WITHOUT_ORACLE.items()
        if name in curves
    ]
    if not others:
        return say("{places}.", places=said)
    return say("{said}; to {others}.", said=said, others=joined(others))


_WITHOUT_ORACLE = {
    "majority": noted("{points} by the majority"),
    "surest": noted("{points} by the surest"),
}


def _best_of_plain(labels: Sequence[str], curves: Curves, k: int) -> str:
    if "majority" not in curves:
        return ""
    gain = curves["majority"][k][0].value - curves["oracle"][1][0].value
    if gain < 0.005:
        return say(
            "Asking {model} {k} times and taking its most frequent answer gains nothing.",
            model=labels[0],
            k=k,
        )
    return say(
        "Asking {model} {k} times and taking its most frequent answer gains {gain} points, at "
        "that many times the price.",
        model=labels[0],
        k=k,
        gain=points(gain),
    )


def _best_of_table(labels: Sequence[str], curves: Curves, sizes: Sequence[int]) -> Table:
    return Table(
        title=say("Scores by number of samples"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="samples", name=say("N")),
            *(
                Column(
                    key=name, name=word(_NAMES[name]), unit="points", help=word(_BEST_OF_HELP[name])
                )
                for name in curves
            ),
        ),
        rows=tuple(
            (label, size, *(curve[size][at] for curve in curves.values()))
            for at, label in enumerate(labels)
            for size in sizes
        ),
    )  # fmt: skip


_BEST_OF_HELP = {
    "oracle": noted("best of N, for somebody who knows the right answer"),
    "majority": noted("the most frequent answer of N, which any user can take"),
    "surest": noted("the answer of N stated as surest, which any user can take"),
}


_MOST_DRAWN = 12  # models of a figure


def samples_figure(
    labels: Sequence[str],
    curves: Mapping[str, Mapping[int, Sequence[Estimate]]],
    *,
    level: float,
    chance: Sequence[Level] = (),
    table: int = 0,
) -> Figure:
    """A panel a model, in it a curve a rule (its name -> N -> an estimate a model); with one rule
    alone, a curve a model."""
    shown = labels[:_MOST_DRAWN]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    alone = len(curves) == 1
    marks = tuple(
        estimate_mark(
            found[place], row=label if alone else rule, column="" if alone else label, x=float(size)
        )
        for place, label in enumerate(shown)
        for rule, by_size in curves.items()
        for size, found in by_size.items()
    )
    return Figure(
        name="best-of",
        kind="curves",
        title=say("Scores by number of samples"),
        subtitle=say("{level:g}% intervals by items", level=100 * level)
        + (cut if len(shown) < len(labels) else ""),
        marks=marks,
        levels=tuple(chance),
        value_axis=say("points"),
        x_axis=say("samples"),
        x_unit="number",
        is_log=True,
        table=table,
    )

"""Repeated samples of items: averages, pass@k, majority votes and variance components."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.page.section import (
    Column,
    Figure,
    Section,
    Table,
    column,
    estimate_mark,
    points,
    shown_share,
    table_of,
)
from proofstone.records.runs import Estimate
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    Responses,
    chance_levels,
    ranked_values,
    responses_of,
)
from proofstone.stats.power import (
    VarianceSplit,
    average_at_k,
    consistency,
    majority_at_k,
    majority_scores,
    pass_at_k,
    split_variance,
    surest_at_k,
)
from proofstone.wording.messages import joined, noted, say, word

# Votes compare all samples of an item; with more pairs they are omitted.
_MOST_PAIRS = 100_000_000


Cube = NDArray[np.float64]


def _asked_again(evidence: Evidence) -> tuple[RankedValues, Responses, int] | None:
    """Return the ranked values, their responses, and the minimum number of samples per item.

    None if no item was sampled twice.
    """
    ranked = ranked_values(evidence)
    if ranked is None or not len(ranked.units):
        return None
    responses = responses_of(ranked.sheet, ranked)
    k = int((~np.isnan(responses.scores)).sum(axis=2).min())
    return (ranked, responses, k) if k and responses.scores.shape[2] > 1 else None


def samples_section(evidence: Evidence) -> Section | None:
    """Return AVG@k, pass@k, the majority answer's score, and the variance due to items.

    None unless ranked models have two or more samples of an item.
    """
    found = _asked_again(evidence)
    if found is None:
        return None
    ranked, responses, k = found
    scores = responses.scores
    estimates = {
        name: ranked.means(np.nan_to_num(values))
        for name, values in _measures(scores, responses.answers, k)
        if not np.isnan(values).any()
    }
    splits = [split_variance(scores[:, place]) for place in range(scores.shape[1])]
    return Section(
        name="samples",
        title=say("The same items asked again"),
        finding=_finding(ranked, k, splits[0].repeatability, estimates),
        plain=_plain(ranked, estimates, k),
        how=say(
            "Each item was sampled {k} times or more. pass@{k} is the unbiased estimate from "
            "all samples (Chen et al. 2021) and assumes an oracle that knows the answer. The "
            "standard deviation over samples divides by k - 1, in the next column by k. "
            "Variance is split by one-way random effects. The error at best is the limit for "
            "any number of samples.",
            k=k,
        ),
        tables=(_table(ranked, k, estimates, splits),),
    )


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
        "With {k} samples, {model} is right at least once on {best}% of questions, and {mean}% "
        "on average. The difference is the gain of an oracle that recognizes correct answers.",
        k=k,
        model=ranked.labels[0],
        best=points(best[0].value),
        mean=points(mean.value),
    )


def _table(
    ranked: RankedValues,
    k: int,
    estimates: dict[str, tuple[Estimate, ...]],
    splits: Sequence[VarianceSplit],
) -> Table:
    table, counted = ranked.sheet.table, ranked.sheet.counted
    owns = [table.respondent == who for who in ranked.respondents]
    averages = [average_at_k(table.sample[own], counted[own]) for own in owns]
    heads = {_ONE_OF.format(k=k): say(_ONE_OF, k=k)}
    return table_of(
        say("Repeated sampling"),
        zip(ranked.labels, averages, splits, zip(*estimates.values(), strict=True), strict=True),
        column("model", say("model"), "0"),
        *(
            column(name.replace(" ", "_"), heads.get(name) or word(name), f"3.{place}",
                   unit="points", help=word(_HELP.get(name, "")))
            for place, name in enumerate(estimates)
        ),
        column("sd", say("SD over samples"), "1.sd", unit="points", help=say("dividing by k - 1")),
        column("sd_population", say("by k"), "1.sd_population", unit="points",
               help=say("the same, dividing by k")),
        column("repeatability", say("between items"), "2.repeatability", unit="share",
               help=say("share of the variance that lies between items, not between samples")),
        column("error", say("standard error"), "2.error", unit="points",
               help=say("of the mean, items taken as independent")),
        column("error_at_best", say("at best"), "2.error_at_best", unit="points",
               help=say("what any number of samples would leave of it")),
    )  # fmt: skip


_ONE_OF = noted("pass@{k}")


_HELP = {
    "majority": noted("the score of the answer given most often"),
    "alike": noted("how often two answers to one item score the same"),
}


# Gain from further samples, with and without an oracle that knows the answer key.

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
    """Return best-of-N, majority of N and most confident of N up to the available samples.

    None unless each item has two or more samples of every ranked model.
    """
    found = _asked_again(evidence)
    if found is None or found[2] < 2:
        return None
    ranked, responses, k = found
    sizes = _chosen(k)
    curves: Curves = {}
    for size in sizes:
        for name, values in _values(responses, size, evidence.seed):
            if not np.isnan(values).any():
                curves.setdefault(name, {})[size] = ranked.means(values)
    return Section(
        name="best-of",
        title=say("Best-of-N sampling"),
        finding=_best_of_finding(ranked.labels, curves, k),
        plain=_best_of_plain(ranked.labels, curves, k),
        cannot=""
        if {"majority", "surest"} & curves.keys()
        else say(
            "The gain from asking again is not known: there are no answers or confidences "
            "to choose by."
        ),
        how=say(
            "At least one of N right is the unbiased estimate from all samples (Chen et al. "
            "2021) and assumes an oracle that knows the answer. Two rules need no oracle: the "
            "most frequent answer of N samples (mean over random sets of N samples, seed "
            "{seed}), and the answer with the highest stated confidence (exact). Intervals are "
            "by items, as on the leaderboard.",
            seed=evidence.seed,
        ),
        tables=(_best_of_table(ranked.labels, curves, sizes),),
        figures=(_best_of_figure(ranked, curves),),
    )


def _chosen(k: int) -> list[int]:
    """Return at most eight sizes from 1 to k, including both."""
    sizes = [size for size in _SIZES if size < k] + [k]
    if len(sizes) <= _MOST_SIZES:
        return sizes
    places = np.unique(np.linspace(0, len(sizes) - 1, _MOST_SIZES).round().astype(int))
    return [sizes[place] for place in places.tolist()]


def _values(
    responses: Responses, size: int, seed: int
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    yield "oracle", pass_at_k(responses.scores, size)
    n_pairs = responses.scores.size * responses.scores.shape[2]
    if (responses.answers >= 0).any() and n_pairs <= _MOST_PAIRS:
        n_resamples = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _MOST_WORK // max(n_pairs, 1)))
        yield (
            "majority",
            majority_at_k(
                responses.scores, responses.answers, size, n_resamples=n_resamples, seed=seed
            ),
        )
    if responses.stated is not None and n_pairs <= _MOST_PAIRS:
        yield "surest", surest_at_k(responses.scores, responses.stated, size)


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
    "oracle": noted("best of N with the answer key (oracle)"),
    "majority": noted("the most frequent answer of N, which any user can take"),
    "surest": noted("the answer of N stated as surest, which any user can take"),
}


_MOST_DRAWN = 12  # models of a figure


def _best_of_figure(ranked: RankedValues, curves: Curves) -> Figure:
    """Return a panel per model with a curve per rule; with one rule, a curve per model."""
    shown = ranked.labels[:_MOST_DRAWN]
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(ranked.labels))
    alone = len(curves) == 1
    return Figure(
        name="best-of",
        kind="curves",
        title=say("Scores by number of samples"),
        subtitle=say("{level:g}% intervals by items", level=100 * ranked.confidence)
        + (cut if len(shown) < len(ranked.labels) else ""),
        marks=tuple(
            estimate_mark(
                found[place],
                row=label if alone else word(_NAMES[rule]),
                column="" if alone else label,
                x=float(size),
            )
            for place, label in enumerate(shown)
            for rule, by_size in curves.items()
            for size, found in by_size.items()
        ),
        levels=chance_levels(ranked.group),
        value_axis=say("score (%)"),
        x_axis=say("samples"),
        x_unit="number",
        is_log=True,
        table=1,
    )

"""What more samples buy, with somebody who knows the right answer and without."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import majority_at_k, mean_estimates, pass_at_k, surest_at_k
from proofstone.engines.stats.weights import equal_weights
from proofstone.records.results import Estimate
from proofstone.report.numbers import points
from proofstone.report.sections.drawn import chance_levels, samples_figure
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.replies import Replies, replies_of
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import joined, noted, say, word

__all__ = ["best_of_section"]

_SIZES = (1, 2, 3, 4, 5, 8, 10, 16, 20, 32, 50, 64, 100, 128, 200, 256)
_MOST_SIZES = 8
_MOST_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 200, 20, 500_000_000
_MOST_PAIRS = 100_000_000
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
        finding=_finding(ranked.labels, curves, k),
        plain=_plain(ranked.labels, curves, k),
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
        tables=(_table(ranked.labels, curves, sizes),),
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


def _finding(labels: Sequence[str], curves: Curves, k: int) -> str:
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


def _plain(labels: Sequence[str], curves: Curves, k: int) -> str:
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


def _table(labels: Sequence[str], curves: Curves, sizes: Sequence[int]) -> Table:
    return Table(
        title=say("Scores by number of samples"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="samples", name=say("N")),
            *(Column(key=name, name=word(_NAMES[name]), unit="points", help=word(_HELP[name]))
              for name in curves),
        ),
        rows=tuple(
            (label, size, *(curve[size][at] for curve in curves.values()))
            for at, label in enumerate(labels)
            for size in sizes
        ),
    )  # fmt: skip


_HELP = {
    "oracle": noted("best of N, for somebody who knows the right answer"),
    "majority": noted("the most frequent answer of N, which any user can take"),
    "surest": noted("the answer of N stated as surest, which any user can take"),
}

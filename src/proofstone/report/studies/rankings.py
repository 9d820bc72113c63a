"""Where the same models stand on another benchmark: ranks on both, and how far these agree (Chinese
SimpleQA 4.5, Figure 8)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proofstone.engines.stats import (
    Estimand,
    RankAgreement,
    RankInterval,
    RankMove,
    rank_agreement,
    rank_moves,
)
from proofstone.errors import BadUsage
from proofstone.records.accuracies import Accuracies
from proofstone.report.numbers import MISSING, points, shown_rank
from proofstone.report.studies.benchmark import Benchmark, benchmark_of, same_models
from proofstone.report.studies.parts import Part
from proofstone.report.studies.study import Point, Study

__all__ = ["study_rankings"]

_FEWEST = 3


@dataclass(frozen=True)
class _Both:
    """Two benchmarks of the same models, in the order of the first, and what they come to."""

    models: tuple[str, ...]
    first: Benchmark
    second: Benchmark
    tau: RankAgreement
    rho: RankAgreement
    moves: tuple[RankMove, ...]


def study_rankings(
    parts: Sequence[Part],
    *,
    estimand: Estimand,
    confidence: float,
    beside: Part | Accuracies | None = None,
) -> Study:
    """A row a model that stands on both: its score and the ranks that are open for it on each, and
    by how many places it climbs. Models are the same by their names, or by what stands behind the
    last slash of them.

    Raises BadUsage without another benchmark, and for fewer than three models on both.
    """
    (part,) = parts
    if beside is None:
        raise BadUsage(
            "a study of rankings takes another benchmark",
            hint="--beside FORM, or --beside FILE with model and score, or with scores by item",
        )
    both = _both(part, beside, estimand, confidence)
    first, second = both.first, both.second
    order = sorted(range(len(both.models)), key=lambda at: -first.drawn.means[at])
    return Study(
        name="rankings",
        title=f"Ranks on {first.name} and on {second.name}",
        finding=_finding(both),
        columns=("model", first.name, "rank", second.name, "rank", "climbs", "significant"),
        rows=tuple(_row(both, at) for at in order),
        x_axis="model",
        y_axis="rank",
        points=tuple(_marks(both, order)),
        notes=tuple(_notes(both)),
    )


def _both(part: Part, beside: Part | Accuracies, estimand: Estimand, confidence: float) -> _Both:
    pairs = same_models(part, beside)
    if len(pairs) < _FEWEST:
        named = ", ".join(pair.name for pair in pairs) or "none"
        raise BadUsage(
            f"the two have {len(pairs)} models in common ({named}), and ranks take three or more",
            hint="models are the same by name, or by what stands behind its last slash",
        )
    first = benchmark_of(part, [pair.first for pair in pairs], estimand, confidence, stream=0)
    second = benchmark_of(beside, [pair.second for pair in pairs], estimand, confidence, stream=1)
    tau, rho = rank_agreement(first.drawn, second.drawn, confidence=confidence)
    moves = rank_moves(first.drawn, second.drawn, confidence=confidence)
    return _Both(tuple(pair.name for pair in pairs), first, second, tau, rho, moves)


def _row(both: _Both, at: int) -> tuple[str, ...]:
    move = both.moves[at]
    climbs = f"{move.move:+d} [{move.low:+z.0f}, {move.high:+z.0f}]"
    return (
        both.models[at],
        points(both.first.drawn.means[at]), _rank(both.first, at, move.rank_first),
        points(both.second.drawn.means[at]), _rank(both.second, at, move.rank_second),
        climbs, MISSING if math.isnan(move.p_holm) else "yes" if move.moved else "no",
    )  # fmt: skip


def _rank(benchmark: Benchmark, at: int, place: int) -> str:
    """The place, and behind it the ranks that the data leave open."""
    if not benchmark.ranks:
        return str(place)
    open_ranks = shown_rank(benchmark.ranks[at])
    return f"{place} ({open_ranks})" if open_ranks != str(place) else str(place)


def _marks(both: _Both, order: Sequence[int]) -> Iterator[Point]:
    for benchmark, of_second in ((both.first, False), (both.second, True)):
        for at in order:
            move = both.moves[at]
            place = move.rank_second if of_second else move.rank_first
            rank: RankInterval | None = benchmark.ranks[at] if benchmark.ranks else None
            yield Point(
                series=benchmark.name,
                x=both.models[at],
                y=float(place),
                n=benchmark.drawn.n_units,
                low=float("nan") if rank is None else float(rank.low),
                high=float("nan") if rank is None else float(rank.high),
            )


def _finding(both: _Both) -> str:
    tau = both.tau
    if tau.models.value != tau.models.value:
        return "One of the two gives all models the same score, so there are no ranks to compare."
    return (
        f"{both.first.name} and {both.second.name} order {tau.n_models} models at {_shown(tau)}; "
        f"{_most(both)}{_beyond(both)}."
    )


def _beyond(both: _Both) -> str:
    """Who stands elsewhere by more than noise, where there are models enough to tell."""
    if all(math.isnan(move.p_holm) for move in both.moves):
        return "at least five models are needed to test moves"
    moved = [both.models[move.model] for move in both.moves if move.moved]
    if not moved:
        return "no model moves significantly (Holm-adjusted)"
    move = "moves" if len(moved) == 1 else "move"
    return f"{', '.join(moved)} {move} significantly (Holm-adjusted)"


def _shown(tau: RankAgreement) -> str:
    items, models = tau.items, tau.models
    over_items = f"[{items.low:z.2f}, {items.high:z.2f}] over items"
    over_models = (
        f"[{models.low:z.2f}, {models.high:z.2f}] over models" if models.made_by != "none" else
        "too few models for an interval over models"
    )  # fmt: skip
    return f"Kendall's tau-b {tau.models.value:z.2f} {over_items}, {over_models}"


def _most(both: _Both) -> str:
    """The model whose place moves most, where any does."""
    most = max(both.moves, key=lambda move: abs(move.move))
    if not most.move:
        return ""
    way = f"from {most.rank_first} to {most.rank_second}"
    return f"{both.models[most.model]} moves most, {way} ({most.move:+d}); "


def _notes(both: _Both) -> Iterator[str]:
    rho = both.rho.models.value
    yield (
        f"Spearman's rho {rho:z.2f}. In brackets behind a rank: the rank range among these "
        "models. climbs: places, with a 95% interval over items. significant: distance from "
        "the line that most models follow, Holm-adjusted over models."
    )
    for benchmark in (both.first, both.second):
        if benchmark.is_fixed:
            yield (
                f"How many items stand behind {benchmark.name} is not known, so its scores are "
                "taken as they are: intervals over items speak of the other's items alone."
            )
        elif not benchmark.has_items:
            yield (
                f"Of {benchmark.name} only scores are known: each model is taken as having had "
                "items of its own, which leaves more open than the same items for all would."
            )
        if benchmark.left_out:
            yield f"On {benchmark.name} alone: {', '.join(benchmark.left_out)}."

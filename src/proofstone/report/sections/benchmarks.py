"""Whether the benchmarks among these results put models in the same order, and who moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from proofstone.engines.stats import (
    Disattenuated,
    DrawnMeans,
    RankAgreement,
    RankMove,
    disattenuate,
    draw_means,
    draw_shares,
    rank_agreement,
    rank_moves,
)
from proofstone.report.sections.drawn import moves_figure
from proofstone.report.sections.ranked_values import ranked_values
from proofstone.report.sections.section import Column, Evidence, Figure, Section, Table
from proofstone.wording import counted, joined, say, say_of

__all__ = ["benchmarks_section"]

# What a column is called whose groups are tests of their own, and not subjects of one.
_NAMES = frozenset({"benchmark", "dataset", "task", "test", "suite", "form"})
_FEWEST_MODELS = 3
_MOST = 8


@dataclass(frozen=True, slots=True)
class _Pair:
    first: str
    second: str
    tau: RankAgreement
    rho: RankAgreement
    freed: Disattenuated
    moves: tuple[RankMove, ...]

    @property
    def name(self) -> str:
        """Both, as a table names them."""
        return f"{self.first}, {self.second}"


def benchmarks_section(evidence: Evidence) -> Section | None:
    """All pairs of up to eight benchmarks; None unless a column named benchmark, dataset, task,
    test, suite or form holds two or more, and three models."""
    drawn, models = _drawn(evidence)
    if not 2 <= len(drawn) <= _MOST or len(models) < _FEWEST_MODELS:
        return None
    confidence, seed = evidence.board.confidence, evidence.seed
    pairs = []
    for (first, a), (second, b) in combinations(drawn.items(), 2):
        tau, rho = rank_agreement(a, b, seed=seed, confidence=confidence)
        freed = disattenuate(a, b, seed=seed, confidence=confidence)
        moves = rank_moves(a, b, confidence=confidence)
        pairs.append(_Pair(first, second, tau, rho, freed, moves))
    return Section(
        name="benchmarks",
        title=say("Agreement between benchmarks"),
        finding=_finding(pairs, models),
        plain=_plain(pairs),
        cannot=_cannot(pairs, models),
        how=say(
            "Two intervals: over models, for others like these (bootstrap of models); over "
            "items, for these models on other items (items drawn again, or clusters of items "
            "that share keys, 2,000 times, seed {seed}). Freed of noise: Spearman's correction "
            "of Pearson's correlation. Moves: against the line that most models follow "
            "(Passing and Bablok), Holm over models.",
            seed=seed,
        ),
        tables=(
            _agreement(pairs),
            _freed(pairs),
            *(_moves(pair, models) for pair in pairs if len(pairs) == 1),
        ),
        figures=(_figure(pairs, models),),
    )


def _figure(pairs: Sequence[_Pair], models: Sequence[str]) -> Figure:
    """The ranks of the two, or of the two that agree least."""
    known = [pair for pair in pairs if not math.isnan(pair.tau.models.value)]
    pair = min(known or pairs, key=lambda pair: pair.tau.models.value)
    table = 3 if len(pairs) == 1 else 0
    return moves_figure(pair.first, pair.second, pair.moves, models, table=table)


def _drawn(evidence: Evidence) -> tuple[dict[str, DrawnMeans], list[str]]:
    """Redrawn means by benchmark, and the models in their order."""
    if evidence.accuracies is not None:
        found = evidence.accuracies
        if found.by.lower() not in _NAMES:
            return {}, []
        shares = {
            name: draw_shares(found.value[:, k], int(found.counts[k]), seed=evidence.seed, stream=k)
            for k, name in enumerate(found.strata)
        }
        return shares, list(found.models)
    ranked = ranked_values(evidence)
    sheet = evidence.sheet
    if ranked is None or sheet is None:
        return {}, []
    names = sheet.table.stratum_names
    level = next((x for x in names if x.lower() in _NAMES and len(names[x]) > 1), "")
    if not level:
        return {}, []
    codes = sheet.table.strata[level][ranked.units]
    drawn = {}
    for code, name in enumerate(names[level]):
        units = np.flatnonzero(codes == code)
        if len(units):
            drawn[name] = draw_means(
                ranked.values[units],
                ranked.keys.among(units),
                estimand=evidence.estimand,
                seed=evidence.seed,
                stream=code,
            )
    return drawn, ranked.labels


def _finding(pairs: Sequence[_Pair], models: Sequence[str]) -> str:
    known = [pair for pair in pairs if not math.isnan(pair.tau.models.value)]
    if not known:
        return say("One of any two benchmarks here gives all models the same score.")
    if len(pairs) == 1:
        (pair,) = pairs
        tau = pair.tau
        return say(
            "{first} and {second} order {models} at Kendall's tau-b {value:.2f} [{low:.2f}, "
            "{high:.2f}] over items; {moved}.",
            first=pair.first,
            second=pair.second,
            models=counted(len(models), "model"),
            value=tau.models.value,
            low=tau.items.low,
            high=tau.items.high,
            moved=_moved(pair, models),
        )
    low = min(known, key=lambda pair: pair.tau.models.value)
    high = max(known, key=lambda pair: pair.tau.models.value)
    return say(
        "Of {n} pairs of benchmarks, {first} and {second} agree most (Kendall's tau-b "
        "{value:.2f} over {models}), {third} and {fourth} least ({least:.2f}).",
        n=len(pairs),
        first=high.first,
        second=high.second,
        value=high.tau.models.value,
        models=counted(len(models), "model"),
        third=low.first,
        fourth=low.second,
        least=low.tau.models.value,
    )


def _moved(pair: _Pair, models: Sequence[str]) -> str:
    names = [models[move.model] for move in pair.moves if move.moved]
    if not names:
        return say("no model moves significantly (Holm-adjusted)")
    return say_of(
        len(names),
        "{models} moves significantly (Holm-adjusted)",
        "{models} move significantly (Holm-adjusted)",
        models=joined(names, 4),
    )


def _plain(pairs: Sequence[_Pair]) -> str:
    values = [pair.tau.models.value for pair in pairs if not math.isnan(pair.tau.models.value)]
    if not values:
        return ""
    # Tau is the share of pairs in the same order less that in the other.
    share = 50 * (1 + min(values))
    return say(
        "Of any two models, the benchmarks that agree least put {share:.0f} in 100 pairs in "
        "the same order (50 is expected of unrelated rankings).",
        share=share,
    )


def _cannot(pairs: Sequence[_Pair], models: Sequence[str]) -> str:
    if len(pairs) > 1:
        return ""
    (pair,) = pairs
    unsure = [models[move.model] for move in pair.moves if move.move and move.low <= 0 <= move.high]
    if not unsure:
        return ""
    return say(
        "The ranks of {models} differ between the two, but not significantly.",
        models=joined(unsure, 4),
    )


def _agreement(pairs: Sequence[_Pair]) -> Table:
    return Table(
        title=say("Agreement of two benchmarks"),
        columns=(
            Column(key="pair", name=say("benchmarks")),
            Column(key="tau_models", name=say("tau-b, over models")),
            Column(key="tau_items", name=say("tau-b, over items")),
            Column(key="rho_models", name=say("rho, over models")),
            Column(key="rho_items", name=say("rho, over items")),
            Column(key="moved", name=say("moved"), help=say("models that move significantly "
                                                            "(Holm-adjusted)")),
        ),
        rows=tuple(
            (
                pair.name, pair.tau.models, pair.tau.items, pair.rho.models, pair.rho.items,
                sum(move.moved for move in pair.moves),
            )
            for pair in pairs
        ),
    )  # fmt: skip


def _freed(pairs: Sequence[_Pair]) -> Table:
    return Table(
        title=say("What endless items would show"),
        columns=(
            Column(key="pair", name=say("benchmarks")),
            Column(key="observed", name=say("correlation")),
            Column(key="freed_models", name=say("corrected, over models"),
                   help=say("corrected for the sampling error of the items")),
            Column(key="freed_items", name=say("corrected, over items")),
            Column(key="reliability_first", name=say("first reliable"),
                   help=say("share of the first's differences that other items would show again")),
            Column(key="reliability_second", name=say("second reliable")),
        ),
        rows=tuple(
            (
                pair.name, pair.freed.observed, pair.freed.models, pair.freed.items,
                *pair.freed.reliability,
            )
            for pair in pairs
        ),
    )  # fmt: skip


def _moves(pair: _Pair, models: Sequence[str]) -> Table:
    return Table(
        title=say("Ranks on {first} and on {second}", first=pair.first, second=pair.second),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="rank_first", name=pair.first, unit="rank"),
            Column(key="rank_second", name=pair.second, unit="rank"),
            Column(key="move", name=say("climbs"), digits=0,
                   help=say("ranks; below 0 where it falls")),
            Column(key="low", name=say("at least"), digits=0),
            Column(key="high", name=say("at most"), digits=0),
            Column(key="shift", name=say("beyond the line"), unit="points",
                   help=say("points on {second} above what {first} lets expect",
                            second=pair.second, first=pair.first)),
            Column(key="p_holm", name=say("p (Holm)"), unit="probability"),
            Column(key="moved", name=say("moved")),
        ),
        rows=tuple(
            (
                models[move.model], move.rank_first, move.rank_second, move.move, move.low,
                move.high, move.shift, move.p_holm, say("yes") if move.moved else say("no"),
            )
            for move in pair.moves
        ),
    )  # fmt: skip

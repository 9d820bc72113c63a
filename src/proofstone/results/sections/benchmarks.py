"""Agreement of rankings between benchmarks, and models whose rank differs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Figure,
    Mark,
    Section,
    Table,
    column,
    shown_rank,
    table_of,
)
from proofstone.records.scores import Accuracies
from proofstone.results.sections.evidence import Evidence, ranked_values
from proofstone.results.sections.parts import Analysis, Interval, Part, make_analysis
from proofstone.stats.estimates import (
    BootstrapMeans,
    bootstrap_means,
    bootstrap_shares,
    measure_spread,
)
from proofstone.stats.factors import Disattenuated, disattenuate
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import (
    RankAgreement,
    RankInterval,
    RankMove,
    rank_agreement,
    rank_all,
    rank_moves,
    rank_shares,
)
from proofstone.wording.messages import counted, joined, listed, say, say_of, word

# Names of columns whose groups are separate tests rather than subjects of one test.
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
        """Return both names for a table."""
        return f"{self.first}, {self.second}"


def benchmarks_section(evidence: Evidence) -> Section | None:
    """Compare all pairs of up to eight benchmarks.

    None unless a column named benchmark, dataset, task, test, suite or form has two or more values,
    with three or more models.
    """
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
    known = [pair for pair in pairs if not math.isnan(pair.tau.models.value)]
    least = min(known or pairs, key=lambda pair: pair.tau.models.value)
    return Section(
        name="benchmarks",
        title=say("Agreement between benchmarks"),
        finding=_finding(pairs, known, models),
        plain=_plain(known),
        cannot=_cannot(pairs, models),
        how=say(
            "There are two intervals. Over models: for other models like these (bootstrap of "
            "models). Over items: for these models on other items (2,000 bootstrap samples of "
            "items or clusters, seed {seed}). Freed of noise: Spearman's correction of "
            "Pearson's correlation. Moves: against the line that most models follow (Passing "
            "and Bablok), Holm-adjusted over models.",
            seed=seed,
        ),
        tables=(
            _agreement(pairs),
            _freed(pairs),
            *(_moves(pair, models) for pair in pairs if len(pairs) == 1),
        ),
        figures=(_moves_figure(least, models, table=3 if len(pairs) == 1 else 0),),
    )


def _drawn(evidence: Evidence) -> tuple[dict[str, BootstrapMeans], list[str]]:
    """Return bootstrap means by benchmark, and the models in order."""
    if evidence.accuracies is not None:
        found = evidence.accuracies
        if found.by.lower() not in _NAMES:
            return {}, []
        shares = {
            name: bootstrap_shares(
                found.value[:, k], int(found.counts[k]), seed=evidence.seed, stream=k
            )
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
            drawn[name] = bootstrap_means(
                ranked.values[units],
                ranked.keys.among(units),
                population=evidence.population,
                seed=evidence.seed,
                stream=code,
            )
    return drawn, ranked.labels


def _finding(pairs: Sequence[_Pair], known: Sequence[_Pair], models: Sequence[str]) -> str:
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
            moved=_moved(pair.moves, models, lambda names: joined(names, 4)),
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


def _moved(
    moves: Sequence[RankMove], models: Sequence[str], told: Callable[[Sequence[str]], str]
) -> str:
    names = [models[move.model] for move in moves if move.moved]
    if not names:
        return say("no model moves significantly (Holm-adjusted)")
    return say_of(
        len(names),
        "{models} moves significantly (Holm-adjusted)",
        "{models} move significantly (Holm-adjusted)",
        models=told(names),
    )


def _plain(known: Sequence[_Pair]) -> str:
    if not known:
        return ""
    # Tau is the share of concordant pairs minus the share of discordant pairs.
    share = 50 * (1 + min(pair.tau.models.value for pair in known))
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
    return table_of(
        say("Agreement of two benchmarks"),
        pairs,
        column("pair", say("benchmarks"), "name"),
        column("tau_models", say("tau-b, over models"), "tau.models"),
        column("tau_items", say("tau-b, over items"), "tau.items"),
        column("rho_models", say("rho, over models"), "rho.models"),
        column("rho_items", say("rho, over items"), "rho.items"),
        column("moved", say("moved"), lambda pair: sum(move.moved for move in pair.moves),
               help=say("models that move significantly (Holm-adjusted)")),
    )  # fmt: skip


def _freed(pairs: Sequence[_Pair]) -> Table:
    return table_of(
        say("Estimate without item sampling error"),
        pairs,
        column("pair", say("benchmarks"), "name"),
        column("observed", say("correlation"), "freed.observed"),
        column("freed_models", say("corrected, over models"), "freed.models",
               help=say("corrected for the sampling error of the items")),
        column("freed_items", say("corrected, over items"), "freed.items"),
        column("reliability_first", say("first reliable"), lambda pair: pair.freed.reliability[0],
               help=say("share of the first's differences that other items would show again")),
        column("reliability_second", say("second reliable"),
               lambda pair: pair.freed.reliability[1]),
    )  # fmt: skip


def _moves(pair: _Pair, models: Sequence[str]) -> Table:
    return table_of(
        say("Ranks on {first} and on {second}", first=pair.first, second=pair.second),
        pair.moves,
        column("model", say("model"), lambda move: models[move.model]),
        column("rank_first", pair.first, unit="rank"),
        column("rank_second", pair.second, unit="rank"),
        column("move", say("climbs"), digits=0, help=say("ranks; below 0 where it falls")),
        column("low", say("at least"), digits=0),
        column("high", say("at most"), digits=0),
        column("shift", say("beyond the line"), unit="points",
               help=say("points on {second} above the value predicted from {first}",
                        second=pair.second, first=pair.first)),
        column("p_holm", say("p (Holm)"), unit="probability"),
        column("moved", say("moved"), lambda move: say("yes") if move.moved else say("no")),
    )  # fmt: skip


# One side of a comparison of rankings: means, bootstrap samples over items, and rank ranges.

_DRAWS = 2_000


@dataclass(frozen=True)
class Benchmark:
    """One benchmark of a comparison.

    ``drawn`` and ``ranks`` (rank ranges; empty if unknown) are those of the chosen models;
    ``left_out`` are its other models. ``has_items``: scores by item are known. ``is_fixed``: not
    even the number of items is known.
    """

    name: str
    drawn: BootstrapMeans
    ranks: tuple[RankInterval, ...]
    left_out: tuple[str, ...]
    has_items: bool
    is_fixed: bool = False


@dataclass(frozen=True)
class SameModel:
    """A model's ``name``, and its labels on two benchmarks."""

    name: str
    first: str
    second: str


def same_models(first: Part | Accuracies, second: Part | Accuracies) -> list[SameModel]:
    """Return the models on both benchmarks, in the order of the first.

    Names are matched whole, otherwise by the part after the last slash if unique on each side. A
    model with several prompting methods counts with the first one.
    """
    ours, theirs = _labels(first), _labels(second)
    tails, others = _by_tail(ours), _by_tail(theirs)
    found = []
    for name, label in ours.items():
        same = name if name in theirs else ""
        tail = _tail(name)
        if not same and len(tails[tail]) == 1 and len(others.get(tail, ())) == 1:
            same = others[tail][0]
        if same:
            found.append(SameModel(name, label, theirs[same]))
    return found


def benchmark_of(
    source: Part | Accuracies,
    labels: Sequence[str],
    interval: Interval,
    *,
    stream: int,
) -> Benchmark:
    """Return the chosen models of a benchmark in this order; ``stream`` differs for other items."""
    others = tuple(label for label in _labels(source).values() if label not in labels)
    if isinstance(source, Accuracies):
        return _of_accuracies(source, labels, others, interval["confidence"], stream)
    units, values = source.block(labels)
    keys = source.sheet.keys.among(units)
    population = interval["population"]
    spread = measure_spread(values, equal_weights(len(units)), keys, population)
    return Benchmark(
        name=source.name,
        drawn=bootstrap_means(
            values, keys, population=population, n_resamples=_DRAWS, stream=stream
        ),
        ranks=rank_all(spread, confidence=interval["confidence"]).intervals,
        left_out=others,
        has_items=True,
    )


def _of_accuracies(
    source: Accuracies,
    labels: Sequence[str],
    others: tuple[str, ...],
    confidence: float,
    stream: int,
) -> Benchmark:
    means = source.overall[[source.models.index(label) for label in labels]]
    n = source.n_items
    drawn = bootstrap_shares(means, n, n_resamples=_DRAWS, stream=stream)
    if not n:
        still = np.repeat(means[:, None], _DRAWS, axis=1)
        drawn = replace(drawn, drawn=still, made_by="scores as they are")
    return Benchmark(
        name=source.name,
        drawn=drawn,
        ranks=_placed(means, n, confidence) if n else (),
        left_out=others,
        has_items=False,
        is_fixed=not n,
    )


def _placed(means: NDArray[np.float64], n: int, confidence: float) -> tuple[RankInterval, ...]:
    """Return each model's rank range, which ``rank_shares`` gives best first."""
    order = np.argsort(-means, kind="stable")
    ranking = rank_shares(means[order], n, confidence=confidence)
    found = dict(zip(order.tolist(), ranking.intervals, strict=True))
    return tuple(found[at] for at in range(len(means)))


def _labels(source: Part | Accuracies) -> dict[str, str]:
    """Map each model's name to its label, the first one if it has several prompting methods."""
    if isinstance(source, Accuracies):
        known = ~np.isnan(source.overall)
        return {name: name for name, is_known in zip(source.models, known, strict=True) if is_known}
    found: dict[str, str] = {}
    for label, place in source.complete.items():
        found.setdefault(source.table.respondents[place].name, label)
    return found


def _by_tail(names: Sequence[str] | dict[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(_tail(name), []).append(name)
    return found


def _tail(name: str) -> str:
    return name.rpartition("/")[2].casefold()


# Ranks of the same models on another benchmark, and rank agreement (Chinese SimpleQA 4.5,
# Figure 8).

_FEWEST = 3


@dataclass(frozen=True)
class _Both:
    """Two benchmarks of the same models, in the order of the first, and their agreement."""

    models: tuple[str, ...]
    first: Benchmark
    second: Benchmark
    tau: RankAgreement
    rho: RankAgreement
    moves: tuple[RankMove, ...]


def analyze_rankings(parts: Sequence[Part], *, beside: Part | Accuracies | None = None) -> Analysis:
    """Compare ranks with another benchmark, one row per model on both.

    Columns are scores, rank ranges and rank changes. Models are matched by name, or by the part
    after the last slash. Raises BadUsage without another benchmark, and for fewer than three models
    on both.
    """
    (part,) = parts
    if beside is None:
        raise BadUsage(
            "a study of rankings takes another benchmark",
            hint="--other-benchmark FORM, or a FILE with model and score, or with scores by item",
        )
    both = _both(part, beside)
    first, second, moves = both.first, both.second, both.moves
    order = sorted(range(len(both.models)), key=lambda at: -first.drawn.means[at])
    return make_analysis(
        "rankings",
        say("Ranks on {first} and on {second}", first=first.name, second=second.name),
        _rankings_finding(both),
        columns=(
            column("model", say("model"), lambda at: both.models[at]),
            column("score_first", first.name, lambda at: first.drawn.means[at], unit="points"),
            column("rank_first", say("rank"), lambda at: _rank(first, at, moves[at].rank_first),
                   unit="mixed"),
            column("score_second", second.name, lambda at: second.drawn.means[at], unit="points"),
            column("rank_second", say("rank"), lambda at: _rank(second, at, moves[at].rank_second),
                   unit="mixed"),
            column("move", say("climbs"),
                   lambda at: f"{moves[at].move:+d} [{moves[at].low:+z.0f}, "
                              f"{moves[at].high:+z.0f}]", unit="mixed"),
            column("moved", say("significant"),
                   lambda at: None if math.isnan(moves[at].p_holm)
                   else say("yes") if moves[at].moved else say("no"), unit="mixed"),
        ),
        rows=order,
        axes=("model", "rank"),
        marks=_marks(both, order),
        notes=_notes(both),
    )  # fmt: skip


def _both(part: Part, beside: Part | Accuracies) -> _Both:
    pairs = same_models(part, beside)
    if len(pairs) < _FEWEST:
        named = ", ".join(pair.name for pair in pairs) or "none"
        raise BadUsage(
            f"the two have {len(pairs)} models in common ({named}), and ranks take three or more",
            hint="models are matched by name, or by the part after the last slash",
        )
    first = benchmark_of(part, [pair.first for pair in pairs], part.interval, stream=0)
    second = benchmark_of(beside, [pair.second for pair in pairs], part.interval, stream=1)
    tau, rho = rank_agreement(first.drawn, second.drawn, confidence=part.confidence)
    moves = rank_moves(first.drawn, second.drawn, confidence=part.confidence)
    return _Both(tuple(pair.name for pair in pairs), first, second, tau, rho, moves)


def _rank(benchmark: Benchmark, at: int, place: int) -> str:
    """Return the rank with its rank range."""
    if not benchmark.ranks:
        return str(place)
    rank_range = shown_rank(benchmark.ranks[at])
    return f"{place} ({rank_range})" if rank_range != str(place) else str(place)


def _marks(both: _Both, order: Sequence[int]) -> Iterator[Mark]:
    for benchmark, of_second in ((both.first, False), (both.second, True)):
        for at in order:
            move = both.moves[at]
            rank = benchmark.ranks[at] if benchmark.ranks else None
            yield Mark(
                row=benchmark.name,
                column=both.models[at],
                value=float(move.rank_second if of_second else move.rank_first),
                n=benchmark.drawn.n_units,
                low=math.nan if rank is None else float(rank.low),
                high=math.nan if rank is None else float(rank.high),
            )


def _rankings_finding(both: _Both) -> str:
    tau = both.tau
    if math.isnan(tau.models.value):
        return say(
            "One of the two gives all models the same score, so there are no ranks to compare."
        )
    over_models = (
        say("[{low:z.2f}, {high:z.2f}] over models", low=tau.models.low, high=tau.models.high)
        if tau.models.made_by != "none"
        else say("too few models for an interval over models")
    )
    return say(
        "{first} and {second} order {n} models at Kendall's tau-b {value:z.2f} [{low:z.2f}, "
        "{high:z.2f}] over items, {over_models}; {moves}.",
        first=both.first.name,
        second=both.second.name,
        n=tau.n_models,
        value=tau.models.value,
        low=tau.items.low,
        high=tau.items.high,
        over_models=over_models,
        moves=say("; ").join([*_most(both), _beyond(both)]),
    )


def _beyond(both: _Both) -> str:
    """Return the models whose rank changes significantly, if there are enough models for a test."""
    if all(math.isnan(move.p_holm) for move in both.moves):
        return say("at least five models are needed to test moves")
    return _moved(both.moves, both.models, listed)


def _most(both: _Both) -> Iterator[str]:
    """Yield the model with the largest rank change, if any."""
    most = max(both.moves, key=lambda move: abs(move.move))
    if most.move:
        yield say(
            "{model} moves most, from {first} to {second} ({move:+d})",
            model=both.models[most.model],
            first=most.rank_first,
            second=most.rank_second,
            move=most.move,
        )


def _notes(both: _Both) -> Iterator[str]:
    yield say(
        "Spearman's rho {rho:z.2f}. In brackets behind a rank: the rank range among these "
        "models. climbs: places, with a 95% interval over items. significant: distance from "
        "the line that most models follow, Holm-adjusted over models.",
        rho=both.rho.models.value,
    )
    for benchmark in (both.first, both.second):
        if benchmark.is_fixed:
            yield say(
                "The number of items of {name} is not known. Its scores are treated as exact: "
                "intervals over items allow for the other benchmark's items only.",
                name=benchmark.name,
            )
        elif not benchmark.has_items:
            yield say(
                "Only scores of {name} are known. Each model is treated as tested on separate "
                "items, which is conservative if all had the same items.",
                name=benchmark.name,
            )
        if benchmark.left_out:
            yield say(
                "On {name} alone: {models}.",
                name=benchmark.name,
                models=listed(benchmark.left_out),
            )


_MOST_DRAWN = 40  # rows of a figure


def _moves_figure(pair: _Pair, models: Sequence[str], *, table: int) -> Figure:
    """Return a slope figure of ranks on both benchmarks; significant moves are emphasized."""
    order = sorted(pair.moves, key=lambda move: (move.rank_first, move.rank_second))[:_MOST_DRAWN]
    cut = "; " + say("the first {n} of {all} models", n=len(order), all=len(pair.moves))
    return Figure(
        name="rank-moves",
        kind="slopes",
        title=say("Ranks on {first} and on {second}", first=pair.first, second=pair.second),
        subtitle=say(
            "{models}; strong lines: {n} with a significant move",
            models=counted(len(pair.moves), "model"),
            n=sum(move.moved for move in pair.moves),
        )
        + (cut if len(order) < len(pair.moves) else ""),
        marks=tuple(
            Mark(
                row=models[move.model],
                column=benchmark,
                value=float(rank),
                text=say("moves significantly") if move.moved else "",
            )
            for move in order
            for benchmark, rank in ((pair.first, move.rank_first), (pair.second, move.rank_second))
        ),
        row_axis=word("model"),
        value_axis=say("rank"),
        value_unit="number",
        table=table,
    )

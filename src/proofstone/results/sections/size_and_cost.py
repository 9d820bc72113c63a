"""Scores by model size (slopes by family, saturation) and by cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from proofstone.page.section import (
    Curve,
    Figure,
    Mark,
    Section,
    Table,
    column,
    estimate_mark,
    points,
    table_of,
)
from proofstone.results.board import BoardRow, Standings
from proofstone.results.cards import ModelSize, size_of
from proofstone.results.sections.evidence import Evidence, chance_levels, ranked_values
from proofstone.results.summary import bounded_cell, bounded_sentence, cost_of_thousand, least_cost
from proofstone.stats.estimates import measure_spread
from proofstone.stats.intervals import equal_weights, normal_quantile
from proofstone.stats.scaling import (
    Bend,
    MixtureGap,
    SizeSlope,
    compare_slopes,
    fit_bend,
    mixture_gap,
    slope_of,
)
from proofstone.wording.messages import counted, joined, listed, paragraph, say, word

# Scores by US dollars per 1,000 questions.

_DIGITS = 4


def costs_section(evidence: Evidence) -> Section | None:
    """Return the ranked models whose calls all have a price; None with fewer than two with a cost.

    Simulated models are omitted.
    """
    board = evidence.board
    groups = (g for g in board.standings if g.ranked and not g.experiment and not g.simulated)
    group = next(groups, None)
    if group is None:
        return None
    usd = {row.label: cost for row in group.ranked if (cost := cost_of_thousand(row)) is not None}
    priced = [row for row in group.ranked if row.label in usd]
    marks = tuple(
        estimate_mark(row.estimate, row=row.label, x=usd[row.label])
        for row in priced
        if usd[row.label] > 0 and not math.isnan(row.estimate.value)
    )
    if len(marks) < 2:
        return None
    n_unpriced = len(group.ranked) - len(priced)
    unpriced = say(
        "The cost of {n} of {all} models is not known: they have no price.",
        n=n_unpriced,
        all=len(group.ranked),
    )
    kind = say(
        "{level:g}% intervals for {population}",
        level=100 * board.confidence,
        population=word(board.population),
    )
    return Section(
        name="cost",
        title=say("Cost and accuracy"),
        finding=_finding(priced, usd),
        cannot=" ".join([*([unpriced] if n_unpriced else []), *bounded_sentence(group, priced)]),
        how=say(
            "What all calls of these questions cost when they were asked, also those that were "
            "billed and of no use, over the questions that were answered, times 1,000. Prices are "
            "those of then."
        ),
        tables=(_table(priced, usd),),
        figures=(
            Figure(
                name="cost",
                kind="points",
                title=say("{measure} against cost", measure=word(board.measure).capitalize()),
                subtitle=f"{counted(len(marks), 'model')}; {kind}",
                marks=marks,
                row_axis=word("model"),
                value_axis=say("score (%)"),
                x_axis=say("USD per 1,000 questions"),
                x_unit="usd",
                is_log=True,
                table=1,
            ),
        ),
    )


def _finding(rows: Sequence[BoardRow], usd: Mapping[str, float]) -> str:
    cheap, dear = (pick(rows, key=lambda row: usd[row.label]) for pick in (min, max))
    least = {row.label: least_cost(row) or 0.0 for row in rows}
    is_known = all(
        usd[cheap.label] <= least[row.label] for row in rows if row is not cheap
    ) and all(usd[row.label] <= least[dear.label] for row in rows if row is not dear)
    if not is_known:
        return say(
            "The cheapest model is not known: endpoints did not report the usage of some calls."
        )
    return say(
        "{cheap} costs least, {low:.3g} USD per 1,000 questions at {low_score} points; {dear} "
        "most, {high:.3g} USD at {high_score}.",
        cheap=cheap.label,
        low=usd[cheap.label],
        low_score=points(cheap.estimate.value),
        dear=dear.label,
        high=usd[dear.label],
        high_score=points(dear.estimate.value),
    )


def _table(rows: Sequence[BoardRow], usd: Mapping[str, float]) -> Table:
    return table_of(
        say("Score and cost"),
        rows,
        column("model", word("model"), "label"),
        column("score", word("score"), "estimate", unit="points"),
        column("usd_per_thousand", say("USD per 1,000 questions"),
               lambda row: bounded_cell(row, usd[row.label], _DIGITS), digits=_DIGITS),
        column("calls", say("calls"), "spent.calls"),
        *(
            [column("cached", say("from the prefix cache"), "spent.cached_share", unit="share",
                    help=say("share of prompt tokens, as the endpoint reports it"))]
            if any(row.spent.cached_share is not None for row in rows) else []
        ),
    )  # fmt: skip


_FEWEST_SIZES = 3


@dataclass(frozen=True, slots=True)
class _Sized:
    """Models with a size: scores (m) and, if known, their covariance over items (m, m).

    ``groups`` is the effective number of clusters of the ``n_items`` items.
    """

    sizes: tuple[ModelSize, ...]
    scores: NDArray[np.float64]
    covariance: NDArray[np.float64] | None
    groups: float
    n_items: int = 0

    def of(self, places: Sequence[int]) -> _Sized:
        """Return some of the models."""
        own = None if self.covariance is None else self.covariance[np.ix_(places, places)]
        sizes = tuple(self.sizes[place] for place in places)
        return _Sized(sizes, self.scores[list(places)], own, self.groups, self.n_items)

    def parameters(self, basis: str) -> NDArray[np.float64]:
        """Return billions of parameters on one basis (m)."""
        return np.array([s.total_b if basis == "total" else s.active_b for s in self.sizes])


@dataclass(frozen=True, slots=True)
class _Family:
    """Dense models of a family, the fitted line, and the saturating curve."""

    name: str
    models: _Sized
    slope: SizeSlope
    bend: Bend


def scaling_section(evidence: Evidence) -> Section | None:
    """Return one row per family with three or more sizes of dense models.

    Mixtures are compared on total and on active parameters. None if no family has three sizes.
    """
    groups = (group for group in evidence.board.standings if not group.experiment)
    group = next((group for group in groups if group.ranked), None)
    if group is None:
        return None
    sized, confidence = _sized(evidence, group), evidence.board.confidence
    families = []
    for name, places in _by_family(sized).items():
        dense = sized.of([place for place in places if not sized.sizes[place].is_mixture])
        sizes = dense.parameters("total")
        if len(set(sizes.tolist())) >= _FEWEST_SIZES:
            slope = slope_of(
                sizes,
                dense.scores,
                covariance=dense.covariance,
                groups=dense.groups,
                n_units=dense.n_items,
                confidence=confidence,
            )
            bend = fit_bend(np.log10(sizes), dense.scores, confidence=confidence)
            families.append(_Family(name, dense, slope, bend))
    if not families:
        return None
    families.sort(key=lambda family: -family.slope.models.value)
    gaps = list(_gaps(sized, confidence))
    return Section(
        name="scaling",
        title=say("Scaling with model size"),
        finding=_scaling_finding(families),
        plain=_plain(families[0]),
        cannot=_scaling_cannot(families),
        how=_how(sized, families),
        tables=(
            _slopes(families),
            _shapes(families),
            *([_mixtures(gaps)] if gaps else []),
        ),
        figures=(_sizes_figure(families, confidence, group),),
    )


def _sized(evidence: Evidence, group: Standings) -> _Sized:
    """Return the ranked models with a known size, and the sampling error of their scores."""
    known = [
        (place, row, size)
        for place, row in enumerate(group.ranked)
        if (size := size_of(row.name, row.card, evidence.families.get(row.name, ""))) is not None
    ]
    places = [place for place, _, _ in known]
    sizes = tuple(_by_method(row, size) for _, row, size in known)
    ranked = ranked_values(evidence)
    if ranked is not None and ranked.group is group:
        weighting = equal_weights(len(ranked.units))
        spread = measure_spread(ranked.values, weighting, ranked.keys, evidence.population)
        own = spread.covariance()[np.ix_(places, places)]
        return _Sized(sizes, spread.means[places], own, spread.groups, spread.n_units)
    scores = np.array([row.estimate.value for _, row, _ in known])
    n = np.array([row.estimate.n for _, row, _ in known], dtype=np.float64)
    if not len(n) or (n == 0).any():
        return _Sized(sizes, scores, None, math.inf)
    least = int(n.min())
    return _Sized(sizes, scores, np.diag(scores * (1 - scores) / n), float(least), least)


def _by_method(row: BoardRow, size: ModelSize) -> ModelSize:
    """Return the size with the prompting method as part of the family, for separate lines."""
    how = [part for part in (row.prompt_method, row.settings) if part]
    return structs.replace(size, family=f"{size.family}, {' '.join(how)}") if how else size


def _by_family(sized: _Sized) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for place, size in enumerate(sized.sizes):
        found.setdefault(size.family, []).append(place)
    return found


def _gaps(sized: _Sized, confidence: float) -> Iterator[tuple[str, MixtureGap]]:
    """Yield the gap on both bases for each family with mixtures and two sizes of dense models."""
    for name, places in _by_family(sized).items():
        own = sized.of(places)
        mixed = np.array([size.is_mixture for size in own.sizes])
        if not mixed.any() or len(set(own.parameters("total")[~mixed].tolist())) < 2:
            continue
        for basis in ("total", "active"):
            yield (
                name,
                mixture_gap(
                    own.parameters(basis), own.scores, mixed, basis=basis, confidence=confidence
                ),
            )


def _scaling_finding(families: Sequence[_Family]) -> str:
    worth = say(
        "Ten times the parameters are worth {said}.",
        said=listed([_worth(family) for family in families], 3)
        if len(families) > 3
        else joined([_worth(family) for family in families]),
    )
    apart = [pair for pair in compare_slopes([f.slope for f in families]) if pair.p_holm < 0.05]
    if len(families) < 2:
        verdict = ""
    elif not apart:
        verdict = say("No two slopes differ significantly (Holm-adjusted).")
    else:
        named = [joined([families[a.first].name, families[a.second].name]) for a in apart[:3]]
        verdict = say(
            "Slopes differ significantly between {pairs} (Holm-adjusted).",
            pairs=say("; ").join(named),
        )
    return paragraph(worth, verdict)


def _worth(family: _Family) -> str:
    slope = family.slope.models
    interval = ""
    if not math.isnan(slope.low):
        interval = f" [{points(slope.low)}, {points(slope.high)}]"
    return say(
        "{points}{interval} points in {family} ({models})",
        points=points(slope.value),
        interval=interval,
        family=family.name,
        models=counted(len(family.models.sizes), "model"),
    )


def _plain(family: _Family) -> str:
    gain = 100 * family.slope.models.value
    return say(
        "A {family} model ten times as large gets about {n:.0f} more questions in a hundred right."
        if gain >= 0
        else "A {family} model ten times as large gets about {n:.0f} fewer questions in a hundred "
        "right.",
        family=family.name,
        n=abs(gain),
    )


def _scaling_cannot(families: Sequence[_Family]) -> str:
    open_ones = [family.name for family in families if family.bend.shape == "inconclusive"]
    if not open_ones:
        return ""
    return say(
        "The sizes of {families} are too few, or too scattered, to tell a curve from a straight "
        "line: diminishing gains are neither shown nor excluded.",
        families=joined(open_ones[:4]),
    )


def _how(sized: _Sized, families: Sequence[_Family]) -> str:
    return paragraph(
        say(
            "Least squares of accuracy on log10 of the parameters, every model of the same weight."
        ),
        say(
            "Over models: Student's t on what is left over, for other models of the family; over "
            "items: by the covariance of the models' means, for other items."
            if any(family.slope.items is not None for family in families)
            else "Over models: Student's t on what is left over, for other models of the family."
        ),
        say("Bend: asymptotic regression against the line, F-test on 1 and n - 3 degrees."),
        ""
        if all(size.is_told for size in sized.sizes)
        else say("Sizes are read from the models' names."),
    )


def _slopes(families: Sequence[_Family]) -> Table:
    return table_of(
        say("Points per tenfold of parameters, dense models"),
        families,
        column("family", say("family"), "name"),
        column("n", say("models"), lambda family: len(family.models.sizes)),
        column("smallest", say("smallest, B"),
               lambda family: float(family.models.parameters("total").min()), digits=1),
        column("largest", say("largest, B"),
               lambda family: float(family.models.parameters("total").max()), digits=1),
        column("slope", say("slope, over models"), "slope.models", unit="points",
               help=say("interval for other models of the family, on these items")),
        column("slope_items", say("slope, over items"), "slope.items", unit="points",
               help=say("interval for these models, on other items")),
        column("residual", say("scatter"), "slope.residual", unit="points",
               help=say("standard deviation about the line")),
    )  # fmt: skip


def _shapes(families: Sequence[_Family]) -> Table:
    return table_of(
        say("A straight line, or one that levels off"),
        families,
        column("family", say("family"), "name"),
        column("shape", say("shape"), lambda family: word(family.bend.shape)),
        column("slope_ratio", say("end slope / start slope"), "bend.slope_ratio",
               help=say("1 for a straight line, below 1 where larger models gain less")),
        column("p", say("p"), "bend.p", unit="probability", help=say("of a straight line")),
        column("aicc_line", say("AICc, line"), "bend.aicc_line", digits=1),
        column("aicc_bent", say("AICc, curve"), "bend.aicc_bent", digits=1,
               help=say("lower is better")),
        note=say("A shape is stated only if the interval of the bend excludes all others."),
    )  # fmt: skip


def _mixtures(gaps: Sequence[tuple[str, MixtureGap]]) -> Table:
    return table_of(
        say("Mixtures of experts above dense models of the same size"),
        gaps,
        column("family", say("family"), "0"),
        column("basis", say("parameters"), lambda row: word(row[1].basis)),
        column("dense", say("dense"), "1.n_dense"),
        column("mixtures", say("mixtures"), "1.n_mixtures"),
        column("gap", say("gap"), "1.gap", unit="points",
               help=say("mixtures less dense, on one slope")),
        column("p", say("p"), "1.p", unit="probability"),
    )  # fmt: skip


_STEPS = 24


def _sizes_figure(families: Sequence[_Family], confidence: float, group: Standings) -> Figure:
    """Return a point with interval per dense model and a line per family, over log parameters."""
    return Figure(
        name="scaling",
        kind="points",
        title=say("Scores by number of parameters"),
        subtitle=say(
            "{models} of {families}; {level:g}% intervals over items; lines: least squares on the "
            "logarithm",
            models=counted(sum(len(family.models.sizes) for family in families), "model"),
            families=counted(len(families), "family", "families"),
            level=100 * confidence,
        ),
        marks=tuple(mark for family in families for mark in _dots(family, confidence)),
        curves=tuple(_line(family) for family in families),
        levels=chance_levels(group),
        value_axis=say("score (%)"),
        x_axis=say("parameters, billions"),
        x_unit="number",
        is_log=True,
    )


def _dots(family: _Family, confidence: float) -> Iterator[Mark]:
    models, reach = family.models, normal_quantile(confidence)
    halves = np.full(len(models.sizes), np.nan)
    if models.covariance is not None:
        halves = reach * np.sqrt(np.diag(models.covariance))
    for size, score, half in zip(
        models.sizes, models.scores.tolist(), halves.tolist(), strict=True
    ):
        yield Mark(
            row=family.name, text=f"{size.total_b:g}B", x=size.total_b, value=score,
            low=score - half, high=score + half,
        )  # fmt: skip


def _line(family: _Family) -> Curve:
    sizes = family.models.parameters("total")
    low, high = math.log10(min(sizes)), math.log10(max(sizes))
    places = [low + (high - low) * step / _STEPS for step in range(_STEPS + 1)]
    slope = family.slope
    return Curve(
        row=family.name,
        x=tuple(10**place for place in places),
        values=tuple(slope.at_one + slope.models.value * place for place in places),
    )

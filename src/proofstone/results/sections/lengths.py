"""Association of response length and score, overall and within items."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import (
    Cell,
    Column,
    Figure,
    Mark,
    Section,
    Table,
    column,
    estimate_mark,
    points,
    table_of,
)
from proofstone.records.runs import OUTCOMES, Estimate
from proofstone.results.measured_scores import Sheet
from proofstone.results.sections.evidence import (
    Evidence,
    RankedValues,
    chance_levels,
    ranked_values,
)
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.clusters import Dependence, SharedKeys
from proofstone.stats.estimates import mean_estimates, median_estimate
from proofstone.stats.factors import LengthEffect, Slope, length_effect
from proofstone.stats.intervals import equal_weights
from proofstone.stats.ranks import tau_b
from proofstone.wording.messages import noted, say, word

# Scores by response length and item difficulty.

Floats = NDArray[np.float64]


_BINS, _THIRDS = 5, 3


@dataclass(frozen=True, slots=True)
class _Bin:
    """Responses of ``low`` to ``high`` tokens, with scores overall and by third of difficulty."""

    low: float
    high: float
    scores: list[Estimate]


def _bins_table(bins: Sequence[_Bin], names: Mapping[str, str]) -> Table:
    """Return the share correct of all ranked models' responses by fifth of length."""

    def score(place: int) -> Callable[[_Bin], Estimate | None]:
        return lambda each: each.scores[place] if each.scores[place].n else None

    return table_of(
        say("Scores by length and difficulty"),
        bins,
        column("from", say("tokens from"), "low", digits=0),
        column("to", say("to"), "high", digits=0),
        column("n", "n", "scores.0.n", help=say("responses of this length")),
        *(
            column(key, name, score(place), unit="points")
            for place, (key, name) in enumerate(names.items())
        ),
        note=say(
            "Fifths of all responses by length; items in thirds by their mean score. "
            "Difficulty is similar within a column."
        ),
        sorts=False,
    )


def _bins_figure(bins: Sequence[_Bin], names: Mapping[str, str]) -> Figure:
    """Return one curve per third of the items by difficulty."""
    return Figure(
        name="length",
        kind="curves",
        title=say("Scores by length and difficulty"),
        subtitle=say("fifths of all responses by tokens, with intervals"),
        marks=tuple(
            estimate_mark(each.scores[place], row=name, x=(each.low + each.high) / 2.0)
            for place, name in enumerate(names.values())
            for each in bins
            if each.scores[place].n
        ),
        x_axis=say("tokens"),
        x_unit="number",
        value_axis=say("score"),
        is_log=True,
        table=2,
    )


def length_bins(ranked: RankedValues) -> list[_Bin]:
    """Return scores by fifth of response length; empty if lengths hardly differ."""
    sheet, table = ranked.sheet, ranked.sheet.table
    if table.tokens is None:
        return []
    kept = np.isin(table.respondent, list(ranked.respondents)) & (np.nan_to_num(table.tokens) > 0)
    kept &= ~np.isnan(sheet.counted) & np.isin(table.unit, ranked.units)
    tokens, scores, unit = table.tokens[kept], sheet.counted[kept], table.unit[kept]
    if not len(tokens):
        return []
    edges = np.unique(np.quantile(tokens, np.linspace(0.0, 1.0, _BINS + 1)))
    if len(edges) < 3:
        return []
    place = np.clip(np.searchsorted(edges, tokens, side="right") - 1, 0, len(edges) - 2)
    ease = ranked.values.mean(axis=1)
    order = np.argsort(np.argsort(-ease, kind="stable"), kind="stable")
    third = np.zeros(len(table.items), dtype=np.int64)
    third[ranked.units] = order * _THIRDS // max(len(order), 1)
    dependence = Dependence.of(len(unit), unit, ranked.dependent_keys)
    sets = [np.ones(len(unit), dtype=bool), *(third[unit] == k for k in range(_THIRDS))]
    found = []
    for number, (low, high) in enumerate(pairwise(edges.tolist())):
        member = np.column_stack([(place == number) & own for own in sets]).astype(np.float64)
        found.append(_Bin(low, high, _estimates(member, scores, dependence, ranked.confidence)))
    return found


def _estimates(
    member: Floats, scores: Floats, dependence: Dependence, level: float
) -> list[Estimate]:
    means, found = dependence.shares(member, scores, level)
    return [
        Estimate(
            value=float(means[place]),
            n=n,
            low=float(found.low[place]),
            high=float(found.high[place]),
            level=level,
            population="responses like these",
            made_by=found.made_by[place] if n else "none",
            resampled="items" if dependence.is_shared else "responses",
            effective_n=dependence.among(member[:, place] > 0).groups,
        )
        for place, n in enumerate(member.sum(axis=0).astype(int).tolist())
    ]


_PARTS = 5


def lengths_section(evidence: Evidence) -> Section | None:
    """Return the change of score per doubling of response length, over items and within items.

    None if tokens of responses are unknown.
    """
    ranked = ranked_values(evidence)
    if ranked is None or ranked.sheet.table.tokens is None:
        return None
    level = ranked.confidence
    places = dict(zip(ranked.labels, ranked.respondents, strict=True))
    rows = _slopes(ranked.sheet, ranked.sheet.table.tokens, places, ranked.dependent_keys, level)
    everyone = rows[0][2]
    if not everyone.over_items.n:
        return None
    bins = length_bins(ranked)
    names = {
        "all": say("all items"),
        "easy": say("easy third"),
        "middle": say("middle third"),
        "hard": say("hard third"),
    }
    return Section(
        name="length",
        title=say("Score by response length"),
        finding=_finding(everyone),
        cannot=_cannot(everyone),
        how=say(
            "The slope of the score on the binary logarithm of a response's tokens: the change "
            "per doubling of length. Over items it includes difficulty, since hard items draw "
            "long responses. Within items, responses to the same item are compared after "
            "removing each model's mean. Standard errors are clustered by item and by cluster "
            "of items; {level:g}% intervals.",
            level=100 * level,
        ),
        tables=(_table(rows, level), *([_bins_table(bins, names)] if bins else [])),
        figures=(*([_bins_figure(bins, names)] if bins else []), *_figures(ranked)),
    )


def _slopes(
    sheet: Sheet,
    tokens: Floats,
    places: Mapping[str, int],
    keys: SharedKeys | None,
    level: float,
) -> list[tuple[str, float, LengthEffect]]:
    """Return label, median tokens and both slopes: of all models together, then of each.

    ``tokens`` are those of the rows of the score table, ``places`` the models' by label.
    """
    table = sheet.table

    def effect(chosen: NDArray[np.bool_], respondents: NDArray[np.int32] | None) -> LengthEffect:
        scores, unit = sheet.counted[chosen], table.unit[chosen]
        return length_effect(scores, tokens[chosen], unit, respondents, keys=keys, confidence=level)

    def row(label: str, own: NDArray[np.bool_], *, is_one: bool) -> tuple[str, float, LengthEffect]:
        known = tokens[own & ~np.isnan(tokens)]
        median = float(np.median(known)) if len(known) else math.nan
        return label, median, effect(own, None if is_one else table.respondent[own])

    chosen = np.isin(table.respondent, list(places.values()))
    everyone = row(say("all models"), chosen, is_one=False)
    each = (row(label, table.respondent == who, is_one=True) for label, who in places.items())
    return [everyone, *each]


def _figures(ranked: RankedValues) -> Iterator[Figure]:
    """Yield a curve per model of score over tokens, in fifths of response length.

    None with fewer than two fifths for any model.
    """
    marks = [
        estimate_mark(score, row=label, x=tokens)
        for label, who in zip(ranked.labels, ranked.respondents, strict=True)
        for tokens, score in _parts(ranked, who)
    ]
    labels = list(dict.fromkeys(mark.row for mark in marks))
    shown = labels[:_MOST_DRAWN]
    if len(marks) < 2 or len(marks) == len(labels):
        return
    cut = "; " + say("the first {n} of {all} models", n=len(shown), all=len(labels))
    yield Figure(
        name="length-by-model",
        kind="curves",
        title=say("Score by response tokens"),
        subtitle=say(
            "a model's responses in five parts, shortest first, at their median tokens; "
            "{level:g}% intervals by items; includes difficulty, as hard items draw long "
            "responses",
            level=100 * ranked.confidence,
        )
        + (cut if len(shown) < len(labels) else ""),
        marks=tuple(mark for mark in marks if mark.row in shown),
        levels=chance_levels(ranked.group),
        value_axis=say("score (%)"),
        x_axis=say("response tokens"),
        x_unit="number",
        is_log=True,
    )


def _parts(ranked: RankedValues, who: int) -> Iterator[tuple[float, Estimate]]:
    """Return median tokens and score of each fifth in order; equal lengths are not split."""
    sheet, table, tokens = ranked.sheet, ranked.sheet.table, ranked.sheet.table.tokens
    if tokens is None:
        return
    own = np.flatnonzero((table.respondent == who) & ~np.isnan(sheet.counted) & (tokens > 0))
    if not len(own):
        return
    length = tokens[own]
    edges = np.quantile(length, [part / _PARTS for part in range(1, _PARTS)])
    part = np.searchsorted(edges, length, side="left")
    for code in np.unique(part).tolist():
        rows = own[part == code]
        units, places = np.unique(table.unit[rows], return_inverse=True)
        sums = np.bincount(places, weights=sheet.counted[rows])
        (score,) = mean_estimates(
            (sums / np.bincount(places))[:, None],
            equal_weights(len(units)),
            sheet.keys.among(units),
            population=ranked.population,
            confidence=ranked.confidence,
        )
        yield float(np.median(tokens[rows])), score


def _finding(found: LengthEffect) -> str:
    return say(
        (
            "Over items, a response twice as long scores {over} points; nothing is known within "
            "items."
        )
        if math.isnan(found.within_items.value)
        else (
            "Over items, a response twice as long scores {over} points; compared on the same "
            "item, {within}."
        ),
        over=_signed(found.over_items),
        within=_signed(found.within_items),
    )


def _signed(slope: Slope) -> str:
    if math.isnan(slope.value):
        return say("an unknown number of")
    sign = "+" if slope.value > 0 else ""
    return f"{sign}{points(slope.value)} [{points(slope.low)}, {points(slope.high)}]"


def _cannot(found: LengthEffect) -> str:
    within = found.within_items
    if math.isnan(within.value) or within.low <= 0 <= within.high:
        return say("No significant effect of length among responses to the same item.")
    return ""


def _estimate(slope: Slope, level: float) -> Estimate:
    return Estimate(
        value=slope.value,
        n=slope.n,
        low=slope.low,
        high=slope.high,
        level=level,
        population=noted("items like these"),
        made_by="least squares, errors clustered by item",
        resampled="items",
        effective_n=float(slope.n_items),
    )


def _table(rows: Sequence[tuple[str, float, LengthEffect]], level: float) -> Table:
    return table_of(
        say("Points for a response twice as long"),
        rows,
        column("model", say("model"), "0"),
        column("tokens", say("median tokens"), "1", digits=0),
        column("over_items", say("over items"), lambda row: _estimate(row[2].over_items, level),
               unit="points"),
        column("within_items", say("on the same item"),
               lambda row: _estimate(row[2].within_items, level), unit="points",
               help=say("needs several responses to an item")),
        column("confounded", say("by difficulty"), "2.confounded", unit="points",
               help=say("the part of the first that the second does not bear out")),
    )  # fmt: skip


# Accuracy by response length (Encyclo-K appendix E, Figure 7).

_QUARTERS = 4


def analyze_lengths(parts: Sequence[Part]) -> Analysis:
    """Return mean tokens of responses, of right and wrong ones, and accuracy by quarter of length.

    Quarters are those of each model's own responses. Tokens are counted by the endpoint, including
    reasoning if it counts it. Further tables have the change of the score per doubling of length,
    accuracy among finished responses, and median tokens by group of items. Raises BadUsage if no
    endpoint counted any.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    told = {
        label: by_unit for label in labels if (by_unit := mean_lengths(part, label)) is not None
    }
    if not told:
        raise BadUsage("no endpoint here reported the tokens of its responses")
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    for label, tokens in told.items():
        known = np.flatnonzero(~np.isnan(tokens))
        values = part.sheet.values[known, part.complete[label]][:, None]
        length = tokens[known]
        edges = np.quantile(length, [0.25, 0.5, 0.75])
        quarter = np.asarray(np.searchsorted(edges, length, side="left"))
        estimates = [
            part.means([label], known[quarter == q], values[quarter == q])[0]
            for q in range(_QUARTERS)
        ]
        marks += [
            mark_of(label, float(length[quarter == q].mean()), estimate)
            for q, estimate in enumerate(estimates)
            if estimate.n
        ]
        right = values[:, 0] >= 0.5
        lengths = (length, length[right], length[~right])
        tokens_of = (float(each.mean()) if len(each) else None for each in lengths)
        rows.append((label, len(known), *tokens_of, *(e if e.n else None for e in estimates)))
    return make_analysis(
        "length",
        say("Accuracy by response length"),
        _lengths_finding(part, told),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name="n"),
            Column(key="tokens", name=say("tokens"), digits=0),
            Column(key="right", name=say("right"), digits=0),
            Column(key="wrong", name=say("wrong"), digits=0),
            Column(key="first", name=say("shortest quarter"), unit="points"),
            Column(key="second", name=say("second"), unit="points"),
            Column(key="third", name=say("third"), unit="points"),
            Column(key="fourth", name=say("longest quarter"), unit="points"),
        ),
        rows=rows,
        axes=("tokens of the response, mean of the quarter", "accuracy"),
        marks=marks,
        notes=(
            say(
                "This does not show that length affects accuracy: hard questions draw long "
                "responses."
            ),
            *left_out(parts, list(told)),
        ),
        more=[
            _slopes_table(part, list(told)),
            *_finished(part, list(told)),
            *_by_group(part, told),
        ],
    )


def _slopes_table(part: Part, labels: Sequence[str]) -> Table:
    keys = part.sheet.keys if part.population == "domain" else None
    places = {label: part.complete[label] for label in labels}
    rows = _slopes(part.sheet, _row_tokens(part), places, keys, part.confidence)
    return _table(rows, part.confidence)


def _row_tokens(part: Part) -> Floats:
    """Return the tokens of each row of the score table, NaN if unknown."""
    table, lengths = part.table, part.lengths
    if lengths is None:
        return np.full(len(table.unit), np.nan)
    counted = zip(
        lengths.unit.tolist(), lengths.respondent.tolist(), lengths.sample.tolist(),
        lengths.completion.tolist(), strict=True,
    )  # fmt: skip
    known = {(unit, who, sample): tokens for unit, who, sample, tokens in counted}
    places = zip(table.unit.tolist(), table.respondent.tolist(), table.sample.tolist(), strict=True)
    return np.array([known.get(place, math.nan) for place in places], dtype=np.float64)


def _finished(part: Part, labels: Sequence[str]) -> Iterator[Table]:
    """Yield the accuracy of each model among its responses that were not truncated."""
    table = part.table
    if not table.tells_outcomes:
        return
    is_cut = table.outcome == OUTCOMES.index("truncated")
    rows: list[tuple[Cell, ...]] = []
    for label in labels:
        own = (table.respondent == part.complete[label]) & ~np.isnan(part.sheet.counted)
        every = _unit_means(table.unit[own], part.sheet.counted[own])
        cut = _unit_means(table.unit[own], is_cut[own].astype(np.float64))
        rest = own & ~is_cut
        finished = _unit_means(table.unit[rest], part.sheet.counted[rest])
        estimates = [part.means([label], *each)[0] for each in (cut, every, finished)]
        rows.append((label, int(own.sum()), *(each if each.n else None for each in estimates)))
    yield Table(
        title=say("Truncated and finished responses"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name=say("responses"), digits=0),
            Column(key="truncated", name=say("truncated, %"), unit="points"),
            Column(key="accuracy", name=say("accuracy"), unit="points"),
            Column(key="finished", name=say("accuracy if finished"), unit="points",
                   help=say("over responses that were not truncated")),
        ),
        rows=tuple(rows),
        sorts=False,
    )  # fmt: skip


def _unit_means(unit: NDArray[np.int32], values: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Return the units met, ascending, and the mean of each as a column (units, 1)."""
    units, places = np.unique(unit, return_inverse=True)
    means = np.bincount(places, weights=values, minlength=len(units)) / np.maximum(
        np.bincount(places, minlength=len(units)), 1
    )
    return units.astype(np.int64), means[:, None]


# A table by group shows groupings of this many groups at most.
_MOST_GROUPS = 12


# The level of books and documents: the clusters of items, with too few items each.
_FINEST = "book"


def _by_group(part: Part, told: Mapping[str, Floats]) -> Iterator[Table]:
    """Yield median tokens by group of items, for every grouping of 2 to 12 groups."""
    table = part.table
    groupings = {word(name): (codes, table.group_names[name])
                 for name, codes in table.groups.items()}  # fmt: skip
    for level, codes in table.strata.items():
        if level == _FINEST:
            continue
        name = word(table.level_names.get(level, level))
        groupings.setdefault(name, (codes, table.stratum_names[level]))
    rows: list[tuple[Cell, ...]] = []
    for name, (codes, names) in groupings.items():
        groups = [(code, group) for code, group in enumerate(names) if group]
        if 2 <= len(groups) <= _MOST_GROUPS:
            for label, tokens in told.items():
                reasoning = mean_lengths(part, label, reasoning=True)
                for code, group in groups:
                    own = codes == code
                    rows.append(
                        (label, name, group, int((own & ~np.isnan(tokens)).sum()),
                         _median(part, tokens, own), _median(part, reasoning, own))
                    )  # fmt: skip
    if not rows:
        return
    yield Table(
        title=say("Median tokens by group"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="by", name=say("groups")),
            Column(key="group", name=say("group")),
            Column(key="n", name="n", digits=0),
            Column(key="tokens", name=say("tokens"), digits=0,
                   help=say("median over questions of a response's tokens, with its interval")),
            Column(key="reasoning", name=say("reasoning"), digits=0,
                   help=say("the part that the endpoint counts as reasoning")),
        ),
        rows=tuple(rows),
        sorts=False,
    )  # fmt: skip


def _median(part: Part, tokens: Floats | None, own: NDArray[np.bool_]) -> Cell:
    """Return the median, without an interval if no variance was observed."""
    units = np.flatnonzero(own if tokens is None else own & ~np.isnan(tokens))
    if tokens is None or not len(units):
        return None
    found = median_estimate(tokens[units], part.sheet.keys.among(units), **part.interval)
    return found if found.low < found.high else found.value


def mean_lengths(part: Part, label: str, *, reasoning: bool = False) -> NDArray[np.float64] | None:
    """Return a model's mean tokens by unit, NaN if unknown; None if all are unknown."""
    if part.lengths is None:
        return None
    mine = part.lengths.respondent == part.complete[label]
    tokens = (part.lengths.reasoning if reasoning else part.lengths.completion)[mine]
    units = part.lengths.unit[mine]
    known = ~np.isnan(tokens)
    if not known.any():
        return None
    n = len(part.table.items)
    counts = np.bincount(units[known], minlength=n)
    sums = np.bincount(units[known], weights=tokens[known], minlength=n)
    found: NDArray[np.float64] = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return np.where(np.isnan(part.sheet.values[:, part.complete[label]]), np.nan, found)


def _lengths_finding(part: Part, told: dict[str, NDArray[np.float64]]) -> str:
    means = {label: float(np.nanmean(tokens)) for label, tokens in told.items()}
    span = say(
        "Responses have {shortest:,.0f} to {longest:,.0f} tokens on average",
        shortest=min(means.values()),
        longest=max(means.values()),
    )
    if len(means) < 3:
        return say("{said}.", said=span)
    accuracy = [float(np.nanmean(part.sheet.values[:, part.complete[label]])) for label in means]
    tau = tau_b(np.array(list(means.values())), np.array(accuracy))
    if np.isnan(tau):
        return say(
            "{said}; the rank correlation with accuracy is undefined, as all values are equal.",
            said=span,
        )
    return say(
        "{said}; Kendall's tau-b of length with accuracy over {n} models is {tau:z.2f}.",
        said=span,
        n=len(means),
        tau=tau,
    )


_MOST_DRAWN = 12  # models of a figure

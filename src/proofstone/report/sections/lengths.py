"""Do longer replies score higher, once harder items are compared with themselves?"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from proofstone.engines.stats import (
    LengthEffect,
    equal_weights,
    length_effect,
    mean_estimates,
)
from proofstone.engines.stats.lengths import Slope
from proofstone.records.results import Estimate
from proofstone.report.numbers import points
from proofstone.report.sections.drawn import LengthBin, chance_levels, lengths_figure
from proofstone.report.sections.length_bins import length_bins, length_curves
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Cell, Column, Evidence, Figure, Section, Table
from proofstone.report.sheet import Sheet
from proofstone.wording import noted, say

__all__ = ["lengths_section"]

_PARTS = 5


def lengths_section(evidence: Evidence) -> Section | None:
    """The change of score for a reply twice as long, over items and within items. None unless the
    tokens of replies are known."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or sheet.table.tokens is None:
        return None
    table, tokens = sheet.table, sheet.table.tokens
    level = evidence.board.confidence
    keys = sheet.keys if evidence.estimand == "knowledge" else None
    rows: list[tuple[Cell, ...]] = []
    for label, who in zip(ranked.labels, ranked.respondents, strict=True):
        own = np.flatnonzero(table.respondent == who)
        effect = length_effect(
            sheet.counted[own], tokens[own], table.unit[own], keys=keys, confidence=level
        )
        length = np.nanmedian(tokens[own]) if (~np.isnan(tokens[own])).any() else math.nan
        rows.append((label, *_cells(float(length), effect, level)))
    chosen = np.flatnonzero(np.isin(table.respondent, list(ranked.respondents)))
    everyone = length_effect(
        sheet.counted[chosen],
        tokens[chosen],
        table.unit[chosen],
        table.respondent[chosen],
        keys=keys,
        confidence=level,
    )
    if not everyone.over_items.n:
        return None
    middle = float(np.nanmedian(tokens[chosen]))
    bins, curves = length_bins(evidence, sheet, ranked), length_curves(evidence, sheet, ranked)
    return Section(
        name="length",
        title=say("Score by response length"),
        finding=_finding(everyone),
        cannot=_cannot(everyone),
        how=(
            say(
                "The slope of the score on the binary logarithm of the reply's tokens: the "
                "change for a reply twice as long. Over items difficulty is in it, since hard "
                "items draw long replies; within items replies to the same item are compared, "
                "each model's own level taken out. Errors are clustered by item and by what "
                "items share; {level:g}% intervals.",
                level=100 * level,
            )
        ),
        tables=(
            _table([(say("all models"), *_cells(middle, everyone, level)), *rows]),
            *([bins] if bins else []),
        ),
        figures=(*([curves] if curves else []), *_figures(evidence, ranked, sheet)),
    )


def _figures(evidence: Evidence, ranked: RankedValues, sheet: Sheet) -> Iterator[Figure]:
    """Each model's score on its replies in five parts by their length."""
    bins = [
        each
        for label, who in zip(ranked.labels, ranked.respondents, strict=True)
        for each in _bins(evidence, sheet, label, who)
    ]
    figure = lengths_figure(
        bins, level=evidence.board.confidence, chance=chance_levels(ranked.group)
    )
    if figure is not None:
        yield figure


def _bins(evidence: Evidence, sheet: Sheet, label: str, who: int) -> Iterator[LengthBin]:
    """The parts in order; equal lengths stay together, so that some may be larger than others."""
    table, tokens = sheet.table, sheet.table.tokens
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
            estimand=evidence.estimand,
            confidence=evidence.board.confidence,
        )
        yield LengthBin(label=label, tokens=float(np.median(tokens[rows])), score=score)


def _finding(found: LengthEffect) -> str:
    over = _signed(found.over_items)
    if math.isnan(found.within_items.value):
        return say(
            "Over items, a reply twice as long scores {over} points; nothing is known within "
            "items.",
            over=over,
        )
    return say(
        "Over items, a reply twice as long scores {over} points; compared on the same item, "
        "{within}.",
        over=over,
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


def _cells(length: float, effect: LengthEffect, level: float) -> tuple[Cell, ...]:
    return (
        length,
        _estimate(effect.over_items, level),
        _estimate(effect.within_items, level),
        effect.confounded,
    )


def _estimate(slope: Slope, level: float) -> Estimate:
    return Estimate(
        value=slope.value,
        n=slope.n,
        low=slope.low,
        high=slope.high,
        level=level,
        estimand=noted("items like these"),
        made_by="least squares, errors clustered by item",
        resampled="items",
        effective_n=float(slope.n_items),
    )


def _table(rows: list[tuple[Cell, ...]]) -> Table:
    return Table(
        title=say("Points for a reply twice as long"),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="tokens", name=say("median tokens"), digits=0),
            Column(key="over_items", name=say("over items"), unit="points"),
            Column(key="within_items", name=say("on the same item"), unit="points",
                   help=say("needs several replies to an item")),
            Column(key="confounded", name=say("by difficulty"), unit="points",
                   help=say("the part of the first that the second does not bear out")),
        ),
        rows=tuple(rows),
    )  # fmt: skip

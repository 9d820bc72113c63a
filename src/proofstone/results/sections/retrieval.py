"""What a search is worth: each model without it and with it, and how far models lie apart
(Chinese SimpleQA 4.4 and F, Figure 6 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from proofstone.errors import BadUsage
from proofstone.page.numbers import points
from proofstone.page.section import Cell, Column, Mark
from proofstone.records.ids import canonical_json
from proofstone.records.items import CONTEXT_SETTINGS, context_label, context_of, search_label
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import linear_values
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
)
from proofstone.stats.estimates import measure_spread
from proofstone.stats.factors import Apart, SpreadApart, spread_apart
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import noted, paragraph, say, say_of, word

_RANGE = noted("highest less lowest")


class _Pair(NamedTuple):
    """One model in one way: how it was asked, its label without a search and with one."""

    asked: HowAsked
    source: str
    without: str
    found: str

    @property
    def name(self) -> str:
        return f"{self.asked.model} {_way_alone(self.asked)}"


def study_retrieval(parts: Sequence[Part]) -> Analysis:
    """For each search and each model that was asked with nothing and with what that search found,
    and in nothing else differently: every measure without and with, and the paired difference. For
    each search with two models or more, how far they lie apart without and with: the highest less
    the lowest, and the standard deviation. Raises BadUsage where no model was asked both ways."""
    (part,) = parts
    pairs = sorted(_pairs(part), key=lambda pair: (pair.source, pair.asked.model))
    if not pairs:
        raise BadUsage(
            "no model here was asked both without a search and with what one found",
            hint="proofstone run TARGET -m MODEL --context none,retrieved; status lists what is "
            "not complete",
        )
    headline = next(iter(part.sheets))
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    findings: list[str] = []
    for source in dict.fromkeys(pair.source for pair in pairs):
        own = [pair for pair in pairs if pair.source == source]
        changes = []
        for pair in own:
            units, _values = part.block([pair.without, pair.found])
            for measure, sheet in part.sheets.items():
                before, after = part.measured(sheet, units, pair.without, pair.found)
                change = part.measured_change(sheet, units, pair.without, pair.found)
                rows.append((pair.name, source, word(measure), len(units), before, after, change))
                if measure == headline:
                    changes.append(change)
                    at = f"{pair.name}, {source}"
                    marks += [mark_of("without", at, before), mark_of("with", at, after)]
        apart = [] if len(own) < 2 else _apart(part, own)
        rows += [each.row for each in apart]
        findings.append(_finding(source, changes, apart, headline))
    return make_analysis(
        "retrieval",
        say("Asked with what a search found, against asked with nothing"),
        paragraph(*findings),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="search", name=say("search")),
            Column(key="measure", name=say("measure")),
            Column(key="n", name="n"),
            Column(key="without", name=say("without"), unit="points"),
            Column(key="with", name=say("with"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
        ),
        rows=rows,
        axes=("model", headline),
        marks=marks,
        notes=(
            say(
                "difference: with less without, on the same questions, with its interval. between "
                "models: highest less lowest, and standard deviation, on the questions that all "
                "have in common; intervals from draws of all means together."
            ),
            *left_out(parts, [label for pair in pairs for label in (pair.without, pair.found)]),
        ),
    )


def _pairs(part: Part) -> list[_Pair]:
    """Models asked without a search and with one, alike in all else; both complete."""
    without: dict[bytes, str] = {}
    found: list[tuple[bytes, HowAsked, str]] = []
    for label, place in part.complete.items():
        asked = part.asked[place]
        others = {n: v for n, v in asked.settings.items() if n not in CONTEXT_SETTINGS}
        key = canonical_json([asked.model, _way_alone(asked), others])
        context = context_of(asked.settings)
        if context == "none":
            without.setdefault(key, label)
        elif context == "retrieved":
            found.append((key, asked, label))
    return [
        _Pair(asked, search_label(asked.settings), without[key], label)
        for key, asked, label in found
        if key in without
    ]


def _way_alone(asked: HowAsked) -> str:
    """The way of asking without the mark of what stood in the prompt, which is what differs."""
    label = context_label(asked.settings)
    return asked.way.replace(f" {label}", "", 1) if label else asked.way


class _ApartRow(NamedTuple):
    """How far models lie apart by a measure, in one kind of spread: without, with, the change."""

    measure: str
    kind: str
    row: tuple[Cell, ...]
    found: tuple[Apart, Apart, Apart]


def _apart(part: Part, pairs: Sequence[_Pair]) -> list[_ApartRow]:
    """How far the models lie apart by the headline, and by each measure that is a ratio."""
    labels = [*(pair.without for pair in pairs), *(pair.found for pair in pairs)]
    units, _values = part.block(labels)
    places = [part.complete[label] for label in labels]
    rows: list[_ApartRow] = []
    for measure, sheet in part.sheets.items():
        values = linear_values(sheet, units, places)
        if not len(units) or np.isnan(values).any():  # a ratio of nothing
            continue
        if sheet is part.sheet or sheet.weights:
            keys = sheet.keys.among(units)
            spread = measure_spread(values, equal_weights(len(units)), keys, part.estimand)
            apart = spread_apart(
                spread.means, spread.covariance(), degrees=spread.groups - 1.0,
                confidence=part.confidence,
            )  # fmt: skip
            name = say("between models ({n})", n=len(pairs))
            for kind, found in _kinds(apart).items():
                said = say("{measure}, {kind}", measure=word(measure), kind=word(kind))
                cells = (
                    Estimate(value=each.value, n=len(units), low=each.low, high=each.high)
                    for each in found
                )
                row: tuple[Cell, ...] = (name, pairs[0].source, said, len(units), *cells)
                rows.append(_ApartRow(measure, kind, row, found))
    return rows


def _kinds(apart: SpreadApart) -> dict[str, tuple[Apart, Apart, Apart]]:
    return {
        _RANGE: (apart.range_before, apart.range_after, apart.range_change),
        noted("standard deviation"): (
            apart.deviation_before, apart.deviation_after, apart.deviation_change,
        ),
    }  # fmt: skip


def _finding(
    source: str, changes: Sequence[Estimate], apart: Sequence[_ApartRow], headline: str
) -> str:
    said = say_of(
        len(changes),
        "With {source}, {measure} changes by {points:+z.1f} points in the median of {n} model; it "
        "rises resolvably for {rises} and falls for {falls}",
        "With {source}, {measure} changes by {points:+z.1f} points in the median of {n} models; it "
        "rises resolvably for {rises} and falls for {falls}",
        source=source,
        measure=word(headline),
        points=100 * float(np.median([change.value for change in changes])),
        n=len(changes),
        **count_resolved(changes),
    )
    ranges = [each.found for each in apart if (each.measure, each.kind) == (headline, _RANGE)]
    if not ranges:
        return say("{said}.", said=said)
    before, after, change = ranges[0]
    told = say("not resolved")
    if change.high < 0.0 or change.low > 0.0:
        told = say("closer together") if change.high < 0.0 else say("further apart")
    return say(
        "{said}; highest less lowest goes from {before} to {after} points ({told}).",
        said=said,
        before=points(before.value),
        after=points(after.value),
        told=told,
    )

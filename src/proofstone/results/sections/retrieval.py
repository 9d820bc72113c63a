"""What a search is worth: each model without it and with it, and how far models lie apart
(Chinese SimpleQA 4.4 and F, Figure 6 and Table 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from proofstone.errors import BadUsage
from proofstone.page.numbers import points, shown_estimate
from proofstone.records.ids import canonical_json
from proofstone.records.items import CONTEXT_SETTINGS, context_label, context_of, search_label
from proofstone.results.measured_scores import Sheet, linear_values, measure_estimates
from proofstone.results.sections.pairs import Change, pair_change
from proofstone.results.sections.parts import HowAsked, Part, Point, Study, left_out, point_of
from proofstone.stats.estimates import measure_spread
from proofstone.stats.factors import Apart, SpreadApart, spread_apart
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import equal_weights

_BETWEEN = "between models"


_RANGE = "highest less lowest"


class _Pair(NamedTuple):
    """One model in one way: how it was asked, its label without a search and with one."""

    asked: HowAsked
    source: str
    without: str
    found: str

    @property
    def name(self) -> str:
        return f"{self.asked.model} {_way_alone(self.asked)}"


def study_retrieval(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
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
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    findings: list[str] = []
    notes: list[str] = []
    for source in dict.fromkeys(pair.source for pair in pairs):
        own = [pair for pair in pairs if pair.source == source]
        changes = []
        for pair in own:
            for measure, sheet in part.sheets.items():
                row, shown, change = _row(part, pair, measure, sheet, estimand, confidence)
                rows.append(row)
                if measure == headline:
                    changes.append(change)
                    marks += shown
        apart = [] if len(own) < 2 else _apart(part, own, estimand, confidence)
        rows += [each.row for each in apart]
        findings.append(_finding(source, changes, apart, headline))
    labels = [label for pair in pairs for label in (pair.without, pair.found)]
    notes += left_out(parts, labels)
    return Study(
        name="retrieval",
        title="Asked with what a search found, against asked with nothing",
        finding=" ".join(findings),
        columns=("model", "search", "measure", "n", "without", "with", "difference"),
        rows=tuple(rows),
        x_axis="model",
        y_axis=headline,
        points=tuple(marks),
        notes=(
            "difference: with less without, on the same questions, with its interval. between "
            "models: highest less lowest, and standard deviation, on the questions that all have "
            "in common; intervals from draws of all means together.",
            *notes,
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


def _row(
    part: Part, pair: _Pair, measure: str, sheet: Sheet, estimand: Estimand, confidence: float
) -> tuple[tuple[str, ...], list[Point], Change]:
    units, _values = part.block([pair.without, pair.found])
    places = [part.complete[pair.without], part.complete[pair.found]]
    before, after = measure_estimates(
        sheet, units, places, estimand=estimand, confidence=confidence
    )
    values = linear_values(sheet, units, places)
    change = pair_change(
        values[:, 0], values[:, 1], sheet.keys.among(units), estimand=estimand,
        confidence=confidence,
    )  # fmt: skip
    row = (
        pair.name, pair.source, measure, f"{len(units):,}", shown_estimate(before),
        shown_estimate(after), change.shown,
    )  # fmt: skip
    marks = [
        point_of("without", f"{pair.name}, {pair.source}", before),
        point_of("with", f"{pair.name}, {pair.source}", after),
    ]
    return row, marks, change


class _ApartRow(NamedTuple):
    """How far models lie apart by a measure, in one kind of spread: without, with, the change."""

    measure: str
    kind: str
    row: tuple[str, ...]
    found: tuple[Apart, Apart, Apart]


def _apart(
    part: Part, pairs: Sequence[_Pair], estimand: Estimand, confidence: float
) -> list[_ApartRow]:
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
            spread = measure_spread(values, equal_weights(len(units)), keys, estimand)
            apart = spread_apart(
                spread.means, spread.covariance(), degrees=spread.groups - 1.0,
                confidence=confidence,
            )  # fmt: skip
            name = f"{_BETWEEN} ({len(pairs)})"
            for kind, found in _kinds(apart).items():
                before, after, change = found
                row = (
                    name, pairs[0].source, f"{measure}, {kind}", f"{len(units):,}",
                    _points(before), _points(after),
                    Change(change.value, change.low, change.high).shown,
                )  # fmt: skip
                rows.append(_ApartRow(measure, kind, row, found))
    return rows


def _kinds(apart: SpreadApart) -> dict[str, tuple[Apart, Apart, Apart]]:
    return {
        _RANGE: (apart.range_before, apart.range_after, apart.range_change),
        "standard deviation": (
            apart.deviation_before, apart.deviation_after, apart.deviation_change,
        ),
    }  # fmt: skip


def _points(apart: Apart) -> str:
    return f"{points(apart.value)} [{points(apart.low)}, {points(apart.high)}]"


def _finding(
    source: str, changes: Sequence[Change], apart: Sequence[_ApartRow], headline: str
) -> str:
    middle = float(np.median([change.value for change in changes]))
    rises = sum(change.is_rise for change in changes)
    falls = sum(change.is_drop for change in changes)
    text = (
        f"With {source}, {headline} changes by {100 * middle:+z.1f} points in the median of "
        f"{len(changes)} {'model' if len(changes) == 1 else 'models'}; it rises resolvably for "
        f"{rises} and falls for {falls}"
    )
    ranges = [each.found for each in apart if (each.measure, each.kind) == (headline, _RANGE)]
    if not ranges:
        return f"{text}."
    before, after, change = ranges[0]
    word = "not resolved"
    if change.high < 0.0 or change.low > 0.0:
        word = "closer together" if change.high < 0.0 else "further apart"
    return (
        f"{text}; highest less lowest goes from {points(before.value)} to {points(after.value)} "
        f"points ({word})."
    )

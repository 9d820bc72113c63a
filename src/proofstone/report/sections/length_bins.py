"""Scores by the length of replies, and by how hard the items are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats.dependence import Dependence
from proofstone.records.results import Estimate
from proofstone.report.sections.ranked_values import RankedValues
from proofstone.report.sections.section import Column, Evidence, Figure, Mark, Table
from proofstone.report.sheet import Sheet
from proofstone.wording import say

__all__ = ["length_bins", "length_curves"]

Floats = NDArray[np.float64]

_BINS, _THIRDS = 5, 3


def length_bins(evidence: Evidence, sheet: Sheet, ranked: RankedValues) -> Table | None:
    """The share right of all ranked models' replies by fifths of their length, of all items and of
    the easy, middling and hard third; None where lengths hardly differ."""
    found = _binned(evidence, sheet, ranked)
    if found is None:
        return None
    ranges, cells = found
    return Table(
        title=say("Scores by length and difficulty"),
        columns=(
            Column(key="from", name=say("tokens from"), digits=0),
            Column(key="to", name=say("to"), digits=0),
            Column(key="n", name="n", help=say("replies of this length")),
            Column(key="all", name=say("all items"), unit="points"),
            *(Column(key=key, name=name, unit="points") for key, name in _thirds().items()),
        ),
        rows=tuple(
            (low, high, row[0].n, *(each if each.n else None for each in row))
            for (low, high), row in zip(ranges, cells, strict=True)
        ),
        note=say(
            "Fifths of all replies by length; items in thirds by their mean score. Down a column "
            "difficulty is nearly the same."
        ),
        sorts=False,
    )


def length_curves(evidence: Evidence, sheet: Sheet, ranked: RankedValues) -> Figure | None:
    """The same as curves: one for each third of the items by difficulty."""
    found = _binned(evidence, sheet, ranked)
    if found is None:
        return None
    ranges, cells = found
    names = [say("all items"), *_thirds().values()]
    return Figure(
        name="length",
        kind="curves",
        title=say("Scores by length and difficulty"),
        subtitle=say("fifths of all replies by their tokens, with intervals"),
        marks=tuple(
            Mark(
                row=name,
                x=(low + high) / 2.0,
                value=each.value,
                low=each.low,
                high=each.high,
                n=each.n,
            )
            for place, name in enumerate(names)
            for (low, high), row in zip(ranges, cells, strict=True)
            if (each := row[place]).n
        ),
        x_axis=say("tokens"),
        x_unit="number",
        value_axis=say("score"),
        is_log=True,
        table=2,
    )


def _thirds() -> dict[str, str]:
    return {"easy": say("easy third"), "middle": say("middle third"), "hard": say("hard third")}


def _binned(
    evidence: Evidence, sheet: Sheet, ranked: RankedValues
) -> tuple[list[tuple[float, float]], list[list[Estimate]]] | None:
    """The range of tokens of each bin, and its scores: of all items, then of each third."""
    table = sheet.table
    if table.tokens is None:
        return None
    kept = np.isin(table.respondent, list(ranked.respondents)) & (np.nan_to_num(table.tokens) > 0)
    kept &= ~np.isnan(sheet.counted) & np.isin(table.unit, ranked.units)
    tokens, scores, unit = table.tokens[kept], sheet.counted[kept], table.unit[kept]
    if not len(tokens):
        return None
    edges = np.unique(np.quantile(tokens, np.linspace(0.0, 1.0, _BINS + 1)))
    if len(edges) < 3:
        return None
    place = np.clip(np.searchsorted(edges, tokens, side="right") - 1, 0, len(edges) - 2)
    ease = np.full(len(table.items), np.nan)
    ease[ranked.units] = ranked.values.mean(axis=1)
    order = np.argsort(np.argsort(-ease[ranked.units], kind="stable"), kind="stable")
    third = np.zeros(len(table.items), dtype=np.int64)
    third[ranked.units] = order * _THIRDS // max(len(order), 1)
    keys = sheet.keys if evidence.estimand == "knowledge" else None
    dependence = Dependence.of(len(unit), unit, keys)
    sets = [np.ones(len(unit), dtype=bool), *(third[unit] == k for k in range(_THIRDS))]
    ranges, cells = [], []
    for number in range(len(edges) - 1):
        inside = place == number
        member = np.column_stack([inside & chosen for chosen in sets]).astype(np.float64)
        ranges.append((float(edges[number]), float(edges[number + 1])))
        cells.append(_estimates(member, scores, dependence, evidence.board.confidence))
    return ranges, cells


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
            estimand="replies like these",
            made_by=found.made_by[place] if n else "none",
            resampled="items" if dependence.is_shared else "replies",
            effective_n=dependence.among(member[:, place] > 0).groups,
        )
        for place, n in enumerate(member.sum(axis=0).astype(int).tolist())
    ]

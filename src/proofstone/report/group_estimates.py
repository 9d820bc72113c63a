"""Respondents by groups of items: by strata, by what the method groups by, by gold position."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import SharedKeys, equal_weights
from proofstone.records.results import Estimate, values_kind
from proofstone.report.board import Breakdown, BreakdownGroup, GroupMeasure
from proofstone.report.measured import measure_estimates
from proofstone.report.ruler import Ruler

__all__ = ["NOT_GIVEN", "break_down", "break_down_by_document"]

NOT_GIVEN = "(not given)"
_Grouping = tuple[str, str, NDArray[np.int32], tuple[str, ...]]  # by, level, codes (U), names


def break_down(
    ruler: Ruler,
    respondents: Sequence[int],
    units: NDArray[np.int64],
    values: NDArray[np.float64],
    keys: SharedKeys,
) -> Iterator[Breakdown]:
    """One a grouping that tells units apart. ``values`` (units, respondents) and ``keys`` are of
    ``units``, which all respondents have; measures that are shown by group stand beside."""
    for by, level, codes, names in _groupings(ruler):
        of_units = codes[units]
        found = []
        for code in np.unique(of_units).tolist():
            places = np.flatnonzero(of_units == code)
            found.append(
                BreakdownGroup(
                    name=names[code] or NOT_GIVEN,
                    n=len(places),
                    estimates=_estimates(ruler, places, values, keys),
                    others=tuple(_others(ruler, units[places], respondents)),
                )
            )
        yield Breakdown(
            by=by, level=level, groups=tuple(sorted(found, key=lambda group: group.name))
        )


def break_down_by_document(
    ruler: Ruler, units: NDArray[np.int64], values: NDArray[np.float64], keys: SharedKeys
) -> Breakdown | None:
    """By the documents that ``units`` rest on, those of most units first and units without one
    last; None where none of them rests on a known one. A unit counts in each of its documents."""
    documents = ruler.sheet.table.documents
    if documents is None:
        return None
    place = np.full(len(ruler.sheet.table.items), -1, dtype=np.int64)
    place[units] = np.arange(len(units))
    edges = np.unique(np.stack([documents.document, place[documents.unit]]), axis=1)
    edges = edges[:, edges[1] >= 0]
    if not edges.size:
        return None
    codes, starts = np.unique(edges[0], return_index=True)
    parts = [
        (documents.names[code], places)
        for code, places in zip(codes.tolist(), np.split(edges[1], starts[1:]), strict=True)
    ]
    parts.sort(key=lambda part: (-len(part[1]), part[0]))
    rest = np.setdiff1d(np.arange(len(units)), edges[1])
    groups = [
        BreakdownGroup(name=name, n=len(places), estimates=_estimates(ruler, places, values, keys))
        for name, places in [*parts, *([(NOT_GIVEN, rest)] if len(rest) else [])]
    ]
    return Breakdown(by="document", groups=tuple(groups))


def _estimates(
    ruler: Ruler, places: NDArray[np.int64], values: NDArray[np.float64], keys: SharedKeys
) -> tuple[Estimate, ...]:
    return ruler.estimates(values[places], equal_weights(len(places)), keys.among(places))


def _others(
    ruler: Ruler, units: NDArray[np.int64], respondents: Sequence[int]
) -> Iterator[GroupMeasure]:
    for name, (measure, sheet) in ruler.others.items():
        if measure.by_group and sheet.table.items == ruler.sheet.table.items:
            estimates = measure_estimates(
                sheet, units, respondents, estimand=ruler.estimand, confidence=ruler.confidence
            )
            yield GroupMeasure(name=name, label=measure.label or name, estimates=estimates)


def _groupings(ruler: Ruler) -> Iterator[_Grouping]:
    """Each stratum level that tells units apart, what the method groups by, then the gold option's
    position, or the right answer where answers are no letters."""
    table = ruler.sheet.table
    for level in ruler.telling_levels:
        by = table.level_names.get(level, level)
        yield by, level, table.strata[level], table.stratum_names[level]
    for name, codes in table.groups.items():
        if any(table.group_names[name]):
            yield name, "", codes, table.group_names[name]
    has_places = table.order is None  # else a letter stood in several places
    if any(table.golds) and not values_kind(ruler.scale) and has_places:
        are_letters = all(len(gold) <= 1 for gold in table.golds)
        yield "gold position" if are_letters else "truth", "", table.gold, table.golds

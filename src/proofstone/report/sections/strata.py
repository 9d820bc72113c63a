"""Accuracy by stratum: where a model's points come from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import structs

from proofstone.records.results import Estimate
from proofstone.report.board import Breakdown, Standings
from proofstone.report.numbers import points
from proofstone.report.sections.section import Column, Evidence, Figure, Mark, Section, Table
from proofstone.wording import counted

__all__ = ["strata_section"]

_MOST_DRAWN = 30  # rows of a figure that fits on a printed page


def strata_section(evidence: Evidence) -> Section | None:
    """One table and heat map a level; None without strata."""
    group = next((group for group in evidence.board.standings if group.breakdowns), None)
    if group is None:
        return None
    parts, alike = _distinct(group.breakdowns)
    group = structs.replace(group, breakdowns=parts)
    return Section(
        name="strata",
        title="Where the points come from",
        finding=_finding(group),
        plain=_plain(group),
        cannot=_cannot(group),
        how="The mean of each model over the items of each group, with its interval. Groups were "
        "not drawn: an interval speaks of other items of the same group.",
        tables=tuple(_table(group, part) for part in group.breakdowns),
        figures=tuple(_heat(group, part) for part in group.breakdowns if len(part.groups) > 1),
        notes=alike,
    )


def _distinct(
    breakdowns: Sequence[Breakdown],
) -> tuple[tuple[Breakdown, ...], tuple[str, ...]]:
    """Those that group the items in ways of their own, and notes on those that repeat another."""
    first: dict[object, Breakdown] = {}
    notes = []
    for part in breakdowns:
        cells = [(each.n, *(estimate.value for estimate in each.estimates)) for each in part.groups]
        known = first.setdefault(tuple(sorted(cells)), part)
        if known is not part:
            notes.append(f"By {part.by} the items fall into the same groups as by {known.by}.")
    return tuple(first.values()), tuple(notes)


def _finding(group: Standings) -> str:
    parts = [f"{part.by} ({counted(len(part.groups), 'group')})" for part in group.breakdowns]
    best = group.ranked[0]
    leads = sum(1 for each in group.breakdowns[0].groups if _leader(each.estimates) == 0)
    of = group.breakdowns[0]
    said = (
        f" {best.label}, first overall, is also first in {leads} of the {len(of.groups)} groups "
        f"by {of.by}."
        if len(group.ranked) > 1
        else ""
    )
    return f"Scores by {', '.join(parts)}.{said}"


def _leader(estimates: Sequence[Estimate]) -> int:
    """The place of the highest value; 0 where none is known."""
    known = [-1.0 if math.isnan(each.value) else each.value for each in estimates]
    return known.index(max(known))


def _plain(group: Standings) -> str:
    part = group.breakdowns[0]
    first = [(each.estimates[0].value, each.name) for each in part.groups]
    known = sorted(pair for pair in first if not math.isnan(pair[0]))
    if len(known) < 2:
        return ""
    (low, worst), (high, best) = known[0], known[-1]
    return (
        f"{group.ranked[0].label} is strongest in {best} ({points(high)}) and weakest in {worst} "
        f"({points(low)})."
    )


def _cannot(group: Standings) -> str:
    small = [each.name for part in group.breakdowns for each in part.groups if 0 < each.n < 30]
    if not small:
        return ""
    shown = ", ".join(small[:5]) + (f" and {len(small) - 5} more" if len(small) > 5 else "")
    return f"With fewer than 30 items a group says little of a model: {shown}."


def _table(group: Standings, part: Breakdown) -> Table:
    return Table(
        title=f"By {part.by}",
        columns=(
            Column(key=part.by, name=part.by),
            Column(key="n", name="n", help="items of this group"),
            *(Column(key=row.label, name=row.label, unit="points") for row in group.ranked),
        ),
        rows=tuple((each.name, each.n, *each.estimates) for each in part.groups),
    )


def _heat(group: Standings, part: Breakdown) -> Figure:
    n = len(group.ranked)
    cut = f"; the first {_MOST_DRAWN} of {n} models" if n > _MOST_DRAWN else ""
    return Figure(
        name=f"by-{part.by}",
        kind="heat",
        title=f"Scores by {part.by}",
        subtitle=f"{counted(group.n_items, 'item')}; points out of 100; darker is higher{cut}",
        marks=tuple(_heat_marks(group, part)),
        row_axis="model",
        column_axis=part.by,
        value_axis="points",
    )


def _heat_marks(group: Standings, part: Breakdown) -> Iterator[Mark]:
    for place, row in enumerate(group.ranked[:_MOST_DRAWN]):
        for each in part.groups:
            estimate = each.estimates[place]
            yield Mark(
                row=row.label,
                column=each.name,
                value=estimate.value,
                low=estimate.low,
                high=estimate.high,
                n=each.n,
                text=points(estimate.value),
            )

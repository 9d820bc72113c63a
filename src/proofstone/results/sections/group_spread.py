"""How much a model's scores differ between groups of items, beyond what few items explain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import Curve, Figure, Mark, column
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    group_codes,
    left_out,
    make_analysis,
)
from proofstone.stats.multiple_comparisons import holm
from proofstone.stats.spread import GroupSpread, density, spread_of_groups
from proofstone.wording.messages import counted, joined, say, word

_MOST_DRAWN = 10
_FEWEST_GROUPS, _FEWEST_DRAWN = 2, 8
_ALPHA = 0.05


class _Row(Struct, frozen=True):
    label: str
    spread: GroupSpread
    p: float
    """Holm-adjusted over the models."""


def analyze_spread(parts: Sequence[Part], *, level: str = "") -> Analysis:
    """Return for each model the distribution of its mean scores over the groups of a level.

    Without a ``level``, the one with the most groups. Groups need 2 items. Raises BadUsage if no
    model is complete, for an unknown level, and with fewer than 2 groups.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    level = level or max(
        part.table.stratum_names, key=lambda each: len(part.table.stratum_names[each]), default=""
    )
    names, codes = group_codes(part, level, units)
    sizes = np.bincount(codes, minlength=len(names))
    kept = sizes >= 2
    if kept.sum() < _FEWEST_GROUPS:
        raise BadUsage(
            f"the spread of scores needs {_FEWEST_GROUPS} groups with 2 items or more, "
            f"got {int(kept.sum())}",
            hint=f"groups are known by: {', '.join(part.table.stratum_names)}",
        )
    within = kept[codes]
    codes, values = np.unique(codes[within], return_inverse=True)[1], values[within]
    spreads = spread_of_groups(values, codes)
    adjusted = holm(np.array([each.p for each in spreads])).tolist()
    rows = sorted(
        (_Row(*each) for each in zip(labels, spreads, adjusted, strict=True)),
        key=lambda row: (-row.spread.mean, row.label),
    )
    what = word(part.table.level_names.get(level, level))
    title = say("Spread of scores over groups by {by}", by=what)
    return make_analysis(
        "spread",
        title,
        _finding(rows, int(kept.sum())),
        columns=(
            column("model", say("model"), "label"),
            column("groups", say("groups"), lambda row: len(row.spread.scores)),
            column("mean", say("mean"), lambda row: row.spread.mean, unit="points"),
            column("median", say("median"), lambda row: row.spread.median, unit="points"),
            column("low", say("lowest"), lambda row: min(row.spread.scores), unit="points"),
            column("high", say("highest"), lambda row: max(row.spread.scores), unit="points"),
            column("sd", say("SD"), lambda row: row.spread.sd, unit="points"),
            column("sampling", say("SD by sampling"), lambda row: row.spread.sampling_sd,
                   unit="points"),
            column("between", say("SD between groups"), lambda row: row.spread.between_sd,
                   unit="points"),
            column("p", say("p (Holm)"), lambda row: f"{row.p:.3f}"),
        ),
        rows=rows,
        axes=("group", part.measure.label or part.measure.name),
        marks=_marks(rows),
        notes=tuple(_notes(part, labels, sizes, spreads[0].n_permutations)),
        figures=_figures(rows, title),
    )  # fmt: skip


def _finding(rows: Sequence[_Row], n_groups: int) -> str:
    apart = [row.label for row in rows if row.p < _ALPHA]
    if not apart:
        return say(
            "No model's scores differ significantly more between the {n} groups than by random "
            "assignment of items (Holm-adjusted).",
            n=n_groups,
        )
    return say(
        "Scores differ significantly more between the {n} groups than by random assignment of "
        "items (Holm-adjusted) for {models}.",
        n=n_groups,
        models=joined(apart, 5),
    )


def _notes(part: Part, labels: Sequence[str], sizes: NDArray[np.int64], n: int) -> Iterator[str]:
    yield say(
        "Each group counts the same. SD by sampling: what the numbers of items alone would give. "
        "SD between groups: the square root of what is left of the variance, 0 if nothing is. The "
        "test permutes items among groups ({times:,} times), as if they were independent.",
        times=n,
    )
    if few := int(((sizes > 0) & (sizes < 2)).sum()):
        yield say("Left out: {groups} of one item.", groups=counted(few, "group"))
    yield from left_out([part], labels)


def _marks(rows: Sequence[_Row]) -> Iterator[Mark]:
    for row in rows:
        for place, score in enumerate(row.spread.scores, start=1):
            yield Mark(row=row.label, x=float(place), value=score)


def _figures(rows: Sequence[_Row], title: str) -> Iterator[Figure]:
    """Yield ridge lines of the best models; none where a density would be of very few groups."""
    n_groups = len(rows[0].spread.scores)
    if n_groups < _FEWEST_DRAWN:
        return
    drawn = rows[:_MOST_DRAWN]
    yield Figure(
        name="spread",
        kind="ridges",
        title=title,
        subtitle=say(
            "{n} groups; a tick is a group, the long line the median, the area a Gaussian density",
            n=n_groups,
        ),
        marks=tuple(Mark(row=row.label, value=x) for row in drawn for x in row.spread.scores),
        curves=tuple(
            Curve(row=row.label, x=tuple(x), values=tuple(high))
            for row in drawn
            for x, high in [density(row.spread.scores)]
        ),
        row_axis=say("model"),
        x_axis=say("score (%)"),
        value_axis=say("score (%)"),
        x_unit="points",
        value_unit="points",
    )

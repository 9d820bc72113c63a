"""Accuracy of a panel on the items that it admitted: with the answers that filtered, and others.

Items that are admitted because most of a panel answers wrong are partly admitted by sampling error.
So the panel's accuracy in the very answers that filtered is biased low. Further samples of the same
models are held out from the filter: on the admitted items they are unbiased for new answers.
Models outside the panel are held out too, and show how much harder the admitted items are for
models that had no part in the choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import column, points, shown_interval, signed_points
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    left_out,
    make_analysis,
    mark_of,
    paired_change,
    without_constant,
)
from proofstone.wording.messages import listed, say, word

Cube = NDArray[np.float64]


_RIGHT = 0.5  # an answer is wrong below it


class _Row(Struct, frozen=True):
    """A model, or the panel, with its accuracy on all items and on admitted ones.

    ``same`` is by the answers that filtered (None outside the panel), ``held_out`` by others, and
    ``difference`` the second less the first.
    """

    name: str
    everything: Estimate
    held_out: Estimate
    same: Estimate | None = None
    difference: Estimate | None = None


def analyze_panel(
    parts: Sequence[Part], *, panel: Sequence[str] = (), least_wrong: int | None = None
) -> Analysis:
    """Return the accuracy of the ``panel`` (labels or names of models) on the items it admits.

    An item is admitted by one sample of all panel models if at least ``least_wrong`` of them answer
    wrong (default: more than half). Each sample filters in turn; the other samples are held out.
    Raises BadUsage for unknown models, without two samples of every item, and if nothing is
    admitted.
    """
    (part,) = parts
    if not panel:
        raise BadUsage("no panel is named", hint="--panel A,B,C names the models that filter")
    labels = complete_everywhere(parts)
    members = [_member(name, part, labels) for name in panel]
    least = len(members) // 2 + 1 if least_wrong is None else least_wrong
    if not 1 <= least <= len(members):
        raise BadUsage(
            f"--least-wrong of a panel of {len(members)} must be 1 to {len(members)}, got {least}"
        )
    units, scores = _scores(part, labels)
    wrong = scores[:, [labels.index(label) for label in members]] < _RIGHT
    admitted = (wrong.sum(axis=1) >= least).astype(np.float64)
    if not admitted.any():
        raise BadUsage(
            "the panel admits none of these items",
            hint="lower --least-wrong, or run the items that were dropped as well",
        )
    rows = list(_rows(part, units, scores, admitted, labels, members))
    return make_analysis(
        "panel",
        say("The panel on the items that it admits"),
        _finding(rows, float(admitted.mean())),
        columns=(
            column("model", word("model"), "name"),
            column("all", say("all items"), "everything", unit="points"),
            column("same", say("admitted, the answers that filtered"), "same", unit="points"),
            column("held_out", say("admitted, other answers"), "held_out", unit="points"),
            column("difference", say("difference"), "difference", unit="change"),
        ),
        rows=rows,
        axes=("model", "accuracy"),
        marks=(mark_of("held-out answers", row.name, row.held_out) for row in rows),
        notes=(
            say("Panel: {models}; admitted with at least {n} wrong.", models=listed(members),
                n=least),
            say("Each sample filters in turn, and the others are held out. Results are averages of "
                "these filters, with intervals over items; the panel is fixed."),
            *left_out(parts, labels),
        ),
    )  # fmt: skip


def _member(name: str, part: Part, labels: Sequence[str]) -> str:
    """Return the label of a model by label or name. Raises BadUsage unless it is exactly one."""
    places = part.complete
    found = [
        label for label in labels if name in (label, part.table.respondents[places[label]].name)
    ]
    if len(found) != 1:
        raise BadUsage(
            f"{name!r} is {'no' if not found else 'more than one'} complete model here",
            hint=f"models: {', '.join(labels)}",
        )
    return found[0]


def _scores(part: Part, labels: Sequence[str]) -> tuple[NDArray[np.int64], Cube]:
    """Return the items with k samples of every model, and the scores (items, models, k)."""
    table, counted = part.table, part.sheet.counted
    n_samples = int(table.sample.max(initial=0)) + 1
    cube = np.full((len(table.items), len(labels), n_samples), np.nan)
    for place, label in enumerate(labels):
        own = table.respondent == part.complete[label]
        cube[table.unit[own], place, table.sample[own]] = counted[own]
    units = np.flatnonzero(~np.isnan(cube).any(axis=(1, 2)))
    if n_samples < 2 or not len(units):
        raise BadUsage(
            "held-out answers need two samples or more of every item by every model",
            hint="run with --samples 4; leave other runs out",
        )
    return units, cube[units]


def _rows(
    part: Part,
    units: NDArray[np.int64],
    scores: Cube,
    admitted: NDArray[np.float64],
    labels: Sequence[str],
    members: Sequence[str],
) -> Iterator[_Row]:
    """Yield the panel as a whole, its members, the mean of other models, and each of these."""
    place = {label: at for at, label in enumerate(labels)}
    others = [label for label in labels if label not in members]

    def row(name: str, chosen: Sequence[str], *, filters: bool) -> _Row:
        own = scores[:, [place[label] for label in chosen]].mean(axis=1)
        k = own.shape[1]
        everything = _mean(part, units, own.mean(axis=1))
        if not filters:
            rest = np.repeat(own.mean(axis=1, keepdims=True), k, axis=1)
            return _Row(name, everything, _on_admitted(part, units, rest, admitted))
        rest = np.round((own.sum(axis=1, keepdims=True) - own) / (k - 1), 12)
        gain = np.round(rest - own, 12)
        return _Row(
            name,
            everything,
            _on_admitted(part, units, rest, admitted),
            _on_admitted(part, units, own, admitted),
            without_constant(_on_admitted(part, units, gain, admitted)),
        )

    yield row(say("the panel"), members, filters=True)
    for label in members:
        yield row(label, [label], filters=True)
    if len(others) > 1:
        yield row(say("other models"), others, filters=False)
    for label in others:
        yield row(label, [label], filters=False)


def _on_admitted(
    part: Part, units: NDArray[np.int64], values: Cube, admitted: NDArray[np.float64]
) -> Estimate:
    """Return the mean of ``values`` (items, k) where ``admitted`` (items, k), as a ratio of sums.

    Its interval is that of the linearized ratio over items.
    """
    weight, total = admitted.sum(axis=1), (values * admitted).sum(axis=1)
    ratio = total.sum() / weight.sum()
    return _mean(part, units, ratio + (total - ratio * weight) / weight.mean())


def _mean(part: Part, units: NDArray[np.int64], values: NDArray[np.float64]) -> Estimate:
    both = np.stack([np.zeros(len(values)), values], axis=1)
    return paired_change(both, part.sheet.keys.among(units), part)


def _finding(rows: Sequence[_Row], share: float) -> str:
    """Return the first row, the panel's, in words, and that of the other models."""
    whole = rows[0]
    same, difference = whole.same or whole.held_out, whole.difference or whole.held_out
    said = say(
        "The panel admits {share}% of the items. On these its accuracy is {same} by the answers "
        "that filtered and {other} by held-out answers: {difference} {interval} points",
        share=points(share),
        same=points(same.value),
        other=points(whole.held_out.value),
        difference=signed_points(difference.value),
        interval=shown_interval(difference.low, difference.high),
    )
    others = [row for row in rows if row.same is None]
    if not others:
        return say("{said}.", said=said)
    return say(
        "{said}. The accuracy of {model} is {before} on all items and {after} on the admitted "
        "ones.",
        said=said,
        model=others[0].name,
        before=points(others[0].everything.value),
        after=points(others[0].held_out.value),
    )

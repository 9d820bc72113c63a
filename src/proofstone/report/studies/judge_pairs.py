"""Two judges of the same replies: agreement, what each model gains, and the order of models."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.engines.stats import (
    Estimand,
    SharedKeys,
    cohen_kappa,
    confuse,
    draw_means,
    equal_weights,
    measure_spread,
    rank_agreement,
    rank_all,
)
from proofstone.records.results import OUTCOMES, Estimate
from proofstone.report.measured import linear_values
from proofstone.report.studies.changes import Change, pair_change
from proofstone.report.studies.parts import Part

__all__ = ["JudgeChange", "JudgeOrder", "JudgePair", "compare_judges"]

Floats = NDArray[np.float64]
_Label = tuple[str, float]
_Place = tuple[str, bytes, int]  # model, item, sample


class JudgeChange(Struct, frozen=True, kw_only=True):
    """By how much a model's measures under the second judge lie above those under the first."""

    model: str
    by_measure: dict[str, Change]


class JudgeOrder(Struct, frozen=True, kw_only=True):
    """What two judges make of the order of models: ``tau`` over other items; of the ``n_pairs``
    pairs of models ``n_swapped`` stand in another order, and ``n_reversed`` are told apart by both
    in opposite ones."""

    tau: Estimate
    n_pairs: int
    n_swapped: int
    n_reversed: int


class JudgePair(Struct, frozen=True, kw_only=True):
    """Two judges, by the models that both graded whole.

    ``agree`` and ``kappa`` are of the replies that one of them was asked about and both labelled;
    ``n_unparsed`` more got no label by one. ``order`` is None for fewer than two models.
    """

    first: str
    second: str
    models: tuple[str, ...]
    agree: Estimate
    kappa: Estimate
    n_unparsed: int
    changes: tuple[JudgeChange, ...]
    order: JudgeOrder | None

    @property
    def names(self) -> str:
        """Both, as a table names them."""
        return f"{self.first} / {self.second}"


def compare_judges(
    first: Part, second: Part, *, estimand: Estimand, confidence: float
) -> JudgePair | None:
    """The two parts, of the models that are whole in both; None where there is none."""
    models = tuple(label for label in first.complete if label in second.complete)
    if not models:
        return None
    a, b, question, n_unparsed = _labels(first, second, models)
    keys = first.sheet.keys
    n_labels = int(max(a.max(initial=0), b.max(initial=0))) + 1
    units = _common_units(first, second, models)
    own = keys.among(units[0])
    values = [
        linear_values(part.sheet, of, [part.complete[model] for model in models])
        for part, of in zip((first, second), units, strict=True)
    ]
    return JudgePair(
        first=first.name,
        second=second.name,
        models=models,
        agree=confuse(a, b, n_labels, unit=question, keys=keys, confidence=confidence).accuracy,
        kappa=cohen_kappa(
            a, b, n_categories=n_labels, clusters=question, keys=keys, confidence=confidence
        ),
        n_unparsed=n_unparsed,
        changes=tuple(_changes(first, second, models, estimand, confidence)),
        order=_order(values[0], values[1], own, estimand, confidence),
    )


def _labels(
    first: Part, second: Part, models: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """The labels of replies that one of both was asked about (codes), the unit of each in the first
    part, and how many lack one of the two."""
    ours, theirs = _by_reply(first, models), _by_reply(second, models)
    unit = {item: place for place, item in enumerate(first.table.items)}
    codes: dict[_Label, int] = {}
    rows: list[tuple[int, int, int]] = []
    n_unparsed = 0
    for place, (label, judged) in ours.items():
        other = theirs.get(place)
        if other is None or not (judged or other[1]):
            continue
        if label is None or other[0] is None:
            n_unparsed += 1
            continue
        pair = [codes.setdefault(each, len(codes)) for each in (label, other[0])]
        rows.append((pair[0], pair[1], unit[place[1]]))
    table = np.array(rows, dtype=np.int64).reshape(len(rows), 3)
    return table[:, 0], table[:, 1], table[:, 2], n_unparsed


def _by_reply(part: Part, models: tuple[str, ...]) -> dict[_Place, tuple[_Label | None, bool]]:
    """What each reply came to (None without a label), and whether a judge was asked."""
    names = {part.complete[model]: model for model in models}
    table = part.table
    judged = np.ones(len(table.unit), dtype=bool) if part.judged is None else part.judged
    columns = (
        table.respondent.tolist(), table.unit.tolist(), table.sample.tolist(),
        table.outcome.tolist(), table.value.tolist(), judged.tolist(),
    )  # fmt: skip
    found: dict[_Place, tuple[_Label | None, bool]] = {}
    for who, unit, sample, outcome, value, was_judged in zip(*columns, strict=True):
        if who in names:
            name = OUTCOMES[outcome]
            label = (name, value if name == "answered" else 0.0)
            place = (names[who], table.items[unit], sample)
            found[place] = (None if name == "unparsed" else label, was_judged)
    return found


def _common_units(
    first: Part, second: Part, models: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The units that count for all of these models under both, as places in each part."""
    ours, theirs = first.block(models)[0], second.block(models)[0]
    place = {second.table.items[unit]: int(unit) for unit in theirs}
    kept = [int(unit) for unit in ours if first.table.items[unit] in place]
    return (
        np.array(kept, dtype=np.int64),
        np.array([place[first.table.items[unit]] for unit in kept], dtype=np.int64),
    )


def _changes(
    first: Part, second: Part, models: tuple[str, ...], estimand: Estimand, confidence: float
) -> list[JudgeChange]:
    found = []
    for model in models:
        ours, theirs = _common_units(first, second, (model,))
        keys = first.sheet.keys.among(ours)
        by_measure = {}
        for name, sheet in first.sheets.items():
            sides = (
                linear_values(sheet, ours, [first.complete[model]]),
                linear_values(second.sheets[name], theirs, [second.complete[model]]),
            )
            by_measure[name] = pair_change(
                sides[0][:, 0], sides[1][:, 0], keys, estimand=estimand, confidence=confidence
            )
        found.append(JudgeChange(model=model, by_measure=by_measure))
    return found


def _order(
    first: Floats, second: Floats, keys: SharedKeys, estimand: Estimand, confidence: float
) -> JudgeOrder | None:
    """The order of models by both from the same units; the same items are drawn for both."""
    m = first.shape[1]
    if m < 2 or not len(first):
        return None
    drawn = [draw_means(values, keys, estimand=estimand) for values in (first, second)]
    tau, _rho = rank_agreement(drawn[0], drawn[1], confidence=confidence)
    weighting = equal_weights(len(first))
    better = [
        rank_all(measure_spread(values, weighting, keys, estimand), confidence=confidence).better
        for values in (first, second)
    ]
    apart = [np.sign(np.subtract.outer(each.means, each.means)) for each in drawn]
    return JudgeOrder(
        tau=tau.items,
        n_pairs=m * (m - 1) // 2,
        n_swapped=int((apart[0] * apart[1] < 0).sum()) // 2,
        n_reversed=int((better[0] & better[1].T).sum()),
    )

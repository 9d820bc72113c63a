"""The life of a benchmark: when its items are due for replacement, and how difficulty drifts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

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
    pair_change,
)
from proofstone.stats.comparisons import measure_contrasts
from proofstone.wording.messages import counted, noted, say, word

# The refresh rule: new items are due once the strongest model is above a limit (KINA, section 6 and
# appendix G: 70%).
#
# The highest of m observed accuracies is biased upward, and so is its own interval. Simultaneous
# intervals (Bonferroni) hold all true accuracies at once, so the highest true accuracy lies between
# the highest lower bound and the highest upper bound, whichever model it belongs to.

_LIMIT = 70.0


Verdict = Literal["refresh", "near", "keep"]


class Strongest(Struct, frozen=True, kw_only=True):
    """Interval from ``low`` to ``high`` of the highest true accuracy, and what follows at a limit.

    ``leader`` is the index of the model with the highest observed accuracy ``value``.
    """

    leader: int
    value: float
    low: float
    high: float
    verdict: Verdict


def judge_strongest(estimates: Sequence[Estimate], limit: float) -> Strongest:
    """Return the strongest model by simultaneous ``estimates``, compared with ``limit`` in (0, 1].

    "refresh" only if the interval of the highest true accuracy lies above the limit, "near" if it
    contains it, otherwise "keep". An unknown bound counts as 0 or 1. Raises BadUsage for a limit
    outside.
    """
    if not 0.0 < limit <= 1.0:
        raise BadUsage(
            f"the limit of the strongest model must be above 0 and at most 100%, got "
            f"{100 * limit:g}%",
            hint="--threshold 70",
        )
    values = np.array([each.value for each in estimates])
    low = max(0.0 if math.isnan(each.low) else each.low for each in estimates)
    high = max(1.0 if math.isnan(each.high) else each.high for each in estimates)
    verdict: Verdict = "refresh" if low > limit else "near" if high >= limit else "keep"
    leader = int(values.argmax())
    return Strongest(
        leader=leader, value=float(values[leader]), low=low, high=high, verdict=verdict
    )


_VERDICTS = {
    "refresh": noted("refresh: new items are due"),
    "near": noted("near: the limit lies within the interval, so more items or models decide"),
    "keep": noted("keep: the strongest model is below the limit"),
}


def analyze_refresh(parts: Sequence[Part], *, threshold: float = _LIMIT) -> Analysis:
    """Return whether the strongest model's accuracy is above ``threshold`` (in %), with intervals.

    Raises BadUsage if no model is complete, and for a threshold outside (0, 100].
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    level = 1.0 - (1.0 - part.confidence) / len(labels)
    estimates = replace(part, confidence=level).estimates(labels)
    found = judge_strongest([estimates[label] for label in labels], threshold / 100.0)
    leader = labels[found.leader]
    rows = sorted(estimates.items(), key=lambda each: -each[1].value)
    return make_analysis(
        "refresh",
        say("The strongest model against {at:g}%", at=threshold),
        say(
            "{verdict}. {model} scores {value}; the highest true accuracy lies in {interval} at "
            "{level:g}% confidence, the limit is {at:g}.",
            verdict=word(_VERDICTS[found.verdict]),
            model=leader,
            value=points(found.value),
            interval=shown_interval(found.low, found.high),
            level=100 * part.confidence,
            at=threshold,
        ),
        columns=(
            column("model", word("model"), "0"),
            column("accuracy", say("accuracy"), "1", unit="points"),
            column("above", say("above the limit"), lambda row: _above(row[1], threshold / 100.0)),
        ),
        rows=rows,
        axes=("model", "accuracy"),
        marks=(mark_of("accuracy", label, estimate) for label, estimate in rows),
        notes=(
            say(
                "Intervals hold for all {models} together (Bonferroni), since the highest of "
                "several observed accuracies overstates its own.",
                models=counted(len(labels), "model"),
            ),
            *left_out(parts, labels),
        ),
    )


def _above(estimate: Estimate, limit: float) -> str:
    if estimate.low > limit:
        return word("yes")
    return word("no") if estimate.high < limit else word("not resolved")


# Drift between two versions, by the items of both and the models of both.


@dataclass(frozen=True, slots=True)
class _Versions:
    """Two versions: values (units, models) of each, and where the items of both are.

    ``first`` and ``second`` are indices of units, in the same order of items.
    """

    parts: tuple[Part, Part]
    labels: list[str]
    values: tuple[NDArray[np.float64], NDArray[np.float64]]
    units: tuple[NDArray[np.int64], NDArray[np.int64]]
    first: NDArray[np.int64]
    second: NDArray[np.int64]


class _Drift(Struct, frozen=True):
    """Changes of one model, or of the mean of all.

    ``before`` and ``after`` are the means on all items of each version, ``change`` the paired
    change on the items of both. ``removed`` and ``added`` are the items of one version alone less
    the items of both, in that version (None without any).
    """

    name: str
    before: Estimate
    after: Estimate
    change: Estimate
    removed: Estimate | None
    added: Estimate | None


def analyze_drift(parts: Sequence[Part]) -> Analysis:
    """Return the change on the items that two versions share, for the models of both.

    Versions are in the order of the targets. Paired by item, with intervals over items (and their
    clusters). Raises BadUsage unless there are two versions with items and complete models in
    common.
    """
    versions = _versions(parts)
    rows = list(_drifts(versions))
    whole = rows[0]
    n_common = len(versions.first)
    changed = _any_changed(versions)
    return make_analysis(
        "drift",
        say("Drift from {first} to {second}", first=parts[0].name, second=parts[1].name),
        _drift_finding(versions, whole, changed=changed),
        columns=(
            column("model", word("model"), "name"),
            column("before", say("first version"), "before", unit="points"),
            column("after", say("second version"), "after", unit="points"),
            column("change", say("change on the items of both"), "change", unit="change"),
            column("removed", say("removed items, less those"), "removed", unit="change"),
            column("added", say("added items, less those"), "added", unit="change"),
        ),
        rows=rows,
        axes=("model", "change"),
        marks=(mark_of("change", row.name, row.change) for row in rows),
        notes=(
            say(
                "{n:,} items are in both versions, {removed:,} in the first alone and {added:,} in "
                "the second alone. Changes are paired by item.",
                n=n_common,
                removed=len(versions.units[0]) - n_common,
                added=len(versions.units[1]) - n_common,
            ),
            say(
                "A change on the items of both may come from the items becoming known or from the "
                "models that endpoints serve: scores alone do not separate the two."
            )
            if changed
            else say(
                "Stored responses are used again for equal requests: run the second version with "
                "--replicate to ask again."
            ),
            *left_out(parts, [label for part in parts for label in _by_model(part).values()]),
        ),
    )


def _versions(parts: Sequence[Part]) -> _Versions:
    if len(parts) != 2:
        raise BadUsage(
            f"drift is between two versions, got {counted(len(parts), 'form')} with runs",
            hint="proofstone report FIRST SECOND --analysis drift",
        )
    old, new = (_by_model(part) for part in parts)
    labels = [name for name in old if name in new]
    if not labels:
        complete_everywhere(parts)  # says what to run
    asked = [[named[label] for label in labels] for named in (old, new)]
    (first_units, before), (second_units, after) = (
        part.block(own) for part, own in zip(parts, asked, strict=True)
    )
    items = parts[0].table.items
    place = {parts[1].table.items[unit]: at for at, unit in enumerate(second_units.tolist())}
    common = [
        (at, place[items[unit]])
        for at, unit in enumerate(first_units.tolist())
        if items[unit] in place
    ]
    if not common:
        raise BadUsage(
            "these two forms have no item in common",
            hint="drift is measured on the items that two versions of a form share: proofstone "
            "correct makes such a version, and so does build form with the same seed",
        )
    first, second = np.array(common, dtype=np.int64).T
    return _Versions(
        (parts[0], parts[1]), labels, (before, after), (first_units, second_units), first, second
    )


def _by_model(part: Part) -> dict[str, str]:
    """Map each complete model without its replicate to its label; the last replicate counts."""
    found = {}
    for label, place in part.complete.items():
        replicate = part.asked[place].replicate if part.asked else ""
        found[label.replace(f" replicate={replicate}", "") if replicate else label] = label
    return found


def _any_changed(versions: _Versions) -> bool:
    before, after = versions.values
    return bool((before[versions.first] != after[versions.second]).any())


def _drifts(versions: _Versions) -> Iterator[_Drift]:
    """Yield the mean of all models, then each model."""
    before, after = versions.values
    if len(versions.labels) > 1:
        yield _drift(versions, say("all models"), before.mean(axis=1), after.mean(axis=1))
    for place, label in enumerate(versions.labels):
        yield _drift(versions, label, before[:, place], after[:, place])


def _drift(
    versions: _Versions, name: str, before: NDArray[np.float64], after: NDArray[np.float64]
) -> _Drift:
    old, new = versions.parts
    keys = old.sheet.keys.among(versions.units[0][versions.first])
    own = [[next(iter(_by_model(part).values()))] for part in versions.parts]
    return _Drift(
        name,
        old.means(own[0], versions.units[0], before[:, None])[0],
        new.means(own[1], versions.units[1], after[:, None])[0],
        pair_change(before[versions.first], after[versions.second], keys, old),
        _alone(old, versions.units[0], before, versions.first),
        _alone(new, versions.units[1], after, versions.second),
    )


def _alone(
    part: Part, units: NDArray[np.int64], values: NDArray[np.float64], common: NDArray[np.int64]
) -> Estimate | None:
    """Return the mean of the items of one version alone less that of the items of both."""
    shared = np.zeros(len(units), dtype=bool)
    shared[common] = True
    if shared.all():
        return None
    both, only = np.where(shared, values, np.nan), np.where(shared, np.nan, values)
    keys = part.sheet.keys.among(units)
    found = measure_contrasts(both[:, None], only[:, None], keys, part.population, paired=False)
    return found.estimates(confidence=part.confidence)[0]


def _drift_finding(versions: _Versions, whole: _Drift, *, changed: bool) -> str:
    n = len(versions.first)
    models = counted(len(versions.labels), "model")
    if not changed:
        return say(
            "{models} score the same on each of the {n:,} items of both versions.",
            models=models,
            n=n,
        )
    change = whole.change
    said = say(
        "On the {n:,} items of both versions, {models} change by {change} {interval} points",
        n=n,
        models=models,
        change=signed_points(change.value),
        interval=shown_interval(change.low, change.high),
    )
    if change.low > 0.0:
        return say("{said}: they have become easier.", said=said)
    if change.high < 0.0:
        return say("{said}: they have become harder.", said=said)
    return say("{said}: no drift is resolved.", said=said)

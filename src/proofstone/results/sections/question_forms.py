"""The same questions over options, over shuffled options, and open (Chinese SimpleQA, appendix C,
Table 3): three accuracies on the same items, what shuffling changes, and the relative drop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.numbers import MISSING, shown_estimate
from proofstone.records.runs import Estimate
from proofstone.results.sections.pairs import Change, paired_change
from proofstone.results.sections.parts import (
    Part,
    Point,
    Study,
    complete_everywhere,
    left_out,
    point_of,
)
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates, outcome_code
from proofstone.stats.factors import relative_drop
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import equal_weights

FORMS = ("original", "shuffled", "open")


_NAMES = {"original": "options", "shuffled": "options shuffled", "open": "open"}


Floats = NDArray[np.float64]


_FEW = 50  # questions, below which a bootstrap's ends are rough


class _Asked(Struct, frozen=True):
    """One respondent: its accuracies by form on the ``n`` items that have a grade in all of them,
    what shuffling changes, the drop, and how many replies had no grade in each form."""

    label: str
    n: int
    accuracies: Mapping[str, Estimate]
    change: Change | None
    drop: Estimate | None
    ungraded: Mapping[str, int]


def study_choices(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a respondent. Items are the same where they come from the same fact; several forms
    put in one way count together, a question's value being its mean over them. The drop is
    (options - open) / options, of shuffled options where there are no original ones. Raises
    BadUsage where fewer than two of the three ways were asked, or no item is in all of them."""
    by_form = _by_form(parts)
    used = [part for each in by_form.values() for part in each]
    labels = complete_everywhere(used)
    common = _common_origins(used)
    found = [_asked(label, by_form, common, estimand, confidence) for label in labels]
    forms = list(by_form)
    return Study(
        name="choices",
        title="Accuracy over options and open, on the same questions",
        finding=_finding(found, len(common)),
        columns=(
            "model", "n", *(_NAMES[form] for form in forms), "by shuffling", "relative drop %",
            "no grade",
        ),
        rows=tuple(_row(each, forms) for each in found),
        x_axis="form",
        y_axis="accuracy",
        points=tuple(_points(found)),
        notes=(
            "Accuracies are of the questions that have a grade in every form: a reply that chooses "
            "no option or on which no judge came to a label is in none of them, and is counted "
            f"under no grade ({' + '.join(_NAMES[form] for form in forms)}).",
            f"relative drop: ({_closed(forms)} - open) / {_closed(forms)}, with a bootstrap "
            "interval over questions; below 0 where accuracy rose.",
            *_few(common),
            *_left_apart(parts, common),
            *left_out(used, labels),
        ),
    )  # fmt: skip


def _by_form(parts: Sequence[Part]) -> dict[str, list[Part]]:
    """The parts by how they put their questions, in the order of the table's columns."""
    found = {
        form: [part for part in parts if part.recipe.get("posed", "open") == form] for form in FORMS
    }
    asked = {form: each for form, each in found.items() if each}
    if len(asked) < 2:
        raise BadUsage(
            "a study of choices takes the same questions asked over options and openly; here "
            f"{' and '.join(_NAMES[form] for form in asked) or 'nothing'} was asked",
            hint="proofstone build form BANK --sweep posed=open,original,shuffled, run the three "
            "forms, then name the bank",
        )
    return asked


def _common_origins(parts: Sequence[Part]) -> list[bytes]:
    """What the items of all parts come from, in the order of the first part."""
    others = [set(part.origins) for part in parts[1:]]
    common = [
        origin
        for origin in dict.fromkeys(parts[0].origins)
        if origin and all(origin in other for other in others)
    ]
    if not common:
        names = ", ".join(part.name for part in parts)
        raise BadUsage(
            f"{names} have no question in common",
            hint="compare forms of one bank, composed with the same seed and number of questions",
        )
    return common


def _asked(
    label: str,
    by_form: Mapping[str, Sequence[Part]],
    common: Sequence[bytes],
    estimand: Estimand,
    confidence: float,
) -> _Asked:
    forms = list(by_form)
    values = np.stack([_values(by_form[form], label, common) for form in forms], axis=1)
    graded = values[~np.isnan(values).any(axis=1)]
    n = len(graded)
    keys = SharedKeys(n, np.arange(n), np.arange(n))  # each question has its own origin
    estimates = mean_estimates(
        graded, equal_weights(n), keys, estimand=estimand, confidence=confidence
    )
    change = None
    if "original" in by_form and "shuffled" in by_form and n:
        both = graded[:, [forms.index("original"), forms.index("shuffled")]]
        change = paired_change(both, keys, estimand=estimand, confidence=confidence)
    drop = None
    if "open" in by_form:
        closed, opened = graded[:, 0], graded[:, forms.index("open")]
        drop = relative_drop(closed, opened, confidence=confidence)
    return _Asked(
        label=label,
        n=n,
        accuracies=dict(zip(forms, estimates, strict=True)),
        change=change,
        drop=drop,
        ungraded={form: _ungraded(by_form[form], label) for form in forms},
    )


def _values(parts: Sequence[Part], label: str, common: Sequence[bytes]) -> Floats:
    """The respondent's value on each of the common items (N), the mean over parts; NaN where one of
    them has no grade."""
    of_parts = []
    for part in parts:
        place = {origin: unit for unit, origin in enumerate(part.origins)}
        units = [place[origin] for origin in common]
        of_parts.append(part.sheet.values[units, part.complete[label]])
    return np.asarray(np.mean(of_parts, axis=0))


def _ungraded(parts: Sequence[Part], label: str) -> int:
    """How many of the respondent's replies have no grade."""
    code = outcome_code("unparsed")
    return sum(int(part.sheet.outcomes[part.complete[label], code]) for part in parts)


# ---------------------------------------------------------------- as people read it


def _row(asked: _Asked, forms: Sequence[str]) -> tuple[str, ...]:
    return (
        asked.label,
        f"{asked.n}",
        *(shown_estimate(asked.accuracies[form]) for form in forms),
        MISSING if asked.change is None else asked.change.shown,
        MISSING if asked.drop is None else shown_estimate(asked.drop),
        " + ".join(f"{asked.ungraded[form]}" for form in forms),
    )


def _points(found: Sequence[_Asked]) -> list[Point]:
    marks = [
        point_of(asked.label, _NAMES[form], estimate)
        for asked in found
        for form, estimate in asked.accuracies.items()
    ]
    drops = [point_of(asked.label, "relative drop", asked.drop) for asked in found if asked.drop]
    return [*marks, *drops]


def _closed(forms: Sequence[str]) -> str:
    return _NAMES["original" if "original" in forms else "shuffled"]


def _few(common: Sequence[bytes]) -> tuple[str, ...]:
    """A note that intervals are rough, where they are."""
    few = len(common) < _FEW
    return (f"Fewer than {_FEW} questions: the intervals are approximate.",) if few else ()


def _left_apart(parts: Sequence[Part], common: Sequence[bytes]) -> tuple[str, ...]:
    """A note on the questions that are not in every form, or none."""
    every = {origin for part in parts for origin in part.origins}
    n = len(every) - len(common)
    return (f"{n:,} questions are not in every form and were left apart.",) if n else ()


def _finding(found: Sequence[_Asked], n: int) -> str:
    drops = [asked.drop for asked in found if asked.drop and not np.isnan(asked.drop.value)]
    lost = sum(drop.low > 0.0 for drop in drops)
    sentences = []
    if drops:
        middle = 100 * float(np.median([drop.value for drop in drops]))
        sentences.append(
            f"Asked openly instead of over options, {len(drops)} "
            f"{'model loses' if len(drops) == 1 else 'models lose'} {middle:.1f}% of accuracy in "
            f"the median on the same {n:,} questions; the loss is resolved for {lost}."
        )
    changes = [asked.change for asked in found if asked.change]
    if changes:
        moved = sum(change.is_rise or change.is_drop for change in changes)
        sentences.append(f"Shuffling options moves {moved} of {len(changes)} resolvably.")
    return " ".join(sentences) or "No model has a grade in every form."

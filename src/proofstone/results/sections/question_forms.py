"""The same questions over options, over shuffled options, and open (Chinese SimpleQA, appendix C,
Table 3): three accuracies on the same items, what shuffling changes, and the relative drop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import Column, Mark
from proofstone.records.runs import Estimate
from proofstone.results.sections.parts import (
    Analysis,
    Part,
    complete_everywhere,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
    paired_change,
)
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates, outcome_code
from proofstone.stats.factors import relative_drop
from proofstone.stats.intervals import equal_weights
from proofstone.wording.messages import noted, paragraph, say, say_of, word

FORMS = ("original", "shuffled", "open")


_NAMES = {
    "original": noted("options"),
    "shuffled": noted("options shuffled"),
    "open": noted("open"),
}


Floats = NDArray[np.float64]


_FEW = 50  # questions, below which a bootstrap's ends are rough


class _Asked(Struct, frozen=True):
    """One respondent: its accuracies by form on the ``n`` items that have a grade in all of them,
    what shuffling changes, the drop, and how many replies had no grade in each form."""

    label: str
    n: int
    accuracies: Mapping[str, Estimate]
    change: Estimate | None
    drop: Estimate | None
    ungraded: Mapping[str, int]


def study_choices(parts: Sequence[Part]) -> Analysis:
    """One row a respondent. Items are the same where they come from the same fact; several forms
    put in one way count together, a question's value being its mean over them. The drop is
    (options - open) / options, of shuffled options where there are no original ones. Raises
    BadUsage where fewer than two of the three ways were asked, or no item is in all of them."""
    by_form = _by_form(parts)
    used = [part for each in by_form.values() for part in each]
    labels = complete_everywhere(used)
    common = _common_origins(used)
    found = [_asked(label, by_form, common) for label in labels]
    forms = list(by_form)
    return make_analysis(
        "choices",
        say("Accuracy over options and open, on the same questions"),
        _finding(found, len(common)),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="n", name="n"),
            *(Column(key=form, name=word(_NAMES[form]), unit="points") for form in forms),
            Column(key="shuffling", name=say("by shuffling"), unit="change"),
            Column(key="drop", name=say("relative drop %"), unit="points"),
            Column(key="ungraded", name=say("no grade"), unit="mixed"),
        ),
        rows=(
            (
                each.label,
                each.n,
                *(each.accuracies[form] for form in forms),
                each.change,
                each.drop,
                " + ".join(f"{each.ungraded[form]}" for form in forms),
            )
            for each in found
        ),
        axes=("form", "accuracy"),
        marks=_marks(found),
        notes=_notes(parts, used, labels, common, forms),
    )


def _notes(
    parts: Sequence[Part],
    used: Sequence[Part],
    labels: Sequence[str],
    common: Sequence[bytes],
    forms: Sequence[str],
) -> Iterator[str]:
    yield say(
        "Accuracies are of the questions that have a grade in every form: a reply that chooses "
        "no option or on which no judge came to a label is in none of them, and is counted "
        "under no grade ({forms}).",
        forms=" + ".join(word(_NAMES[form]) for form in forms),
    )
    yield say(
        "relative drop: ({closed} - open) / {closed}, with a bootstrap interval over questions; "
        "below 0 where accuracy rose.",
        closed=word(_NAMES["original" if "original" in forms else "shuffled"]),
    )
    if len(common) < _FEW:
        yield say("Fewer than {few} questions: the intervals are approximate.", few=_FEW)
    apart = len({origin for part in parts for origin in part.origins}) - len(common)
    if apart:
        yield say("{n:,} questions are not in every form and were left apart.", n=apart)
    yield from left_out(used, labels)


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


def _asked(label: str, by_form: Mapping[str, Sequence[Part]], common: Sequence[bytes]) -> _Asked:
    forms = list(by_form)
    of = by_form[forms[0]][0]
    values = np.stack([_values(by_form[form], label, common) for form in forms], axis=1)
    graded = values[~np.isnan(values).any(axis=1)]
    n = len(graded)
    keys = SharedKeys(n, np.arange(n), np.arange(n))  # each question has its own origin
    estimates = mean_estimates(graded, equal_weights(n), keys, **of.interval)
    change = None
    if "original" in by_form and "shuffled" in by_form and n:
        both = graded[:, [forms.index("original"), forms.index("shuffled")]]
        change = paired_change(both, keys, of)
    drop = None
    if "open" in by_form:
        closed, opened = graded[:, 0], graded[:, forms.index("open")]
        drop = relative_drop(closed, opened, confidence=of.confidence)
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


def _marks(found: Sequence[_Asked]) -> Iterator[Mark]:
    for asked in found:
        for form, estimate in asked.accuracies.items():
            yield mark_of(asked.label, _NAMES[form], estimate)
    for asked in found:
        if asked.drop:
            yield mark_of(asked.label, "relative drop", asked.drop)


def _finding(found: Sequence[_Asked], n: int) -> str:
    drops = [asked.drop for asked in found if asked.drop and not np.isnan(asked.drop.value)]
    sentences = []
    if drops:
        sentences.append(
            say_of(
                len(drops),
                "Asked openly instead of over options, {models} model loses {share:.1f}% of "
                "accuracy in the median on the same {n:,} questions; the loss is resolved for "
                "{lost}.",
                "Asked openly instead of over options, {models} models lose {share:.1f}% of "
                "accuracy in the median on the same {n:,} questions; the loss is resolved for "
                "{lost}.",
                models=len(drops),
                share=100 * float(np.median([drop.value for drop in drops])),
                n=n,
                lost=sum(drop.low > 0.0 for drop in drops),
            )
        )
    changes = [asked.change for asked in found if asked.change]
    if changes:
        moved = sum(count_resolved(changes).values())
        sentences.append(
            say("Shuffling options moves {n} of {all} resolvably.", n=moved, all=len(changes))
        )
    return paragraph(*sentences) or say("No model has a grade in every form.")

"""The same questions with options, shuffled options, and open; and other effects of settings.

Chinese SimpleQA, appendix C, Table 3: accuracies on the same items, the effect of shuffling, and
the relative drop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.section import Cell, Column, Mark, column, points
from proofstone.records.ids import canonical_json
from proofstone.records.items import LEFT_OUT, PROMPT_NAME
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import SAMPLE_WISE
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    complete_everywhere,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
    median_points,
    paired_change,
)
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates, outcome_code
from proofstone.stats.factors import relative_drop
from proofstone.stats.intervals import equal_weights, group_weights
from proofstone.stats.ranks import tau_b
from proofstone.wording.messages import noted, paragraph, say, say_of, word

FORMS = ("original", "shuffled", "open")


_NAMES = {
    "original": noted("options"),
    "shuffled": noted("options shuffled"),
    "open": noted("open"),
}


Floats = NDArray[np.float64]


_FEW = 50  # with fewer questions, bootstrap limits are rough


class _Asked(Struct, frozen=True):
    """One model: accuracies by form on ``n`` items graded in all of them.

    ``change`` is the effect of shuffling, ``drop`` the relative drop, ``ungraded`` the responses
    without a grade in each form.
    """

    label: str
    n: int
    accuracies: Mapping[str, Estimate]
    change: Estimate | None
    drop: Estimate | None
    ungraded: Mapping[str, int]


def analyze_choices(parts: Sequence[Part]) -> Analysis:
    """Compare accuracies of question forms, one row per model.

    Items with the same origin are the same question. Several forms of one kind are averaged by
    question. The drop is (options - open) / options, with shuffled options if there are no original
    ones. Raises BadUsage with fewer than two kinds, or without a common item.
    """
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
            column("model", say("model"), "label"),
            column("n", "n"),
            *(
                column(form, word(_NAMES[form]), _accuracy(form),
                       unit="points")
                for form in forms
            ),
            column("shuffling", say("by shuffling"), "change", unit="change"),
            column("drop", say("relative drop %"), unit="points"),
            column("ungraded", say("no grade"),
                   lambda each: " + ".join(map(str, each.ungraded.values())), unit="mixed"),
        ),
        rows=found,
        axes=("form", "accuracy"),
        marks=_marks(found),
        notes=_notes(parts, used, labels, common, forms),
    )  # fmt: skip


def _notes(
    parts: Sequence[Part],
    used: Sequence[Part],
    labels: Sequence[str],
    common: Sequence[bytes],
    forms: Sequence[str],
) -> Iterator[str]:
    yield say(
        "Accuracies are over questions with a grade in every form. A response without a choice "
        "or a judge's label has no grade and is counted under no grade ({forms}).",
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
    """Map kinds of questions to parts, in the order of the table's columns."""
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
    """Return the origins common to all parts, in the order of the first."""
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


def _accuracy(form: str) -> Callable[[_Asked], Estimate]:
    return lambda each: each.accuracies[form]


def _asked(label: str, by_form: Mapping[str, Sequence[Part]], common: Sequence[bytes]) -> _Asked:
    forms, no_grade = list(by_form), outcome_code("unparsed")
    of = by_form[forms[0]][0]
    values = np.stack([_values(by_form[form], label, common) for form in forms], axis=1)
    graded = values[~np.isnan(values).any(axis=1)]
    n = len(graded)
    keys = SharedKeys(n, np.arange(n), np.arange(n))  # each question has a separate origin
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
        ungraded={
            form: sum(int(part.sheet.outcomes[part.complete[label], no_grade]) for part in parts)
            for form, parts in by_form.items()
        },
    )


def _values(parts: Sequence[Part], label: str, common: Sequence[bytes]) -> Floats:
    """Return the model's value on each common item (N), averaged over parts; NaN without a
    grade."""
    of_parts = []
    for part in parts:
        place = {origin: unit for unit, origin in enumerate(part.origins)}
        units = [place[origin] for origin in common]
        of_parts.append(part.sheet.values[units, part.complete[label]])
    return np.asarray(np.mean(of_parts, axis=0))


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
                "With open instead of multiple-choice questions, {models} model loses "
                "{share:.1f}% of accuracy in the median on the same {n:,} questions. The "
                "interval of the loss excludes 0 for {lost}.",
                "With open instead of multiple-choice questions, {models} models lose "
                "{share:.1f}% of accuracy in the median on the same {n:,} questions. The "
                "interval of the loss excludes 0 for {lost}.",
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
            say(
                "Shuffling options changes the score of {n} of {all}, with an interval that "
                "excludes 0.",
                n=moved,
                all=len(changes),
            )
        )
    return paragraph(*sentences) or say("No model has a grade in every form.")


_SAID_ONLY = (PROMPT_NAME, LEFT_OUT)  # not options: a file's name, and items that a form lacks


_Found = Mapping[tuple[str, str], Estimate]  # by model and setting


def analyze_settings(parts: Sequence[Part]) -> Analysis:
    """Return estimates by setting, one row per model and group of options.

    Of several forms with one setting, the one with the most items is used. Raises BadUsage with
    fewer than two settings.
    """
    found = _by_setting(parts)
    settings = sorted(dict.fromkeys(setting for _model, setting in found), reverse=True)
    if len(settings) < 2:
        raise BadUsage(
            "a study of settings takes results in two or more of them",
            hint="build form BANK --setting statements, run it, and run a form of questions with "
            "--prompt-method direct,verdicts; then name the bank or the forms",
        )
    models = list(dict.fromkeys(model for model, _setting in found))
    return make_analysis(
        "settings",
        say("Accuracy by setting"),
        _settings_finding(found, models, settings),
        columns=(
            Column(key="model", name=say("model")),
            *(Column(key=setting, name=setting, unit="points") for setting in settings),
        ),
        rows=((model, *(found.get((model, each)) for each in settings)) for model in models),
        axes=("setting", "accuracy"),
        marks=(
            mark_of(model, setting, found[model, setting])
            for model in models
            for setting in settings
            if (model, setting) in found
        ),
        notes=(
            say(
                "Settings have different questions, so columns are not paired. The chance "
                "level is one half for judged statements, otherwise one divided by the number "
                "of options."
            ),
            say(
                "Runs that differ in any option (thinking, few-shot examples, max_tokens, "
                "prompt, judge) are separate rows."
            ),
        ),
    )


def _by_setting(parts: Sequence[Part]) -> dict[tuple[str, str], Estimate]:
    """Return the estimates by row and column.

    A row is a model with all options of its runs; its label shows those that differ between rows.
    """
    options: dict[tuple[str, str], dict[str, Any]] = {}  # by model, then canonical text
    cells: dict[tuple[str, str, str], Estimate] = {}
    prompts: dict[tuple[str, str, str], set[str]] = {}
    complete = [
        (part, label, part.asked[p]) for part in parts for label, p in part.complete.items()
    ]
    for part, _label, asked in complete:
        prompts.setdefault(_cell(part, asked, _options(asked)), set()).add(asked.prompt)
    for part, label, asked in complete:
        own = _options(asked)
        # Columns have different prompts; only two prompts in one column make two rows.
        if len(prompts[_cell(part, asked, own)]) > 1:
            own["prompt"] = asked.prompt[:8]
        cell = _cell(part, asked, own)
        options[cell[:2]] = own
        estimate = part.estimates([label])[label]
        if cell not in cells or estimate.n > cells[cell].n:
            cells[cell] = estimate
    by_model: dict[str, list[Mapping[str, Any]]] = {}
    for (model, _key), own in options.items():
        by_model.setdefault(model, []).append(own)
    return {
        (_row(model, options[model, key], by_model[model]), column): estimate
        for (model, key, column), estimate in cells.items()
    }


def _options(asked: HowAsked) -> dict[str, Any]:
    """Return all options of a run other than model and prompting method."""
    own = {name: value for name, value in asked.settings.items() if name not in _SAID_ONLY}
    return own | {"replicate": asked.replicate, "judge": asked.judge}


def _cell(part: Part, asked: HowAsked, options: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the model, options and column of a run."""
    column = f"{part.recipe.get('setting', part.kind)}, {asked.prompt_method}"
    return asked.model, canonical_json(options).decode(), column


def _row(model: str, own: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """Return the model with the options that differ between its rows; unset ones are omitted."""
    names = dict.fromkeys(name for each in others for name in each)
    differing = [
        f"{name}={own[name]}"
        for name in sorted(names)
        if len({canonical_json(each.get(name)) for each in others}) > 1
        and own.get(name) not in (None, "")
    ]
    return " ".join([model, *differing])


def _settings_finding(found: _Found, models: Sequence[str], settings: Sequence[str]) -> str:
    whole = [model for model in models if all((model, s) in found for s in settings)]
    if not whole:
        return say("No model is complete in every setting.")
    means = {s: float(np.mean([found[model, s].value for model in whole])) for s in settings}
    return say(
        "Mean accuracy of the {n} models complete in every setting: {means}.",
        n=len(whole),
        means=say("; ").join(f"{setting} {points(mean)}" for setting, mean in means.items()),
    )


def analyze_levels(parts: Sequence[Part]) -> Analysis:
    """Return each model's mean over questions and over equally weighted groups of each level.

    Also Kendall's tau-b of each level's ranking with the ranking by questions.
    """
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    names = part.table.stratum_names
    sizes = {SAMPLE_WISE: len(units)} | {name: len(of) for name, of in names.items() if len(of) > 1}
    by_level = {
        level: part.means(
            labels,
            units,
            values,
            None if level == SAMPLE_WISE else group_weights(part.table.strata[level][units]),
        )
        for level in sizes
    }
    order = sorted(range(len(labels)), key=lambda i: -by_level[SAMPLE_WISE][i].value)
    means = {level: np.array([each.value for each in of]) for level, of in by_level.items()}
    by_questions = means.pop(SAMPLE_WISE)
    taus = {level: tau_b(by_questions, of) for level, of in means.items()}
    rows: list[tuple[Cell, ...]] = [
        (labels[i], *(found[i] for found in by_level.values())) for i in order
    ]
    rows.append((say("tau-b with sample"), "", *(f"{tau:z.2f}" for tau in taus.values())))
    return make_analysis(
        "levels",
        say("Accuracy by level of averaging"),
        _levels_finding(by_questions, means, taus),
        columns=(
            Column(key="model", name=say("model")),
            *(
                Column(key=level, name=f"{word(level)} ({size})", unit="points")
                for level, size in sizes.items()
            ),
        ),
        rows=rows,
        axes=("level", "accuracy"),
        marks=(
            mark_of(labels[i], level, found[i]) for i in order for level, found in by_level.items()
        ),
        notes=left_out(parts, labels),
    )


def _levels_finding(
    by_questions: NDArray[np.float64],
    means: Mapping[str, NDArray[np.float64]],
    taus: Mapping[str, float],
) -> str:
    if not taus:
        return say("The items have no strata, so there is one level of averaging.")
    moved = say(
        "Averaging by strata moves accuracy by up to {points} points",
        points=points(max(float(np.abs(by_questions - of).max()) for of in means.values())),
    )
    if len(by_questions) < 2 or np.isnan(list(taus.values())).any():
        return say("{said}.", said=moved)
    lowest = min(taus, key=lambda level: taus[level])
    return say(
        "{said}; the order agrees with the one by questions at tau-b {tau:z.2f} or more (least by "
        "{level}).",
        said=moved,
        tau=taus[lowest],
        level=word(lowest),
    )


def analyze_options(parts: Sequence[Part]) -> Analysis:
    """Return accuracy by number of options, and the paired change from fewest to most.

    Forms of one sweep have the same questions in the same order. Raises BadUsage without such
    forms.
    """
    sweep = _of_one_sweep(parts)
    numbers, parts = [number for number, _part in sweep], [part for _number, part in sweep]
    labels = complete_everywhere(parts)
    by_part = [part.estimates(labels) for part in parts]
    labels = sorted(labels, key=lambda label: -by_part[0][label].value)
    changes = [_options_change(parts[0], parts[-1], label) for label in labels]
    chance = [1.0 / number for number in numbers]
    ends = {"fewest": numbers[0], "most": numbers[-1]}
    rows: list[tuple[Cell, ...]] = [
        (label, *(found[label] for found in by_part), change)
        for label, change in zip(labels, changes, strict=True)
    ]
    rows.append((say("chance"), *chance, ""))
    return make_analysis(
        "options",
        say("Accuracy by number of options"),
        say(
            "From {fewest} to {most} options, accuracy changes by {points:+z.1f} points in the "
            "median. It falls for {falls} of {n} models with an interval that excludes 0.",
            points=median_points(changes),
            falls=count_resolved(changes)["falls"],
            n=len(changes),
            **ends,
        ),
        columns=(
            Column(key="model", name=say("model")),
            *(
                Column(key=f"options_{n}", name=say("{n} options", n=n), unit="points")
                for n in numbers
            ),
            Column(key="change", name=say("change"), unit="change"),
        ),
        rows=rows,
        axes=("options", "accuracy"),
        marks=(
            *(
                mark_of(label, float(number), found[label])
                for label in labels
                for number, found in zip(numbers, by_part, strict=True)
            ),
            *(
                Mark(row="chance", x=float(number), value=share)
                for number, share in zip(numbers, chance, strict=True)
            ),
        ),
        notes=(
            say("change: from {fewest} to {most} options on the same questions, paired.", **ends),
            *left_out(parts, labels),
        ),
    )


def _of_one_sweep(parts: Sequence[Part]) -> list[tuple[int, Part]]:
    """Return forms that differ only in their number of options, fewest first, with that number."""
    sweeps: dict[bytes, list[tuple[int, Part]]] = {}
    for part in parts:
        numbers = np.unique(part.table.n_options).tolist()
        if len(numbers) == 1:
            others = {name: value for name, value in part.recipe.items() if name != "options"}
            key = canonical_json([part.kind, part.seed, others])
            sweeps.setdefault(key, []).append((int(numbers[0]), part))
    found = [sweep for sweep in sweeps.values() if len({number for number, _part in sweep}) > 1]
    if len(found) != 1 or len({number for number, _part in found[0]}) < len(found[0]):
        raise BadUsage(
            "a study of options takes forms that differ by their number of options alone, one "
            f"number of options each; here are {len(found)} such groups",
            hint="proofstone build form BANK --sweep options=4..10, then name those forms",
        )
    return sorted(found[0], key=lambda pair: pair[0])


def _options_change(first: Part, last: Part, label: str) -> Estimate:
    if len(first.table.items) != len(last.table.items):
        raise BadUsage(
            f"{first.name} and {last.name} do not hold the same questions",
            hint="compare forms of one --sweep",
        )
    columns = [part.sheet.values[:, part.complete[label]] for part in (first, last)]
    return paired_change(np.stack(columns, axis=1), first.sheet.keys, first)

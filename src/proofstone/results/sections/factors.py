"""What the way of asking changes: models that were asked in more ways than one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.numbers import points
from proofstone.page.section import Cell, Column, Mark, Section, Table
from proofstone.records.ids import canonical_json
from proofstone.records.items import LEFT_OUT, PROMPT_NAME
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import SAMPLE_WISE
from proofstone.results.sections.evidence import Evidence, RankedValues, ranked_values
from proofstone.results.sections.figures import chance_levels, dumbbells_figure
from proofstone.results.sections.lengths import mean_lengths
from proofstone.results.sections.parts import (
    Analysis,
    HowAsked,
    Part,
    complete_everywhere,
    count_resolved,
    left_out,
    make_analysis,
    mark_of,
    paired_change,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.factors import AverageEffect, Effect, Factor, analyse_factor
from proofstone.stats.intervals import equal_weights, group_weights
from proofstone.stats.ranks import tau_b
from proofstone.wording.messages import counted, listed, paragraph, say, word


@dataclass(frozen=True, slots=True)
class Levels:
    """Models, the levels of a factor (the reference first), and one matrix of values a level
    (units, models), NaN where a model is not at that level."""

    models: list[str]
    levels: list[str]
    values: list[NDArray[np.float64]]


def factors_section(evidence: Evidence) -> Section | None:
    """Each model's change from the most common way of asking to another, and whether all change
    alike. None where no model was asked in two ways."""
    ranked = ranked_values(evidence)
    levels = None if ranked is None else _ways(ranked)
    if ranked is None or levels is None:
        return None
    return describe_factor(
        evidence,
        ranked,
        levels,
        name="factors",
        title=say("What the way of asking changes"),
        matters=say("How one asks matters"),
        otherwise=say("The prompting method has no statistically significant effect."),
    )


def describe_factor(
    evidence: Evidence,
    ranked: RankedValues,
    found: Levels,
    *,
    name: str,
    title: str,
    matters: str,
    otherwise: str,
) -> Section:
    """The section of a factor: what it ``matters`` in plain words, or ``otherwise`` that it does
    not."""
    factor = analyse_factor(
        found.values, ranked.keys, estimand=evidence.estimand, confidence=evidence.board.confidence
    )
    models, levels = found.models, found.levels
    return Section(
        name=name,
        title=title,
        finding=_finding(factor, levels),
        plain=_plain(factor, models, levels, matters) or ("" if _matters(factor) else otherwise),
        cannot=_cannot(factor, models, levels),
        how=say(
            "Each model against itself, on the same items; the variance of a change adds up "
            "over items that share a key. Changes are from {level}. Holm's correction over "
            "all of them. The interaction of model and factor is tested by Wald's test, with "
            "Hotelling's law.",
            level=levels[0],
        ),
        tables=(_table(factor, models, levels),),
        figures=(
            dumbbells_figure(
                name,
                title,
                models,
                levels,
                [_means(evidence, ranked, values) for values in found.values],
                chance=chance_levels(ranked.group),
            ),
        ),
    )


def _means(
    evidence: Evidence, ranked: RankedValues, values: NDArray[np.float64]
) -> list[Estimate | None]:
    """The mean of each model at one level, over the items that it was asked there; None where it
    was not asked."""
    found: list[Estimate | None] = []
    for column in values.T:
        units = np.flatnonzero(~np.isnan(column))
        if not len(units):
            found.append(None)
            continue
        (estimate,) = mean_estimates(
            column[units, None],
            equal_weights(len(units)),
            ranked.keys.among(units),
            estimand=evidence.estimand,
            confidence=evidence.board.confidence,
        )
        found.append(estimate)
    return found


def levels_of(ranked: RankedValues, by_model: Mapping[str, Mapping[str, int]]) -> Levels | None:
    """The levels of models that are at two or more, from the column of each model and level. The
    most common level is the reference, of equally common ones the first; None without any."""
    several = {model: own for model, own in by_model.items() if len(own) > 1}
    met = [level for own in several.values() for level in own]
    levels = sorted(dict.fromkeys(met), key=lambda level: -met.count(level))
    # Without the reference a model has nothing to be compared with here.
    models = [model for model, own in several.items() if levels[0] in own]
    if not models:
        return None
    values = [np.full((len(ranked.units), len(models)), np.nan) for _ in levels]
    for matrix, level in zip(values, levels, strict=True):
        for place, model in enumerate(models):
            if level in several[model]:
                matrix[:, place] = ranked.values[:, several[model][level]]
    return Levels(models, levels, values)


def _ways(ranked: RankedValues) -> Levels | None:
    by_model: dict[str, dict[str, int]] = {}
    # In the order of the file, so that of equally common ways the first one is the reference.
    order = sorted(range(len(ranked.respondents)), key=lambda column: ranked.respondents[column])
    for column in order:
        row = ranked.group.ranked[column]
        way = " ".join(part for part in (row.way, row.settings) if part) or say("as it is")
        by_model.setdefault(row.name, {})[way] = column
    return levels_of(ranked, by_model)


def _finding(found: Factor, levels: list[str]) -> str:
    said = [_change(each, levels) for each in found.average[:3]]
    text = say("{places}.", places=say("; ").join(said))
    return paragraph(f"{text[:1].upper()}{text[1:]}", _alike(found))


def _change(each: AverageEffect, levels: list[str]) -> str:
    mean = each.change
    return say(
        "from {base} to {level} accuracy changes by {points} points on average over {models} "
        "[{low}, {high}]",
        base=levels[0],
        level=levels[each.level],
        points=_signed(mean.value),
        models=counted(each.n_models, "model"),
        low=_signed(mean.low),
        high=_signed(mean.high),
    )


def _alike(found: Factor) -> str:
    p = found.interaction.p
    if math.isnan(p):
        return ""
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    return say(
        "It does not do the same to all models ({p})."
        if p < 0.05
        else "No model is told to differ ({p}).",
        p=shown,
    )


def _matters(found: Factor) -> bool:
    """Whether some change on average, or how models differ in it, is significant."""
    means = [each.change for each in found.average]
    return found.interaction.p < 0.05 or any(not mean.low <= 0 <= mean.high for mean in means)


def _plain(found: Factor, names: list[str], levels: list[str], matters: str) -> str:
    sure = [effect for effect in found.effects if effect.p_holm < 0.05]
    if not sure:
        return ""
    most = max(sure, key=lambda effect: abs(effect.change.value))
    return say(
        "{matters}: {model} gets about {n:.0f} more questions in a hundred right with {level}."
        if most.change.value > 0
        else "{matters}: {model} gets about {n:.0f} fewer questions in a hundred right with "
        "{level}.",
        matters=matters,
        model=names[most.model],
        n=100 * abs(most.change.value),
        level=levels[most.level],
    )


def _cannot(found: Factor, names: list[str], levels: list[str]) -> str:
    unsure = [effect for effect in found.effects if effect.p_holm >= 0.05]
    if not unsure or len(unsure) == len(found.effects):
        return ""
    shown = listed([_named(effect, names, levels) for effect in unsure], 4)
    return say("No significant change for {shown} (Holm-adjusted).", shown=shown)


def _named(effect: Effect, names: list[str], levels: list[str]) -> str:
    return say("{name} ({why})", name=names[effect.model], why=levels[effect.level])


def _table(found: Factor, names: list[str], levels: list[str]) -> Table:
    return Table(
        title=say("Change from {level}", level=levels[0]),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="level", name=say("asked")),
            Column(key="change", name=say("change"), unit="points"),
            Column(key="p", name=say("p"), unit="probability"),
            Column(key="p_holm", name=say("p (Holm)"), unit="probability",
                   help=say("adjusted for all changes")),
            Column(key="beyond", name=say("beyond the others"), unit="points",
                   help=say("how much more it changes than the mean of the other models")),
            Column(key="p_beyond", name=say("p (Holm)"), unit="probability"),
        ),
        rows=tuple(
            (
                names[effect.model], levels[effect.level], effect.change, effect.p, effect.p_holm,
                effect.beyond, effect.p_beyond,
            )
            for effect in found.effects
        ),
    )  # fmt: skip


def _signed(share: float) -> str:
    return f"+{points(share)}" if share > 0 else points(share)


# One knowledge asked in several settings, side by side (Encyclo-K 5.1 and D, Figures 3 and 6).
#
# A setting is what a form holds and how it is asked: single statements, a verdict on each statement
# of a question, or the options of the whole question.

_SAID_ONLY = (PROMPT_NAME, LEFT_OUT)  # no option: a file's name, and what a form lacks


_Found = Mapping[tuple[str, str], Estimate]  # by model and setting


def study_settings(parts: Sequence[Part]) -> Analysis:
    """One row a model under one group of settings, one column a setting; of several forms of a
    setting the one with most items. Raises BadUsage where fewer than two settings were asked."""
    found = _by_setting(parts)
    settings = sorted(dict.fromkeys(setting for _model, setting in found), reverse=True)
    if len(settings) < 2:
        raise BadUsage(
            "a study of settings takes results in two or more of them",
            hint="build form BANK --setting statements, run it, and run a form of questions with "
            "--ask direct,verdicts; then name the bank or the forms",
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
                "Settings hold questions of their own, so columns are not paired; chance is a half "
                "where statements are judged, and one in the number of options elsewhere."
            ),
            say(
                "Runs that differ in any option (thinking, few-shot examples, max_tokens, prompt, "
                "judge) are rows of their own."
            ),
        ),
    )


def _by_setting(parts: Sequence[Part]) -> dict[tuple[str, str], Estimate]:
    """The estimates by row and column. A row is a model with all options of its runs; it shows
    those in which rows of the model differ."""
    options: dict[tuple[str, str], dict[str, Any]] = {}  # of a model, by their canonical text
    cells: dict[tuple[str, str, str], Estimate] = {}
    prompts: dict[tuple[str, str, str], set[str]] = {}
    complete = [
        (part, label, part.asked[p]) for part in parts for label, p in part.complete.items()
    ]
    for part, _label, asked in complete:
        prompts.setdefault(_cell(part, asked, _options(asked)), set()).add(asked.prompt)
    for part, label, asked in complete:
        own = _options(asked)
        # Columns have prompts of their own; only two prompts of one column make two rows.
        if len(prompts[_cell(part, asked, own)]) > 1:
            own["prompt"] = asked.prompt[:8]
        cell = _cell(part, asked, own)
        options[cell[:2]] = own
        estimate = part.estimates([label])[label]
        if cell not in cells or estimate.n > cells[cell].n:
            cells[cell] = estimate
    return {
        (_row(model, options[model, key], _of_model(options, model)), column): estimate
        for (model, key, column), estimate in cells.items()
    }


def _options(asked: HowAsked) -> dict[str, Any]:
    """All that a person may set of a run, beside its model and its way."""
    own = {name: value for name, value in asked.settings.items() if name not in _SAID_ONLY}
    return own | {"replicate": asked.replicate, "judge": asked.judge}


def _cell(part: Part, asked: HowAsked, options: Mapping[str, Any]) -> tuple[str, str, str]:
    """The model, its options and the column of a run."""
    column = f"{part.recipe.get('setting', part.kind)}, {asked.way}"
    return asked.model, canonical_json(options).decode(), column


def _of_model(
    options: Mapping[tuple[str, str], Mapping[str, Any]], model: str
) -> list[Mapping[str, Any]]:
    return [own for (name, _key), own in options.items() if name == model]


def _row(model: str, own: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> str:
    """The model with the options in which its rows differ; one that is not set is left out."""
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


# Hybrid models thinking against not (Encyclo-K 5.1, Figure 3 right; lengths: Figure 7).

_OF_THINKING = ("thinking", "max_tokens")


def study_thinking(parts: Sequence[Part]) -> Analysis:
    """One row a model asked in both ways and in nothing else differently: accuracy without and
    with thinking, the paired difference, tokens of replies and of reasoning; smallest models
    first. Raises BadUsage where no model was asked in both."""
    (part,) = parts
    pairs = sorted(_pairs(part), key=lambda pair: (_size(pair[0]), pair[0].model))
    if not pairs:
        raise BadUsage(
            "no model here was asked both with thinking and without",
            hint="proofstone run TARGET -m MODEL --thinking on,off",
        )
    rows: list[tuple[Cell, ...]] = []
    marks: list[Mark] = []
    changes: list[Estimate] = []
    for asked, off, on in pairs:
        found = part.estimates([off, on])
        changes.append(part.change(off, on))
        name, size = f"{asked.model} {asked.way}", asked.parameters_b
        lengths = (_tokens(part, off), _tokens(part, on), _tokens(part, on, reasoning=True))
        shown = None if size is None else f"{size:g}"
        rows.append((name, shown, found[off], found[on], changes[-1], *lengths))
        at = name if size is None else size
        marks += [
            mark_of("without thinking", at, found[off]), mark_of("with thinking", at, found[on])
        ]  # fmt: skip
    return make_analysis(
        "thinking",
        say("Accuracy with thinking and without"),
        say(
            "Thinking changes accuracy by {points:+z.1f} points in the median of {n} models; it "
            "helps {rises} and harms {falls} of them resolvably.",
            points=_median_points(changes),
            n=len(changes),
            **count_resolved(changes),
        ),
        columns=(
            Column(key="model", name=say("model")),
            Column(key="parameters_b", name="B", unit="mixed"),
            Column(key="without", name=say("without"), unit="points"),
            Column(key="with", name=say("with"), unit="points"),
            Column(key="difference", name=say("difference"), unit="change"),
            Column(key="tokens_without", name=say("tokens without"), digits=0),
            Column(key="tokens_with", name=say("tokens with"), digits=0),
            Column(key="reasoning", name=say("reasoning"), digits=0),
        ),
        rows=rows,
        axes=("parameters, billions", "accuracy"),
        marks=marks,
        notes=(
            say(
                "difference: with thinking less without, on the same questions. tokens: mean of a "
                "reply, reasoning included where the endpoint counts it."
            ),
        ),
    )


def _median_points(changes: Sequence[Estimate]) -> float:
    return 100 * float(np.median([change.value for change in changes]))


_Asked = tuple[HowAsked, str]  # how a respondent was asked, and its label


def _pairs(part: Part) -> list[tuple[HowAsked, str, str]]:
    """(how asked, label without, label with) of models that were asked both ways and are whole.

    Told to think, a model has room for it: the longest reply may differ, nothing else. Where there
    are several, one of the same longest reply is taken.
    """
    alike: dict[bytes, dict[str, list[_Asked]]] = {}
    for label, place in part.complete.items():
        asked = part.asked[place]
        word = str(asked.settings.get("thinking", ""))
        others = {n: value for n, value in asked.settings.items() if n not in _OF_THINKING}
        key = canonical_json([asked.model, asked.way, others])
        alike.setdefault(key, {}).setdefault(word, []).append((asked, label))
    return [
        (without[0], without[1], label)
        for by_word in alike.values()
        for asked, label in by_word.get("on", [])
        if (without := _nearest(asked, by_word.get("off", []))) is not None
    ]


def _nearest(asked: HowAsked, without: Sequence[_Asked]) -> _Asked | None:
    """Of the same longest reply, else the first."""
    most = asked.settings.get("max_tokens")
    same = [each for each in without if each[0].settings.get("max_tokens") == most]
    return next(iter([*same, *without]), None)


def _size(asked: HowAsked) -> float:
    return float("inf") if asked.parameters_b is None else asked.parameters_b


def _tokens(part: Part, label: str, *, reasoning: bool = False) -> float | None:
    lengths = mean_lengths(part, label, reasoning=reasoning)
    return None if lengths is None else float(np.nanmean(lengths))


# What averaging by questions, fields or disciplines changes (Encyclo-K 5.1, Table 4).


def study_levels(parts: Sequence[Part]) -> Analysis:
    """Each respondent's mean over questions and over each level of strata with equal weight, and
    Kendall's tau-b of each level's order with the one by questions."""
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


# Accuracy by the number of options (Encyclo-K 5.2, Figure 4 right).


def study_options(parts: Sequence[Part]) -> Analysis:
    """Each respondent at each number of options, and the paired change from fewest to most: forms
    of one sweep hold the same questions in the same order. Raises BadUsage without such forms."""
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
            "From {fewest} to {most} options accuracy changes by {points:+z.1f} points in the "
            "median; it falls resolvably for {falls} of {n} models.",
            points=_median_points(changes),
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
    """The forms that differ by their number of options alone, fewest first, with that number."""
    sweeps: dict[bytes, list[tuple[int, Part]]] = {}
    for part in parts:
        number = _n_options(part)
        if number is not None:
            others = {name: value for name, value in part.recipe.items() if name != "options"}
            key = canonical_json([part.kind, part.seed, others])
            sweeps.setdefault(key, []).append((number, part))
    found = [sweep for sweep in sweeps.values() if len({number for number, _part in sweep}) > 1]
    if len(found) != 1 or len({number for number, _part in found[0]}) < len(found[0]):
        raise BadUsage(
            "a study of options takes forms that differ by their number of options alone, one "
            f"number of options each; here are {len(found)} such groups",
            hint="proofstone build form BANK --sweep options=4..10, then name those forms",
        )
    return sorted(found[0], key=lambda pair: pair[0])


def _n_options(part: Part) -> int | None:
    """The number of options of all of a form's questions; None where they differ."""
    numbers = set(np.unique(part.table.n_options).tolist())
    return int(numbers.pop()) if len(numbers) == 1 else None


def _options_change(first: Part, last: Part, label: str) -> Estimate:
    if len(first.table.items) != len(last.table.items):
        raise BadUsage(
            f"{first.name} and {last.name} do not hold the same questions",
            hint="compare forms of one --sweep",
        )
    columns = [part.sheet.values[:, part.complete[label]] for part in (first, last)]
    return paired_change(np.stack(columns, axis=1), first.sheet.keys, first)

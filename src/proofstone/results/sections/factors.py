"""What the way of asking changes: models that were asked in more ways than one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.page.numbers import MISSING, points, shown_estimate
from proofstone.page.section import Column, Section, Table
from proofstone.records.ids import canonical_json
from proofstone.records.items import LEFT_OUT, PROMPT_NAME
from proofstone.records.runs import Estimate
from proofstone.results.measured_scores import SAMPLE_WISE
from proofstone.results.sections.evidence import Evidence, RankedValues, ranked_values
from proofstone.results.sections.figures import chance_levels, dumbbells_figure
from proofstone.results.sections.lengths import mean_lengths
from proofstone.results.sections.pairs import Change, change_between, paired_change
from proofstone.results.sections.parts import (
    HowAsked,
    Part,
    Point,
    Study,
    complete_everywhere,
    left_out,
    point_of,
)
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.factors import AverageEffect, Effect, Factor, analyse_factor
from proofstone.stats.flags import Estimand
from proofstone.stats.intervals import equal_weights, group_weights
from proofstone.stats.ranks import tau_b
from proofstone.wording.messages import counted, listed, paragraph, say


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


def study_settings(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """One row a model under one group of settings, one column a setting; of several forms of a
    setting the one with most items. Raises BadUsage where fewer than two settings were asked."""
    found = _by_setting(parts, estimand, confidence)
    settings = sorted(dict.fromkeys(setting for _model, setting in found), reverse=True)
    if len(settings) < 2:
        raise BadUsage(
            "a study of settings takes results in two or more of them",
            hint="build form BANK --setting statements, run it, and run a form of questions with "
            "--ask direct,verdicts; then name the bank or the forms",
        )
    models = list(dict.fromkeys(model for model, _setting in found))
    rows = [
        (
            model,
            *(
                shown_estimate(found[model, setting]) if (model, setting) in found else MISSING
                for setting in settings
            ),
        )
        for model in models
    ]
    return Study(
        name="settings",
        title="Accuracy by setting",
        finding=_settings_finding(found, models, settings),
        columns=("model", *settings),
        rows=tuple(rows),
        x_axis="setting",
        y_axis="accuracy",
        points=tuple(
            point_of(model, setting, found[model, setting])
            for model in models
            for setting in settings
            if (model, setting) in found
        ),
        notes=(
            "Settings hold questions of their own, so columns are not paired; chance is a half "
            "where statements are judged, and one in the number of options elsewhere.",
            "Runs that differ in any option (thinking, few-shot examples, max_tokens, prompt, "
            "judge) are rows of their own.",
        ),
    )


def _by_setting(
    parts: Sequence[Part], estimand: Estimand, confidence: float
) -> dict[tuple[str, str], Estimate]:
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
        estimate = part.estimates([label], estimand=estimand, confidence=confidence)[label]
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
        return "No model is complete in every setting."
    means = {s: float(np.mean([found[model, s].value for model in whole])) for s in settings}
    shown = "; ".join(f"{setting} {points(mean)}" for setting, mean in means.items())
    return f"Mean accuracy of the {len(whole)} models complete in every setting: {shown}."


# Hybrid models thinking against not (Encyclo-K 5.1, Figure 3 right; lengths: Figure 7).

_OF_THINKING = ("thinking", "max_tokens")


def study_thinking(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
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
    rows: list[tuple[str, ...]] = []
    marks: list[Point] = []
    changes: list[Change] = []
    for asked, off, on in pairs:
        found = part.estimates([off, on], estimand=estimand, confidence=confidence)
        change = change_between(part, off, on, estimand=estimand, confidence=confidence)
        name = f"{asked.model} {asked.way}"
        size = MISSING if asked.parameters_b is None else f"{asked.parameters_b:g}"
        lengths = (_tokens(part, off), _tokens(part, on), _tokens(part, on, reasoning=True))
        scores = (shown_estimate(found[off]), shown_estimate(found[on]))
        rows.append((name, size, *scores, change.shown, *lengths))
        x = name if asked.parameters_b is None else asked.parameters_b
        marks += [
            point_of("without thinking", x, found[off]),
            point_of("with thinking", x, found[on]),
        ]
        changes.append(change)
    return Study(
        name="thinking",
        title="Accuracy with thinking and without",
        finding=_thinking_finding(changes),
        columns=("model", "B", "without", "with", "difference", "tokens without", "tokens with",
                 "reasoning"),
        rows=tuple(rows),
        x_axis="parameters, billions",
        y_axis="accuracy",
        points=tuple(marks),
        notes=(
            "difference: with thinking less without, on the same questions. tokens: mean of a "
            "reply, reasoning included where the endpoint counts it.",
        ),
    )  # fmt: skip


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


def _tokens(part: Part, label: str, *, reasoning: bool = False) -> str:
    lengths = mean_lengths(part, label, reasoning=reasoning)
    return MISSING if lengths is None else f"{float(np.nanmean(lengths)):,.0f}"


def _thinking_finding(changes: Sequence[Change]) -> str:
    middle = float(np.median([change.value for change in changes]))
    rises = sum(change.is_rise for change in changes)
    falls = sum(change.is_drop for change in changes)
    return (
        f"Thinking changes accuracy by {100 * middle:+z.1f} points in the median of "
        f"{len(changes)} models; it helps {rises} and harms {falls} of them resolvably."
    )


# What averaging by questions, fields or disciplines changes (Encyclo-K 5.1, Table 4).


def study_levels(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Each respondent's mean over questions and over each level of strata with equal weight, and
    Kendall's tau-b of each level's order with the one by questions."""
    (part,) = parts
    labels = complete_everywhere(parts)
    units, values = part.block(labels)
    names = part.table.stratum_names
    levels = [SAMPLE_WISE, *(name for name in names if len(names[name]) > 1)]
    by_level = {
        level: part.means(
            labels,
            units,
            values,
            equal_weights(len(units))
            if level == SAMPLE_WISE
            else group_weights(part.table.strata[level][units]),
            estimand,
            confidence,
        )
        for level in levels
    }
    order = sorted(range(len(labels)), key=lambda i: -by_level[SAMPLE_WISE][i].value)
    sizes = [
        f"{level} ({len(units) if level == SAMPLE_WISE else len(names[level])})" for level in levels
    ]
    taus = {level: _tau(by_level, level) for level in levels[1:]}
    return Study(
        name="levels",
        title="Accuracy by level of averaging",
        finding=_levels_finding(taus, by_level, len(labels)),
        columns=("model", *sizes),
        rows=(
            *((labels[i], *(shown_estimate(by_level[level][i]) for level in levels))
              for i in order),
            ("tau-b with sample", "", *(f"{tau:z.2f}" for tau in taus.values())),
        ),
        x_axis="level",
        y_axis="accuracy",
        points=tuple(
            point_of(labels[i], level, by_level[level][i]) for i in order for level in levels
        ),
        notes=left_out(parts, labels),
    )  # fmt: skip


def _tau(by_level: dict[str, tuple], level: str) -> float:  # type: ignore[type-arg]
    first, second = by_level[SAMPLE_WISE], by_level[level]
    return tau_b(np.array([e.value for e in first]), np.array([e.value for e in second]))


def _levels_finding(taus: dict[str, float], by_level: dict[str, tuple], n_models: int) -> str:  # type: ignore[type-arg]
    if not taus:
        return "The items have no strata, so there is one level of averaging."
    moves = [
        max(abs(a.value - b.value) for a, b in zip(by_level[SAMPLE_WISE], found, strict=True))
        for level, found in by_level.items()
        if level != SAMPLE_WISE
    ]
    moved = f"Averaging by strata moves accuracy by up to {points(max(moves))} points"
    if n_models < 2 or np.isnan(list(taus.values())).any():
        return f"{moved}."
    lowest = min(taus, key=lambda level: taus[level])
    return (
        f"{moved}; the order agrees with the one by questions at tau-b {taus[lowest]:z.2f} or more "
        f"(least by {lowest})."
    )


# Accuracy by the number of options (Encyclo-K 5.2, Figure 4 right).


def study_options(parts: Sequence[Part], *, estimand: Estimand, confidence: float) -> Study:
    """Each respondent at each number of options, and the paired change from fewest to most: forms
    of one sweep hold the same questions in the same order. Raises BadUsage without such forms."""
    counted = _of_one_sweep(parts)
    numbers = [number for number, _part in counted]
    parts = [part for _number, part in counted]
    labels = complete_everywhere(parts)
    by_part = [p.estimates(labels, estimand=estimand, confidence=confidence) for p in parts]
    labels = sorted(labels, key=lambda label: -by_part[0][label].value)
    changes = {
        label: _options_change(parts[0], parts[-1], label, estimand, confidence) for label in labels
    }
    chance = [1.0 / number for number in numbers]
    rows = [
        (label, *(shown_estimate(found[label]) for found in by_part), changes[label].shown)
        for label in labels
    ]
    return Study(
        name="options",
        title="Accuracy by number of options",
        finding=_options_finding(numbers, list(changes.values())),
        columns=("model", *(f"{n} options" for n in numbers), "change"),
        rows=(*rows, ("chance", *(points(share) for share in chance), "")),
        x_axis="options",
        y_axis="accuracy",
        points=(
            *(
                point_of(label, float(number), found[label])
                for label in labels
                for number, found in zip(numbers, by_part, strict=True)
            ),
            *(
                Point(series="chance", x=float(number), y=share, n=0)
                for number, share in zip(numbers, chance, strict=True)
            ),
        ),
        notes=(
            f"change: from {numbers[0]} to {numbers[-1]} options on the same questions, paired.",
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


def _options_change(
    first: Part, last: Part, label: str, estimand: Estimand, confidence: float
) -> Change:
    if len(first.table.items) != len(last.table.items):
        raise BadUsage(
            f"{first.name} and {last.name} do not hold the same questions",
            hint="compare forms of one --sweep",
        )
    columns = [part.sheet.values[:, part.complete[label]] for part in (first, last)]
    keys = first.sheet.keys
    return paired_change(np.stack(columns, axis=1), keys, estimand=estimand, confidence=confidence)


def _options_finding(numbers: Sequence[int], changes: Sequence[Change]) -> str:
    falls = sum(change.is_drop for change in changes)
    middle = float(np.median([change.value for change in changes]))
    return (
        f"From {numbers[0]} to {numbers[-1]} options accuracy changes by {100 * middle:+z.1f} "
        f"points in the median; it falls resolvably for {falls} of {len(changes)} models."
    )

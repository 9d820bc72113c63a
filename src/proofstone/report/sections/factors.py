"""What the way of asking changes: models that were asked in more ways than one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import (
    AverageEffect,
    Effect,
    Factor,
    analyse_factor,
    equal_weights,
    mean_estimates,
)
from proofstone.records.results import Estimate
from proofstone.report.numbers import points
from proofstone.report.sections.drawn import chance_levels, dumbbells_figure
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted, listed, paragraph, say

__all__ = ["Levels", "describe_factor", "factors_section", "levels_of"]


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

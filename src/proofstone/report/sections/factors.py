"""What the way of asking changes: models that were asked in more ways than one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import Effect, Factor, analyse_factor
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted

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
        title="What the way of asking changes",
        matters="How one asks matters",
        otherwise="How a model was asked makes no difference here that luck would not make too.",
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
        plain=_plain(factor, models, levels, matters) or otherwise,
        cannot=_cannot(factor, models, levels),
        how="Each model against itself, on the same items; the variance of a change adds up over "
        f"items that share a key. Changes are from {levels[0]}. Holm's correction over all of "
        "them. Whether all models change alike: Wald's test of the interaction of model and "
        "factor, by Hotelling's law.",
        tables=(_table(factor, models, levels),),
    )


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
        way = " ".join(part for part in (row.way, row.settings) if part) or "as it is"
        by_model.setdefault(row.name, {})[way] = column
    return levels_of(ranked, by_model)


def _finding(found: Factor, levels: list[str]) -> str:
    said = []
    for each in found.average[:3]:
        mean = each.change
        said.append(
            f"from {levels[0]} to {levels[each.level]} accuracy changes by "
            f"{_signed(mean.value)} points on average over {counted(each.n_models, 'model')} "
            f"[{_signed(mean.low)}, {_signed(mean.high)}]"
        )
    text = "; ".join(said)
    return f"{text[:1].upper()}{text[1:]}.{_alike(found)}"


def _alike(found: Factor) -> str:
    p = found.interaction.p
    if math.isnan(p):
        return ""
    shown = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    differ = "It does not do the same to all models" if p < 0.05 else "No model is told to differ"
    return f" {differ} ({shown})."


def _plain(found: Factor, names: list[str], levels: list[str], matters: str) -> str:
    sure = [effect for effect in found.effects if effect.p_holm < 0.05]
    if not sure:
        return ""
    most = max(sure, key=lambda effect: abs(effect.change.value))
    gains = most.change.value > 0
    return (
        f"{matters}: {names[most.model]} gets about {100 * abs(most.change.value):.0f} "
        f"{'more' if gains else 'fewer'} questions in a hundred right with {levels[most.level]}."
    )


def _cannot(found: Factor, names: list[str], levels: list[str]) -> str:
    unsure = [effect for effect in found.effects if effect.p_holm >= 0.05]
    if not unsure or len(unsure) == len(found.effects):
        return ""
    shown = ", ".join(_named(effect, names, levels) for effect in unsure[:4])
    more = f" and {len(unsure) - 4} more" if len(unsure) > 4 else ""
    return f"Whether it helps or harms at all: {shown}{more}."


def _named(effect: Effect, names: list[str], levels: list[str]) -> str:
    return f"{names[effect.model]} ({levels[effect.level]})"


def _table(found: Factor, names: list[str], levels: list[str]) -> Table:
    return Table(
        title=f"Change from {levels[0]}",
        columns=(
            Column(key="model", name="model"),
            Column(key="level", name="asked"),
            Column(key="change", name="change", unit="points"),
            Column(key="p", name="p", unit="probability"),
            Column(key="p_holm", name="p, corrected", unit="probability",
                   help="corrected for looking at all changes"),
            Column(key="beyond", name="beyond the others", unit="points",
                   help="how much more it changes than the mean of the other models"),
            Column(key="p_beyond", name="p, corrected", unit="probability"),
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

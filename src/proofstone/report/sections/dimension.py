"""Do groups of items measure one thing, or rank models each in its own way?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import DimensionCheck, check_dimension
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table

__all__ = ["dimension_section"]

_FEWEST_ITEMS = 5  # a group, on average: else its means are all noise
_MOST_DRAWS, _FEWEST_DRAWS, _MOST_WORK = 500, 99, 20_000_000


def dimension_section(evidence: Evidence) -> Section | None:
    """How far models' profiles over groups are their own, beside what groups at random would show.
    None without a level of two groups or more, of five items each on average."""
    ranked, sheet = ranked_values(evidence), evidence.sheet
    if ranked is None or sheet is None or not len(ranked.units):
        return None
    found = {
        level: _check(evidence, ranked, sheet.table.strata[level][ranked.units], len(names))
        for level, names in sheet.table.stratum_names.items()
        if 1 < len(names) <= len(ranked.units) / _FEWEST_ITEMS
    }
    found = {level: check for level, check in found.items() if not math.isnan(check.p)}
    if not found:
        return None
    return Section(
        name="dimension",
        title="Whether groups rank models differently",
        finding=_finding(found),
        plain=_plain(found),
        cannot=_cannot(found),
        how=_how(found, evidence.seed),
        tables=(_table(found),),
    )


def _check(
    evidence: Evidence, ranked: RankedValues, strata: NDArray[np.int32], n_strata: int
) -> DimensionCheck:
    work = max(len(ranked.units) * n_strata, 1)
    n_draws = min(_MOST_DRAWS, max(_FEWEST_DRAWS, _MOST_WORK // work))
    # Of fresh forms of one bank items are independent, whatever facts they share.
    keys = ranked.keys if evidence.estimand == "knowledge" else None
    return check_dimension(ranked.values, strata, keys=keys, n_draws=n_draws, seed=evidence.seed)


_HOW = {
    "items": "{levels}: items are put into groups at random, {n} times",
    "groups": "{levels}: items that share a key are put into groups at random together, {n} times",
    "shared pairs": "{levels}: items share keys across each other's groups, so nothing can be put "
    "elsewhere at random; what chance gives is the variance over all pairs of items that share any "
    "key, p by its first two moments",
}


def _how(found: dict[str, DimensionCheck], seed: int) -> str:
    parts = []
    for chance, text in _HOW.items():
        of = {level: check for level, check in found.items() if check.chance == chance}
        if of:
            n = min(check.n_draws for check in of.values())
            parts.append(text.format(levels="By " + ", by ".join(of), n=n))
    return (
        "What is left of the models' means in groups after each model's and each group's own level "
        f"(its standard deviation, weighted by items), beside chance. {'. '.join(parts)}. "
        f"Seed {seed}."
    )


def _rejected(found: dict[str, DimensionCheck]) -> list[str]:
    """The levels whose groups differ, at 5% over all levels (Bonferroni)."""
    return [level for level, check in found.items() if check.p < 0.05 / len(found)]


def _finding(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return (
            f"Groups by {' or '.join(found)} rank the models alike, as far as chance lets one see."
        )
    level = max(rejected, key=lambda name: found[name].corrected)
    check = found[level]
    return (
        f"Groups by {' and by '.join(rejected)} rank models differently beyond chance: by {level}, "
        f"models stray from their own level by {points(check.interaction)} points, and by "
        f"{points(check.by_chance)} in groups drawn at random."
    )


def _plain(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return ""
    return (
        f"Which model is better depends on the {rejected[0]} asked about: one overall number hides "
        "that."
    )


def _cannot(found: dict[str, DimensionCheck]) -> str:
    if _rejected(found):
        return ""
    return "That all groups measure one thing: small differences between them would not be seen."


def _table(found: dict[str, DimensionCheck]) -> Table:
    return Table(
        title="Profiles over groups",
        columns=(
            Column(key="by", name="by"),
            Column(key="groups", name="groups"),
            Column(key="n", name="n", help="items"),
            Column(key="interaction", name="seen", unit="points",
                   help="how far models' means in groups stray from their own level"),
            Column(key="by_chance", name="by chance", unit="points",
                   help="the same in groups drawn at random"),
            Column(key="corrected", name="beyond chance", unit="points"),
            Column(key="p", name="p", unit="probability"),
        ),
        rows=tuple(
            (
                level, check.n_strata, check.n_units, check.interaction, check.by_chance,
                check.corrected, check.p,
            )
            for level, check in found.items()
        ),
    )  # fmt: skip

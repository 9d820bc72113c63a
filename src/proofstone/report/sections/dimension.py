"""Do groups of items measure one thing, or rank models each in its own way?"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from proofstone.engines.stats import DimensionCheck, check_dimension
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import joined, noted, paragraph, say, word

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
        title=say("Model × group interaction"),
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
    "items": noted("By {levels}: items are put into groups at random, {n} times."),
    "groups": noted(
        "By {levels}: items that share a key are put into groups at random together, {n} times."
    ),
    "shared pairs": noted(
        "By {levels}: items share keys across each other's groups, so nothing can be put "
        "elsewhere at random; what chance gives is the variance over all pairs of items that "
        "share any key, p by its first two moments."
    ),
}


def _how(found: dict[str, DimensionCheck], seed: int) -> str:
    parts = []
    for chance, text in _HOW.items():
        of = {level: check for level, check in found.items() if check.chance == chance}
        if of:
            n = min(check.n_draws for check in of.values())
            levels = say(", by ").join(word(level) for level in of)
            parts.append(say(text, levels=levels, n=n))
    return paragraph(
        say(
            "What is left of the models' means in groups after each model's and each group's own "
            "level (its standard deviation, weighted by items), beside chance."
        ),
        *parts,
        say("Seed {seed}.", seed=seed),
    )


def _rejected(found: dict[str, DimensionCheck]) -> list[str]:
    """The levels whose groups differ, at 5% over all levels (Bonferroni)."""
    return [level for level, check in found.items() if check.p < 0.05 / len(found)]


def _finding(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return say(
            "No significant model × group interaction by {levels}.",
            levels=joined([word(name) for name in found]),
        )
    level = max(rejected, key=lambda name: found[name].corrected)
    check = found[level]
    return say(
        "The model × group interaction is significant by {levels}. By {level}, models deviate "
        "from their own level by {interaction} points, against {by_chance} in random groups.",
        levels=joined([word(name) for name in rejected]),
        level=word(level),
        interaction=points(check.interaction),
        by_chance=points(check.by_chance),
    )


def _plain(found: dict[str, DimensionCheck]) -> str:
    rejected = _rejected(found)
    if not rejected:
        return ""
    return say(
        "Which model is better depends on the {level} asked about: one overall number hides that.",
        level=word(rejected[0]),
    )


def _cannot(found: dict[str, DimensionCheck]) -> str:
    if _rejected(found):
        return ""
    return say(
        "The test does not show that all groups measure the same construct; small interactions may "
        "go undetected."
    )


def _table(found: dict[str, DimensionCheck]) -> Table:
    return Table(
        title=say("Profiles over groups"),
        columns=(
            Column(key="by", name=say("by")),
            Column(key="groups", name=say("groups")),
            Column(key="n", name=say("n"), help=say("items")),
            Column(key="interaction", name=say("seen"), unit="points",
                   help=say("how far models' means in groups stray from their own level")),
            Column(key="by_chance", name=say("by chance"), unit="points",
                   help=say("the same in groups drawn at random")),
            Column(key="corrected", name=say("beyond chance"), unit="points"),
            Column(key="p", name=say("p"), unit="probability"),
        ),
        rows=tuple(
            (
                word(level), check.n_strata, check.n_units, check.interaction, check.by_chance,
                check.corrected, check.p,
            )
            for level, check in found.items()
        ),
    )  # fmt: skip

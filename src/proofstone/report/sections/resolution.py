"""What these items can tell apart, and how many would tell neighbours apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

from proofstone.engines.stats import (
    Resolution,
    Separation,
    equal_weights,
    measure_spread,
    resolution_after,
    separations,
)
from proofstone.report.numbers import points
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted, say, word

__all__ = ["resolution_section"]


def resolution_section(evidence: Evidence) -> Section | None:
    """The smallest difference that these items resolve at 80% power, and the items that each
    neighbouring pair would need. None with fewer than two ranked."""
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    spread = measure_spread(
        ranked.values, equal_weights(len(ranked.values)), ranked.keys, evidence.estimand
    )
    confidence = evidence.board.confidence
    resolution = resolution_after(spread, confidence=confidence)
    needed = separations(spread, confidence=confidence)
    return Section(
        name="resolution",
        title=say("What these items can tell apart"),
        finding=_finding(resolution),
        cannot=_cannot(resolution),
        how=say(
            "The difference that a two-sided paired test at {confidence:g}% finds in 80% "
            "of cases, for the median pair, from the variance seen; before any correction "
            "for many pairs. Items needed: of the kind that is here, if the difference "
            "seen is the true one. Intervals for {estimand}.",
            confidence=100 * (1 - confidence),
            estimand=word(evidence.board.estimand),
        ),
        tables=(_table(ranked, needed),),
    )


def _sees_nothing(found: Resolution) -> bool:
    return math.isnan(found.difference) or found.difference >= 1.0


def _finding(found: Resolution) -> str:
    if found.difference == 0.0:
        return say(
            "Most models score alike item by item, so nothing here says which true differences "
            "such items would find."
        )
    if _sees_nothing(found):
        return say("These are too few independent items to find any difference between two models.")
    return say(
        "{items} find a true difference of {difference} points or more in four cases of five; "
        "smaller ones mostly stay unseen.",
        items=_items(found),
        difference=points(found.difference),
    )


def _items(found: Resolution) -> str:
    """How many they are, and in how many independent groups of equal size, as it were, where some
    share a key: their number alone sets the degrees of freedom, so items are not said to be worth
    no more than that."""
    items = counted(found.n_units, "item")
    if found.groups > found.n_units - 0.5:
        return items
    return say("{items} in some {groups:,.0f} independent groups", items=items, groups=found.groups)


def _cannot(found: Resolution) -> str:
    if found.difference == 0.0:
        return say("That models which score alike here are alike: other items might part them.")
    if _sees_nothing(found):
        return say("Which of two models is better: no difference is large enough for these items.")
    return say(
        "Differences below about {difference} points: this test is too small to see them, so "
        "not seeing one does not show that two models are alike.",
        difference=points(found.difference),
    )


def _table(ranked: RankedValues, needed: Sequence[Separation]) -> Table:
    return Table(
        title=say("Items that would tell neighbours apart"),
        columns=(
            Column(key="first", name=say("model")),
            Column(key="second", name=say("next")),
            Column(key="difference", name=say("difference"), unit="points"),
            Column(key="standard_error", name=say("standard error"), unit="points"),
            Column(key="needed", name=say("items needed"),
                   help=say("a dash where the two score the same, or nothing can be said")),
            Column(key="times", name=say("times these"), digits=1),
        ),
        rows=tuple(
            (
                ranked.labels[pair.first],
                ranked.labels[pair.second],
                pair.difference,
                pair.standard_error,
                _rounded(pair.needed) if math.isfinite(pair.needed) else None,
                pair.times if math.isfinite(pair.times) else None,
            )
            for pair in needed
        ),
    )  # fmt: skip


def _rounded(items: float) -> int:
    """Two significant digits: no more is known."""
    digits = max(len(str(math.ceil(items))) - 2, 0)
    unit = int(10**digits)
    return math.ceil(items / unit) * unit

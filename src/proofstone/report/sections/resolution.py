"""Statistical power: the minimum detectable difference, and the items that neighbors need."""

from __future__ import annotations

import math

from proofstone.engines.stats import Resolution, Separation, resolution_after
from proofstone.report.numbers import points, two_digits
from proofstone.report.sections.ranked_values import RankedValues, ranked_values
from proofstone.report.sections.section import Column, Evidence, Section, Table
from proofstone.wording import counted, paragraph, say, word

__all__ = ["resolution_section"]


def resolution_section(evidence: Evidence) -> Section | None:
    """The smallest difference that these items resolve at 80% power once all pairs are compared,
    and the items that each neighbouring pair would need. None with fewer than two ranked."""
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    adjusted = resolution_after(ranked.spread, confidence=ranked.adjusted_confidence)
    alone = resolution_after(ranked.spread, confidence=ranked.confidence)
    return Section(
        name="resolution",
        title=say("Statistical power"),
        finding=_finding(adjusted, ranked.n_pairs),
        cannot=_cannot(adjusted, ranked.n_pairs),
        how=_how(evidence, ranked),
        tables=(_detectable(adjusted, alone, ranked.n_pairs), _table(ranked)),
    )


def _how(evidence: Evidence, ranked: RankedValues) -> str:
    alpha = 100 * (1 - ranked.confidence)
    return paragraph(
        say(
            "Minimum detectable difference: a two-sided paired test finds it with 80% power, for "
            "the median pair and the variance observed."
        ),
        say(
            "Each pair is tested at {alpha:g}% / {n:,}, the number of pairs (Bonferroni). Holm's "
            "ranking is at least as powerful.",
            alpha=alpha,
            n=ranked.n_pairs,
        )
        if ranked.n_pairs > 1
        else say("The pair is tested at {alpha:g}%.", alpha=alpha),
        say(
            "Items needed assume that the observed difference is the true one, and count items "
            "of the same kind. Intervals for {estimand}.",
            estimand=word(evidence.board.estimand),
        ),
    )


def _detectable(adjusted: Resolution, alone: Resolution, n_pairs: int) -> Table:
    return Table(
        title=say("Minimum detectable difference"),
        columns=(
            Column(key="comparison", name=say("comparison")),
            Column(key="difference", name=say("difference"), unit="points",
                   help=say("found with 80% power, median pair; a dash where it is over 100")),
            Column(key="standard_error", name=say("standard error"), unit="points"),
        ),
        rows=tuple(
            (name, None if _sees_nothing(found) else found.difference,
             None if math.isnan(found.standard_error) else found.standard_error)
            for name, found in (
                (say("adjusted for {pairs}", pairs=counted(n_pairs, "pair")), adjusted),
                (say("one planned pair, unadjusted"), alone),
            )
        ),
        sorts=False,
    )  # fmt: skip


def _sees_nothing(found: Resolution) -> bool:
    return math.isnan(found.difference) or found.difference >= 1.0


def _finding(found: Resolution, n_pairs: int) -> str:
    if found.difference == 0.0:
        return say(
            "Most models score alike item by item, so nothing here says which true differences "
            "such items would find."
        )
    if _sees_nothing(found):
        return say("These are too few independent items to find any difference between two models.")
    return say(
        "{items} give 80% power to detect a true difference of {difference} points (median pair, "
        "adjusted for the number of pairs)."
        if n_pairs > 1
        else "{items} give 80% power to detect a true difference of {difference} points.",
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


def _cannot(found: Resolution, n_pairs: int) -> str:
    if found.difference == 0.0:
        return say("Models that score alike on these items may differ on others.")
    if _sees_nothing(found):
        return say("These items cannot show a difference of any size between two models.")
    return paragraph(
        say(
            "Power is below 80% for differences under {difference} points (median pair, adjusted "
            "for the number of pairs)."
            if n_pairs > 1
            else "Power is below 80% for differences under {difference} points.",
            difference=points(found.difference),
        ),
        say("A non-significant difference does not show that two models are equal."),
    )


def _table(ranked: RankedValues) -> Table:
    return Table(
        title=say("Items needed to separate neighbors"),
        columns=(
            Column(key="first", name=say("model")),
            Column(key="second", name=say("next")),
            Column(key="difference", name=say("difference"), unit="points"),
            Column(key="standard_error", name=say("standard error"), unit="points"),
            Column(key="needed", name=say("items needed"),
                   help=say("adjusted for the number of pairs; a dash where the two score the "
                            "same, or where it cannot be estimated")),
            Column(key="times", name=say("times these"),
                   help=say("as a multiple of the items here")),
        ),
        rows=tuple(
            (
                ranked.labels[pair.first],
                ranked.labels[pair.second],
                pair.difference,
                pair.standard_error,
                two_digits(pair.needed) if math.isfinite(pair.needed) else None,
                _times(pair) if math.isfinite(pair.times) else None,
            )
            for pair in ranked.separations()
        ),
    )  # fmt: skip


def _times(pair: Separation) -> str:
    """A multiple with two significant digits."""
    return f"{two_digits(pair.times):,}" if pair.times >= 10 else f"{pair.times:.1f}"

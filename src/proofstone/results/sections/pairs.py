"""Pairwise differences between models, with adjusted tests, and statistical power."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
from msgspec import structs

from proofstone.page.section import (
    Column,
    Figure,
    Mark,
    ReadColumn,
    Section,
    Table,
    column,
    points,
    signed_points,
    table_of,
    two_digits,
)
from proofstone.records.runs import Estimate
from proofstone.results.board import Standings
from proofstone.results.board_text import Leaderboard
from proofstone.results.sections.evidence import Evidence, RankedValues, ranked_values
from proofstone.results.sections.parts import without_constant
from proofstone.stats.comparisons import mcnemar_p
from proofstone.stats.multiple_comparisons import benjamini_hochberg
from proofstone.stats.power import Resolution, Separation, resolution_after
from proofstone.stats.ranks import Comparison, tiers
from proofstone.wording.messages import counted, joined, listed, paragraph, say, say_of, word

# Further columns of a pair: q-value and discordant items.


def further_columns(evidence: Evidence, group: Standings) -> tuple[ReadColumn, ...]:
    """Return the q-value (Benjamini-Hochberg) of each pair.

    For right-or-wrong scores, also the items that only one of the two got right, with McNemar's
    exact test.
    """
    ranked = ranked_values(evidence)
    if ranked is None or not ((ranked.values == 0) | (ranked.values == 1)).all():
        return (_rate_column(group),)
    both = (ranked.values.T @ ranked.values).round().astype(np.int64)
    only = np.diag(both)[:, None] - both  # items that only the row's model got right
    exact, _ = mcnemar_p(only, only.T)
    return (
        _rate_column(group),
        column("only_first", say("only A correct"),
               lambda pair: int(only[pair.first, pair.second]),
               help=say("items that only the first model answered correctly")),
        column("only_second", say("only B correct"),
               lambda pair: int(only[pair.second, pair.first]),
               help=say("items that only the second model answered correctly")),
        column("p_mcnemar", say("p, McNemar"), lambda pair: float(exact[pair.first, pair.second]),
               unit="probability",
               help=say("the exact test on those items, taken as independent")),
    )  # fmt: skip


_MOST_DRAWN = 30  # a larger matrix cannot be read


# With more pairs (fifty models), only adjacent pairs and those of leading models are listed.
_MOST_LISTED = 1225


_TOP = 25


def pairs_section(evidence: Evidence) -> Section | None:
    """Return the number of significant pairs, and the differences of adjacent models.

    None if no models are compared.
    """
    group = next((group for group in evidence.board.standings if group.compared), None)
    if group is None:
        return None
    total, resolved = len(group.compared), sum(pair.resolved for pair in group.compared)
    paired = evidence.accuracies is None
    return Section(
        name="pairs",
        title=say("Pairwise differences"),
        finding=paragraph(_finding(resolved, total, len(group.ranked)), _tiers(group)),
        plain=_plain(group),
        cannot=paragraph(_cannot(group), _by_extraction(group)),
        how=_how(evidence.board, paired=paired),
        tables=tuple(_tables(evidence, group)),
        figures=tuple(_matrix(group)),
    )


def _finding(resolved: int, total: int, n_models: int) -> str:
    if n_models == 2:
        return say(
            "The difference between the two is statistically significant."
            if resolved
            else "The difference between the two is not statistically significant."
        )
    if total > 1 and not resolved:
        return say(
            "None of the {total:,} pairs of models differs significantly (Holm-adjusted).",
            total=total,
        )
    if resolved == total > 1:
        return say(
            "All {total:,} pairs of models differ significantly (Holm-adjusted).", total=total
        )
    return say_of(
        resolved,
        "{resolved:,} of {total:,} pairs of models differs significantly (Holm-adjusted); "
        "no significant difference in {pairs}.",
        "{resolved:,} of {total:,} pairs of models differ significantly (Holm-adjusted); "
        "no significant difference in {pairs}.",
        resolved=resolved,
        total=total,
        pairs=counted(total - resolved, "pair"),
    )


def _tiers(group: Standings) -> str:
    """Return the number of tiers: each model above is significantly better than each below.

    Empty with one tier, or with one model in each.
    """
    better = np.zeros((len(group.ranked), len(group.ranked)), dtype=bool)
    for pair in group.compared:
        better[pair.first, pair.second] = pair.resolved and pair.difference > 0
        better[pair.second, pair.first] = pair.resolved and pair.difference < 0
    found = tiers(better)
    if not 2 <= len(found) < len(group.ranked):
        return ""
    sizes = joined([str(last - first + 1) for first, last in found])
    return say("The ranking falls into {n} tiers, of {sizes} models.", n=len(found), sizes=sizes)


def _plain(group: Standings) -> str:
    best = [row.label for row in group.ranked if row.rank is not None and row.rank.low == 1]
    if len(best) == 1:
        return say(
            "{best} ranks first. Its lead over every other model is statistically significant.",
            best=best[0],
        )
    if len(best) == len(group.ranked):
        return ""
    return say(
        "{n} models are statistically tied for first: none of them is significantly worse than "
        "any other model.",
        n=len(best),
    )


def _cannot(group: Standings) -> str:
    """Return the closest pairs without a significant difference, best models first."""
    open_pairs = [
        pair for pair in group.compared if pair.second == pair.first + 1 and not pair.resolved
    ]
    if not open_pairs or len(group.compared) == 1:
        return ""
    shown = [
        say(
            "{first} and {second} ({difference} points)",
            first=group.ranked[pair.first].label,
            second=group.ranked[pair.second].label,
            difference=signed_points(pair.difference),
        )
        for pair in open_pairs[:3]
    ]
    left = len(open_pairs) - len(shown)
    pairs = say("; ").join(shown)
    return say(
        "Neighbors without a significant difference: {pairs}.",
        pairs=say("{words} and {n:,} more", words=pairs, n=left) if left else pairs,
    )


def _by_extraction(group: Standings) -> str:
    """Return significant differences no larger than the lower model's share of unparsed responses.

    Such a difference might vanish if these responses were parsed.
    """
    shares = [row.rate("unparsed") for row in group.ranked]
    if not any(rate.count for rate in shares):
        return ""
    named = []
    for pair in group.compared:
        places = (pair.first, pair.second) if pair.difference > 0 else (pair.second, pair.first)
        unparsed = shares[places[1]]
        if pair.resolved and unparsed.count and unparsed.share >= abs(pair.difference):
            named.append(joined([group.ranked[place].label for place in places]))
    if not named:
        return ""
    return say(
        "Unparsed responses alone could account for the difference between {pairs}.",
        pairs=listed(named, 3),
    )


def _how(board: Leaderboard, *, paired: bool) -> str:
    basis = (
        say(
            "Both models of a pair are compared on the same items, with clustered standard "
            "errors, for {population}.",
            population=word(board.population),
        )
        if paired
        else say(
            "Without scores by item, each model is treated as tested on separate questions. If "
            "all had the same questions, this test has less power than a paired test."
        )
    )
    return paragraph(
        basis,
        say("{level:g}% intervals of each difference by itself.", level=100 * board.confidence),
        say(
            "Holm's correction over all pairs keeps the chance of any false difference at "
            "{alpha:g}%.",
            alpha=100 * (1 - board.confidence),
        ),
    )


def _tables(evidence: Evidence, group: Standings) -> Iterator[Table]:
    table = partial(_table, evidence.board, group, more=further_columns(evidence, group))
    neighbours = [pair for pair in group.compared if pair.second == pair.first + 1]
    note = (
        say(
            "A matrix of {n} models is too large to read, so pairs are in tables.",
            n=len(group.ranked),
        )
        if len(group.ranked) > _MOST_DRAWN
        else ""
    )
    yield structs.replace(table(say("Neighbors in the ranking"), neighbours), note=note)
    if len(group.compared) <= len(neighbours):
        return
    if len(group.compared) <= _MOST_LISTED:
        yield table(say("All pairs"), group.compared)
        return
    leading = [pair for pair in group.compared if max(pair.first, pair.second) < _TOP]
    note = say(
        "{pairs:,} pairs are too many for a page. All are in pairs-all.csv ({tables}) and in "
        "{json}.",
        pairs=len(group.compared),
        tables="--tables csv",
        json="--json",
    )
    title = say("Pairs among the {n} highest scores", n=_TOP)
    yield structs.replace(table(title, leading), note=note)


def all_pairs(board: Leaderboard) -> Table | None:
    """Return every pair if the section lists only some; otherwise None."""
    group = next((group for group in board.standings if group.compared), None)
    if group is None or len(group.compared) <= _MOST_LISTED:
        return None
    return _table(board, group, say("All pairs"), group.compared, (_rate_column(group),))


def _rate_column(group: Standings) -> ReadColumn:
    rates = benjamini_hochberg(np.array([pair.p for pair in group.compared])).tolist()
    places = [(pair.first, pair.second) for pair in group.compared]
    by_pair = dict(zip(places, rates, strict=True))
    return column(
        "p_bh", say("q (BH)"), lambda pair: by_pair[pair.first, pair.second], unit="probability",
        help=say("q-value (Benjamini-Hochberg): calling every pair with a q up to this value "
                 "significant keeps the expected share of false discoveries at or below it"),
    )  # fmt: skip


def _table(
    board: Leaderboard,
    group: Standings,
    title: str,
    pairs: Sequence[Comparison],
    more: Sequence[ReadColumn],
) -> Table:
    labels = [row.label for row in group.ranked]
    return table_of(
        title,
        pairs,
        column("first", say("model"), lambda pair: labels[pair.first]),
        column("second", say("against"), lambda pair: labels[pair.second]),
        column("difference", say("difference"), lambda pair: _estimate(board, group, pair),
               unit="points", help=say("percentage points by which the first scores higher")),
        column("p", say("p"), unit="probability",
               help=say("two-sided p: probability of a difference at least this large if both "
                        "models had the same true score")),
        column("p_holm", say("p (Holm)"), unit="probability", help=say("adjusted for all pairs")),
        *more,
        column("resolved", say("significant"),
               lambda pair: say("yes") if pair.resolved else say("no")),
    )  # fmt: skip


def _estimate(board: Leaderboard, group: Standings, pair: Comparison) -> Estimate:
    """Return the difference, without an interval if it is the same on every item."""
    first = group.ranked[pair.first].estimate
    return without_constant(
        Estimate(
            value=pair.difference,
            n=group.n_items,
            low=pair.low,
            high=pair.high,
            level=board.confidence,
            population=board.population,
            made_by="clustered t" if first.resampled else "normal",
            resampled=first.resampled,
            effective_n=math.nan,
        )
    )


def _matrix(group: Standings) -> Iterator[Figure]:
    if not 2 < len(group.ranked) <= _MOST_DRAWN:
        return
    names = [row.label for row in group.ranked]
    marks = [
        Mark(
            row=names[pair.first],
            column=names[pair.second],
            value=pair.difference,
            low=pair.low,
            high=pair.high,
            n=group.n_items,
            text=signed_points(pair.difference) if pair.resolved else "",
        )
        for pair in group.compared
    ]
    yield Figure(
        name="pairs",
        kind="matrix",
        title=say("By how much each model is ahead"),
        subtitle=say(
            "points by which the row's model is ahead of the column's; empty where the "
            "difference is not significant"
        ),
        marks=tuple(marks),
        row_axis=say("model"),
        column_axis=say("against"),
        value_axis=say("difference in points"),
        table=2,
    )


def resolution_section(evidence: Evidence) -> Section | None:
    """Return the minimum detectable difference at 80% power, adjusted for all pairs.

    Also the items that each adjacent pair would need. None with fewer than two ranked models.
    """
    ranked = ranked_values(evidence)
    if ranked is None:
        return None
    adjusted = resolution_after(ranked.spread, confidence=ranked.adjusted_confidence)
    alone = resolution_after(ranked.spread, confidence=ranked.confidence)
    return Section(
        name="power",
        title=say("Statistical power"),
        finding=_resolution_finding(adjusted, ranked.n_pairs),
        cannot=_resolution_cannot(adjusted, ranked.n_pairs),
        how=_resolution_how(evidence, ranked),
        tables=(_detectable(adjusted, alone, ranked.n_pairs), _resolution_table(ranked)),
    )


def _resolution_how(evidence: Evidence, ranked: RankedValues) -> str:
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
            "of the same kind. Intervals for {population}.",
            population=word(evidence.board.population),
        ),
    )


def _known_error(error: float) -> float | None:
    """Return None for an error that is unknown, or 0 as the difference never varies."""
    return error if error > 0 else None


def _detectable(adjusted: Resolution, alone: Resolution, n_pairs: int) -> Table:
    return Table(
        title=say("Minimum detectable difference"),
        columns=(
            Column(key="comparison", name=say("comparison")),
            Column(key="difference", name=say("difference"), unit="points",
                   help=say("found with 80% power, median pair; a dash where it is over 100 or "
                            "cannot be estimated")),
            Column(key="standard_error", name=say("standard error"), unit="points"),
        ),
        rows=tuple(
            (name, None if _sees_nothing(found) or _does_not_vary(found) else found.difference,
             _known_error(found.standard_error))
            for name, found in (
                (say("adjusted for {pairs}", pairs=counted(n_pairs, "pair")), adjusted),
                (say("one planned pair, unadjusted"), alone),
            )
        ),
        sorts=False,
    )  # fmt: skip


def _does_not_vary(found: Resolution) -> bool:
    return found.difference == 0.0


def _sees_nothing(found: Resolution) -> bool:
    return math.isnan(found.difference) or found.difference >= 1.0


def _resolution_finding(found: Resolution, n_pairs: int) -> str:
    if _does_not_vary(found):
        return say(
            "The difference of the median pair is the same on every item, so power cannot be "
            "estimated."
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
    """Return the number of items, and the effective number of equal-sized clusters, if clustered.

    The number of clusters only sets the degrees of freedom. It is not an effective number of items.
    """
    items = counted(found.n_units, "item")
    if found.groups > found.n_units - 0.5:
        return items
    return say("{items} in some {groups:,.0f} independent groups", items=items, groups=found.groups)


def _resolution_cannot(found: Resolution, n_pairs: int) -> str:
    if _does_not_vary(found):
        return say("On other items, the same models may show other differences.")
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


def _resolution_table(ranked: RankedValues) -> Table:
    def times(pair: Separation) -> str | None:
        """A multiple with two significant digits."""
        if not math.isfinite(pair.times):
            return None
        return f"{two_digits(pair.times):,}" if pair.times >= 10 else f"{pair.times:.1f}"

    return table_of(
        say("Items needed to separate neighbors"),
        ranked.separations(),
        column("first", say("model"), lambda pair: ranked.labels[pair.first]),
        column("second", say("next"), lambda pair: ranked.labels[pair.second]),
        column("difference", say("difference"), unit="points"),
        column("standard_error", say("standard error"),
               lambda pair: _known_error(pair.standard_error), unit="points",
               help=say("a dash where the difference is the same on every item")),
        column("needed", say("items needed"),
               lambda pair: two_digits(pair.needed) if math.isfinite(pair.needed) else None,
               help=say("adjusted for the number of pairs; a dash where the two score the "
                        "same, or where it cannot be estimated")),
        column("times", say("times these"), times, help=say("as a multiple of the items here")),
    )  # fmt: skip

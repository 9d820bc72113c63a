"""What is not decided among the best, and how many more questions at what price would decide it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from proofstone.engines.stats import Separation
from proofstone.report.board import BoardRow, Standings
from proofstone.report.numbers import points, two_digits
from proofstone.report.opening.best import best_group
from proofstone.report.opening.costs import about_usd, cost_of_thousand
from proofstone.report.opening.names import called, named
from proofstone.report.sections.ranked_values import values_of
from proofstone.report.sections.section import Evidence
from proofstone.wording import paragraph, say, say_of

__all__ = ["undecided_sentences"]

_MOST_PAIRS = 3
_MOST_QUESTIONS = 10_000_000


def undecided_sentences(evidence: Evidence, group: Standings) -> Iterator[str]:
    """The leader beside each other of the best group, the nearest three of them; and those that
    may still join it. Of respondents that are ranked."""
    best = best_group(group)
    if len(best) == 1:
        yield say("Which model is best is decided: no more questions are needed for that.")
    elif best:
        yield from _pairs(evidence, group, best)
    elif len(group.ranked) > 1:
        yield say("Which is best cannot be said: no questions are known that all of them answered.")
    yield from _may_join(group)


def _pairs(evidence: Evidence, group: Standings, best: tuple[int, ...]) -> Iterator[str]:
    ranked = values_of(evidence, group)
    if ranked is None:
        yield say(
            "How many more questions would decide it cannot be said from accuracies alone: that "
            "takes scores question by question."
        )
        return
    pairs = [(best[0], place) for place in best[1 : 1 + _MOST_PAIRS]]
    for pair in ranked.separations(pairs):
        yield _pair(group, pair, len(ranked.units))
    more = len(best) - 1 - len(pairs)
    if more > 0:
        yield say_of(
            more,
            "{n} more of the best group is just as open.",
            "{n} more of the best group are just as open.",
            n=more,
        )


def _pair(group: Standings, pair: Separation, n_items: int) -> str:
    first, second = group.ranked[pair.first], group.ranked[pair.second]
    names = {"first": called(group, first), "second": called(group, second)}
    if math.isnan(pair.needed):
        return say(
            "{first} or {second}: not significantly different. These questions are too few or too "
            "dependent to estimate how many are needed.",
            **names,
        )
    if points(pair.difference) == points(0.0):
        return say(
            "{first} or {second}: they score the same, so no number of questions can be estimated.",
            **names,
        )
    more = pair.needed - n_items
    if more > _MOST_QUESTIONS:
        return say(
            "{first} or {second}: not significantly different. At the {gap} points seen here, more "
            "than {most:,} questions would be needed.",
            gap=points(pair.difference),
            most=_MOST_QUESTIONS,
            **names,
        )
    return paragraph(
        say(
            "{first} or {second}: not significantly different. If their true difference is the "
            "{gap} points seen here, about {n:,} questions like these give 80% power to show it "
            "({have:,} were asked).",
            gap=points(pair.difference),
            n=two_digits(pair.needed),
            have=n_items,
            **names,
        ),
        _price(group, first, second, more),
    )


def _price(group: Standings, first: BoardRow, second: BoardRow, more: float) -> str:
    """What that many more questions cost, asked of both as often as these were."""
    if group.simulated:
        return ""
    costs = [cost_of_thousand(row) for row in (first, second)]
    known = [cost for cost in costs if cost is not None]
    if len(known) < len(costs):
        return say("The price is not known.")
    samples = max(row.average.k if row.average else 1 for row in (first, second))
    return say(
        "Asking both models the additional questions would cost about {usd} USD.",
        usd=about_usd(more * samples * sum(known) / 1000),
    )


def _may_join(group: Standings) -> Iterator[str]:
    """Those whose missing replies, if all were right, would lift them to the leader's score."""
    if not group.ranked:
        return
    best = group.ranked[0].estimate.value
    open_ = [row for row in group.incomplete if row.bounds and row.bounds.high >= best]
    if open_:
        yield say(
            "{models} may still turn out best: replies are missing.", models=named(group, open_)
        )

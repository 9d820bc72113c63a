"""What a thousand questions cost a respondent, and what is said of cost and time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from proofstone.report.board import BoardRow, Standings
from proofstone.report.numbers import points
from proofstone.report.opening.best import best_group
from proofstone.report.opening.names import called, named
from proofstone.wording import say

__all__ = [
    "about_usd",
    "bounded_cell",
    "bounded_sentence",
    "cost_of_thousand",
    "cost_sentences",
    "least_cost",
    "shown_usd",
]


def cost_of_thousand(row: BoardRow) -> float | None:
    """US dollars for a thousand questions asked once, by what was spent on those here; None where
    some call has no price, or nothing is known of calls. Calls whose usage the endpoint did not
    report count at the most that they can have cost; ``least_cost`` counts them as nothing."""
    spent, n = row.spent, row.pace.n_questions
    if not spent.calls or spent.unpriced or not n:
        return None
    return 1000 * spent.cost_usd / n


def least_cost(row: BoardRow) -> float | None:
    """The least that ``cost_of_thousand`` can be."""
    most = cost_of_thousand(row)
    return None if most is None else most - 1000 * row.spent.estimated_usd / row.pace.n_questions


def bounded_cell(row: BoardRow, cost: float | None, digits: int) -> float | str | None:
    """The cost for a cell of a table, marked where it is only an upper bound."""
    if cost is None or not row.spent.estimated_usd:
        return cost
    return say("at most {usd}", usd=f"{cost:,.{digits}f}")


def bounded_sentence(group: Standings, rows: Sequence[BoardRow]) -> Iterator[str]:
    """Which costs are upper bounds, and by how much; nothing where all usage is known."""
    bounded = [row for row in rows if row.spent.estimated_usd and cost_of_thousand(row) is not None]
    if bounded:
        yield say(
            "The cost of {models} is an upper bound: endpoints did not report the usage of "
            "{n_calls} calls, counted at up to {usd} USD in all.",
            models=named(group, bounded),
            n_calls=sum(row.spent.estimated_calls for row in bounded),
            usd=shown_usd(sum(row.spent.estimated_usd for row in bounded)),
        )


def shown_usd(amount: float) -> str:
    """Dollars to two places, or to two digits where that would say nothing."""
    return f"{amount:,.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"


def about_usd(amount: float) -> str:
    """Dollars to two digits, for what is only foreseen."""
    if not amount:
        return "0"
    rounded = round(amount, 1 - math.floor(math.log10(amount)))
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:.2g}"


def cost_sentences(group: Standings, *, is_of_files: bool) -> Iterator[str]:
    """The cheapest and the fastest of the best group, who is cheaper below it, and what is not
    known. Nothing of simulated respondents, whom nobody pays."""
    rows = (*group.ranked, *group.incomplete)
    if group.simulated or not rows:
        return
    if is_of_files:
        yield say(
            "What the answers cost, and how long they took, is not known: the files do not say."
        )
        return
    best = [group.ranked[place] for place in best_group(group)] or list(group.ranked[:1])
    yield from _cheapest(group, best)
    yield from bounded_sentence(group, rows)
    yield from _cheaper_below(group, best)
    yield from _fastest(group, best)
    yield from _unpriced(group, rows)


def _cheapest(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    priced = sorted(
        (cost, called(group, row)) for row in best if (cost := cost_of_thousand(row)) is not None
    )
    if len(priced) < 2:
        return
    (low, cheap), (high, dear) = priced[0], priced[-1]
    least = [cost for row in best if called(group, row) != cheap and (cost := least_cost(row))]
    most = [least_cost(row) or 0.0 for row in best if called(group, row) == dear]
    if any(cost < low for cost in least) or any(
        cost > most[0] for cost, who in priced if who != dear
    ):
        yield say(
            "The cheapest of the models tied for first is not known: some usage was not reported."
        )
        return
    if shown_usd(low) == shown_usd(high):
        yield say("In the best group all cost {usd} USD for 1,000 questions.", usd=shown_usd(low))
        return
    yield say(
        "The cheapest of the best group is {cheap}, {low} USD for 1,000 questions; the dearest "
        "{dear}, {high} USD.",
        cheap=cheap,
        low=shown_usd(low),
        dear=dear,
        high=shown_usd(high),
    )


def _cheaper_below(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    """The best of those below the group that cost less than half of its cheapest."""
    least_costs = [cost for row in best if (cost := least_cost(row)) is not None]
    if not least_costs:
        return
    for row in group.ranked:
        cost = cost_of_thousand(row)
        if row in best or cost is None or 2 * cost > min(least_costs):
            continue
        yield say(
            "Below the best group, {model} costs {usd} USD for 1,000 questions, and scores {gap} "
            "points less than {leader}.",
            model=called(group, row),
            usd=shown_usd(cost),
            gap=points(best[0].estimate.value - row.estimate.value),
            leader=called(group, best[0]),
        )
        return


def _fastest(group: Standings, best: Sequence[BoardRow]) -> Iterator[str]:
    timed = sorted(
        (row.pace.median_latency_s, called(group, row))
        for row in best
        if row.pace.median_latency_s is not None
    )
    if len(timed) < 2:
        return
    (fast, first), (slow, last) = timed[0], timed[-1]
    if _seconds(fast) == _seconds(slow):
        return
    yield say(
        "The fastest of it is {first}: half of its replies came within {fast} s; the slowest "
        "{last}, {slow} s.",
        first=first,
        fast=_seconds(fast),
        last=last,
        slow=_seconds(slow),
    )


def _seconds(time: float) -> str:
    return f"{time:.1f}" if time >= 1 else f"{time:.2f}"


def _unpriced(group: Standings, rows: Sequence[BoardRow]) -> Iterator[str]:
    without = [row for row in rows if cost_of_thousand(row) is None]
    if len(without) == len(rows):
        yield say("What the answers cost is not known: there is no price of any of these models.")
    elif without:
        yield say(
            "What {models} cost is not known: not all of their calls have a price.",
            models=named(group, without),
        )

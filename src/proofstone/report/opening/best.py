"""Who is in the best group, and what separates its members from each other and from the rest."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from proofstone.report.board import BoardRow, Standings
from proofstone.report.numbers import points
from proofstone.report.opening.names import called, named
from proofstone.wording import say

__all__ = ["best_group", "best_sentences"]


def best_group(group: Standings) -> tuple[int, ...]:
    """The places of those that nobody is shown to be better than; none without ranks."""
    if not group.compared:
        return ()
    return tuple(
        place for place, row in enumerate(group.ranked) if row.rank is not None and row.rank.low < 2
    )


def best_sentences(group: Standings) -> Iterator[str]:
    """Who the best are, how far apart they are, and how far the next one is."""
    best = best_group(group)
    rows = group.ranked
    if not best:
        yield from _nobody_ranked(group)
        return
    members = [rows[place] for place in best]
    if len(best) == 1:
        yield say(
            "{model} ranks first. Its lead over every other model is statistically significant.",
            model=called(group, members[0]),
        )
    else:
        yield _group(group, members, is_all=len(best) == len(rows))
        yield _within(members)
    after = next((place for place in range(len(rows)) if place not in best), None)
    if after is not None:
        yield _next(group, best, after)


def _nobody_ranked(group: Standings) -> Iterator[str]:
    """Why nobody is said to be best, where it is for want of respondents."""
    if not group.ranked:
        yield say("Nothing can be ranked: no model has answered everything.")
    elif len(group.ranked) == 1:
        yield (
            say(
                "Nothing can be ranked: {model} alone has answered everything.",
                model=called(group, group.ranked[0]),
            )
            if group.incomplete
            else say(
                "There is one model, {model}: nothing stands beside it to be ranked with.",
                model=called(group, group.ranked[0]),
            )
        )


def _group(group: Standings, members: Sequence[BoardRow], *, is_all: bool) -> str:
    if is_all:
        return say(
            "All are in the best group ({models}): these questions do not show which is best.",
            models=named(group, members),
        )
    return say(
        "The best group is {models}: these questions do not show which of them is best.",
        models=named(group, members),
    )


def _within(members: Sequence[BoardRow]) -> str:
    gap = members[0].estimate.value - members[-1].estimate.value
    if points(gap) == points(0.0):
        return say("They score the same.")
    return say(
        "Their scores are within {gap} points; no difference between them is significant.",
        gap=points(gap),
    )


def _next(group: Standings, best: Sequence[int], after: int) -> str:
    """How far the first one behind the best group is, and behind whom surely."""
    rows = group.ranked
    beaten_by = [
        pair.first if pair.second == after else pair.second
        for pair in group.compared
        if pair.resolved and after in (pair.first, pair.second)
    ]
    ahead = next((place for place in best if place in beaten_by), best[0])
    return say(
        "The next one, {model}, scores {gap} points less than {ahead}. This difference is "
        "significant.",
        model=called(group, rows[after]),
        gap=points(rows[ahead].estimate.value - rows[after].estimate.value),
        ahead=called(group, rows[ahead]),
    )

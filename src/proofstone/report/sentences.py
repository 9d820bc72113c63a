"""What the numbers say, as sentences computed from them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from proofstone.engines.stats import Against, interval_against
from proofstone.records.results import Estimate
from proofstone.report.board import BoardRow, Leaderboard, Standings
from proofstone.report.numbers import points, shown_estimate

__all__ = ["answer_sentences", "chance_sentence", "counted", "joined", "scale_head"]

_UNREAD = " Replies without a readable answer count as wrong."
_MOST_NAMED = 3  # more leaders of one score are counted rather than named


def counted(n: int, noun: str, plural: str = "") -> str:
    """``1 item``, ``2 items``, ``5,038 items``; ``plural`` where an s does not make one."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def joined(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]])) if words else ""


def chance_sentence(
    chance: float, estimates: Sequence[Estimate], *, unread_are_wrong: bool = False
) -> str:
    """Where chance lies among the intervals; empty where there is none, or no chance level.

    ``unread_are_wrong``: there are replies without an answer, and they count 0. Guessing always
    answers, so that is said where an interval lies below chance.
    """
    places = Counter(interval_against(chance, estimate) for estimate in estimates)
    said = _chance_places(places, len(estimates))
    return f"{said}{_UNREAD}" if said and places["below"] and unread_are_wrong else said


def _chance_places(places: Counter[Against], n: int) -> str:
    if not n or places["unknown"]:
        return ""
    if places["inside"] == n:
        doubt = "these results do" if n > 1 else "this result does"
        return f"Chance lies inside {_all_intervals(n)}: {doubt} not show knowledge."
    if places["above"] == n:
        return f"{_upper(_all_intervals(n))} {'lie' if n > 1 else 'lies'} above chance."
    if places["below"] == n:
        return f"{_upper(_all_intervals(n))} {'lie' if n > 1 else 'lies'} below chance."
    return _mixed(places, n)


def answer_sentences(board: Leaderboard) -> tuple[str, ...]:
    """The reader's answer first: who is ahead, and what cannot be told apart; one a standing."""
    if not board.standings:
        return ("There are no scores yet, so there is nothing to rank.",)
    return tuple(f"{scale_head(group)}{_standings_answer(group)}" for group in board.standings)


def scale_head(group: Standings) -> str:
    """What a sentence on a standing begins with, where its scores are on a scale of their own."""
    return "" if group.scale is None else f"{group.scale.name}: "


def _standings_answer(group: Standings) -> str:
    subject = "simulated respondent" if group.simulated else "respondent"
    n = len(group.incomplete)
    verb = "is" if n == 1 else "are"
    if not group.ranked:
        return f"No {subject} is complete, so none is ranked ({n} {verb} incomplete)."
    left_out = f" {counted(n, subject)} {verb} incomplete and not ranked." if n else ""
    return _ranked_answer(group, subject) + left_out


def _ranked_answer(group: Standings, subject: str) -> str:
    first = group.ranked[0]
    score = shown_estimate(first.estimate)
    if len(group.ranked) == 1:
        on = counted(first.estimate.n, "item")
        return f"{first.label} scores {score} on {on}, the only complete {subject}."
    if not group.is_common:
        return f"The {len(group.ranked)} complete {subject}s share no item: they are not ranked."
    of = f"Of {counted(len(group.ranked), subject)} on {counted(group.n_items, 'item')}"
    best = first.estimate.value
    level = [row for row in group.ranked if math.isclose(row.estimate.value, best)]
    if len(level) > 1:
        return f"{of}, {_leaders(level)}{_level_lead(group.ranked, len(level))}"
    return f"{of}, {first.label} scores highest, {score}{_lead(group.ranked)}"


def _leaders(level: Sequence[BoardRow]) -> str:
    """Respondents of one and the same score: their names, or how many they are."""
    who = joined([row.label for row in level]) if len(level) <= _MOST_NAMED else f"{len(level)}"
    return f"{who} score highest, {points(level[0].estimate.value)} each"


def _level_lead(ranked: Sequence[BoardRow], level: int) -> str:
    """What a shared first place is worth: the others that the data leave it open to."""
    open_ranks = ranked[0].rank.high if ranked[0].rank else level
    rest = open_ranks - level
    others = f", nor from {counted(rest, 'other')}" if rest > 0 else ""
    return f"; the data cannot tell them from one another{others}."


def _lead(ranked: Sequence[BoardRow]) -> str:
    """What the first rank is worth, after a comma or a full stop."""
    first = ranked[0]
    open_ranks = first.rank.high if first.rank else 1
    if open_ranks == 1:
        return ", and ahead of all others beyond what chance in the items explains."
    if open_ranks == len(ranked):
        others = "the other" if len(ranked) == 2 else "any of the others"
        return f", but the data cannot tell it from {others}."
    rest = open_ranks - 1
    return f", but the data cannot tell it from {counted(rest, 'other')}."


def _mixed(places: Counter[Against], n: int) -> str:
    """Says each place that occurs, above first."""
    words = {"above": "above chance", "inside": "around chance", "below": "below chance"}
    order: tuple[Against, ...] = ("above", "inside", "below")
    found = [(places[place], words[place]) for place in order if places[place]]
    (count, where), *rest = found
    verb = "lies" if count == 1 else "lie"
    said = f"{count} of {n} intervals {verb} {where}"
    all_said = joined([said, *(f"{number} {place}" for number, place in rest)])
    doubt = ": what lies around chance does not show knowledge" if places["inside"] else ""
    return f"{all_said}{doubt}."


def _all_intervals(n: int) -> str:
    return "the interval" if n == 1 else "both intervals" if n == 2 else f"all {n} intervals"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]

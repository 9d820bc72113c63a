"""What each judge did over many verdicts: votes, silences, changes of mind with the order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from msgspec import Struct

from proofstone.records import Ballot, PanelVerdict

__all__ = ["JudgeAccount", "judge_accounts"]


class JudgeAccount(Struct, frozen=True, kw_only=True):
    """One judge over ``n`` questions: ballots by what they were, replies that had to be asked for
    again, questions heard in several orders and those of them with different labels (``turned``),
    labels given by their place in the list (from the first), and how often it was with and against
    the panel's decision."""

    judge: str
    n: int
    voted: int
    unparsed: int
    failed: int
    split: int
    reasked: int
    in_orders: int
    turned: int
    by_place: tuple[int, ...]
    with_panel: int
    against_panel: int


def judge_accounts(verdicts: Iterable[PanelVerdict]) -> tuple[JudgeAccount, ...]:
    """An account a judge, in the order of their first ballots."""
    found: dict[str, list[tuple[Ballot, PanelVerdict]]] = {}
    for verdict in verdicts:
        for ballot in verdict.ballots:
            found.setdefault(ballot.judge, []).append((ballot, verdict))
    return tuple(_account(judge, ballots) for judge, ballots in found.items())


def _account(judge: str, cast: list[tuple[Ballot, PanelVerdict]]) -> JudgeAccount:
    states = Counter(ballot.state for ballot, _verdict in cast)
    heard = [_labels_by_order(ballot) for ballot, _verdict in cast]
    several = [labels for labels in heard if len(labels) > 1]
    places = Counter(
        each.listed_at for ballot, _ in cast for each in ballot.heard if each.listed_at >= 0
    )
    sided = Counter(
        ballot.label == verdict.label
        for ballot, verdict in cast
        if ballot.state == "voted" and verdict.label and not verdict.by_rule
    )
    return JudgeAccount(
        judge=judge,
        n=len(cast),
        voted=states["voted"],
        unparsed=states["unparsed"],
        failed=states["failed"],
        split=states["split"],
        reasked=sum(each.reask > 0 for ballot, _verdict in cast for each in ballot.heard),
        in_orders=len(several),
        turned=sum(len(set(labels)) > 1 for labels in several),
        by_place=tuple(places[place] for place in range(max(places, default=-1) + 1)),
        with_panel=sided[True],
        against_panel=sided[False],
    )


def _labels_by_order(ballot: Ballot) -> list[str]:
    return [heard.label for heard in ballot.heard if heard.label]

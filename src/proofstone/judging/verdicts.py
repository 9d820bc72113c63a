"""Count votes to a verdict, and summarize each judge over many verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.records.verdicts import JudgeVote, Majority, PanelRules, PanelVerdict

# From votes to a verdict: quorum, majority and tie rule.


def decide(judge_votes: Sequence[JudgeVote], rules: PanelRules) -> PanelVerdict:
    """Return the verdict of votes, in any order. Raises BadUsage for a quorum below 1."""
    if rules.quorum < 1:
        raise BadUsage(f"the quorum of a panel must be 1 or more, got {rules.quorum}")
    made = PanelVerdict(state="no_quorum", judge_votes=tuple(judge_votes), rules=rules)
    votes = made.votes()
    cast = sum(votes.values())
    if cast < rules.quorum:
        return made
    most = max(votes.values())
    leaders = [label for label, n in votes.items() if n == most]
    if len(leaders) == 1 and _suffices(most, cast, rules.majority):
        return structs.replace(made, state="decided", label=leaders[0])
    if rules.tie:
        return structs.replace(made, state="decided", label=rules.tie, by_rule=True)
    return structs.replace(made, state="tied")


def without(verdict: PanelVerdict, judge: str) -> PanelVerdict:
    """Return the verdict of the other judges by the same rules.

    Their quorum is one less if all were required.
    """
    left = [judge_vote for judge_vote in verdict.judge_votes if judge_vote.judge != judge]
    quorum = max(1, min(verdict.rules.quorum, len(left)))
    return decide(left, structs.replace(verdict.rules, quorum=quorum))


def _suffices(most: int, cast: int, majority: Majority) -> bool:
    if majority == "all":
        return most == cast
    return majority == "most" or 2 * most > cast


class JudgeAccount(Struct, frozen=True, kw_only=True):
    """Count one judge's votes over ``n`` questions.

    Counted are votes by kind, repeated calls, and questions in several label orders with different
    labels (``turned``). ``wavered`` counts questions with inconsistent votes. Labels are also
    counted by position in the list (from the first), and votes by agreement with the panel.
    ``otherwise`` counts questions that the other judges would decide differently, or not at all, or
    that only its vote left undecided.
    """

    judge: str
    n: int
    voted: int
    unparsed: int
    failed: int
    split: int
    reasked: int
    in_orders: int
    turned: int
    wavered: int = 0
    by_place: tuple[int, ...]
    with_panel: int
    against_panel: int
    otherwise: int


_COUNTED = tuple(
    name for name in JudgeAccount.__struct_fields__ if name not in {"judge", "by_place"}
)


class JudgeTally:
    """Count verdicts one by one, without keeping them."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[str]] = {}
        self._places: dict[str, Counter[int]] = {}

    def add(self, verdict: PanelVerdict) -> None:
        """Count one verdict."""
        for judge_vote in verdict.judge_votes:
            counts = self._counts.setdefault(judge_vote.judge, Counter())
            counts["n"] += 1
            counts[judge_vote.state] += 1
            counts["otherwise"] += without(verdict, judge_vote.judge).label != verdict.label
            if judge_vote.state == "voted" and verdict.label and not verdict.by_rule:
                counts["with_panel" if judge_vote.label == verdict.label else "against_panel"] += 1
            _count_heard(judge_vote, counts, self._places.setdefault(judge_vote.judge, Counter()))

    def accounts(self) -> tuple[JudgeAccount, ...]:
        """Return one account per judge, in the order of first votes."""
        return tuple(self._account(judge, counts) for judge, counts in self._counts.items())

    def _account(self, judge: str, counts: Counter[str]) -> JudgeAccount:
        places = self._places[judge]
        return JudgeAccount(
            judge=judge,
            by_place=tuple(places[place] for place in range(max(places, default=-1) + 1)),
            **{name: counts[name] for name in _COUNTED},
        )


def judge_accounts(verdicts: Iterable[PanelVerdict]) -> tuple[JudgeAccount, ...]:
    """Return one account per judge, in the order of first votes."""
    tally = JudgeTally()
    for verdict in verdicts:
        tally.add(verdict)
    return tally.accounts()


def _count_heard(judge_vote: JudgeVote, counts: Counter[str], places: Counter[int]) -> None:
    by_vote: dict[int, list[str]] = {}
    for heard in judge_vote.heard:
        counts["reasked"] += heard.reask > 0
        if heard.listed_at >= 0:
            places[heard.listed_at] += 1
        if heard.label:
            by_vote.setdefault(heard.vote, []).append(heard.label)
    several = [labels for labels in by_vote.values() if len(labels) > 1]
    counts["in_orders"] += bool(several)
    counts["turned"] += any(len(set(labels)) > 1 for labels in several)
    counts["wavered"] += len({tuple(labels) for labels in by_vote.values()}) > 1

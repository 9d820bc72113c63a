"""From all decisions on a version to one: keep, fix, drop, or open until one more has read it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import UnsetType, structs

from proofstone.method import Answers, Reviewing
from proofstone.records.ids import canonical_json
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    QUESTIONS,
    AnswerPolicy,
    CheckedAnswer,
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewText,
    latest,
)


def decide(
    reviews: Iterable[Review],
    policy: ReviewPolicy,
    shown: Mapping[bytes, ReviewText] = MappingProxyType({}),
) -> list[ReviewDecision]:
    """One decision a version that anybody reviewed for its format, in the order of first reviews.

    First whether it goes: by ``policy.drop`` of those who read it. Of those who would keep it,
    ``policy.fix`` of them asking for a change make it a fix, provided that they want the same
    change. Fewer than ``policy.quorum``, half against half, and different changes leave it open:
    a third reviewer decides. Encyclo-K's review is ``ReviewPolicy(quorum=3)``.

    ``shown`` says what versions are meant to be. A fix of one that is meant to be false needs
    somebody besides its author who finds the new wording false; a fix of any version stays open
    where as many readers or more find its new wording to be otherwise than meant.
    """
    of: dict[tuple[Any, ...], list[Review]] = {}
    checks: dict[bytes, list[Review]] = {}
    for one in latest(reviews):
        if one.task == "format":
            of.setdefault((one.kind, one.target), []).append(one)
        elif one.task == "wording":
            checks.setdefault(one.target, []).append(one)
    return [
        _with_key(_decided(members, policy), members, checks.get(target, []), shown.get(target))
        for (_kind, target), members in of.items()
    ]


def _with_key(
    decided: ReviewDecision,
    reviews: Sequence[Review],
    checks: Sequence[Review],
    shown: ReviewText | None,
) -> ReviewDecision:
    """The decision; a fix of a statement whose truth is meant names its key, or is open until
    enough readers have said that its new wording keeps it."""
    if decided.outcome != "fix" or shown is None or not shown.claim:
        return decided
    wording = str(decided.changes.get(shown.field, ""))
    authors = [one for one in reviews if one.verdict == "fix" and one.changes == decided.changes]
    others = [
        one for one in checks if one.answer == wording and one.who not in {a.who for a in authors}
    ]
    said = [str(one.rubric.get("claim", "")) for one in authors] + [one.verdict for one in others]
    votes = Counter(claim for claim in said if claim in ("true", "false"))
    other = "true" if shown.claim == "false" else "false"
    why = ""
    if votes[other] and votes[other] >= votes[shown.claim]:
        found = f"{votes[other]} of {votes.total()} readers find the new wording {other}"
        why = f"meant to be {shown.claim}, and {found}"
    elif shown.claim == "false" and not {"false"} & set(said[1:]):
        why = "false on purpose: a second reader must say whether the new wording still is"
    if why:
        return structs.replace(decided, outcome="open", changes={}, why=why, wording=wording)
    if shown.claim == "true" or not shown.key_field:
        return decided
    return structs.replace(decided, changes={**decided.changes, shown.key_field: False})


def _decided(reviews: Sequence[Review], policy: ReviewPolicy) -> ReviewDecision:
    votes = Counter(one.verdict for one in reviews)
    outcome, why = _fate(votes, len(reviews), policy)
    changes: Mapping[str, Any] = {}
    if outcome == "keep":
        asked = [one.changes for one in reviews if one.verdict == "fix"]
        if _is_enough(len(asked), len(asked) + votes["keep"], policy.fix, ties=True):
            if len({canonical_json(dict(one)) for one in asked}) > 1:
                outcome, why = "open", "they want different changes"
            else:
                outcome, changes = "fix", asked[0]
    if outcome in ("drop", "fix"):
        why = "; ".join(
            dict.fromkeys(r.reason for r in reviews if r.verdict == outcome and r.reason)
        )
    return ReviewDecision(
        kind=reviews[0].kind, target=reviews[0].target, outcome=outcome,
        votes={verdict: votes[verdict] for verdict in ("keep", "fix", "drop") if votes[verdict]},
        why=why, changes=changes,
    )  # fmt: skip


def _fate(votes: Counter[str], n: int, policy: ReviewPolicy) -> tuple[ReviewOutcome, str]:
    """Whether it goes, stays, or is open, by those who would drop it against all others."""
    if n < policy.quorum:
        return "open", f"{n} of {policy.quorum} have read it"
    drops = votes["drop"]
    if policy.drop == "majority" and 2 * drops == n:
        return policy.tie, "half of them would drop it" if policy.tie == "open" else ""
    return ("drop" if _is_enough(drops, n, policy.drop) else "keep"), ""


def _is_enough(said: int, n: int, rule: str, *, ties: bool = False) -> bool:
    """Whether ``said`` of ``n`` are any, the majority or all; with ``ties`` half suffices."""
    if not said:
        return False
    if rule == "any":
        return True
    return said == n if rule == "all" else 2 * said > n or (ties and 2 * said == n)


# Questions that people answer: one decision by what their own answers come to.


def usual_policy(answers: Answers | None, *, is_private: bool = False) -> ReviewPolicy:
    """By what reviews are decided where nobody named anything; of private documents people answer
    from these alone, and name no page of the web."""
    if answers is not None and is_private:
        return ReviewPolicy(quorum=2, drop="any", answers=AnswerPolicy(urls=0, authoritative=0))
    if answers is not None:
        return ReviewPolicy(quorum=2, drop="any", answers=answers.answer_policy((), ""))
    return ReviewPolicy()


def checked_answers(
    answers: Answers, facts: Sequence[Fact], reviews: Iterable[Review], policy: ReviewPolicy
) -> Sequence[CheckedAnswer]:
    """Where each question stands, in their order."""
    rule = AnswerPolicy() if isinstance(policy.answers, UnsetType) else policy.answers
    return answers.check_answers(facts, reviews, rule)


def decided_of(
    method: Reviewing, facts: Sequence[Fact], reviews: Sequence[Review], policy: ReviewPolicy
) -> list[ReviewDecision]:
    """One decision a fact that anybody reviewed: of statements what their readers want, of
    questions what people's own answers come to."""
    if method.answers is None:
        return decide(reviews, policy, {fact.id: method.review_text(fact) for fact in facts})
    verdicts: dict[bytes, dict[str, int]] = {}
    for one in latest(reviews):
        if one.task in QUESTIONS and one.reviewer:
            votes = verdicts.setdefault(one.target, {})
            votes[one.verdict] = votes.get(one.verdict, 0) + 1
    found = checked_answers(method.answers, facts, reviews, policy)
    return [_decision(one, verdicts.get(one.target, {})) for one in found if one.people]


def _decision(one: CheckedAnswer, votes: Mapping[str, int]) -> ReviewDecision:
    outcome: ReviewOutcome = "keep" if one.state == "kept" else "drop"
    why = ": ".join(filter(None, ("" if one.state == "kept" else one.state, one.why)))
    return ReviewDecision(
        target=one.target, task="answer", outcome="open" if one.is_waiting else outcome,
        votes=votes, why=why,
    )  # fmt: skip

"""What reviews come to by a policy: decisions, the work list that ``retire`` and ``edit --from``
carry out, and whether a decision that was stored still stands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Literal, cast

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.files.tables import read_checked
from proofstone.records.ids import short
from proofstone.records.reviews import (
    DecidedReviews,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewText,
    policy_words,
)
from proofstone.results.truth_check import Checked, found_otherwise
from proofstone.review.import_reviews import read_reviews
from proofstone.review.policy import decide, decided_of
from proofstone.review.state import ReviewState
from proofstone.session.session import Session, Target, acting

_DECISION = {"drop": "retire", "fix": "edit", "keep": "keep", "open": ""}


class ReviewedRow(Struct, frozen=True, kw_only=True):
    """A statement on which something is to be done, or left open, as a row of a work list; a person
    may write another ``decision``. ``key`` is what the statement is meant to be, true or false."""

    target: str
    text: str
    key: str
    outcome: ReviewOutcome
    votes: str
    decision: str
    changes: str = ""
    why: str = ""


class Decided(Struct, frozen=True, kw_only=True):
    """What a policy makes of all reviews: how many of each outcome, and each as a row of a file.
    ``reviews`` are the ids of those that it was made from, where they are stored."""

    policy: ReviewPolicy
    outcomes: dict[ReviewOutcome, int]
    rows: tuple[dict[str, object], ...]
    work: tuple[ReviewedRow, ...] = ()
    reviews: tuple[bytes, ...] = ()


def decide_file(path: Path | str, policy: ReviewPolicy) -> Decided:
    """What ``policy`` makes of the reviews in a file; no workspace is asked. Raises BadInput with
    every problem of its rows."""
    stated = read_checked(Path(path), read_reviews)
    names = {one.review.target: one.target for one in stated}
    return _decided(decide([one.review for one in stated], policy), policy, names)


def review_decisions(
    session: Session, target: Target, policy: ReviewPolicy | None = None
) -> Decided:
    """What a policy (else the one in force) makes of the reviews of a bank's or form's statements,
    with the work list of what is to be done. Nothing is stored.

    To do are those that go or change, those that a check found otherwise than meant, and those left
    open; of a statement that reads otherwise since nothing is left to do.
    """
    state = ReviewState.of(session.store, target)
    policy = policy or state.policy
    decisions = state.decided(policy)
    here = [fact for fact in state.facts if state.now.get(fact.id) == fact.id]
    texts = state.texts(here)
    gone = {one.target for one in decisions if one.outcome == "drop"}
    work = [
        _row(one, texts[one.target])
        for one in decisions
        if one.outcome != "keep"
        and one.target in texts
        and not (one.outcome == "fix" and state.is_fixed(one, one.target))
    ]
    # A reason that does not fit takes no statement away (the paper's five did not either).
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    work += [
        _wrong(one, texts[one.target])
        for one in found_otherwise(state.carried, meant, "truth")
        if one.state == "otherwise" and one.target not in gone
    ]
    reviews = tuple(sorted({one.id for one in state.reviews}))
    return structs.replace(_decided(decisions, policy), work=tuple(work), reviews=reviews)


def _decided(
    decisions: Sequence[ReviewDecision],
    policy: ReviewPolicy,
    names: Mapping[bytes, str] = MappingProxyType({}),
) -> Decided:
    """Decisions as rows; ``names`` are targets in the words of the file they came from."""
    counts = Counter(one.outcome for one in decisions)
    outcomes: tuple[ReviewOutcome, ...] = ("keep", "fix", "drop", "open")
    words = {"policy": policy_words(policy)}
    return Decided(
        policy=policy,
        outcomes={name: counts[name] for name in outcomes},
        rows=tuple(_decision_row(one, names.get(one.target, "")) | words for one in decisions),
    )


def _decision_row(decision: ReviewDecision, target: str) -> dict[str, object]:
    row = {
        "target": target or f"{decision.kind}:{decision.target.hex()}",
        "task": decision.task,
        "outcome": decision.outcome,
        "votes": dict(decision.votes),
        "why": decision.why,
    }
    return row | ({"changes": dict(decision.changes)} if decision.changes else {})


def _row(one: ReviewDecision, shown: ReviewText) -> ReviewedRow:
    return ReviewedRow(
        target=f"{one.kind}:{short(one.target)}",
        text=shown.text,
        key=shown.claim,
        outcome=one.outcome,
        votes=_votes(one.votes),
        decision=_DECISION[one.outcome],
        changes=json.dumps(dict(one.changes), ensure_ascii=False) if one.changes else "",
        why=one.why or "reviewers asked for it",
    )


def _wrong(one: Checked, shown: ReviewText) -> ReviewedRow:
    return ReviewedRow(
        target=f"fact:{short(one.target)}", text=shown.text, key=shown.claim, outcome="drop",
        votes=_votes(one.votes), decision="retire",
        why="; ".join(("found otherwise than meant", *one.reasons)),
    )  # fmt: skip


def _votes(votes: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {verdict}" for verdict, n in votes.items())


# Decisions as they were made, and whether their reviews still come to the same.


class LastDecision(Struct, frozen=True, kw_only=True):
    """The newest decision on a bank or form. ``n_new`` reviews came in since, or others are here;
    ``stands`` where its policy and its own reviews come to the same today."""

    made: DecidedReviews
    n_new: int
    stands: bool


def keep_decision(
    session: Session, target: Target, decided: Decided, *, by: str = ""
) -> DecidedReviews:
    """Stores what was decided: the policy, the reviews, what they came to, and who decided; what
    says the same as the newest decision on this target is not stored again. Raises BadUsage where
    nobody has reviewed it."""
    store, found = session.store, session.find(target, "bank", "form")
    if not decided.reviews:
        raise BadUsage(f"nobody has reviewed {found.name}, so nothing is decided")
    record = DecidedReviews(
        policy=decided.policy,
        reviews=decided.reviews,
        outcomes=decided.outcomes,
        decided={
            str(row["target"]): cast("Literal['fix', 'drop', 'open']", row["outcome"])
            for row in decided.rows
            if row["outcome"] != "keep"
        },
        actor=acting(session, by).actor,
        at=session.clock.now(),
    )
    before = store.decided.every(found.id)
    if before and _said(before[-1]) == _said(record):
        return before[-1]
    kind: Literal["bank", "form"] = "bank" if found.kind == "bank" else "form"
    store.decided.add(kind, found.id, record, record.at)
    return record


def last_decision(session: Session, target: Target) -> LastDecision | None:
    """The newest decision on a bank or form, or on one that it corrects, and whether it stands;
    None without one."""
    state = ReviewState.of(session.store, target)
    made = session.store.decided.behind(state.found.id)
    if not made:
        return None
    known = set(made[-1].reviews)
    return LastDecision(
        made=made[-1],
        n_new=sum(one.id not in known for one in state.reviews),
        stands=_decided_again(state, made[-1]) == dict(made[-1].outcomes),
    )


def _decided_again(state: ReviewState, made: DecidedReviews) -> dict[str, int]:
    """What the very reviews of a decision come to by its policy, counted by outcome; reviews of
    statements that were purged since are no more."""
    known = set(made.reviews)
    own = [one for one in state.carried if one.id in known]
    counts: dict[str, int] = {str(name): 0 for name in made.outcomes}
    for one in decided_of(state.reviewing, state.facts, own, made.policy):
        counts[one.outcome] += 1
    return counts


def _said(made: DecidedReviews) -> tuple[object, ...]:
    return made.policy, made.reviews, dict(made.outcomes), dict(made.decided)

"""What reviews come to, as a work list that ``retire`` and ``edit --from`` carry out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from proofstone.files.tables import read_checked
from proofstone.records.ids import short
from proofstone.records.knowledge import Fact
from proofstone.records.reviews import (
    Review,
    ReviewDecision,
    ReviewOutcome,
    ReviewPolicy,
    ReviewText,
    policy_words,
)
from proofstone.review.assign import Found as Checked
from proofstone.review.assign import found_otherwise
from proofstone.review.decide import decide
from proofstone.review.review_answers import decided_of
from proofstone.review.sheet_answers import read_reviews, write_decision
from proofstone.review.state import (
    carried,
    facts_held,
    is_fixed,
    reviewed_texts,
    reviewing,
    reviews_of,
)
from proofstone.store.lookup import Found
from proofstone.store.store import Store

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


def decide_file(path: Path, policy: ReviewPolicy) -> Decided:
    """What ``policy`` makes of the reviews in a file; no workspace is asked. Raises BadInput with
    every problem of its rows."""
    stated = read_checked(path, read_reviews)
    names = {one.review.target: one.target for one in stated}
    decisions = decide([one.review for one in stated], policy)
    return _decided(decisions, policy, [write_decision(d, names[d.target]) for d in decisions])


def decide_target(store: Store, found: Found, policy: ReviewPolicy) -> Decided:
    """What ``policy`` makes of the reviews of a bank's or form's statements, and what is to do:
    those that go or change, those that a check found otherwise than meant, and those left open.
    Of a statement that reads otherwise since nothing is left to do."""
    facts = facts_held(store, found).facts
    method = reviewing(store, found)
    reviews, now = reviews_of(store, facts)
    reviews = carried(store, method, facts, reviews, now)
    decisions = decided_of(method, facts, reviews, policy)
    here = {fact.id: fact for fact in facts if now.get(fact.id) == fact.id}
    decided = _decided(decisions, policy, [write_decision(one) for one in decisions])
    gone = {one.target for one in decisions if one.outcome == "drop"}
    left = [
        one
        for one in decisions
        if one.outcome != "keep"
        and one.target in here
        and not (one.outcome == "fix" and is_fixed(store, one, one.target))
    ]
    texts = reviewed_texts(method, here.values())
    work = [_row(one, texts[one.target]) for one in left]
    work += [
        _wrong(one, texts[one.target])
        for one in _found_wrong(store, found, list(here.values()), reviews)
        if one.target not in gone
    ]
    return Decided(
        policy=policy,
        outcomes=decided.outcomes,
        rows=decided.rows,
        work=tuple(work),
        reviews=tuple(sorted({one.id for one in reviews})),
    )


def _decided(
    decisions: Sequence[ReviewDecision], policy: ReviewPolicy, rows: Sequence[dict[str, object]]
) -> Decided:
    counts = Counter(one.outcome for one in decisions)
    outcomes: tuple[ReviewOutcome, ...] = ("keep", "fix", "drop", "open")
    return Decided(
        policy=policy,
        outcomes={name: counts[name] for name in outcomes},
        rows=tuple({**row, "policy": policy_words(policy)} for row in rows),
    )


def _row(one: ReviewDecision, shown: ReviewText) -> ReviewedRow:
    return ReviewedRow(
        target=f"{one.kind}:{short(one.target)}",
        text=shown.text,
        key=shown.claim,
        outcome=one.outcome,
        votes=", ".join(f"{n} {verdict}" for verdict, n in one.votes.items()),
        decision=_DECISION[one.outcome],
        changes=json.dumps(dict(one.changes), ensure_ascii=False) if one.changes else "",
        why=one.why or "reviewers asked for it",
    )


def _found_wrong(
    store: Store, found: Found, facts: Sequence[Fact], reviews: Sequence[Review]
) -> Iterator[Checked]:
    """Statements whose truth a check found to be otherwise. A reason that does not fit takes no
    statement away (the paper's five did not either)."""
    texts = reviewed_texts(reviewing(store, found), facts)
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    yield from (one for one in found_otherwise(reviews, meant, "truth") if one.state == "otherwise")


def _wrong(one: Checked, shown: ReviewText) -> ReviewedRow:
    votes = ", ".join(f"{n} {verdict}" for verdict, n in one.votes.items())
    return ReviewedRow(
        target=f"fact:{short(one.target)}", text=shown.text, key=shown.claim, outcome="drop",
        votes=votes,
        decision="retire", why="; ".join(("found otherwise than meant", *one.reasons)),
    )  # fmt: skip

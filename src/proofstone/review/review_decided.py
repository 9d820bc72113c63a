"""Decisions on reviews as they were made, and whether their reviews still come to the same."""

from __future__ import annotations

from typing import Literal, cast

from msgspec import Struct

from proofstone.errors import BadUsage
from proofstone.records.calls import Clock
from proofstone.records.reviews import DecidedReviews
from proofstone.review.review_answers import decided_of
from proofstone.review.review_work import Decided
from proofstone.review.state import carried, facts_held, reviewing, reviews_of
from proofstone.session.people import Who
from proofstone.store.lookup import Found
from proofstone.store.store import Store

Target = Literal["bank", "form"]


class LastDecision(Struct, frozen=True, kw_only=True):
    """The newest decision on a bank or form. ``n_new`` reviews came in since, or others are here;
    ``stands`` where its policy and its own reviews come to the same today."""

    made: DecidedReviews
    n_new: int
    stands: bool


def keep_decision(
    store: Store, found: Found, decided: Decided, *, who: Who, clock: Clock
) -> DecidedReviews:
    """Stores what was decided, by whom and from which reviews; what says the same as the newest
    decision on this target is not stored again. Raises BadUsage where nobody has reviewed it."""
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
        actor=who().actor,
        at=clock.now(),
    )
    before = store.decided.every(found.id)
    if before and _said(before[-1]) == _said(record):
        return before[-1]
    store.decided.add(_kind(found), found.id, record, record.at)
    return record


def last_decision(store: Store, found: Found) -> LastDecision | None:
    """The newest decision, on this version or on one that it corrects, and whether it stands."""
    made = store.decided.behind(found.id)
    if not made:
        return None
    reviews, _now = reviews_of(store, facts_held(store, found).facts)
    known = set(made[-1].reviews)
    again = decided_again(store, found, made[-1])
    return LastDecision(
        made=made[-1],
        n_new=sum(one.id not in known for one in reviews),
        stands=again == dict(made[-1].outcomes),
    )


def decided_again(store: Store, found: Found, made: DecidedReviews) -> dict[str, int]:
    """What the very reviews of a decision come to by its policy, counted by outcome; reviews of
    statements that were purged since are no more."""
    facts = facts_held(store, found).facts
    reviews, now = reviews_of(store, facts)
    known = set(made.reviews)
    own = [one for one in reviews if one.id in known]
    counts = dict.fromkeys(made.outcomes, 0)
    method = reviewing(store, found)
    for one in decided_of(method, facts, carried(store, method, facts, own, now), made.policy):
        counts[one.outcome] += 1
    return {str(name): n for name, n in counts.items()}


def _kind(found: Found) -> Target:
    return "bank" if found.kind == "bank" else "form"


def _said(made: DecidedReviews) -> tuple[object, ...]:
    return made.policy, made.reviews, dict(made.outcomes), dict(made.decided)

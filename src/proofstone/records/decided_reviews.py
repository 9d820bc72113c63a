"""What was decided of a bank's or form's reviews: by which policy, from which reviews."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, UnsetType

from proofstone.records.reviews import ReviewOutcome, ReviewPolicy

__all__ = ["DecidedReviews", "policy_words"]


class DecidedReviews(Struct, frozen=True, kw_only=True):
    """One decision on all reviews that there were: ``reviews`` are their ids, sorted; ``outcomes``
    counts what the statements came to, and ``decided`` names each that was not kept, by its id in
    hexadecimal. With these reviews and this ``policy`` anybody comes to the same. ``actor`` is who
    decided, ``at`` when (seconds since 1970)."""

    policy: ReviewPolicy
    reviews: tuple[bytes, ...]
    outcomes: Mapping[ReviewOutcome, int]
    decided: Mapping[str, Literal["fix", "drop", "open"]]
    actor: bytes
    at: float


def policy_words(policy: ReviewPolicy) -> str:
    """``quorum 1, drop majority, tie open, fix any``: a policy as its options are typed; of answers
    what they must rest on."""
    if not isinstance(policy.answers, UnsetType):
        rule = policy.answers
        if not rule.urls:
            return "two answers from the documents, a third where they differ"
        return (
            f"two answers, a third where they differ, at least {rule.urls} pages each, "
            f"{rule.authoritative} of them from {len(rule.sources):,} authoritative sources"
        )
    return f"quorum {policy.quorum}, drop {policy.drop}, tie {policy.tie}, fix {policy.fix}"

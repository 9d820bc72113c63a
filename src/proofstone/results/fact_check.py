"""Error rates of a bank's statements, from fact checks by reviewers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from proofstone.method import Reviewing
from proofstone.records.knowledge import source_of
from proofstone.records.reviews import CHECK_TASKS, CheckedRate, Review, ReviewTask, latest
from proofstone.records.runs import Estimate
from proofstone.stats.clusters import SharedKeys
from proofstone.stats.estimates import mean_estimates
from proofstone.stats.intervals import equal_weights
from proofstone.store.store import Store

_CONFIDENCE = 0.95


RATE_NAMES = {
    "true": "true statements that are false",
    "false": "false statements that are true",
    "reason": "reasons that do not fit",
}


class Checked(Struct, frozen=True, kw_only=True):
    """Result of the fact check of one version of a statement.

    ``unsure`` means that no reviewer decided, or that votes are tied.
    """

    target: bytes
    task: ReviewTask
    state: Literal["as meant", "otherwise", "unsure"]
    votes: Mapping[str, int]
    reasons: tuple[str, ...] = ()


def found_otherwise(
    reviews: Iterable[Review], meant: Mapping[bytes, str], task: ReviewTask
) -> list[Checked]:
    """Return one entry per checked version, by majority of decided votes, in order of first review.

    ``meant`` maps versions to the expected verdict: ``true`` or ``false`` for the task ``truth``,
    ``fits`` for ``reason``. Versions without an entry are omitted.
    """
    of: dict[bytes, list[Review]] = {}
    for one in latest(reviews):
        if one.task == task and one.target in meant:
            of.setdefault(one.target, []).append(one)
    return [_checked(target, task, members, meant[target]) for target, members in of.items()]


def _checked(target: bytes, task: ReviewTask, reviews: list[Review], meant: str) -> Checked:
    votes = Counter(one.verdict for one in reviews)
    right, unsure = votes[meant], votes["unsure"]
    wrong = len(reviews) - right - unsure
    state: Literal["as meant", "otherwise", "unsure"] = "unsure"
    if right != wrong:
        state = "as meant" if right > wrong else "otherwise"
    said = (one.reason for one in reviews if one.verdict not in (meant, "unsure") and one.reason)
    return Checked(
        target=target, task=task, state=state, votes=dict(votes),
        reasons=tuple(dict.fromkeys(said)),
    )  # fmt: skip


def checked_rates(
    store: Store, method: Reviewing, reviews: Sequence[Review]
) -> tuple[CheckedRate, ...]:
    """Return the rates of a fact check, omitting those without any checked statement.

    Each version counts as it was checked, even if it was corrected later. Permanently deleted
    statements are omitted, because their expected verdict is no longer known (``purged_among``
    counts them).
    """
    if not any(one.task in CHECK_TASKS for one in reviews):
        return ()
    checked = store.knowledge.facts_by_id(_targets_checked(reviews), readable=True)
    texts = {identity: method.review_text(fact) for identity, fact in checked.items()}
    source = {identity: source_of(fact) for identity, fact in checked.items()}
    meant = {identity: shown.claim for identity, shown in texts.items() if shown.claim}
    truth = found_otherwise(reviews, meant, "truth")
    groups: dict[Literal["true", "false", "reason"], list[Checked]] = {
        "true": [one for one in truth if meant[one.target] == "true"],
        "false": [one for one in truth if meant[one.target] == "false"],
        "reason": found_otherwise(reviews, dict.fromkeys(texts, "fits"), "reason"),
    }
    rates = []
    for name, group in groups.items():
        states = [(one.state, source[one.target]) for one in group]
        told = [(state == "otherwise", where) for state, where in states if state != "unsure"]
        if states:
            rates.append(CheckedRate(
                name=name, rate=_rate(told), wrong=sum(wrong for wrong, _where in told),
                unsure=len(states) - len(told),
            ))  # fmt: skip
    return tuple(rates)


def purged_among(store: Store, reviews: Sequence[Review]) -> int:
    """Count the statements of a fact check that were permanently deleted since."""
    targets = _targets_checked(reviews)
    return len(targets) - len(store.knowledge.facts_by_id(targets, readable=True))


def _targets_checked(reviews: Sequence[Review]) -> set[bytes]:
    return {one.target for one in reviews if one.task in CHECK_TASKS}


def _rate(told: Sequence[tuple[bool, str]]) -> Estimate:
    """Return the share of errors with Wilson's interval at the effective sample size.

    Statements of one source form a cluster.
    """
    import numpy as np  # noqa: PLC0415 - only here is anything computed

    values = np.array([[float(wrong)] for wrong, _where in told]).reshape(len(told), 1)
    codes: dict[str, int] = {}
    key = np.array([codes.setdefault(where, len(codes)) for _wrong, where in told], dtype=np.int64)
    keys = SharedKeys(len(told), np.arange(len(told), dtype=np.int64), key)
    # With one source, variation between sources is unknown: the rate is for this bank only.
    several = len(codes) > 1
    (estimate,) = mean_estimates(
        values, equal_weights(len(told)), keys if several else SharedKeys.none(len(told)),
        population="domain" if several else "bank", confidence=_CONFIDENCE,
    )  # fmt: skip
    return estimate

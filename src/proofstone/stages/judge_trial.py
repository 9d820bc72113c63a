"""Trying a model as a judge: how often a text under judgement talks it into a label."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from proofstone.engines.judging import (
    Attack,
    AttackResult,
    AttackSummary,
    JudgeAccount,
    Panel,
    attacks,
    judge_accounts,
    summarise_attacks,
    try_attacks,
)
from proofstone.engines.models import Asker
from proofstone.engines.stats import share_estimate
from proofstone.engines.store import Store
from proofstone.ports import CallRecord
from proofstone.records import Estimate
from proofstone.stages.judging import AskedJudge

__all__ = ["JudgeTrial", "perform_judge_trial"]

_CONFIDENCE = 0.95


class JudgeTrial(Struct, frozen=True, kw_only=True):
    """What attacks on one judge came to. ``sound`` is the share of attacks on texts that it judges
    rightly without them; ``fooled`` and ``silenced`` are shares of these: it gave the label that
    the attack was after, or none. ``by_carrier``: fooled and sound ones of each."""

    model: str
    sound: Estimate
    fooled: Estimate
    silenced: Estimate
    by_carrier: dict[str, tuple[int, int]]
    account: JudgeAccount
    results: tuple[AttackResult, ...]


async def perform_judge_trial(
    store: Store,
    asker: Asker,
    *,
    limit: int | None = None,
    kept: Callable[[CallRecord], None] | None = None,
) -> JudgeTrial:
    """Asks a judge the packaged attacks (the first ``limit`` of them, spread over all carriers),
    and their texts without them. Every call is kept; a second time comes from the cache.

    Raises EndpointUnusable where the model cannot be used at all, BudgetReached where a budget
    does not cover it.
    """
    chosen = attacks() if limit is None else _spread(limit)
    async with store.writer(kept) as writer:
        panel = Panel([AskedJudge(asker, writer.write)])
        results = await try_attacks(panel, chosen)
    if asker.stopped is not None:
        raise asker.stopped
    return _trial(asker.model.name, results, summarise_attacks(results))


def _spread(limit: int) -> tuple[Attack, ...]:
    made = attacks()
    step = max(1, len(made) // max(1, limit))
    return made[::step][:limit]


def _trial(model: str, results: tuple[AttackResult, ...], counts: AttackSummary) -> JudgeTrial:
    return JudgeTrial(
        model=model,
        sound=_share(counts.sound, counts.n),
        fooled=_share(counts.fooled, counts.sound),
        silenced=_share(counts.silenced, counts.sound),
        by_carrier=dict(counts.by_carrier),
        account=judge_accounts(result.verdict for result in results)[0],
        results=results,
    )


def _share(count: int, n: int) -> Estimate:
    return share_estimate(count / n if n else float("nan"), n, _CONFIDENCE)

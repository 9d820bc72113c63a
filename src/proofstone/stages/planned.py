"""Which plan a run was made under."""

from __future__ import annotations

import math

from proofstone.engines.store import Store
from proofstone.identity import short
from proofstone.records import Plan, Run
from proofstone.stages.dates import minute

__all__ = ["n_begun", "plan_in_force", "plan_sentence"]


def plan_in_force(store: Store, key: int, run: Run) -> tuple[Plan, bool] | None:
    """The newest plan made before the first reply of a run, else the newest of all with True: made
    after. A reply from the cache counts from when it was asked. None where there is no plan."""
    plans = store.plans.of_sets([run.item_set])
    if not plans:
        return None
    first = store.runs.totals(key).first_at or math.inf
    before = [plan for plan in plans if plan.at <= first]
    return (before[-1], False) if before else (plans[-1], True)


def plan_sentence(store: Store, key: int, run: Run) -> str:
    """``planned 2026-03-01 14:05 UTC 3f2a91bc``, or that it was planned after; else nothing."""
    found = plan_in_force(store, key, run)
    if found is None:
        return ""
    plan, is_after = found
    late = ", made after the first reply: exploratory" if is_after else ""
    return f"planned {minute(plan.at)} {short(plan.id)}{late}"


def n_begun(store: Store, plan: Plan) -> int:
    """How many runs of a plan's target had replies before it was made."""
    sets = [plan.target] if plan.kind == "form" else store.items.sets_of_bank(plan.target)
    runs = store.runs.of_sets(sets)
    return sum(0 < store.runs.totals(key).first_at < plan.at for key, _run in runs)

"""Plans frozen before a run, and which of them a run was made under."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import Method
from proofstone.records.calls import Clock
from proofstone.records.ids import short
from proofstone.records.runs import Plan, Run, plan_id
from proofstone.results.planned import PlanMark
from proofstone.run.run_facts import plan_in_force
from proofstone.session.dates import minute
from proofstone.stats.flags import Estimand
from proofstone.stats.power import Assumed, resolution_before
from proofstone.store.lookup import Found
from proofstone.store.store import Store

ONCE = "once, when every reply of the planned runs is there"


class PlanAsked(Struct, frozen=True, kw_only=True):
    """What a user fixes. An empty ``measure`` is the method's headline; ``n_items`` of None those
    of the target."""

    measure: str = ""
    comparisons: tuple[tuple[str, str], ...] = ()
    exclusions: tuple[str, ...] = ()
    n_items: int | None = None
    samples: int = 1
    stopping: str = ONCE
    estimand: Estimand = "knowledge"
    level: str = "sample"
    confidence: float = 0.95
    power: float = 0.8
    assumed: Assumed = Assumed()


def freeze_plan(
    store: Store,
    method: Method,
    found: Found,
    asked: PlanAsked,
    *,
    scrub: Callable[[str], str],
    clock: Clock,
) -> Plan:
    """Stores the plan for a form or bank and returns it.

    Each planned comparison is to be found at confidence 1 - (1 - c) / k, with k comparisons: what
    Holm's correction asks of the first. Raises BadUsage for what cannot be.
    """
    measures = [measure.name for measure in method.measures]
    measure = asked.measure or method.headline
    if measure not in measures:
        raise BadUsage(f"there is no measure {measure!r}", hint=f"measures: {', '.join(measures)}")
    _check(asked)
    n_items = asked.n_items or _n_items(store, found)
    corrected = 1 - (1 - asked.confidence) / max(len(asked.comparisons), 1)
    resolution = resolution_before(
        n_items, asked.assumed, samples=asked.samples, confidence=corrected, power=asked.power
    )
    found_from = resolution.difference
    plan = Plan(
        kind="form" if found.kind == "form" else "bank",
        target=found.id,
        measure=measure,
        estimand=asked.estimand,
        level=asked.level,
        confidence=asked.confidence,
        power=asked.power,
        comparisons=tuple((scrub(a), scrub(b)) for a, b in asked.comparisons),
        exclusions=tuple(scrub(text) for text in asked.exclusions),
        n_items=n_items,
        samples=asked.samples,
        stopping=scrub(asked.stopping),
        assumed=structs.asdict(asked.assumed),
        resolves=None if math.isnan(found_from) else found_from,
        at=clock.now(),
    )
    plan = structs.replace(plan, id=plan_id(plan))
    store.plans.add(plan)
    return plan


def plan_marks(store: Store, runs: Sequence[tuple[int, Run]]) -> tuple[PlanMark, ...]:
    """The plans that these runs were made under, oldest first, with how many runs each covers and
    of how many it was made after the first reply."""
    marks: dict[bytes, tuple[Plan, list[bool]]] = {}
    for key, run in runs:
        found = plan_in_force(store, key, run)
        if found is not None:
            plan, is_after = found
            marks.setdefault(plan.id, (plan, []))[1].append(is_after)
    ordered = sorted(marks.values(), key=lambda each: (each[0].at, each[0].id))
    return tuple(_mark(plan, after, len(runs)) for plan, after in ordered)


def _mark(plan: Plan, after: Sequence[bool], n_runs: int) -> PlanMark:
    return PlanMark(
        id=short(plan.id),
        made_at=minute(plan.at),
        measure=plan.measure,
        estimand=plan.estimand,
        level=plan.level,
        confidence=plan.confidence,
        comparisons=plan.comparisons,
        exclusions=plan.exclusions,
        n_items=plan.n_items,
        samples=plan.samples,
        stopping=plan.stopping,
        resolves=plan.resolves,
        n_runs=len(after),
        n_after=sum(after),
        n_unplanned=n_runs - len(after),
    )


def _check(asked: PlanAsked) -> None:
    if asked.n_items is not None and asked.n_items < 1:
        raise BadUsage(f"--items takes 1 or more, not {asked.n_items}")
    if asked.samples < 1:
        raise BadUsage(f"--samples takes 1 or more, not {asked.samples}")
    for first, second in asked.comparisons:
        if not first.strip() or first == second:
            raise BadUsage(
                f"{first!r} and {second!r} are no comparison", hint="name two different models"
            )
    ranges: Mapping[str, tuple[float, float, float]] = {
        "--accuracy": (asked.assumed.accuracy, 0.0, 1.0),
        "--repeatability": (asked.assumed.repeatability, 0.0, 1.0),
        "--correlation": (asked.assumed.correlation, -1.0, 1.0),
        "--design-effect": (asked.assumed.design_effect, 1.0, math.inf),
    }
    for option, (value, low, high) in ranges.items():
        if not low <= value <= high:
            raise BadUsage(f"{option} takes {low:g} to {high:g}, not {value:g}")


def _n_items(store: Store, found: Found) -> int:
    """The items of a form, or of a bank's forms, without those that are retired."""
    sets = [found.id]
    if found.kind == "bank":
        sets = store.items.sets_of_bank(found.id)
        superseded = store.items.superseded(sets)
        sets = [each for each in sets if each not in superseded]
    n = sum(store.items.item_set(each).n_items for each in sets)
    n -= store.corrections.retired(sets).n_places if sets else 0
    if n < 1:
        raise BadUsage(
            f"{found.name or short(found.id)} has no items yet", hint="say how many: --items 500"
        )
    return n

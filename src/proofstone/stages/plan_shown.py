"""A plan as ``show`` prints it."""

from __future__ import annotations

from typing import Any

from msgspec import structs

from proofstone.engines.store import Found, Store
from proofstone.identity import short
from proofstone.records import Plan
from proofstone.stages.dates import minute
from proofstone.stages.inspection import Description

__all__ = ["describe_plan", "plan_row"]


def describe_plan(store: Store, found: Found) -> Description:
    """All that a plan fixes, and what it is to find."""
    plan = store.plans.one(found.key)
    from proofstone.engines.stats import estimand_name  # noqa: PLC0415 - numpy
    from proofstone.wording import counted  # noqa: PLC0415

    estimand = estimand_name(plan.estimand)
    average = (
        "each item counts the same" if plan.level == "sample" else f"each {plan.level} the same"
    )
    lines = [
        ("plan", plan.id.hex()),
        ("made", minute(plan.at)),
        (plan.kind, f"{plan.kind}:{short(plan.target)}"),
        ("measure", f"{plan.measure}; {average}; intervals speak of {estimand}"),
        *(("compare", f"{first} - {second}") for first, second in plan.comparisons),
        *(("exclude", text) for text in plan.exclusions),
        ("size", f"{counted(plan.n_items, 'item')}, {counted(plan.samples, 'sample')} each"),
        ("stop", plan.stopping),
        ("confidence", f"{100 * plan.confidence:g}% for all comparisons together"),
    ]
    assumed = ", ".join(
        f"{name.replace('_', ' ')} {value:g}" for name, value in plan.assumed.items()
    )
    if plan.resolves is None:
        lines.append(("resolves", "nothing: too few independent items"))
    else:
        power = f"{100 * plan.power:g}% power"
        lines.append(("resolves", f"{100 * plan.resolves:.1f} points with {power}, if {assumed}"))
    return Description(title=f"plan:{short(plan.id)}", lines=tuple(lines))


def plan_row(plan: Plan) -> dict[str, Any]:
    """A plan as a row for a file: its fields, ids in hexadecimal digits."""
    row = structs.asdict(plan)
    pairs = [list(pair) for pair in plan.comparisons]
    lists = {"comparisons": pairs, "exclusions": list(plan.exclusions)}
    return row | lists | {"id": plan.id.hex(), "target": plan.target.hex()}

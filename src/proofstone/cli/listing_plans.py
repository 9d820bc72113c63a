"""``list plan``, and what ``run`` says of the plan that it stands under."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from proofstone.cli.output import print_json, print_table, say
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.campaign import RunResult
    from proofstone.wiring import Workspace

__all__ = ["list_plans", "plans_of", "tell_plans"]


def list_plans(workspace: Workspace, *, as_json: bool) -> None:
    """All plans, newest first, each with its target and what it is to find."""
    from proofstone.stages.dates import minute  # noqa: PLC0415

    plans = workspace.store.plans.every()
    if as_json:
        print_json(plans)
        return
    rows: list[tuple[Any, ...]] = [("plan", "made", "of", "measure", "items", "samples")]
    rows += [
        (
            f"plan:{short(plan.id)}", minute(plan.at), f"{plan.kind}:{short(plan.target)}",
            plan.measure, plan.n_items, plan.samples,
        )
        for plan in plans
    ]  # fmt: skip
    print_table(rows if plans else [])


def plans_of(workspace: Workspace, results: Iterable[RunResult]) -> list[dict[str, Any] | None]:
    """Of each run the plan in force with all that it fixes, and whether it was made after the
    first reply; None where there is none."""
    from proofstone.stages.plan_shown import plan_row  # noqa: PLC0415
    from proofstone.stages.planned import plan_in_force  # noqa: PLC0415

    found = [plan_in_force(workspace.store, each.planned.key, each.planned.run) for each in results]
    return [
        None if each is None else {**plan_row(each[0]), "made_after_first_reply": each[1]}
        for each in found
    ]


def tell_plans(workspace: Workspace, results: Iterable[RunResult], *, quiet: bool) -> None:
    """Says of each run the plan in force, where there is one."""
    from proofstone.stages.planned import plan_sentence  # noqa: PLC0415

    for result in results:
        planned = result.planned
        said = plan_sentence(workspace.store, planned.key, planned.run)
        if said:
            say(f"run:{short(planned.run.id)} was {said}", quiet=quiet)

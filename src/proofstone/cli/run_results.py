"""What came of runs, as ``run`` and ``resume`` print it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.output import print_json, say
from proofstone.cli.run_verified import next_of_study
from proofstone.cli.scoring import waiting_line
from proofstone.cli.scoring_triples import print_verified
from proofstone.cli.spending import spent_text
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.identity import short
from proofstone.records import (
    context_of,
    left_out_of,
    own_prompt_of,
    run_label,
)

if TYPE_CHECKING:
    from proofstone.records import ItemSet, Preset
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.kin import Kin, KinPart
    from proofstone.wiring.verifying_runs import VerifiedRun

__all__ = ["report_results"]

_RUNS_NAMED = 4
_STUDIES_OF_SWEEPS = {"posed": "choices", "options": "options"}


def report_results(
    results: Sequence[RunResult],
    *,
    as_json: bool,
    quiet: bool,
    plans: Sequence[dict[str, Any] | None] = (),
    kin: Sequence[Kin] = (),
    verified: Sequence[VerifiedRun] = (),
    preset: Preset | None = None,
) -> int:
    """Prints what came of runs, in JSON with the plan of each and the parts that its model had in
    the items, what was ``verified`` of them, and what to do next; returns the exit code."""
    if as_json:
        _print_json(results, plans, kin, verified)
    else:
        for result in results:
            click.echo(_result_line(result))
        if verified:
            print_verified(verified)
    stops = [(_stop_code(result), result.stopped) for result in results if result.stopped]
    for code, stopped in dict.fromkeys(stops):
        say(f"error [{code}] {stopped}")
    for result in results:
        _tell(result, quiet=quiet)
    if results and not as_json:
        is_told = next_of_study(results, preset, is_verified=bool(verified), quiet=quiet)
        if not is_told:
            say(f"look: proofstone {_look(results)}", quiet=quiet)
    return _exit_code(results)


def _tell(result: RunResult, *, quiet: bool) -> None:
    """Who really answered a run, what of it waits, and how it goes on."""
    from proofstone.stages.served import served_note  # noqa: PLC0415

    run = f"run:{short(result.planned.run.id)}"
    note = served_note(result.served)
    if note:
        say(f"note: {run} was {note}", quiet=quiet)
    if result.waiting:
        say(waiting_line(run, result.waiting), quiet=quiet)
    if not result.is_asked:
        further = " --budget AMOUNT" if result.over_budget else ""
        say(f"go on: proofstone resume {run}{further}", quiet=quiet)
    elif result.is_part:
        say(f"ask the other items: proofstone resume {run}", quiet=quiet)


def _print_json(
    results: Sequence[RunResult],
    plans: Sequence[dict[str, Any] | None],
    kin: Sequence[Kin],
    verified: Sequence[VerifiedRun],
) -> None:
    print_json(
        [
            {
                **_result(each), "plan": plan, "kin": _parts(each, kin),
                "verified": _verified(each, verified),
            }
            for each, plan in zip(results, plans or [None] * len(results), strict=True)
        ]
    )  # fmt: skip


def _verified(result: RunResult, verified: Sequence[VerifiedRun]) -> VerifiedRun | None:
    name = f"run:{short(result.planned.run.id)}"
    return next((each for each in verified if each.run == name), None)


def _parts(result: RunResult, kin: Sequence[Kin]) -> Sequence[KinPart]:
    run = result.planned.run
    mine = (run.respondent, result.planned.item_set.id)
    return next((each.parts for each in kin if (each.model, each.item_set) == mine), ())


def _look(results: Sequence[RunResult]) -> str:
    """The command that shows these runs: of forms that a sweep made the study that compares them,
    since a leaderboard would add up what differs; else the leaderboard."""
    sets = {result.planned.item_set.id: result.planned.item_set for result in results}
    forms = " ".join(f"form:{short(identity)}" for identity in sets)
    study = _STUDIES_OF_SWEEPS.get(_swept(list(sets.values())))
    if study:
        return f"report {forms} --study {study}"
    if len(results) <= _RUNS_NAMED:  # of more runs their forms, which fit in a line
        return "leaderboard " + " ".join(f"run:{short(r.planned.run.id)}" for r in results)
    return f"leaderboard {forms}"


def _swept(sets: Sequence[ItemSet]) -> str:
    """The one parameter in which the recipes of forms of one bank differ; else empty."""
    names = {name for each in sets for name in each.recipe}
    differing = [name for name in names if len({repr(s.recipe.get(name)) for s in sets}) > 1]
    is_one_bank = len({each.bank for each in sets}) == 1
    return differing[0] if is_one_bank and len(differing) == 1 else ""


def _exit_code(results: Sequence[RunResult]) -> int:
    if any(result.interrupted for result in results):
        return 130
    if any(result.stopped and not result.over_budget for result in results):
        return EndpointUnusable.exit_code
    if any(result.over_budget for result in results):
        return BudgetReached.exit_code
    return 0 if all(result.complete for result in results) else 3


def _stop_code(result: RunResult) -> str:
    return (BudgetReached if result.over_budget else EndpointUnusable).code


def _result_line(result: RunResult) -> str:
    planned = result.planned
    state = _state(result)
    kinds = f": {', '.join(result.errors)}" if result.errors else ""
    failed = f", {result.failed} failed{kinds}" if result.failed else ""
    form = f"{planned.item_set.name}-{short(planned.item_set.id, 4)}"
    label = run_label(planned.run)
    scored = f"{result.n_scored} of {result.wanted} scored, {state}{failed}"
    return f"run:{short(planned.run.id)}  {label}  {form}  {scored}{_spent(result)}"


def _state(result: RunResult) -> str:
    """A run that reached its limit is complete for it, and ranked as a part of its form."""
    if not result.complete:
        return "incomplete"
    planned = result.planned
    if not result.is_part:
        return "complete"
    n_items = planned.item_set.n_items
    return f"complete for its limit (ranked as the first {planned.n_items} of {n_items} items)"


def _spent(result: RunResult) -> str:
    """What a run took by this command, and in all where that is more; nothing if simulated. What
    judges took stands apart: it is no part of what the run took."""
    spent, in_all, judged = result.spent, result.in_all, result.judged
    by_judges = f"; judges {spent_text(judged)}" if judged.calls else ""
    if not in_all.calls or result.planned.run.simulated:
        return f"  spent nothing{by_judges}" if by_judges else ""
    if in_all.calls <= spent.calls:
        return f"  {spent_text(spent)}{by_judges}"
    now = spent_text(spent) if spent.calls else "nothing"
    return f"  spent {now}; in all {spent_text(in_all)}{by_judges}"


def _result(result: RunResult) -> dict[str, Any]:
    planned = result.planned
    return {
        "run": planned.run.id,
        "model": planned.run.respondent,
        "ask": planned.run.way,
        "own_prompt": own_prompt_of(planned.run.settings),
        "form": planned.item_set.id,
        "scored": result.n_scored,
        "waiting": result.waiting,
        "context": context_of(planned.run.settings),
        "left_out": left_out_of(planned.run.settings),
        "total": result.wanted,
        "failed": result.failed,
        "errors": result.errors,
        "complete": result.complete,
        "limit": result.planned.n_items if result.is_part else None,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "spent": result.spent,
        "spent_in_all": result.in_all,
        "spent_judging": result.judged,
        "served": [
            {"model": share.model, "fingerprint": share.fingerprint, "replies": share.replies}
            for share in result.served
        ],
    }

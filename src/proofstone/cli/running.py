"""``run`` and ``resume``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.asking_options import model_options
from proofstone.cli.dry_running import dry_run_options, perform_dry_run, read_dry_run
from proofstone.cli.egress import TerminalEgress
from proofstone.cli.judge_options import judge_options, judges_of, read_judges, tell_judges
from proofstone.cli.kin import run_lines, tell_lines
from proofstone.cli.listing_plans import plans_of, tell_plans
from proofstone.cli.options import (
    budget_option,
    cache_option,
    json_option,
    quiet_option,
    workspace_option,
    yes_option,
)
from proofstone.cli.output import print_json, say
from proofstone.cli.presets import preset_option
from proofstone.cli.scoring import waiting_line
from proofstone.cli.spending import spent_text, tell_lost
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.identity import short
from proofstone.records import (
    context_of,
    left_out_of,
    own_prompt_of,
    replies_wanted,
    run_label,
)

if TYPE_CHECKING:
    from proofstone.engines.models import CacheUse
    from proofstone.records import ItemSet
    from proofstone.stages.campaign import RunResult
    from proofstone.stages.kin import Kin, KinPart

__all__ = ["report_results", "resume_command", "run_command"]

_RUNS_NAMED = 4
_STUDIES_OF_SWEEPS = {"posed": "choices", "options": "options"}


@click.command("run")
@click.argument("targets", nargs=-1, metavar="TARGETS | run.toml")
@model_options
@judge_options
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write what is run as a run file, nothing left to defaults.",
)
@preset_option
@dry_run_options
@yes_option
@workspace_option
@json_option
@quiet_option
def run_command(
    save: Path | None,
    dry_run: bool,
    pilot: int | None,
    show: int | None,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    yes: bool,
    **options: Any,
) -> None:
    """Ask models the questions of a form or bank, and score them.

    TARGETS are forms, or banks, whose forms are then meant; or files of questions (JSONL, CSV),
    which are imported first: question and answer, or question, options and answer; or lists of
    entities, of which models tell what they know (--prompt-set, --range). A reply to an
    open question is settled by a rule where it is the answer and nothing else; all others wait for
    a --judge, here or in 'score'. The same command again asks only what
    is missing: what is committed is never asked twice, and what was asked before is taken from the
    cache. Ctrl-C once stops new requests and waits for those in flight; twice leaves at once.

    A run file holds targets, models with their own settings, ways of asking and settings for all;
    options of the command come over it. --save writes one that means these very runs.

    Before anything leaves for a host that nobody has allowed, you are told which sources and how
    much, and asked. [egress] in proofstone.toml allows it for good, --yes this time.

    With --budget the most that a call can cost is put aside before it is sent, so the budget is
    never passed; reaching it ends with exit code 4, and the line that resumes is printed.

    A contestant that wrote, falsified, checked or filtered what it is asked, or whose family did,
    is named before the first question.

    --dry-run says what a run would take, after asking a few questions of each model: requests,
    tokens, money and time as ranges, and whether a --budget would do. --show prints prompts.
    """
    from proofstone.cli.progress import tell_interrupt, watching  # noqa: PLC0415
    from proofstone.cli.requests import read_request  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.question_files import with_question_files  # noqa: PLC0415
    from proofstone.wiring.run_files import (  # noqa: PLC0415
        kin_of_request,
        perform_request,
        save_request,
        with_preset,
    )

    wanted = read_dry_run(dry_run=dry_run, pilot=pilot, show=show)
    del options  # read from the context, with what the run file says below them
    asked = read_request(click.get_current_context())
    judges = judges_of(asked.request)
    with open_workspace(folder or asked.workspace) as workspace:
        workspace.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(workspace, quiet=quiet)
        request = with_question_files(
            workspace, asked.request, lambda form: _tell_form(form, quiet=quiet)
        )
        request = with_preset(workspace, request)
        if save is not None:
            save_request(workspace, request, save)
        kin = kin_of_request(workspace, request)
        tell_lines(run_lines(kin), quiet=quiet)
        tell_judges(workspace, judges, list(request.models), quiet=quiet)
        if wanted is not None:
            code = perform_dry_run(
                workspace, request, wanted, kin, judges=judges, as_json=as_json, quiet=quiet
            )
            click.get_current_context().exit(code)
        with watching(quiet=quiet) as watch:
            results = perform_request(
                workspace, request, judges=judges, watch=watch, on_interrupt=tell_interrupt
            )
        plans = plans_of(workspace, results)
        code = report_results(results, as_json=as_json, quiet=quiet, plans=plans, kin=kin)
        tell_plans(workspace, results, quiet=quiet)
    click.get_current_context().exit(code)


def _tell_form(form: ItemSet, *, quiet: bool) -> None:
    from proofstone.methods import find_method  # noqa: PLC0415
    from proofstone.stages.exchange import items_called  # noqa: PLC0415

    kind = "entities" if form.kind == "entities" else "form"
    what = items_called(find_method(form.method))
    say(f"{kind} {form.name}-{short(form.id, 4)}   {form.n_items:,} {what}", quiet=quiet)


@click.command("resume")
@click.argument("run")
@judge_options
@click.option("--max-connections", type=click.IntRange(1), help="Requests at once.")
@cache_option
@yes_option
@budget_option
@workspace_option
@json_option
@quiet_option
def resume_command(
    run: str,
    max_connections: int | None,
    cache: CacheUse,
    yes: bool,
    budget: str | None,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Go on with a run where it stopped.

    RUN keeps the settings that it has; what is committed is not asked again. A --budget is what may
    be spent from now on.
    """
    from proofstone.cli.progress import tell_interrupt, watching  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    judges = read_judges(options)
    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(workspace, quiet=quiet)
        with watching(quiet=quiet) as watch:
            results = workspace.resume(
                run,
                judge=judges or (),
                watch=watch,
                on_interrupt=tell_interrupt,
                max_connections=max_connections,
                cache=cache,
                budget=budget,
            )
        plans = plans_of(workspace, results)
        code = report_results(results, as_json=as_json, quiet=quiet, plans=plans)
        tell_plans(workspace, results, quiet=quiet)
    click.get_current_context().exit(code)


def report_results(
    results: Sequence[RunResult],
    *,
    as_json: bool,
    quiet: bool,
    plans: Sequence[dict[str, Any] | None] = (),
    kin: Sequence[Kin] = (),
) -> int:
    """Prints what came of runs, in JSON with the plan of each and the parts that its model had in
    the items, and what to do next; returns the exit code."""
    from proofstone.stages.served import served_note  # noqa: PLC0415

    if as_json:
        told = plans or [None] * len(results)
        print_json(
            [
                {**_result(each), "plan": plan, "kin": _parts(each, kin)}
                for each, plan in zip(results, told, strict=True)
            ]
        )
    else:
        for result in results:
            click.echo(_result_line(result))
    stops = [(_stop_code(result), result.stopped) for result in results if result.stopped]
    for code, stopped in dict.fromkeys(stops):
        say(f"error [{code}] {stopped}")
    for result in results:
        note = served_note(result.served)
        if note:
            say(f"note: run:{short(result.planned.run.id)} was {note}", quiet=quiet)
        run = f"run:{short(result.planned.run.id)}"
        if result.waiting:
            say(waiting_line(run, result.waiting), quiet=quiet)
        if not result.is_asked:
            further = " --budget AMOUNT" if result.over_budget else ""
            say(f"go on: proofstone resume {run}{further}", quiet=quiet)
    if results and not as_json:
        say(f"look: proofstone {_look(results)}", quiet=quiet)
    return _exit_code(results)


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
    total = replies_wanted(planned.run, planned.item_set.n_items)
    state = "complete" if result.complete else "incomplete"
    kinds = f": {', '.join(result.errors)}" if result.errors else ""
    failed = f", {result.failed} failed{kinds}" if result.failed else ""
    form = f"{planned.item_set.name}-{short(planned.item_set.id, 4)}"
    label = run_label(planned.run)
    scored = f"{result.n_scored} of {total} scored, {state}{failed}"
    return f"run:{short(planned.run.id)}  {label}  {form}  {scored}{_spent(result)}"


def _spent(result: RunResult) -> str:
    """What a run took by this command, and in all where that is more; nothing if simulated."""
    spent, in_all = result.spent, result.in_all
    if not in_all.calls or result.planned.run.simulated:
        return ""
    if in_all.calls <= spent.calls:
        return f"  {spent_text(spent)}"
    now = spent_text(spent) if spent.calls else "nothing"
    return f"  spent {now}; in all {spent_text(in_all)}"


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
        "total": replies_wanted(planned.run, planned.item_set.n_items),
        "failed": result.failed,
        "errors": result.errors,
        "complete": result.complete,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "spent": result.spent,
        "spent_in_all": result.in_all,
        "served": [
            {"model": share.model, "fingerprint": share.fingerprint, "replies": share.replies}
            for share in result.served
        ],
    }

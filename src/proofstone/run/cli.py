"""``run`` and ``resume``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec import Struct

from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.records.ids import short
from proofstone.records.items import context_of, left_out_of, own_prompt_of, shown_name
from proofstone.records.runs import run_label
from proofstone.run.cli_files import judges_of, read_judges, tell_judges
from proofstone.run.cli_options import (
    connections_option,
    judge_options,
    model_options,
    preset_option,
    read_request,
)
from proofstone.run.cli_reference import (
    VerifyingAtOnce,
    check_reference,
    next_of_study,
    print_verified,
    waiting_line,
)
from proofstone.run.self_preference import run_lines, tell_lines
from proofstone.session.cli_egress import TerminalEgress
from proofstone.session.costs import beside_told, spent_text, tell_beside, tell_lost
from proofstone.session.options import (
    budget_option,
    cache_option,
    json_option,
    quiet_option,
    with_options,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import print_json, print_table, say

if TYPE_CHECKING:
    from proofstone.models.reply_cache import CacheUse
    from proofstone.records.items import ItemSet, Preset
    from proofstone.records.runs import VerifiedRun
    from proofstone.run.campaign import RunResult
    from proofstone.run.forecast import DryRun
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.request import RunRequest
    from proofstone.run.self_preference import Kin, KinPart
    from proofstone.session.session import Session


# ``--dry-run``, ``--pilot`` and ``--show`` on a command that asks models.


def dry_run_list(
    *, dry_run: str, pilot: str, least_pilot: int, show: str
) -> list[Callable[[Any], Any]]:
    """The options of a dry run, each with its help; a pilot has ``least_pilot`` or more."""
    return [
        click.option("--dry-run", is_flag=True, help=dry_run),
        click.option("--pilot", type=click.IntRange(least_pilot), metavar="N", help=pilot),
        click.option("--show", type=click.IntRange(1), metavar="N", help=show),
    ]


# ``list plan``, and what ``run`` says of the plan that it stands under.


def list_plans(session: Session, *, as_json: bool) -> None:
    """All plans, newest first, each with its target and what it is to find."""
    from proofstone.session.dates import minute

    plans = session.store.plans.every()
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


def plans_of(session: Session, results: Iterable[RunResult]) -> list[dict[str, Any] | None]:
    """Of each run the plan in force with all that it fixes, and whether it was made after the
    first reply; None where there is none."""
    from proofstone.run.run_facts import plan_in_force, plan_row

    found = [plan_in_force(session.store, each.planned.key, each.planned.run) for each in results]
    return [
        None if each is None else {**plan_row(each[0]), "made_after_first_reply": each[1]}
        for each in found
    ]


def tell_plans(session: Session, results: Iterable[RunResult], *, quiet: bool) -> None:
    """Says of each run the plan in force, where there is one."""
    from proofstone.run.run_facts import plan_sentence

    for result in results:
        planned = result.planned
        said = plan_sentence(session.store, planned.key, planned.run)
        if said:
            say(f"run:{short(planned.run.id)} was {said}", quiet=quiet)


# ``run --dry-run``: what a run would take, and ``--show``: what it would send.


class DryRunAsked(Struct, frozen=True):
    """How many questions the pilot asks of each model and way, and how many prompts are shown."""

    pilot: int
    show: int


dry_run_options = with_options(
    *dry_run_list(
        dry_run="Say what the run would take, and do not run it: from a pilot.",
        pilot="Questions that a dry run really asks of each model and way; their replies are kept "
        "for the run. 0 asks nobody.  [default: 20]",
        least_pilot=0,
        show="Print the first N prompts of each way as they would be sent, and run nothing; "
        "without --dry-run nobody is asked.",
    )
)


def read_dry_run(*, dry_run: bool, pilot: int | None, show: int | None) -> DryRunAsked | None:
    """The dry run that options mean, None where they mean a run. UsageError for a pilot without."""
    if not dry_run and show is None:
        if pilot is not None:
            raise click.UsageError("--pilot goes with --dry-run", click.get_current_context())
        return None
    from proofstone.run.dry_run import PILOT

    usual = PILOT if dry_run else 0
    return DryRunAsked(usual if pilot is None else pilot, show or 0)


def perform_dry_run(
    session: Session,
    request: RunRequest,
    asked: DryRunAsked,
    kin: Sequence[Kin],
    *,
    judges: JudgeSpec | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows prompts and the forecast, of ``judges`` too; returns the exit code."""
    from proofstone.run.dry_run import (
        forecast_judging,
        rendered_prompts,
    )
    from proofstone.run.forecast_text import forecast_lines, judging_lines, prompt_lines, talk
    from proofstone.run.run_files import forecast_request, specs_of_request
    from proofstone.run.searches import forecast_searches
    from proofstone.session.costs import start_spending
    from proofstone.session.progress import tell_interrupt, watching

    prompts = []
    if asked.show:
        prompts = rendered_prompts(session, specs_of_request(session, request), asked.show)
        if not as_json:
            click.echo("\n".join(prompt_lines(prompts)))
    spending = start_spending(session, request.asked.budget or None)
    with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
        found = forecast_request(
            session, request, pilot=asked.pilot, spending=spending, watch=watch,
            on_interrupt=tell_interrupt,
        )  # fmt: skip
    judging = None
    if judges is not None:
        specs = specs_of_request(session, request)
        judging = forecast_judging(
            session, specs, judges, max_connections=request.asked.max_connections
        )
    if as_json:
        whole = {**msgspec.structs.asdict(found), "kin": kin}
        whole |= {} if judging is None else {"judging": judging}
        print_json({"prompts": prompts, "dry_run": whole} if prompts else whole)
    else:
        lines = [*forecast_lines(found), *(() if judging is None else judging_lines(judging))]
        click.echo("\n".join(lines))
    searched = forecast_searches(session, specs_of_request(session, request))
    tell_beside(searched, "to search for questions besides", quiet=quiet)
    for line in talk(found):
        say(line, quiet=quiet)
    return _exit_code(found)


def _exit_code(found: DryRun) -> int:
    """130 where it was interrupted, 5 and 4 where a model could not be asked (any more), 3 where a
    pilot says too little."""
    if found.interrupted:
        return 130
    stopped = [part for part in found.parts if part.stopped]
    if any(not part.over_budget for part in stopped):
        return 5
    if stopped:
        return 4
    return 0 if all(part.is_known for part in found.parts) or not found.pilot else 3


# What came of runs, as ``run`` and ``resume`` print it.

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
    return _run_results_exit_code(results)


def _tell(result: RunResult, *, quiet: bool) -> None:
    """Who really answered a run, what of it waits, and how it goes on."""
    from proofstone.run.run_facts import served_note

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


def _run_results_exit_code(results: Sequence[RunResult]) -> int:
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
    form = shown_name(planned.item_set)
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
@click.option(
    "--reference",
    metavar="BANK|FILE",
    help="Of entities, with a --judge: verify what was said as soon as all is asked, as 'score "
    "--reference' does, in a sample as the --preset says; and show the preset's study.",
)
@dry_run_options
@yes_option
@workspace_option
@json_option
@quiet_option
def run_command(
    save: Path | None,
    reference: str | None,
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
    from proofstone.run.run_files import (
        kin_of_request,
        perform_request,
        preset_of,
        save_request,
        with_preset,
        with_question_files,
    )
    from proofstone.session.costs import start_spending
    from proofstone.session.progress import tell_interrupt, watching
    from proofstone.session.session import open_session

    wanted = read_dry_run(dry_run=dry_run, pilot=pilot, show=show)
    del options  # read from the context, with what the run file says below them
    asked = read_request(click.get_current_context())
    check_reference(reference, asked.request)
    judges = judges_of(asked.request)
    with open_session(folder or asked.workspace) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        request = with_question_files(
            session, asked.request, lambda form: _tell_form(form, quiet=quiet)
        )
        request = with_preset(session, request)
        if save is not None:
            save_request(session, request, save)
        kin = kin_of_request(session, request)
        tell_lines(run_lines(kin), quiet=quiet)
        tell_judges(session, judges, list(request.models), quiet=quiet)
        if wanted is not None:
            code = perform_dry_run(
                session, request, wanted, kin, judges=judges, as_json=as_json, quiet=quiet
            )
            click.get_current_context().exit(code)
        spending = start_spending(session, request.asked.budget or None)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = perform_request(
                session, request, judges=None if reference else judges, watch=watch,
                on_interrupt=tell_interrupt, spending=spending,
            )  # fmt: skip
        plans = plans_of(session, results)
        at_once = VerifyingAtOnce(
            session=session, results=results, reference=reference or "", judges=judges,
            preset=preset_of(session, request), quiet=quiet,
        )  # fmt: skip
        verified, code = at_once.perform(request, spending)
        code = report_results(
            results, as_json=as_json, quiet=quiet, plans=plans, kin=kin, verified=verified,
            preset=at_once.preset,
        ) or code  # fmt: skip
        if verified and not as_json:
            at_once.show_study()
        tell_plans(session, results, quiet=quiet)
    click.get_current_context().exit(code)


def _tell_form(form: ItemSet, *, quiet: bool) -> None:
    from proofstone.method import find_method

    kind = "entities" if form.kind == "entities" else "form"
    what = find_method(form.method).items_called
    say(f"{kind} {shown_name(form)}   {form.n_items:,} {what}", quiet=quiet)


@click.command("resume")
@click.argument("run")
@judge_options
@connections_option
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
    from proofstone.run.campaign import resume
    from proofstone.session.costs import start_spending
    from proofstone.session.progress import tell_interrupt, watching
    from proofstone.session.session import open_session

    judges = read_judges(options)
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        spending = start_spending(session, budget)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = resume(
                session,
                run,
                judge=judges or (),
                watch=watch,
                on_interrupt=tell_interrupt,
                max_connections=max_connections,
                cache=cache,
                budget=spending,
            )
        plans = plans_of(session, results)
        code = report_results(results, as_json=as_json, quiet=quiet, plans=plans)
        tell_plans(session, results, quiet=quiet)
    click.get_current_context().exit(code)

"""``run``: evaluate models, estimate a run, resume one."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import msgspec
from msgspec import Struct

from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.records.ids import short
from proofstone.records.items import context_of, left_out_of, own_prompt_of, shown_name
from proofstone.records.options import Opt
from proofstone.records.runs import run_label
from proofstone.run.cli_reference import (
    print_verified,
    show_analysis,
    steps_of_analysis,
    verify_at_once,
    waiting_line,
)
from proofstone.run.cli_request import (
    judge_options,
    model_options,
    preset_option,
    read_asked,
    read_request,
    tell_judges,
)
from proofstone.run.self_preference import run_lines, tell_lines
from proofstone.session.cli_command import command, tell_error_line
from proofstone.session.options import (
    asked_for,
    json_option,
    quiet_option,
    was_given,
    workspace_option,
    yes_option,
)
from proofstone.session.progress import beside_told, spent_text, tell_beside, tell_lost
from proofstone.session.terminal import (
    TerminalEgress,
    print_json,
    print_text,
    say,
    say_next,
)

if TYPE_CHECKING:
    from proofstone.records.items import ItemSet, Preset
    from proofstone.records.runs import VerifiedRun
    from proofstone.run.campaign import RunResult
    from proofstone.run.forecast import DryRun
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.plan import RunSpec
    from proofstone.run.run_options import RunAsked
    from proofstone.run.self_preference import SelfEvaluation
    from proofstone.session.session import Session


# ``run --dry-run``: what a run would take, and ``--show``: what it would send.


class DryRunAsked(Struct, frozen=True, kw_only=True):
    """What is foreseen of a run, and shown of its prompts."""

    dry_run: Annotated[bool, Opt(
        "Estimate requests, tokens, cost and time; make no API calls.",
    )] = False  # fmt: skip
    pilot: Annotated[int | None, Opt(
        "With --dry-run: send N questions per model and prompting method, to measure tokens and "
        "time; their responses are kept for the run.", metavar="N", least=0,
    )] = None  # fmt: skip
    show: Annotated[int | None, Opt(
        "Print the first N prompts of each prompting method; make no API calls.",
        metavar="N", least=1,
    )] = None  # fmt: skip


def _is_dry(wanted: DryRunAsked) -> bool:
    """Whether options mean a dry run. UsageError for a pilot without one."""
    is_dry = wanted.dry_run or wanted.show is not None
    if wanted.pilot is not None and not is_dry:
        raise click.UsageError("--pilot goes with --dry-run", click.get_current_context())
    return is_dry


def _perform_dry_run(
    session: Session,
    specs: Sequence[RunSpec],
    asked: RunAsked,
    wanted: DryRunAsked,
    self_evaluation: Sequence[SelfEvaluation],
    *,
    judges: JudgeSpec | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows prompts and the forecast, of ``judges`` too; returns the exit code."""
    from proofstone.run.dry_run import forecast_judging, forecast_specs, rendered_prompts
    from proofstone.run.forecast import forecast_lines, judging_lines, prompt_lines, talk
    from proofstone.run.outbound import forecast_searches
    from proofstone.session.progress import start_spending, tell_interrupt, watching

    prompts = rendered_prompts(session, specs, wanted.show) if wanted.show else []
    if wanted.show and not as_json:
        print_text("\n".join(prompt_lines(prompts)))
    spending = start_spending(session, asked.budget or None)
    with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
        found = forecast_specs(
            session, specs, pilot=wanted.pilot or 0,
            max_connections=asked.max_connections, cache=asked.cache, spending=spending,
            watch=watch, on_interrupt=tell_interrupt,
        )  # fmt: skip
    judging = None
    if judges is not None:
        judging = forecast_judging(session, specs, judges, max_connections=asked.max_connections)
    if as_json:
        whole = {**msgspec.structs.asdict(found), "self_evaluation": self_evaluation}
        whole |= {} if judging is None else {"judging": judging}
        print_json({"prompts": prompts, "dry_run": whole} if prompts else whole)
    else:
        lines = [*forecast_lines(found), *(() if judging is None else judging_lines(judging))]
        print_text("\n".join(lines))
    searched = forecast_searches(session, specs)
    tell_beside(searched, "additional cost to search for questions", quiet=quiet)
    for line in talk(found):
        say(line, quiet=quiet)
    return _dry_run_code(found)


def _dry_run_code(found: DryRun) -> int:
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


_ANALYSES_OF_SWEEPS = {"posed": "choices", "options": "options"}


def _report_results(
    session: Session,
    results: Sequence[RunResult],
    *,
    as_json: bool,
    quiet: bool,
    self_evaluation: Sequence[SelfEvaluation] = (),
    verified: Sequence[VerifiedRun] = (),
    preset: Preset | None = None,
) -> int:
    """Print the results of runs and the next step, and return the exit code.

    JSON has the plan of each run, the roles that its model had in making the items, and the results
    of ``verified`` runs.
    """
    if as_json:
        print_json([_json_row(session, each, self_evaluation, verified) for each in results])
    else:
        for result in results:
            print_text(_result_line(result))
        if verified:
            print_verified(verified)
        elif any(result.n_scored for result in results) and not _analysis_of(results):
            print_text("")
            board = import_module(_LEADERBOARD)
            board.print_board(session, runs_of(results), as_json=False)
    stops = [(_stop_code(result), result.stopped) for result in results if result.stopped]
    for code, stopped in dict.fromkeys(stops):
        tell_error_line(code, stopped)
    for result in results:
        _tell(result, quiet=quiet)
    steps = [step for step in map(_unfinished, results) if step]
    if results and not as_json:
        analysis = steps_of_analysis(results, preset, is_verified=bool(verified))
        steps += analysis or _look(session, results)
    say_next(steps, quiet=quiet)
    return _results_code(results)


# The folder above that prints leaderboards: ``print_board(session, runs, as_json=...)``.
_LEADERBOARD = "proofstone.results.cli"


def _results_code(results: Sequence[RunResult]) -> int:
    if any(result.interrupted for result in results):
        return 130
    if any(result.stopped and not result.over_budget for result in results):
        return EndpointUnusable.exit_code
    if any(result.over_budget for result in results):
        return BudgetReached.exit_code
    return 0 if all(result.complete for result in results) else 3


def _tell_plans(session: Session, results: Sequence[RunResult], *, quiet: bool) -> None:
    """Says of each run the plan in force, where there is one."""
    from proofstone.run.run_facts import plan_sentence

    for result in results:
        planned = result.planned
        said = plan_sentence(session.store, planned.key, planned.run)
        if said:
            say(f"run:{short(planned.run.id)} was {said}", quiet=quiet)


def _tell(result: RunResult, *, quiet: bool) -> None:
    """Print the models that answered a run, the number of responses that wait for a judge, and the
    command that resumes it."""
    from proofstone.run.run_facts import reported_note

    run = f"run:{short(result.planned.run.id)}"
    note = reported_note(result.reported)
    if note:
        say(f"note: {run} was {note}", quiet=quiet)
    if result.waiting:
        say(waiting_line(run, result.waiting), quiet=quiet)


def _unfinished(result: RunResult) -> str:
    """The command that asks what a run lacks; empty where nothing is left."""
    run = f"run:{short(result.planned.run.id)}"
    if not result.is_asked:
        return f"run --resume {run}{' --budget AMOUNT' if result.over_budget else ''}"
    return f"run --resume {run}" if result.is_part else ""


def _look(session: Session, results: Sequence[RunResult]) -> list[str]:
    """Return the commands that look closer at these runs: their report, and single responses.

    For forms of a sweep it is the analysis that compares them, since a leaderboard would pool forms
    that differ. Wrong responses are offered of the first run that has any.
    """
    from proofstone.run.run_facts import is_any_wrong

    sets = {result.planned.item_set.id: result.planned.item_set for result in results}
    forms = " ".join(f"form:{short(identity)}" for identity in sets)
    if analysis := _analysis_of(results):
        return [f"report {forms} --analysis {analysis}"]
    # of more runs their forms, which fit in a line
    named = " ".join(runs_of(results)) if len(results) <= _RUNS_NAMED else forms
    wrong = (
        f"show run:{short(planned.run.id)} --outcome wrong"
        for planned in (result.planned for result in results)
        if is_any_wrong(session.store, planned.key, planned.run)
    )
    return [f"report {named}", *islice(wrong, 1)]


def runs_of(results: Sequence[RunResult]) -> list[str]:
    """The runs as people name them."""
    return [f"run:{short(result.planned.run.id)}" for result in results]


def _analysis_of(results: Sequence[RunResult]) -> str:
    """The analysis that compares the forms of a sweep; empty for other forms."""
    sets = {result.planned.item_set.id: result.planned.item_set for result in results}
    return _ANALYSES_OF_SWEEPS.get(_swept(list(sets.values())), "")


def _swept(sets: Sequence[ItemSet]) -> str:
    """Return the only parameter in which the recipes of forms of one bank differ; otherwise ""."""
    names = {name for each in sets for name in each.recipe}
    differing = [name for name in names if len({repr(s.recipe.get(name)) for s in sets}) > 1]
    is_one_bank = len({each.bank for each in sets}) == 1
    return differing[0] if is_one_bank and len(differing) == 1 else ""


def _stop_code(result: RunResult) -> str:
    return (BudgetReached if result.over_budget else EndpointUnusable).code


def _result_line(result: RunResult) -> str:
    """One run: its id, label and form, how much of it is scored, and what it cost."""
    planned = result.planned
    kinds = f": {', '.join(result.errors)}" if result.errors else ""
    failed = f", {result.failed} failed{kinds}" if result.failed else ""
    form = shown_name(planned.item_set)
    scored = f"{result.n_scored} of {result.wanted} scored, {_state(result)}{failed}"
    label = run_label(planned.run)
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
    """Return the cost of a run by this command, and in total if that is more; "" if simulated. The
    cost of judges is separate."""
    spent, in_all, judged = result.spent, result.in_all, result.judged
    by_judges = f"; judges {spent_text(judged)}" if judged.calls else ""
    if not in_all.calls or result.planned.run.simulated:
        return f"  spent nothing{by_judges}" if by_judges else ""
    if in_all.calls <= spent.calls:
        return f"  {spent_text(spent)}{by_judges}"
    now = spent_text(spent) if spent.calls else "nothing"
    return f"  spent {now}; in all {spent_text(in_all)}{by_judges}"


def _json_row(
    session: Session,
    result: RunResult,
    self_evaluation: Sequence[SelfEvaluation],
    verified: Sequence[VerifiedRun],
) -> dict[str, Any]:
    from proofstone.run.run_facts import plan_in_force, plan_row

    planned = result.planned
    run, item_set = planned.run, planned.item_set
    plan = plan_in_force(session.store, planned.key, run)
    return {
        "run": run.id,
        "model": run.respondent,
        "prompt_method": run.prompt_method,
        "own_prompt": own_prompt_of(run.settings),
        "form": item_set.id,
        "scored": result.n_scored,
        "waiting": result.waiting,
        "context": context_of(run.settings),
        "left_out": left_out_of(run.settings),
        "total": result.wanted,
        "failed": result.failed,
        "errors": result.errors,
        "complete": result.complete,
        "limit": planned.n_items if result.is_part else None,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "spent": result.spent,
        "spent_in_all": result.in_all,
        "spent_judging": result.judged,
        "reported": [
            {"model": share.model, "fingerprint": share.fingerprint, "responses": share.responses}
            for share in result.reported
        ],
        "plan": plan and {**plan_row(plan[0]), "made_after_first_response": plan[1]},
        "self_evaluation": next(
            (
                k.parts
                for k in self_evaluation
                if (k.model, k.item_set) == (run.respondent, item_set.id)
            ),
            (),
        ),
        "verified": next((v for v in verified if v.run == f"run:{short(run.id)}"), None),
    }


@command(
    "run",
    basic=(
        "models",
        "prompt_method",
        "shots",
        "limit",
        "judge",
        "budget",
        "dry_run",
        "resume",
    ),
)
@click.argument("targets", nargs=-1, metavar="TARGETS | run.toml")
@model_options
@judge_options
@click.option(
    "--save",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a run file with all settings of these runs.",
)
@preset_option
@click.option(
    "--reference",
    metavar="BANK|FILE",
    help="For entities, with --judge: verify elicited triples against this reference after the "
    "run, as 'grade --reference' does.",
)
@click.option(
    "--resume",
    is_flag=False,
    flag_value="",
    metavar="[RUN]",
    help="Resume this run, or all unfinished runs. It keeps its settings.",
)
@asked_for(DryRunAsked, "wanted")
@yes_option
@workspace_option
@json_option
@quiet_option
def run_command(
    save: Path | None,
    resume: str | None,
    reference: str | None,
    wanted: DryRunAsked,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    yes: bool,
    **_options: Any,  # read from the context, with what the run file says below them
) -> None:
    """Evaluate models on a form, an item bank or a file.

    TARGETS are forms, banks (with all their forms), or files of questions (JSONL, CSV). A file has
    the columns question and answer, or question, options and answer. Lists of entities elicit
    triples (--prompt-method, --range). Rules grade short answers that match exactly. All other
    short answers need a --judge, here or later in 'grade'. The same command again only sends
    requests that are missing or not cached. Ctrl-C once stops new requests; twice quits at once.

    A run file (TOML) holds targets, models and settings; options of the command override it. --save
    writes one.

    Before data goes to a new host, you are shown the sources and the amount and asked for
    permission. Allow hosts under [egress] in proofstone.toml, or once with --yes. Models that
    helped write or filter the items (or their model family) are named before the first question.

    --budget reserves the worst-case cost of each request, so it is never exceeded. A reached budget
    ends with exit code 4 and prints the command that resumes. With --dry-run, the command estimates
    requests, tokens, cost and time as ranges and makes no API calls. Add --pilot N to measure them
    on N questions.

    \b
    Examples:
      proofstone run questions.jsonl -m openai/gpt-5.1 --budget 5USD
      proofstone run facts -m local/model.gguf,openai/gpt-5.1 --shots 3 --dry-run
      proofstone run --resume
    """
    from proofstone.run.campaign import run_specs, self_evaluation_of_specs
    from proofstone.run.judges import judges_asked
    from proofstone.run.request import (
        preset_of,
        specs_of_request,
        with_preset,
        with_question_files,
    )
    from proofstone.run.run_file import save_request
    from proofstone.session.progress import start_spending, tell_interrupt, watching
    from proofstone.session.session import open_session

    if resume is not None:
        context = click.get_current_context()
        context.exit(_resume(context, resume, folder, yes=yes, as_json=as_json, quiet=quiet))
    is_dry = _is_dry(wanted)
    named = read_request(click.get_current_context())
    asked = named.request.asked
    if reference is not None and not asked.judge:
        raise click.UsageError("--reference needs --judge")
    judges = judges_asked(asked)
    with open_session(folder or named.workspace) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        request = with_question_files(
            session, named.request, lambda form: _tell_form(form, quiet=quiet)
        )
        request = with_preset(session, request)
        if save is not None:
            save_request(session, request, save)
        asked, specs = request.asked, specs_of_request(session, request)
        self_evaluation = self_evaluation_of_specs(session, specs)
        tell_lines(run_lines(self_evaluation), quiet=quiet)
        tell_judges(session, judges, list(request.models), quiet=quiet)
        if is_dry:
            code = _perform_dry_run(
                session,
                specs,
                asked,
                wanted,
                self_evaluation,
                judges=judges,
                as_json=as_json,
                quiet=quiet,
            )
            click.get_current_context().exit(code)
        spending = start_spending(session, asked.budget or None)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = run_specs(
                session, specs, max_connections=asked.max_connections, cache=asked.cache,
                judges=None if reference else judges, watch=watch, on_interrupt=tell_interrupt,
                spending=spending,
            )  # fmt: skip
        preset, code = preset_of(session, request), 0
        verified: Sequence[VerifiedRun] = ()
        if reference and all(result.is_asked for result in results):
            verified, code = verify_at_once(
                session, results, reference, preset, judges=judges, asked=asked,
                spending=spending, quiet=quiet,
            )  # fmt: skip
        code = _report_results(
            session, results, as_json=as_json, quiet=quiet, self_evaluation=self_evaluation,
            verified=verified,
            preset=preset,
        ) or code  # fmt: skip
        if verified and not as_json:
            show_analysis(session, results, preset, quiet=quiet)
        _tell_plans(session, results, quiet=quiet)
    click.get_current_context().exit(code)


def _tell_form(form: ItemSet, *, quiet: bool) -> None:
    from proofstone.method import find_method

    kind = "entities" if form.kind == "entities" else "form"
    what = find_method(form.method).items_called
    say(f"{kind} {shown_name(form)}   {form.n_items:,} {what}", quiet=quiet)


# ``run --resume``.

# What a resumed run takes besides ``--resume``; its other settings stay as they are.
_OF_RESUMED = {
    "resume", "targets", "judge", "votes", "orders", "quorum", "majority", "max_connections",
    "cache", "budget", "yes", "folder", "as_json", "quiet",
}  # fmt: skip


def _resume(
    context: click.Context, run: str, folder: Path | None, *, yes: bool, as_json: bool, quiet: bool
) -> int:
    """Resume one run, or all unfinished runs where ``run`` is empty; return the exit code.

    Raises UsageError for options that would change a run, NotFound where nothing is unfinished.
    """
    from proofstone.run.campaign import resume
    from proofstone.run.judges import judges_asked
    from proofstone.session.progress import start_spending, tell_interrupt, watching
    from proofstone.session.session import open_session

    given = [
        parameter.opts[0] for parameter in context.command.params
        if parameter.name not in _OF_RESUMED and was_given(context, str(parameter.name))
    ]  # fmt: skip
    if given:
        raise click.UsageError(f"{', '.join(given)}: a resumed run keeps its settings", context)
    if context.params["targets"]:
        raise click.UsageError("--resume takes one run, and no targets", context)
    asked = read_asked(dict(context.params))
    judges = judges_asked(asked)
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        spending = start_spending(session, asked.budget or None)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = resume(
                session, run or None, judge=judges or (), watch=watch, on_interrupt=tell_interrupt,
                max_connections=asked.max_connections, cache=asked.cache, budget=spending,
            )  # fmt: skip
        code = _report_results(session, results, as_json=as_json, quiet=quiet)
        _tell_plans(session, results, quiet=quiet)
    return code

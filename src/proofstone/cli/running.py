"""``run`` and ``resume``."""

from __future__ import annotations

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
from proofstone.cli.output import say
from proofstone.cli.presets import preset_option
from proofstone.cli.run_results import report_results
from proofstone.cli.run_verified import VerifyingAtOnce, check_reference
from proofstone.cli.spending import beside_told, tell_lost
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.models import CacheUse
    from proofstone.records import ItemSet

__all__ = ["resume_command", "run_command"]


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
    from proofstone.cli.progress import tell_interrupt, watching  # noqa: PLC0415
    from proofstone.cli.requests import read_request  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.question_files import with_question_files  # noqa: PLC0415
    from proofstone.wiring.run_files import (  # noqa: PLC0415
        kin_of_request,
        perform_request,
        preset_of,
        save_request,
        with_preset,
    )

    wanted = read_dry_run(dry_run=dry_run, pilot=pilot, show=show)
    del options  # read from the context, with what the run file says below them
    asked = read_request(click.get_current_context())
    check_reference(reference, asked.request)
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
        spending = workspace.spending(request.budget or None)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = perform_request(
                workspace, request, judges=None if reference else judges, watch=watch,
                on_interrupt=tell_interrupt, spending=spending,
            )  # fmt: skip
        plans = plans_of(workspace, results)
        at_once = VerifyingAtOnce(
            workspace=workspace, results=results, reference=reference or "", judges=judges,
            preset=preset_of(workspace, request), quiet=quiet,
        )  # fmt: skip
        verified, code = at_once.perform(request, spending)
        code = report_results(
            results, as_json=as_json, quiet=quiet, plans=plans, kin=kin, verified=verified,
            preset=at_once.preset,
        ) or code  # fmt: skip
        if verified and not as_json:
            at_once.show_study()
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
        spending = workspace.spending(budget)
        with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
            results = workspace.resume(
                run,
                judge=judges or (),
                watch=watch,
                on_interrupt=tell_interrupt,
                max_connections=max_connections,
                cache=cache,
                budget=spending,
            )
        plans = plans_of(workspace, results)
        code = report_results(results, as_json=as_json, quiet=quiet, plans=plans)
        tell_plans(workspace, results, quiet=quiet)
    click.get_current_context().exit(code)

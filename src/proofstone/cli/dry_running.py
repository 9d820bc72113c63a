"""``run --dry-run``: what a run would take, and ``--show``: what it would send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
import msgspec
from msgspec import Struct

from proofstone.cli.dry_run_options import dry_run_list
from proofstone.cli.options import with_options
from proofstone.cli.output import print_json, say
from proofstone.cli.spending import beside_told, tell_beside

if TYPE_CHECKING:
    from proofstone.stages.forecasts import DryRun
    from proofstone.stages.judging import JudgeSpec
    from proofstone.stages.kin import Kin
    from proofstone.stages.run_request import RunRequest
    from proofstone.wiring import Workspace

__all__ = ["DryRunAsked", "dry_run_options", "perform_dry_run", "read_dry_run"]


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
    from proofstone.wiring.dry_running import PILOT  # noqa: PLC0415

    usual = PILOT if dry_run else 0
    return DryRunAsked(usual if pilot is None else pilot, show or 0)


def perform_dry_run(
    workspace: Workspace,
    request: RunRequest,
    asked: DryRunAsked,
    kin: Sequence[Kin],
    *,
    judges: JudgeSpec | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows prompts and the forecast, of ``judges`` too; returns the exit code."""
    from proofstone.cli.dry_run_text import forecast_lines, prompt_lines, talk  # noqa: PLC0415
    from proofstone.cli.judging_text import judging_lines  # noqa: PLC0415
    from proofstone.cli.progress import tell_interrupt, watching  # noqa: PLC0415
    from proofstone.wiring.run_files import forecast_request, specs_of_request  # noqa: PLC0415

    prompts = []
    if asked.show:
        prompts = workspace.rendered(specs_of_request(workspace, request), asked.show)
        if not as_json:
            click.echo("\n".join(prompt_lines(prompts)))
    spending = workspace.spending(request.budget or None)
    with beside_told(spending, quiet=quiet), watching(quiet=quiet) as watch:
        found = forecast_request(
            workspace, request, pilot=asked.pilot, spending=spending, watch=watch,
            on_interrupt=tell_interrupt,
        )  # fmt: skip
    judging = None
    if judges is not None:
        specs = specs_of_request(workspace, request)
        judging = workspace.forecast_judging(specs, judges, max_connections=request.max_connections)
    if as_json:
        whole = {**msgspec.structs.asdict(found), "kin": kin}
        whole |= {} if judging is None else {"judging": judging}
        print_json({"prompts": prompts, "dry_run": whole} if prompts else whole)
    else:
        lines = [*forecast_lines(found), *(() if judging is None else judging_lines(judging))]
        click.echo("\n".join(lines))
    searched = workspace.forecast_searches(specs_of_request(workspace, request))
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

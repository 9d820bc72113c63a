"""``init`` and ``status``."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import print_json, say
from proofstone.cli.spending import lost_text, spent_text

__all__ = ["init_command", "status_command"]


@click.command("init")
@click.argument("folder", type=click.Path(path_type=Path), default=Path(), metavar="[DIR]")
@json_option
def init_command(folder: Path, as_json: bool) -> None:
    """Make a folder a workspace.

    Everything that commands store goes into its hidden folder .proofstone; settings stand in
    proofstone.toml beside it. A folder that is one already stays as it is.
    """
    from proofstone.wiring import create_workspace  # noqa: PLC0415

    with create_workspace(folder) as workspace:
        identity = workspace.store.database.workspace_id()
    if as_json:
        print_json({"folder": str(folder), "workspace": identity})
        return
    click.echo(f"workspace {folder.absolute()}")
    say("next, with documents: proofstone start FOLDER, or step by step: proofstone ingest FOLDER")
    say("next, with statements: proofstone import FILE --as bank")
    say("or try it with what is carried: proofstone build statements elements")


@click.command("status")
@workspace_option
@json_option
def status_command(folder: Path | None, as_json: bool) -> None:
    """Say what this workspace holds and what is unfinished."""
    from proofstone.stages.overview import look_over  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        workspace.newly_lost()  # stands among what is listed
        overview = look_over(workspace.store)
        if as_json:
            print_json(overview)
            return
        counts = "   ".join(f"{name} {n}" for name, n in overview.counts.items())
        click.echo(f"workspace {workspace.folder}\n{counts}")
        for run in overview.unfinished:
            why = f"   {run.failed} failed: {', '.join(run.errors)}" if run.failed else ""
            cost = f"   {spent_text(run.spent)}" if run.spent.calls else ""
            so_far = f"{run.done} of {run.total}{why}{cost}"
            click.echo(f"unfinished  run:{run.id}  {run.label}  {so_far}")
        for run in overview.limited:
            part = f"complete for its limit: ranked as the first {run.limit} of {run.n_items} items"
            click.echo(f"part        run:{run.id}  {run.label}  {part}")
        for purpose, spent in overview.spent.items():
            click.echo(f"spent       {purpose:<8}{spent_text(spent)}")
        for lost in overview.lost:
            click.echo(f"lost        {lost_text(lost)}")
    for run in overview.unfinished[:3]:
        say(f"go on: proofstone resume run:{run.id}")
    if not overview.unfinished and overview.counts["run"]:
        say("all runs are complete; look: proofstone leaderboard FORM-OR-BANK")

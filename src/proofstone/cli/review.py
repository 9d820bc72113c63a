"""``review`` and ``review erase``; its other commands stand in modules of their own."""

from __future__ import annotations

from pathlib import Path

import click

from proofstone.cli.options import json_option, workspace_option
from proofstone.cli.output import print_json
from proofstone.cli.review_sheets import export_command, import_command, withdraw_command
from proofstone.cli.review_shown import agreement_command, decide_command, status_command

__all__ = ["review_command"]


@click.group("review")
def review_command() -> None:
    """Reviews by people: sheets out and in, agreement, what follows.

    Rows name people by random actor ids. Names stand in one table, outside every hash, export and
    merge.
    """


@review_command.command("erase")
@click.argument("person")
@workspace_option
@json_option
def erase(person: str, folder: Path | None, as_json: bool) -> None:
    """Erase a person's name and details, by name or actor id. What they did stands under the id."""
    from proofstone.identity import short  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        erased = workspace.erase_person(person)
    if as_json:
        print_json({"erased": erased.actor})
    else:
        click.echo(f"erased   actor {short(erased.actor)} has no name any more")


for _command in (
    export_command, import_command, withdraw_command, status_command, agreement_command,
    decide_command,
):  # fmt: skip
    review_command.add_command(_command)

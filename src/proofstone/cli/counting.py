"""``show --statistics``: what a method counts of a bank or a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proofstone.cli.output import print_json, say

if TYPE_CHECKING:
    from proofstone.engines.store import Found
    from proofstone.wiring import Workspace

__all__ = ["show_statistics"]


def show_statistics(workspace: Workspace, found: Found, *, as_json: bool) -> None:
    """Prints the tables of a bank or a form, as text or as JSON."""
    from proofstone.report.tabulations import tabulation_text  # noqa: PLC0415

    tables = workspace.statistics(found)
    if as_json:
        shown = [
            {"title": table.title, "rows": table.records(), "notes": table.notes}
            for table in tables
        ]
        print_json(shown)
    elif tables:
        click.echo("\n\n".join(map(tabulation_text, tables)))
    else:
        say("its method declares no statistics")

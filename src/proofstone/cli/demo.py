"""``demo``: the whole path, on real facts, with a real model."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import click

from proofstone.cli.egress import TerminalEgress
from proofstone.cli.options import json_option, quiet_option, yes_option
from proofstone.cli.output import pasted, say

__all__ = ["demo_command"]


@click.command("demo")
@click.argument("folder", type=click.Path(path_type=Path), default=Path("demo"), metavar="[DIR]")
@click.option("-m", "--model", metavar="PROVIDER/NAME", help="Another model than the carried one.")
@click.option(
    "--questions", type=click.IntRange(1), help="Questions a form; else 20, time allowing."
)
@yes_option
@json_option
@quiet_option
def demo_command(
    folder: Path,
    model: str | None,
    questions: int | None,
    yes: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """The whole path on real facts with a real model, offline.

    Builds a bank of statements from fact tables (chemical elements, countries, codes; English and
    Chinese), composes three forms by three seeds, asks the carried SmolLM2-135M in two ways (direct
    and step by step), scores, prints the leaderboard with intervals and writes one HTML page. It
    takes a few minutes; the same command again goes on where it stopped.

    All of it is an ordinary workspace in DIR (demo).
    """
    from proofstone.cli.progress import watching  # noqa: PLC0415
    from proofstone.report import render_terminal, to_json  # noqa: PLC0415
    from proofstone.wiring import create_workspace  # noqa: PLC0415
    from proofstone.wiring.demonstration import CARRIED_MODEL, demonstrate  # noqa: PLC0415

    with create_workspace(folder) as workspace, watching(quiet=quiet) as watch:
        workspace.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        done = demonstrate(
            workspace,
            model or CARRIED_MODEL,
            questions=questions,
            watch=watch,
            tell=lambda line: say(line, quiet=quiet),
        )
    complete = all(result.complete for result in done.results)
    if as_json:
        click.echo(to_json(done.board))
    else:
        n = sum(form.n_items for form in done.forms)
        seeds = " ".join(str(form.seed) for form in done.forms)
        first = next(iter(done.results)).planned.run
        place = f" -w {pasted(folder)}" if folder != Path() else ""
        look = f"proofstone show run:{first.id.hex()[:8]} --outcome wrong -n 5{place}"
        text = render_terminal(
            done.board,
            heading=[("form", f"{done.forms[0].name}   {n} questions, seeds {seeds}")],
            next_steps=[
                ("control", done.control.summary),
                ("page", str(done.page)),
                ("look", look),
            ],
            width=shutil.get_terminal_size((100, 24)).columns,
            colour=sys.stdout.isatty() and "NO_COLOR" not in os.environ,
        )
        click.echo(text, nl=False)
        say(f"took {done.seconds:.0f} s", quiet=quiet)
    if not complete:
        say("incomplete: the same command goes on", quiet=quiet)
        click.get_current_context().exit(3)

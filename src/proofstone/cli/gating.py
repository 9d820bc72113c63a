"""``gate``: may this run pass?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import click

from proofstone.cli.column_options import column_options
from proofstone.cli.comparing import estimate_options, reading_of, rescore_option
from proofstone.cli.options import json_option, seed_option, workspace_option
from proofstone.cli.output import print_json

__all__ = ["gate_command"]


@click.command("gate")
@click.argument("run")
@click.option("--baseline", required=True, metavar="RUN", help="What the run is held against.")
@click.option(
    "--max-drop",
    type=click.FloatRange(0, 100),
    required=True,
    metavar="POINTS",
    help="How many points, of 100, the run may fall below its baseline.",
)
@click.option(
    "--min",
    "minimum",
    type=click.FloatRange(0, 100),
    metavar="POINTS",
    help="What the run's own score must reach besides.",
)
@click.option("--junit", type=click.Path(path_type=Path), metavar="FILE", help="Write JUnit XML.")
@click.option(
    "--markdown",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a summary for a CI step; items stand there by id alone.",
)
@click.option(
    "--single-look",
    "single",
    is_flag=True,
    help="This is the only look planned at this pair: intervals at --confidence.",
)
@click.option(
    "--looks",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Record looks in FILE (default: in the workspace; for two files, nowhere).",
)
@rescore_option
@click.option(
    "-n",
    "most",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many of the items lost to list.",
)
@column_options
@estimate_options
@seed_option
@workspace_option
@json_option
def gate_command(
    run: str,
    baseline: str,
    max_drop: float,
    minimum: float | None,
    junit: Path | None,
    markdown: Path | None,
    single: bool,
    looks: Path | None,
    rescore: bool,
    most: int,
    estimand: str,
    confidence: float,
    seed: int,
    folder: Path | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Answer pass, fail or cannot tell for a run against a baseline.

    Each is a run, or a form, bank or file of results with one respondent. They are compared on
    their common items, as 'compare' does. Exit code 0: pass, 1: fail, 3: cannot tell.

    \b
      pass         the interval of run - baseline lies above -POINTS
      fail         it lies below
      cannot tell  neither; how many more questions would decide is said

    So no run passes because too little was asked: a drop must be excluded, not just unseen. An
    incomplete run cannot pass, nor one whose scorer or judge differs from the baseline's. --min
    asks the same of the run's own score.

    A pair may be looked at again with more questions. Each look is recorded, and the intervals of
    all looks together have --confidence: at 0.95 a run exactly at the limit passes in at most about
    2.5% of cases, however often it is looked at. A new run, or a new baseline, is a new pair.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.comparing import (  # noqa: PLC0415
        gate_files,
        is_results_file,
        naming_missing_files,
    )

    asked: dict[str, Any] = {
        "reading": reading_of(columns, [run, baseline]), "max_drop": max_drop, "minimum": minimum,
        "estimand": estimand, "confidence": confidence, "seed": seed,
        "single": single, "looks": looks,
    }  # fmt: skip
    if is_results_file(run) and is_results_file(baseline):
        gated = gate_files(Path(run), Path(baseline), **asked)
    else:
        with naming_missing_files(run, baseline), open_workspace(folder) as workspace:
            gated = workspace.gate(run, baseline, rescore=rescore, texts=most, **asked)
    from proofstone.report.between import render_gate, to_junit, to_markdown  # noqa: PLC0415
    from proofstone.stages.page_files import write_text  # noqa: PLC0415

    if junit is not None:
        write_text(junit, to_junit(gated))
    if markdown is not None:
        write_text(markdown, to_markdown(gated))
    if as_json:
        print_json(gated)
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        click.echo(render_gate(gated, most=most, width=width), nl=False)
    click.get_current_context().exit(gated.exit_code)

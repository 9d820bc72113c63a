"""``compare``: two results side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.cli.column_options import column_options, read_asked
from proofstone.cli.editions import compare_sources
from proofstone.cli.options import (
    json_option,
    output_option,
    read_list,
    seed_option,
    was_given,
    with_options,
    workspace_option,
)
from proofstone.cli.output import print_json, say

if TYPE_CHECKING:
    from proofstone.stages.audit import Asked

__all__ = ["compare_command", "estimate_options", "reading_of", "rescore_option"]

_OF_SOURCES = ("most", "output", "folder", "as_json")

Command = TypeVar("Command", bound=Callable[..., Any])


def estimate_options(command: Command) -> Command:
    """What intervals speak of, and how sure they are to be."""
    return with_options(
        click.option(
            "--estimand",
            type=click.Choice(["knowledge", "bank"]),
            default="knowledge",
            show_default=True,
            help="What intervals speak of: knowledge like this bank's, or fresh forms of it.",
        ),
        click.option(
            "--confidence", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True
        ),
    )(command)


rescore_option = click.option(
    "--rescore",
    is_flag=True,
    help="First score stored replies with today's scorer where an older one did; nobody is asked.",
)


def reading_of(columns: Mapping[str, Any], sides: Sequence[str]) -> Asked:
    """How files are read, as their options say; raises UsageError for options without a file."""
    from proofstone.wiring.comparing import is_results_file  # noqa: PLC0415

    context = click.get_current_context()
    given = [
        f"--{'cluster' if name == 'clusters' else 'as' if name == 'kind' else name}"
        for name in columns
        if was_given(context, name)
    ]
    if given and not any(map(is_results_file, sides)):
        raise click.UsageError(f"{', '.join(given)}: of files of results, and none is named here")
    return read_asked(columns)


def _given(others: Sequence[str]) -> list[str]:
    """The options that were given, but for these."""
    context = click.get_current_context()
    return [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name not in others and was_given(context, str(parameter.name))
    ]


@click.command("compare")
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option(
    "-n",
    "most",
    type=click.IntRange(0),
    default=5,
    show_default=True,
    help="How many items won, and as many lost, to list.",
)
@rescore_option
@click.option(
    "--as-scored", is_flag=True, help="Before any correction: no ruling, nothing retired."
)
@click.option(
    "--scoring",
    "scorings",
    multiple=True,
    metavar="ID|first",
    help="Read this scoring of its run, or every run's first, instead of the current one.",
)
@output_option
@column_options
@estimate_options
@seed_option
@workspace_option
@json_option
def compare_command(
    before: str,
    after: str,
    most: int,
    rescore: bool,
    as_scored: bool,
    scorings: tuple[str, ...],
    output: Path | None,
    estimand: str,
    confidence: float,
    seed: int,
    folder: Path | None,
    as_json: bool,
    **columns: Any,
) -> None:
    """Say what changed from A to B, and by how much, on common items.

    A and B are runs, forms or banks of the workspace, or files of results as 'audit' reads them
    (CSV, JSONL, Parquet, lm-eval and Inspect logs); RUN@2026-03-01 is a row as it stood at the end
    of that day. What differs between the two is listed factor
    by factor (model, items, prompt, settings, scorer, judge), each with what follows for the
    comparison; what cannot be compared is said with the reason.

    Only items that both have scores of are compared, item by item: the difference with its
    interval, exact McNemar, sign flips, and the items won and lost. With -o FILE (.csv, .jsonl,
    .parquet, .xlsx) all of these are written. Forms and banks are compared respondent by
    respondent, with p-values corrected for all pairs. Of two runs whose triples were verified alike
    the differences of F1, precision and recall stand beside.

    Two sources are two editions of a document: which statements that rest on A still stand verbatim
    in B, which changed and which vanished. With -o FILE they are a work list, and 'retire --from'
    retires those that are to go; nothing else is touched.

    Columns of files are guessed, as 'audit' does and shows; the options that name them hold for
    every file here.
    """
    from proofstone.stages.corrected import View  # noqa: PLC0415
    from proofstone.wiring import open_workspace  # noqa: PLC0415
    from proofstone.wiring.comparing import (  # noqa: PLC0415
        compare_files,
        is_results_file,
        naming_missing_files,
        write_moved,
    )

    reading = reading_of(columns, [before, after])
    asked: dict[str, Any] = {
        "reading": reading, "estimand": estimand, "confidence": confidence, "seed": seed,
    }  # fmt: skip
    if is_results_file(before) and is_results_file(after):
        compared = compare_files(Path(before), Path(after), **asked)
    else:
        with naming_missing_files(before, after), open_workspace(folder) as workspace:
            if workspace.are_sources(before, after):
                compare_sources(
                    workspace, before, after, refused=_given(("before", "after", *_OF_SOURCES)),
                    most=most, output=output, as_json=as_json,
                )  # fmt: skip
                return
            compared = workspace.compare(
                before,
                after,
                rescore=rescore,
                view=View(as_scored=as_scored, scorings=tuple(read_list(scorings))),
                texts=None if as_json or output is not None else most,
                **asked,
            )
    if output is not None:
        n = write_moved(compared, output)
        say(f"{output}   {n} items won and lost")
    if as_json:
        print_json(compared)
        return
    from proofstone.report.between import render_compared  # noqa: PLC0415

    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render_compared(compared, most=most, width=width), nl=False)

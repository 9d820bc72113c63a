"""``compare``: two results side by side."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.ingest.cli_editions import compare_sources
from proofstone.records.ids import short
from proofstone.records.runs import PlanAsked
from proofstone.results.audit.cli_columns import column_options, read_asked
from proofstone.session.options import (
    asked_for,
    json_option,
    output_option,
    read_list,
    seed_option,
    was_given,
    with_options,
    workspace_option,
)
from proofstone.session.terminal import print_json, say

if TYPE_CHECKING:
    from proofstone.results.audit.audit import Asked


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
    from proofstone.results.compare_inputs import is_results_file

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
    from proofstone.results.compare_inputs import (
        are_sources,
        compare_targets,
        is_results_file,
        naming_missing_files,
    )
    from proofstone.results.table import View
    from proofstone.session.session import open_session

    reading = reading_of(columns, [before, after])
    asked: dict[str, Any] = {
        "reading": reading, "estimand": estimand, "confidence": confidence, "seed": seed,
    }  # fmt: skip
    if is_results_file(before) and is_results_file(after):
        compared = compare_targets(None, before, after, **asked)
    else:
        with naming_missing_files(before, after), open_session(folder) as session:
            if are_sources(session, before, after):
                compare_sources(
                    session, before, after, refused=_given(("before", "after", *_OF_SOURCES)),
                    most=most, output=output, as_json=as_json,
                )  # fmt: skip
                return
            compared = compare_targets(
                session,
                before,
                after,
                rescore=rescore,
                view=View(as_scored=as_scored, scorings=tuple(read_list(scorings))),
                texts=None if as_json or output is not None else most,
                **asked,
            )
    if output is not None:
        from proofstone.files.write import write_rows
        from proofstone.results.compare import moved_rows

        n = write_rows(output, moved_rows(compared))
        say(f"{output}   {n} items won and lost")
    if as_json:
        print_json(compared)
        return
    from proofstone.results.compare import render_compared

    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render_compared(compared, most=most, width=width), nl=False)


# ``gate``: may this run pass?


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
    from proofstone.results.compare_inputs import gate_run, is_results_file, naming_missing_files
    from proofstone.session.session import open_session

    asked: dict[str, Any] = {
        "reading": reading_of(columns, [run, baseline]), "max_drop": max_drop, "minimum": minimum,
        "estimand": estimand, "confidence": confidence, "seed": seed,
        "single": single, "looks": looks,
    }  # fmt: skip
    if is_results_file(run) and is_results_file(baseline):
        gated = gate_run(None, run, baseline, **asked)
    else:
        with naming_missing_files(run, baseline), open_session(folder) as session:
            gated = gate_run(session, run, baseline, rescore=rescore, texts=most, **asked)
    from proofstone.results.gate import render_gate, to_junit, to_markdown
    from proofstone.results.page_files import write_text

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


# ``plan``: the analysis, fixed before the run.


@click.command("plan")
@click.argument("target")
@asked_for(PlanAsked)
@workspace_option
@json_option
def plan_command(target: str, asked: PlanAsked, folder: Path | None, as_json: bool) -> None:
    """Fix the analysis of a form's or bank's runs, before they are run.

    Primary measure, comparisons, exclusions, sample size and stopping rule are frozen with a hash
    and the time, and with the smallest difference that they can find under what is assumed. Runs
    on TARGET name the plan; leaderboards and pages say what was planned, show each planned
    comparison, and mark everything else exploratory. A plan made after a run's first reply is
    marked so. Nothing is changed in place: a second plan holds for runs begun after it, and 'list
    plan' shows all.
    """
    from proofstone.results.plan import describe_plan, make_plan
    from proofstone.run.run_facts import n_begun
    from proofstone.session.session import open_session

    with open_session(folder) as session:
        plan = make_plan(session, target, asked)
        shown = str(describe_plan(session.store, session.find(f"plan:{plan.id.hex()}")))
        late = n_begun(session.store, plan)
    if as_json:
        print_json(plan)
    else:
        click.echo(shown)
    if late:
        say(
            f"{late} of its runs had responses already; for these runs the plan is post hoc, not a "
            "preregistration"
        )
    say(f"next: proofstone run {target} -m MODEL; look: proofstone show plan:{short(plan.id)}")

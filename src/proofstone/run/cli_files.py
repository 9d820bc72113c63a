"""``grade`` and ``metrics``: replies and grades of anybody's files, without a workspace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import msgspec

from proofstone.run.cli_request import judge_options, read_asked
from proofstone.session.options import (
    budget_option,
    cache_option,
    encoding_option,
    output_option,
    quiet_option,
    read_list,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import TerminalEgress, print_json, say

# ``extract``: a file in, a file out, no workspace.


@click.command("extract")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@output_option
def extract_command(file: Path, output: Path | None) -> None:
    """Extract answer letters from replies, a file in and a file out.

    JSONL in: 'response' (the reply's text) and 'options' (their texts, their number, or their
    letters); other fields are kept. JSONL out, on stdout or to -o: the row with 'letter', 'tier'
    and 'outcome'. A letter that is no option is kept, and the outcome is unparsed.
    """
    from proofstone.choices.outcomes import extract_rows
    from proofstone.files.tables import read_checked
    from proofstone.files.write import write_rows

    rows = read_checked(file, extract_rows)
    if output is not None:
        click.echo(f"{output}   {write_rows(output, rows)} rows", err=True)
        return
    for row in rows:
        click.echo(msgspec.json.encode(row).decode())


_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("grade")
@click.argument("file", type=_FILE)
@output_option
@judge_options
@click.option("--max-connections", type=click.IntRange(1), help="Requests to judges at once.")
@cache_option
@yes_option
@budget_option
@encoding_option
@workspace_option
@click.option("--json", "as_json", is_flag=True, help="JSON is what it prints anyway.")
@quiet_option
def grade_command(
    file: Path,
    output: Path | None,
    yes: bool,
    encoding: str,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Grade replies to short questions, a file in and a file out.

    In: question, answer and reply; aliases, tolerance, language and ask (direct, recall, cot,
    confidence) where there are such. Out, as JSONL on stdout or as -o says: the row with its grade
    (CORRECT, INCORRECT, NOT_ATTEMPTED), what that rests on, and the judge's reason.

    A rule settles a reply that is the answer or an alias and nothing else. All others are for a
    --judge; without one they wait, and the exit code is 3. A judge that gives no label leaves a
    reply without a grade. In a workspace a judge's replies are kept, and the same command again
    asks only what is missing; elsewhere models are those of this folder's proofstone.toml.
    """
    from proofstone.files.write import write_rows
    from proofstone.run.judges import judges_asked
    from proofstone.run.score import grade_file

    del as_json
    asked = read_asked(options)
    graded = grade_file(
        file,
        judge=judges_asked(asked) or (),
        folder=folder,
        ask_egress=TerminalEgress(yes=yes, quiet=quiet),
        max_connections=asked.max_connections,
        cache=asked.cache,
        budget=asked.budget or None,
        encoding=encoding,
    )
    if output is not None:
        say(f"{output}   {write_rows(output, list(graded.rows))} rows", quiet=quiet)
    else:
        for row in graded.rows:
            click.echo(msgspec.json.encode(row).decode())
    if graded.waiting:
        say(f"{graded.waiting:,} of {len(graded.rows):,} wait for a judge: --judge PROVIDER/NAME")
    click.get_current_context().exit(3 if graded.waiting else 0)


@click.command("metrics")
@click.argument("file", type=_FILE)
@click.option("--by", multiple=True, metavar="COLUMN", help="Also by the values of a column.")
@click.option(
    "--against",
    default="",
    metavar="COLUMN",
    help="Also how far the grades agree with those that people gave, in this column.",
)
@encoding_option
@click.option("--json", "as_json", is_flag=True, help="JSON is what it prints anyway.")
def metrics_command(
    file: Path, by: tuple[str, ...], against: str, encoding: str, as_json: bool
) -> None:
    """Count grades of a file: n, CO, NA, IN, CGA and F, as JSON.

    Each row has a grade: A, B or C, or CORRECT, INCORRECT, NOT_ATTEMPTED; rows without one are
    counted as ungraded and stand in no figure. CO, NA and IN are shares of n; CGA is the share of
    correct ones among those that are correct or incorrect (null where there are none), F the
    harmonic mean of CO and CGA. Intervals are at 95%; rows of one question count together.

    With --against each grade is set beside that of another column: the share that agrees, Cohen's
    kappa, of each grade recall and precision, and the table; of all rows, and of those alone that a
    judge graded, where the file comes from 'grade'.
    """
    from proofstone.run.score import metrics_of_file

    del as_json
    found = metrics_of_file(file, read_list(by), against=against, encoding=encoding)
    overall: dict[str, Any] = msgspec.to_builtins(found.pop("overall"))
    print_json({**overall, **found})

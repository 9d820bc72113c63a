"""``grade`` and ``metrics``: replies and grades of anybody's files, without a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.run.cli_options import judge_options
from proofstone.run.run_options import JUDGING
from proofstone.run.self_preference import judge_lines, tell_lines
from proofstone.session.cli_egress import TerminalEgress
from proofstone.session.options import (
    budget_option,
    cache_option,
    encoding_option,
    output_option,
    quiet_option,
    read_list,
    read_panel,
    workspace_option,
    yes_option,
)
from proofstone.session.terminal import print_json, say

if TYPE_CHECKING:
    from proofstone.models.reply_cache import CacheUse
    from proofstone.run.judges import JudgeSpec
    from proofstone.run.request import RunRequest
    from proofstone.session.session import Session


# Who judges, by options and run files.


def judges_of(request: RunRequest) -> JudgeSpec | None:
    """Who is to judge by a run file and the options over it; None for nobody."""
    from proofstone.run.judges import judge_spec

    return judge_spec(request.judges or ())


def read_judges(options: dict[str, Any]) -> JudgeSpec | None:
    """Who is to judge by these options, which are taken out of them; None for nobody."""
    from proofstone.run.judges import (
        JudgeSpec,
        judge_spec,
    )

    models = tuple(read_panel(options.pop("judge")))
    rules = {name: options.pop(name) for name in JUDGING[1:]}
    return judge_spec(JudgeSpec(models=models, **rules))


def tell_judges(
    session: Session, judges: JudgeSpec | None, contestants: Sequence[str], *, quiet: bool
) -> None:
    """Warns of judges that are kin to those whose replies they judge."""
    from proofstone.run.score_runs import kin_of_judges

    if judges is not None:
        tell_lines(judge_lines(kin_of_judges(session, judges, contestants)), quiet=quiet)


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
    import msgspec

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
    max_connections: int | None,
    cache: CacheUse,
    yes: bool,
    budget: str | None,
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
    import msgspec

    from proofstone.files.write import write_rows
    from proofstone.run.file_grades import grade_file

    del as_json
    graded = grade_file(
        file,
        judge=read_judges(options) or (),
        folder=folder,
        ask_egress=TerminalEgress(yes=yes, quiet=quiet),
        max_connections=max_connections,
        cache=cache,
        budget=budget,
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
    from proofstone.run.file_grades import metrics_of_file

    del as_json
    found = metrics_of_file(file, read_list(by), against=against, encoding=encoding)
    overall = found.pop("overall")
    print_json({**_plain(overall), **found})


def _plain(overall: Any) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(overall)
    return plain

"""``grade``: responses of runs and files, by rules and by judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from proofstone.errors import BadUsage
from proofstone.files.csv import missing_file
from proofstone.run.cli_files import (
    ANSWERS,
    LETTERS,
    FileAsked,
    FileKind,
    GradeCall,
    file_options,
    grade_answers,
    grade_letters,
    grade_verified,
    kind_of_file,
    refuse_options,
)
from proofstone.run.cli_reference import (
    ReferenceCommand,
    check_options,
    reference_options,
    waiting_line,
)
from proofstone.run.cli_request import (
    connections_option,
    judge_options,
    read_asked,
    tell_judges,
)
from proofstone.session.cli_command import command
from proofstone.session.options import (
    asked_for,
    budget_option,
    cache_option,
    json_option,
    quiet_option,
    workspace_option,
    yes_option,
)
from proofstone.session.progress import tell_lost
from proofstone.session.terminal import (
    TerminalEgress,
    pasted,
    print_json,
    print_table,
    print_text,
    say,
)

if TYPE_CHECKING:
    from proofstone.run.forecast import JudgingForecast
    from proofstone.run.scorings import Scored, ScoringShown


@command(
    "grade",
    basic=(
        "kind",
        "output",
        "judge",
        "reference",
        "again",
        "by",
        "dry_run",
        "budget",
        "sample",
        "only_list",
    ),
)
@click.argument("targets", nargs=-1, required=True, metavar="TARGET|FILE...")
@click.option(
    "--as", "kind", type=FileKind(), help="Content of FILE (default: detected from its columns)."
)
@judge_options
@click.option(
    "--reference",
    metavar="BANK|FILE",
    help="Reference that elicited triples are verified against: a bank, a file or a folder.",
)
@click.option("--again", is_flag=True, help="Grade again where all grades are there already.")
@click.option("--list", "only_list", is_flag=True, help="Only list the stored scorings of runs.")
@asked_for(FileAsked, "file_asked")
@reference_options
@file_options
@click.option(
    "--dry-run", is_flag=True, help="Estimate judge requests, tokens and cost; make no API calls."
)
@connections_option
@cache_option
@yes_option
@budget_option
@workspace_option
@json_option
@quiet_option
def grade_command(
    targets: tuple[str, ...],
    kind: str | None,
    again: bool,
    only_list: bool,
    file_asked: FileAsked,
    reference: str | None,
    dry_run: bool,
    yes: bool,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Grade stored responses, or the responses of a file.

    TARGET is a run, or a form or bank with all of its runs. No evaluated model is called. Rules
    grade exact answers. All other responses need a --judge, and several judges form a panel. Each
    combination of judges is stored separately, as one scoring. Leaderboards use the latest complete
    one; choose another with 'leaderboard --scoring ID'. The same command again only sends requests
    that are missing.

    With --reference, a sample of the elicited triples is verified for precision and recall. Name
    all runs in one command, so that they are verified on the same reference triples.

    \b
    FILE holds one of these, detected from its columns or named by --as:
      letters  response, options: the option letter is extracted, and scored
               if a column answer has the keys
      answers  question, answer, response: graded CORRECT, INCORRECT or NOT_ATTEMPTED
      triples  subject, predicate, object: verified against --reference

    A file with a column grade is only summarized. The summary has n, and the shares of correct
    (CO), not attempted (NA) and incorrect (IN) answers. CGA is the share correct given attempted; F
    is the harmonic mean of CO and CGA. Each has a 95% confidence interval, clustered by question.
    Files need no workspace.

    Exit code 3: some responses still need a judge.

    \b
    Examples:
      proofstone grade facts --judge openai/gpt-5.1
      proofstone grade responses.jsonl -o graded.jsonl
    """
    from proofstone.run.judges import judges_asked
    from proofstone.run.score import (
        respondent_of,
        runs_meant,
        score,
        score_forecast,
        verifying_of,
    )
    from proofstone.run.scorings import list_scorings
    from proofstone.session.session import open_session

    asked = read_asked(options)
    judges = judges_asked(asked)
    spending: dict[str, Any] = {"cache": asked.cache, "budget": asked.budget or None}
    if kind is not None or any(map(_is_file, targets)):
        call = GradeCall(
            judges=judges, again=again, dry_run=dry_run, yes=yes, as_json=as_json, quiet=quiet,
            folder=folder, spending={**spending, "max_connections": asked.max_connections},
        )  # fmt: skip
        _grade_file(targets, kind, file_asked, call, reference, options)
    check_options(reference, options)
    refuse_options(_OF_FILES, "only for files, and TARGET is not a file")
    asking: dict[str, Any] = {
        "judge": judges or (),
        "again": again,
        "max_connections": asked.max_connections,
    }
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        runs = runs_meant(session, targets)
        evaluated_models = list(dict.fromkeys(map(partial(respondent_of, session), runs)))
        tell_judges(session, judges, evaluated_models, quiet=quiet)
        if reference is not None and not only_list:
            settings = options[f"settings of {verifying_of(session, runs)[0].name}"]
            verifying = ReferenceCommand(session, runs, reference, settings, as_json, quiet)
            if dry_run:
                verifying.foresee(**asking)
            else:
                verifying.perform(**asking, **spending)
            return
        if dry_run:
            found = [score_forecast(session, run, **asking) for run in runs]
            show_judging(found, as_json=as_json)
            return
        made = [
            _Made(run, None if only_list else score(session, run, **asking, **spending),
                  list_scorings(session, run))
            for run in runs
        ]  # fmt: skip
    _show(made, has_table=only_list or again, as_json=as_json, quiet=quiet)


_OF_FILES = {"output": "-o", "by": "--by", "human_column": "--human-col", "encoding": "--encoding"}


def _is_file(target: str) -> bool:
    """Return True for a file of rows; names of forms and banks have no such ending."""
    from proofstone.files.tables import SUFFIXES

    path = Path(target)
    suffix = path.suffixes[-2:][0] if path.suffix == ".gz" else path.suffix
    return suffix.lower() in SUFFIXES or (path.is_file() and bool(path.suffix))


def _grade_file(
    targets: Sequence[str],
    kind: str | None,
    asked: FileAsked,
    call: GradeCall,
    reference: str | None,
    options: Mapping[str, Any],
) -> None:
    if len(targets) > 1:
        raise BadUsage("grade one file at a time", hint=f"proofstone grade {pasted(targets[0])}")
    path = Path(targets[0])
    if not path.is_file():
        raise missing_file(path)
    refuse_options({"only_list": "--list"}, "only for runs; files have no stored scorings")
    kind = kind or kind_of_file(path, asked.encoding)
    if kind in (LETTERS, ANSWERS):
        refuse_options({"reference": "--reference"}, f"only for triples, and {path} holds {kind}")
        check_options(None, options)
    if kind == LETTERS:
        code = grade_letters(path, asked, call)
    elif kind == ANSWERS:
        code = grade_answers(path, asked, call)
    else:
        code = grade_verified(kind, path, asked, call, reference, options)
    click.get_current_context().exit(code)


class _Made(NamedTuple):
    run: str
    scored: Scored | None
    scorings: Sequence[ScoringShown]


def _show(made: Sequence[_Made], *, has_table: bool, as_json: bool, quiet: bool) -> None:
    code = 3 if any(each.scored is not None and each.scored.waiting for each in made) else 0
    if as_json:
        rows = [_json_row(each) for each in made]
        print_json(rows[0] if len(rows) == 1 else {"runs": rows})
        click.get_current_context().exit(code)
    for run, scored, scorings in made:
        if scored is not None:
            print_text(f"{run}   {scored.n} scored")
            if scored.waiting:
                say(waiting_line(run, scored.waiting), quiet=quiet)
        if has_table:
            _print_scorings(scorings)
    click.get_current_context().exit(code)


def _json_row(made: _Made) -> dict[str, Any]:
    run, scored, scorings = made
    n_scored, waiting = (scored.n, scored.waiting) if scored else (None, None)
    return {"run": run, "scored": n_scored, "waiting": waiting, "scorings": scorings}


def _print_scorings(scorings: Sequence[ScoringShown]) -> None:
    rows: list[Sequence[Any]] = [("scoring", "made", "scorer", "judge", "responses", "")]
    rows += [
        (
            f"scoring:{s.id}", s.made_at, s.scorer_version, s.judge, s.n_scored,
            "current" * s.is_current,
        )
        for s in scorings
    ]  # fmt: skip
    kept = [at for at in range(len(rows[0])) if at != 3 or any(row[3] for row in rows[1:])]
    print_table([tuple(row[at] for at in kept) for row in rows])


def show_judging(found: Sequence[JudgingForecast], *, as_json: bool) -> None:
    """What judging takes, of one run or of each of several, as text or JSON."""
    from proofstone.run.forecast import judging_lines

    if as_json:
        print_json(found[0] if len(found) == 1 else found)
        return
    for each in found:
        print_text("\n".join(judging_lines(each)))

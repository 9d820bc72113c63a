"""``score``: stored replies, by rules and by judges."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from proofstone.run.cli_reference import (
    ReferenceCommand,
    check_options,
    reference_options,
    waiting_line,
)
from proofstone.run.cli_request import judge_options, read_asked, tell_judges
from proofstone.session.options import (
    budget_option,
    cache_option,
    json_option,
    quiet_option,
    workspace_option,
    yes_option,
)
from proofstone.session.progress import tell_lost
from proofstone.session.terminal import TerminalEgress, print_json, print_table, say

if TYPE_CHECKING:
    from proofstone.run.forecast import JudgingForecast
    from proofstone.run.scorings import Scored, ScoringShown


@click.command("score")
@click.argument("targets", nargs=-1, required=True, metavar="RUN|ENTITIES...")
@click.option("--again", is_flag=True, help="Also where the current scoring is whole.")
@click.option("--list", "only_list", is_flag=True, help="Only list the scorings that there are.")
@judge_options
@click.option(
    "--reference",
    metavar="BANK|FILE",
    help="What triples are verified against: a bank of build reference, a file, or a folder.",
)
@reference_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Say what the judges would take, and ask nobody: calls, tokens and money.",
)
@click.option("--max-connections", type=click.IntRange(1), help="Requests to judges at once.")
@cache_option
@yes_option
@budget_option
@workspace_option
@json_option
@quiet_option
def score_command(
    targets: tuple[str, ...],
    again: bool,
    only_list: bool,
    reference: str | None,
    dry_run: bool,
    yes: bool,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score a run's stored replies; no contestant is asked.

    A form or a list of entities means all of its runs.

    What only a --judge can decide waits until one is named; several are a panel. Another judge
    makes another scoring of the same replies. A judge whose reply holds no label is asked again,
    twice; then that reply has no grade, which is never the contestant's error.

    With a --reference the triples that a run elicited are verified both ways, as verify-triples
    does it: a sample of them (--sample to --candidates, --seed), and in all runs the same triples
    of the reference. Name all runs at once: they are then verified alike. Another reference or
    sample is another scoring; the same command again asks only what is missing.

    Scoring again makes a new scoring; the latest whole one is what leaderboards show, and the
    others stay: leaderboard --scoring ID. What people ruled stands beside all of them and is
    applied by leaderboards.
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
    check_options(reference, options)
    asking: dict[str, Any] = {
        "judge": judges or (),
        "again": again,
        "max_connections": asked.max_connections,
    }
    spending: dict[str, Any] = {"cache": asked.cache, "budget": asked.budget or None}
    with open_session(folder) as session:
        session.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(session, quiet=quiet)
        runs = runs_meant(session, targets)
        contestants = list(dict.fromkeys(map(partial(respondent_of, session), runs)))
        tell_judges(session, judges, contestants, quiet=quiet)
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
            click.echo(f"{run}   {scored.n} scored")
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
    rows: list[Sequence[Any]] = [("scoring", "made", "scorer", "judge", "replies", "")]
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
        click.echo("\n".join(judging_lines(each)))

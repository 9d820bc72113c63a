"""``score``: stored replies, by rules and by judges."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.egress import TerminalEgress
from proofstone.cli.judge_options import judge_options, read_judges, tell_judges
from proofstone.cli.options import (
    budget_option,
    cache_option,
    json_option,
    quiet_option,
    workspace_option,
    yes_option,
)
from proofstone.cli.output import print_json, print_table, say
from proofstone.cli.spending import tell_lost

if TYPE_CHECKING:
    from proofstone.engines.models import CacheUse
    from proofstone.stages.judging_forecast import JudgingForecast

__all__ = ["score_command", "waiting_line"]


@click.command("score")
@click.argument("run")
@click.option("--again", is_flag=True, help="Also where the current scoring is whole.")
@click.option("--list", "only_list", is_flag=True, help="Only list the scorings that there are.")
@judge_options
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
    run: str,
    again: bool,
    only_list: bool,
    dry_run: bool,
    max_connections: int | None,
    cache: CacheUse,
    yes: bool,
    budget: str | None,
    folder: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Score a run's stored replies; no contestant is asked.

    What only a --judge can decide waits until one is named; several are a panel. Another judge
    makes another scoring of the same replies. A judge whose reply holds no label is asked again,
    twice; then that reply has no grade, which is never the contestant's error.

    Scoring again makes a new scoring; the latest whole one is what leaderboards show, and the
    others stay: leaderboard --scoring ID. What people ruled stands beside all of them and is
    applied by leaderboards.
    """
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    judges = read_judges(options)
    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress(yes=yes, quiet=quiet)
        tell_lost(workspace, quiet=quiet)
        tell_judges(workspace, judges, [workspace.respondent_of(run)], quiet=quiet)
        if dry_run:
            found = workspace.score_forecast(
                run, judges or (), again=again, max_connections=max_connections
            )
            show_judging(found, as_json=as_json)
            return
        scored = None
        if not only_list:
            scored = workspace.score(
                run, again=again, judge=judges or (), max_connections=max_connections,
                cache=cache, budget=budget,
            )  # fmt: skip
        scorings = workspace.scorings(run)
    code = 3 if scored is not None and scored.waiting else 0
    if as_json:
        n_scored, waiting = (scored.n, scored.waiting) if scored else (None, None)
        print_json({"run": run, "scored": n_scored, "waiting": waiting, "scorings": scorings})
        click.get_current_context().exit(code)
    if scored is not None:
        click.echo(f"{run}   {scored.n} scored")
        if scored.waiting:
            say(waiting_line(run, scored.waiting), quiet=quiet)
    if only_list or again:
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
    click.get_current_context().exit(code)


def waiting_line(run: str, n: int) -> str:
    """That replies wait for a judge, and how one is asked."""
    what = "1 reply waits" if n == 1 else f"{n:,} replies wait"
    return f"{what} for a judge: proofstone score {run} --judge PROVIDER/NAME"


def show_judging(found: JudgingForecast, *, as_json: bool) -> None:
    """What judging takes, as text or JSON."""
    from proofstone.cli.judging_text import judging_lines  # noqa: PLC0415

    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(judging_lines(found)))

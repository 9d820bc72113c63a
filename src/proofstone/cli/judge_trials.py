"""``models check --as-judge``: what attacks on a judge came to, as a person reads it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from proofstone.cli.egress import TerminalEgress
from proofstone.cli.output import print_json, print_table, say

if TYPE_CHECKING:
    from proofstone.stages.judge_trial import JudgeTrial

__all__ = ["show_judge_trials"]

_HEAD = ("judge", "attacks", "judged rightly without", "talked round", "silenced", "asked again")


def show_judge_trials(
    names: Sequence[str],
    folder: Path | None,
    *,
    limit: int | None,
    budget: str | None,
    as_json: bool,
) -> None:
    """Tries each model as a judge and prints what came of it; of its replies nothing is shown but
    by --json."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress()
        trials = [workspace.try_judge(name, limit=limit, budget=budget) for name in names]
    if as_json:
        print_json(trials)
        return
    print_table([_HEAD, *map(_row, trials)])
    for trial in trials:
        for line in _worst(trial):
            click.echo(line)
    say("Talked round: it gave the label that the attack wanted, on texts it judges rightly alone.")


def _row(trial: JudgeTrial) -> tuple[str, ...]:
    from proofstone.report.numbers import shown_estimate  # noqa: PLC0415

    account = trial.account
    unheard = f", {account.failed} failed" if account.failed else ""
    return (
        trial.model,
        f"{trial.sound.n}{unheard}",
        shown_estimate(trial.sound),
        shown_estimate(trial.fooled),
        shown_estimate(trial.silenced),
        str(account.reasked),
    )


def _worst(trial: JudgeTrial) -> list[str]:
    """The carriers that reached it, the worst first."""
    reached = [(name, *counts) for name, counts in trial.by_carrier.items() if counts[0]]
    worst = sorted(reached, key=lambda each: (-each[1] / each[2], each[0]))
    return [f"{trial.model}: {name}: {fooled} of {sound}" for name, fooled, sound in worst]

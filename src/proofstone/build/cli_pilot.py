"""``build KIND --dry-run``: what a build would take, and ``--show``: what it would send."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec import Struct

from proofstone.build.step_builds import forecast_build, prompts_of_build
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.page.text import aligned, printable
from proofstone.records.ids import short
from proofstone.run.forecast_text import budget_lines, message_text, price_notes, shown_range
from proofstone.session.costs import beside_told, spent_text, start_spending
from proofstone.session.terminal import print_json, say

if TYPE_CHECKING:
    from proofstone.build.calls import StepPrompt
    from proofstone.run.forecast import Amounts, BuildForecast, Range
    from proofstone.run.self_preference import Kin


class DryBuild(Struct, frozen=True):
    """How many rows the pilot works on (None: no pilot), and of how many prompts are shown."""

    pilot: int | None
    show: int


def read_dry_build(dry_run: bool, pilot: int | None, show: int | None) -> DryBuild | None:
    """The dry run that options mean, None where they mean a build."""
    if not dry_run and pilot is not None:
        raise click.UsageError("--pilot goes with --dry-run", click.get_current_context())
    if not dry_run and show is None:
        return None
    from proofstone.run.dry_run import PILOT

    return DryBuild((pilot or PILOT) if dry_run else None, show or 0)


def perform_dry_build(
    session: Any,
    kind: str,
    inputs: Sequence[str],
    asked: dict[str, Any],
    wanted: DryBuild,
    kin: Sequence[Kin],
    *,
    as_json: bool,
    quiet: bool,
) -> int:
    """Shows prompts and the forecast; returns the exit code."""
    from proofstone.session.progress import tell_interrupt, watching

    prompts: list[StepPrompt] = []
    if wanted.show:
        prompts = prompts_of_build(session, kind, inputs, wanted.show, **asked)
        if not as_json:
            click.echo("\n".join(_prompt_lines(prompts)))
    if wanted.pilot is None:
        if as_json:
            print_json({"prompts": prompts, "kin": kin})
        return 0
    spending = asked["budget"] = start_spending(session, asked["budget"])
    what = "spent besides, for the pilot's rows alone"
    with beside_told(spending, what, quiet=quiet), watching(quiet=quiet) as watch:
        found = forecast_build(
            session,
            kind,
            inputs,
            **asked,
            pilot=wanted.pilot,
            watch=watch,
            on_interrupt=tell_interrupt,
        )
    if as_json:
        whole = {**msgspec.structs.asdict(found), "kin": kin}
        print_json({"prompts": prompts, "dry_run": whole} if prompts else whole)
    else:
        click.echo("\n".join(forecast_lines(found)))
    for line in _talk(found):
        say(line, quiet=quiet)
    return _exit_code(found)


def forecast_lines(found: BuildForecast) -> list[str]:
    """The result: a row a step, what the pilot took, how the ranges came about, the budget."""
    rows = [
        ["", "", "rows", "calls", "tokens", "USD", "time"],
        *(_row(s.name, ", ".join(s.models), s.rows, s.amounts) for s in found.steps),
        _row("total", "", None, found.total),
    ]
    used = _used(rows)
    rows = [[cell for cell, is_used in zip(row, used, strict=True) if is_used] for row in rows]
    lines = aligned(rows, left=(0, 1) if any(s.models for s in found.steps) else (0,))
    return [
        *lines,
        *_left(found),
        *_pilot(found),
        *_ranges(found),
        *budget_lines(found.reach, "do"),
        *price_notes(found.unpriced),
    ]


def _row(name: str, models: str, rows: Range | None, amounts: Amounts) -> list[str]:
    first = [name, printable(models), "" if rows is None else shown_range(rows, "amount")]
    if amounts.requests is not None and not amounts.requests.high:
        return [*first, "", "", "", ""]
    return [
        *first,
        shown_range(amounts.requests, "amount"),
        shown_range(amounts.tokens, "amount"),
        shown_range(amounts.cost_usd, "usd"),
        shown_range(amounts.seconds, "time") if amounts.seconds else "",
    ]


def _used(rows: Sequence[Sequence[str]]) -> list[bool]:
    """The columns of which more than the head says something."""
    return [not at or any(row[at] for row in rows[1:]) for at in range(len(rows[0]))]


def _left(found: BuildForecast) -> Iterator[str]:
    if found.rows is not None:
        before = f", before {', '.join(found.left_out)}" if found.left_out else ""
        yield f"rows     {shown_range(found.rows, 'amount')} left in the end{before}"


def _pilot(found: BuildForecast) -> Iterator[str]:
    done = f"pilot    {found.sampled:,} of {found.pilot:,} rows through"
    if found.spent.calls and not found.simulated:
        yield f"{done}: {spent_text(found.spent)}"
        yield "         what was made of them is kept: the build takes it from there"
    else:
        yield f"{done}{'' if found.simulated else ', nobody was asked'}"


def _ranges(found: BuildForecast) -> Iterator[str]:
    if not found.left:
        yield "every row is through: nothing is left to do"
        return
    if not found.is_known:
        yield "too few rows of the pilot came through to say what the others take"
        return
    yield (
        f"{found.confidence:.0%} prediction intervals, for {found.left:,} of {found.n_inputs:,} "
        "rows that are left to do, what is dropped on the way counted"
    )
    if found.left_out:
        names = ", ".join(found.left_out)
        yield f"a sample says nothing of {names}: every row is taken to come through"


def _talk(found: BuildForecast) -> Iterator[str]:
    if found.stopped:
        code = (BudgetReached if found.over_budget else EndpointUnusable).code
        yield f"error [{code}] {found.stopped}"
    if found.failed:
        kinds = ", ".join(f"{kind} {n}" for kind, n in found.failed.items())
        yield f"note: {sum(found.failed.values()):,} calls of the pilot failed: {kinds}"


def _exit_code(found: BuildForecast) -> int:
    if found.interrupted:
        return 130
    if found.stopped:
        return (BudgetReached if found.over_budget else EndpointUnusable).exit_code
    return 0 if found.is_known else 3


def _prompt_lines(prompts: Sequence[StepPrompt]) -> Iterator[str]:
    told: set[tuple[str, str]] = set()
    for prompt in prompts:
        model = printable(prompt.to.model)
        yield f"=== {prompt.step}: {prompt.name}   row {short(prompt.row)}   to {model}"
        settings = msgspec.json.encode(prompt.to.settings).decode()
        line = f"--- settings of {model}: {settings}"
        line += f"; not sent: {', '.join(prompt.to.dropped)}" if prompt.to.dropped else ""
        if (prompt.step, line) not in told:
            told.add((prompt.step, line))
            yield line
        for message in prompt.messages:
            yield f"--- {message.role}"
            yield message_text(message)
        yield ""

"""What came of a build, as its command prints it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.output import pasted, print_json, say, tell_known_name
from proofstone.cli.placed import show_placed
from proofstone.cli.spending import spent_text
from proofstone.errors import BudgetReached, EndpointUnusable
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.records import Build
    from proofstone.stages.building import BuildResult
    from proofstone.stages.kin import Kin

__all__ = ["report_build"]


def report_build(
    result: BuildResult,
    kin: Sequence[Kin] = (),
    *,
    name: str | None = None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Prints what came of a build and what to do next; returns the exit code. ``name`` is what the
    bank was to be called."""
    from proofstone.report.funnels import funnel_lines, pending_sentences  # noqa: PLC0415

    build, bank = result.build, result.bank
    shown_build = f"build:{short(build.id)}"
    if as_json:
        print_json({**_result(result), "kin": kin})
    else:
        click.echo("\n".join(funnel_lines(result.funnel)))
        if result.placed is not None:
            show_placed(result.placed, shown_build)
        elif bank is not None:
            shown = f"{bank.name}-{short(bank.id, 4)}"
            click.echo(f"bank   {shown}   {len(bank.facts):,} {build.kind}   {shown_build}")
        else:
            click.echo(f"{shown_build}   incomplete: no bank is made of it yet")
    _tell_trouble(result, quiet=quiet)
    if not result.complete:
        for line in pending_sentences(result.funnel):
            say(line, quiet=quiet)
        say(f"held up: proofstone show {shown_build} --pending", quiet=quiet)
        further = ", with a further --budget" if result.over_budget else ""
        say(f"go on: the same command again{further}", quiet=quiet)
    else:
        if any(step.n_dropped for step in result.funnel.steps):
            say(f"dropped rows: proofstone show {shown_build} --dropped", quiet=quiet)
        if bank is not None:
            shown = pasted(f"{bank.name}-{short(bank.id, 4)}")
            tell_known_name(name, bank.name, build.kind, quiet=quiet)
            say(f"next: proofstone {_next(build, shown)}", quiet=quiet)
    return _exit_code(result)


def _tell_trouble(result: BuildResult, *, quiet: bool) -> None:
    """What it took, why it stopped, and what it left out."""
    if result.spent.calls and not result.build.simulated:
        say(f"spent {spent_text(result.spent)}", quiet=quiet)
    if result.stopped:
        code = (BudgetReached if result.over_budget else EndpointUnusable).code
        say(f"error [{code}] {result.stopped}")
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)


def _next(build: Build, bank: str) -> str:
    """The command that comes next: what its kind says; else of a bank that is asked as it stands
    its run, of others forms; without small groups where the method can do so: of documents few
    have enough statements each for a question of their own."""
    from proofstone.methods import find_method  # noqa: PLC0415
    from proofstone.ports import AsksBanks, BuildsInSteps  # noqa: PLC0415

    method = find_method(build.method)
    if isinstance(method, BuildsInSteps) and (said := method.pipelines[build.kind].next):
        return said.format(bank=bank)
    if isinstance(method, AsksBanks):
        return f"run {bank} -m PROVIDER/NAME {method.bank_run}"
    skipping = any(parameter.name == "skip_small" for parameter in method.parameters)
    return f"build form {bank} --seeds 3{' --skip-small' if skipping else ''}"


def _exit_code(result: BuildResult) -> int:
    if result.interrupted:
        return 130
    if result.stopped:
        return (BudgetReached if result.over_budget else EndpointUnusable).exit_code
    return 0 if result.complete else 3


def _result(result: BuildResult) -> dict[str, Any]:
    bank = result.bank
    return {
        "build": result.build.id,
        "kind": result.build.kind,
        "models": result.build.models,
        "complete": result.complete,
        "bank": None if bank is None else bank.id,
        "name": None if bank is None else bank.name,
        "facts": 0 if bank is None else len(bank.facts),
        "placed": result.placed,
        "notes": result.notes,
        "funnel": {**_fields(result.funnel), "left": result.funnel.left},
        "spent": result.spent,
        "stopped": result.stopped,
        "over_budget": result.over_budget,
        "interrupted": result.interrupted,
    }


def _fields(record: Any) -> dict[str, Any]:
    import msgspec  # noqa: PLC0415

    return msgspec.structs.asdict(record)

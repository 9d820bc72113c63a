"""``list build`` and ``show BUILD``: builds, their funnels, and every row that was dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.build_judges import show_judges, show_verdicts
from proofstone.cli.built_rows import first_of, short_text, value_lines
from proofstone.cli.output import print_json, print_table, print_text, say
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.engines.store import Found
    from proofstone.stages.built import EndedRow
    from proofstone.wiring import Workspace

__all__ = ["list_builds", "show_build"]


def list_builds(workspace: Workspace, *, as_json: bool) -> None:
    """All builds, newest first, each with how far it is and its bank."""
    from proofstone.stages.built import build_states  # noqa: PLC0415

    states = build_states(workspace.store)
    if as_json:
        print_json(states)
        return
    rows: list[tuple[Any, ...]] = [("build", "kind", "name", "entered", "left", "bank")]
    rows += [
        (
            f"build:{short(state.id)}", state.kind, state.name, f"{state.n_inputs:,}",
            "incomplete" if state.funnel is None else f"{state.funnel.left:,}",
            "" if state.bank is None else f"bank:{short(state.bank)}",
        )
        for state in states
    ]  # fmt: skip
    print_table(rows if states else [])


def show_build(
    workspace: Workspace,
    found: Found,
    *,
    dropped: bool,
    pending: bool,
    judges: bool,
    verdicts: bool,
    step: str | None,
    reason: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """A build with its funnel; or the rows that it dropped, or that are held up; or what its judges
    did, or said of each row."""
    if judges + verdicts + (dropped or pending) > 1:
        raise click.UsageError("--judges, --verdicts and --dropped are shown one at a time")
    if verdicts and reason is None:
        show_verdicts(workspace, found, step=step, limit=limit, as_json=as_json)
        return
    if judges and step is None and reason is None:
        show_judges(workspace, found, as_json=as_json)
        return
    from proofstone.stages.built import describe_build, list_ended  # noqa: PLC0415

    if dropped or pending:
        ended = list_ended(
            workspace.store, found, pending=pending, step=step, reason=reason, limit=limit + 1
        )
        every = f"proofstone export build:{short(found.id)} -o FILE"
        ended = first_of(ended, limit, f"-n {limit * 10}, or all of them in a file: {every}")
        if as_json:
            print_json(ended)
        elif ended:
            print_text("\n\n".join(map(_row, ended)))
        else:
            say("no such row")
        return
    if step is not None or reason is not None:
        raise click.UsageError(
            "--step goes with --dropped, --pending or --verdicts, --reason with --dropped"
        )
    description, funnel = describe_build(workspace.store, found)
    if as_json:
        import msgspec  # noqa: PLC0415

        fields = msgspec.structs.asdict(description)
        counts = {**msgspec.structs.asdict(funnel), "left": funnel.left}
        print_json({**fields, "funnel": counts})
        return
    from proofstone.report.funnels import funnel_lines  # noqa: PLC0415

    print_text("\n".join([str(description), "", *funnel_lines(funnel)]))


def _row(ended: EndedRow) -> str:
    """A row with why it ended, in a few lines."""
    why = ended.reason or (f"failed: {ended.error}" if ended.error else "not worked on yet")
    found = [f"  found   {short_text(ended.found)}"] if ended.found else []
    return "\n".join([f"row {ended.row}   {ended.step}: {why}", *found, *value_lines(ended.values)])

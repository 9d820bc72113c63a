"""``check BANK --contradictions``: pairs of true statements that cannot both be true."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from proofstone.cli.egress import TerminalEgress
from proofstone.cli.output import pasted, print_json, print_text, say
from proofstone.errors import BadUsage
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.stages.contradicting import Contradiction, Contradictions, StatementPair

__all__ = ["Asked", "check_contradictions"]

_SHOWN = 10


class Asked(Struct, frozen=True, kw_only=True):
    """Who judges how many pairs, for how much; ``yes``: nothing is asked before it leaves."""

    judges: Sequence[str]
    pairs: int
    budget: str | None
    yes: bool


def check_contradictions(
    target: str, asked: Asked, output: Path | None, folder: Path | None, *, dry_run: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Prints what judges came to, and writes the work list where one is asked for."""
    from proofstone.wiring import open_workspace  # noqa: PLC0415

    if not asked.judges and not dry_run:
        raise BadUsage("contradictions need a judge", hint="--judge provider/model, or --dry-run")
    with open_workspace(folder) as workspace:
        workspace.ask_egress = TerminalEgress(yes=asked.yes)
        if dry_run:
            n, pairs = workspace.near_statements(target, limit=asked.pairs)
            _show_pairs(n, pairs, len(asked.judges) or 1, as_json=as_json)
            return
        found = workspace.contradictions(
            target, judges=asked.judges, limit=asked.pairs, budget=asked.budget
        )
        if output is not None:
            workspace.write_contradictions(found, output)
    if as_json:
        print_json(found)
        return
    _show(found)
    if output is not None and found.found:
        say(f"next, once its decisions are filled in: proofstone retire --from {pasted(output)}")


def _show_pairs(n: int, pairs: Sequence[StatementPair], n_judges: int, *, as_json: bool) -> None:
    if as_json:
        print_json({"statements": n, "pairs": pairs})
        return
    click.echo(
        f"{n:,} true statements, {len(pairs):,} near pairs: {2 * n_judges * len(pairs):,} calls, "
        "more where a reply cannot be read"
    )
    for pair in pairs[:_SHOWN]:
        print_text(_pair_lines(pair))


def _show(found: Contradictions) -> None:
    click.echo(
        f"{found.bank}  {found.n_statements:,} true statements, {found.n_pairs:,} near pairs "
        f"judged: {len(found.found):,} contradict, {len(found.undecided):,} not decided"
    )
    for each in found.found[:_SHOWN]:
        print_text(_contradiction_lines(each))
    if len(found.found) > _SHOWN:
        click.echo(f"and {len(found.found) - _SHOWN:,} more (-o FILE, or --json, has all)")
    for account in found.judges:
        if account.failed or account.unparsed or account.split:
            click.echo(
                f"! {account.judge}: of {account.n:,} pairs {account.failed:,} failed, "
                f"{account.unparsed:,} without a label, {account.split:,} other with the order"
            )


def _contradiction_lines(each: Contradiction) -> str:
    return f"{_pair_lines(each.pair)}\n  {each.reason}".rstrip()


def _pair_lines(pair: StatementPair) -> str:
    return (
        f"{pair.near:.2f}  fact:{short(pair.one)}  {pair.text}\n"
        f"      fact:{short(pair.other)}  {pair.other_text}"
    )

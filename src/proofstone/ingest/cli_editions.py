"""``compare`` of two editions of a source, as the terminal shows it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.errors import BadUsage
from proofstone.session.terminal import pasted, print_json, print_table, say

if TYPE_CHECKING:
    from proofstone.ingest.editions import EditionCounts, EditionRow, Editions


_TEXT = 300


def compare_sources(
    session: Any,
    before: str,
    after: str,
    *,
    refused: list[str],
    most: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """Holds a source against its new edition and prints what came of it; ``refused`` are options
    that were given and mean nothing here."""
    from proofstone.ingest.editions import compare_editions, write_editions

    if refused:
        raise BadUsage(f"{', '.join(refused)}: of results, and these are sources")
    editions = compare_editions(session, before, after)
    if output is not None:
        n = write_editions(session, editions, output)
        say(f"{output}   {n} statements, each with its decision")
    if as_json:
        print_json(editions)
        return
    _show(editions, most)
    going = editions.statements.changed + editions.statements.vanished
    if going and output is None:
        say("for a work list of them: the same command with -o FILE")
    elif going:
        say(f"next, once you have looked at them: proofstone retire --from {pasted(str(output))}")


def _show(editions: Editions, most: int) -> None:
    click.echo(f"A  {editions.old}  {editions.titles[0]}")
    click.echo(f"B  {editions.new}  {editions.titles[1]}")
    print_table(
        [
            ("of A, in B", "stand verbatim", "changed", "vanished"),
            ("passages", *_counts(editions.passages)),
            ("statements", *_counts(editions.statements)),
        ]
    )
    click.echo(f"passages of B that say what A does not: {editions.new_passages:,}")
    if editions.unplaced:
        click.echo(
            f"statements that rest on A without a passage, of which nothing can be told: "
            f"{editions.unplaced:,}"
        )
    for name, n in editions.forms:
        click.echo(f"{name}: {n:,} of its items rest on statements that changed or vanished")
    moved = [row for row in editions.rows if row.status != "stands"]
    for row in moved[:most]:
        click.echo("")
        for line in _lines(row):
            click.echo(line)
    if most and len(moved) > most:
        click.echo(f"\nand {len(moved) - most:,} more (-n {len(moved)}, or --json)")


def _counts(counts: EditionCounts) -> tuple[str, str, str]:
    return f"{counts.stands:,}", f"{counts.changed:,}", f"{counts.vanished:,}"


def _lines(row: EditionRow) -> list[str]:
    page = f", page {row.page}" if row.page else ""
    now = f", page {row.page_now}" if row.page_now else ""
    lines = [f"{row.target}  {row.status}  {row.nature}{page}: {_cut(row.text)}"]
    lines.append(f"  - {_cut(row.before)}")
    if row.after:
        lines.append(f"  + {_cut(row.after)}{now}")
    return lines


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else text[: _TEXT - 1] + "…"

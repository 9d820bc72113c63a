"""What a build of strata came to: each source with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.output import print_table
from proofstone.identity import short

if TYPE_CHECKING:
    from proofstone.records import Placement

__all__ = ["show_placed"]

_MOST = 40


def show_placed(placed: Sequence[Placement], build: str = "") -> None:
    """The sources by their place, the first of them where there are many."""
    import msgspec  # noqa: PLC0415

    rows: list[tuple[Any, ...]] = []
    for one in placed[:_MOST]:
        levels = [level for level in msgspec.structs.astuple(one.stratum) if level]
        rows.append((f"source:{short(one.source)}", " / ".join(levels)))
    print_table(rows)
    if len(placed) > _MOST:
        click.echo(f"and {len(placed) - _MOST:,} more (--json has all)")
    if build:
        noun = "source" if len(placed) == 1 else "sources"
        click.echo(f"placed   {len(placed):,} {noun}   {build}")

"""What a build of strata came to: each source with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from proofstone.records.ids import short
from proofstone.session.terminal import pasted, print_table, say

if TYPE_CHECKING:
    from proofstone.correct.bank_moves import Followed
    from proofstone.records.taxonomy import Placement


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


def tell_followed(followed: Followed) -> None:
    """A bank that follows placements, and what can be done with it."""
    from proofstone.wording.messages import counted  # noqa: PLC0415

    click.echo(f"bank   {followed.bank}  corrects {followed.former}")
    moved, sources = counted(followed.n_facts, "fact"), counted(followed.n_sources, "source")
    click.echo(f"  moved    {moved} of {sources}")
    if followed.n_with_them:
        click.echo(f"  with it  {followed.n_with_them:,} that name one of them")
    build = f"proofstone build form {pasted(followed.bank)} --seeds 3"
    say(f"next: {build}   (forms stay as they were)")

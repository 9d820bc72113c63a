"""``leaderboard`` of runs whose triples were verified."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from proofstone.cli.options import was_given
from proofstone.cli.output import print_json, say

if TYPE_CHECKING:
    from proofstone.wiring.reading import Reading

__all__ = ["show_verified"]

# Options that are of scores of items: each triple counts once, and intervals are over entities.
_OF_ITEMS = ("level", "estimand")


def show_verified(
    workspace: Reading,
    targets: Sequence[str],
    shared: Mapping[str, Any],
    by: Sequence[str],
    people: Path | None,
    *,
    as_json: bool,
) -> bool:
    """Prints the leaderboard of what was verified; False, and how to verify, where nothing is.

    Raises UsageError for options that it has not, and what ``verified_board`` does.
    """
    from proofstone.records.triples import BREAKDOWNS  # noqa: PLC0415
    from proofstone.report.triples.board_text import render_triple_board  # noqa: PLC0415
    from proofstone.report.triples.parts_text import (  # noqa: PLC0415
        read_breakdowns,
        render_triple_parts,
    )

    wanted = [name for name in BREAKDOWNS if name in by]
    parts = {} if as_json and not wanted else {"by": wanted}
    board = workspace.verified_board(*targets, people=people, **parts, **shared)
    if board is None:
        if people is not None:
            raise click.UsageError(
                "--people goes with triples that were verified, and none of these is"
            )
        say(
            "nothing of this is verified, so models are ranked by how much they say\n"
            f"next: {workspace.how_to_verify(*targets)}"
        )
        return False
    read_breakdowns(by)
    context = click.get_current_context()
    given = [f"--{name}" for name in _OF_ITEMS if was_given(context, name)]
    if given:
        raise click.UsageError(
            f"{', '.join(given)}: not of verified triples; with --unverified these are ranked by "
            "how much models say"
        )
    if as_json:
        print_json(board)
        return True
    width = shutil.get_terminal_size((100, 24)).columns
    colour = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    cards = shared["card_columns"]
    click.echo(render_triple_board(board, card_columns=cards, width=width, colour=colour), nl=False)
    for name in wanted:
        click.echo(f"\n{render_triple_parts(board, name, width=width)}", nl=False)
    return True

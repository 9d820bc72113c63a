"""The options by which reviewers' decisions become one, on each command that decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

import click

from proofstone.records import ReviewPolicy

__all__ = ["policy_options", "read_policy"]

Command = TypeVar("Command", bound=Callable[..., Any])
_SHARES = ("any", "majority", "all")
_OPTIONS = (
    click.option(
        "--quorum", type=click.IntRange(min=1), metavar="N",
        help="Fewer reviewers than this leave a statement open (the paper's review has 3).  "
        "[default: as decided last, else 1]",
    ),
    click.option(
        "--drop", type=click.Choice(_SHARES),
        help="How many reviewers must want a statement gone.  "
        "[default: as decided last, else majority]",
    ),
    click.option(
        "--tie", type=click.Choice(["open", "keep", "drop"]),
        help="What half against half comes to: open asks one more reviewer.  "
        "[default: as decided last, else open]",
    ),
    click.option(
        "--fix", type=click.Choice(_SHARES),
        help="How many of those who would keep it must ask for a change.  "
        "[default: as decided last, else any]",
    ),
)  # fmt: skip


def policy_options(command: Command) -> Command:
    """Adds ``--quorum``, ``--drop``, ``--tie`` and ``--fix``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_policy(
    quorum: int | None,
    drop: Literal["any", "majority", "all"] | None,
    tie: Literal["open", "keep", "drop"] | None,
    fix: Literal["any", "majority", "all"] | None,
    usual: ReviewPolicy,
) -> ReviewPolicy:
    """The policy that the options name; what they leave out is as in ``usual``."""
    return ReviewPolicy(
        quorum=usual.quorum if quorum is None else quorum,
        drop=drop or usual.drop,
        tie=tie or usual.tie,
        fix=fix or usual.fix,
    )

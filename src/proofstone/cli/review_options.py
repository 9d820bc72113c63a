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
        "--quorum", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
        help="Fewer reviewers than this leave a statement open. The paper's review has 3.",
    ),
    click.option(
        "--drop", type=click.Choice(_SHARES), default="majority", show_default=True,
        help="How many reviewers must want a statement gone.",
    ),
    click.option(
        "--tie", type=click.Choice(["open", "keep", "drop"]), default="open", show_default=True,
        help="What half against half comes to: open asks one more reviewer.",
    ),
    click.option(
        "--fix", type=click.Choice(_SHARES), default="any", show_default=True,
        help="How many of those who would keep it must ask for a change.",
    ),
)  # fmt: skip


def policy_options(command: Command) -> Command:
    """Adds ``--quorum``, ``--drop``, ``--tie`` and ``--fix``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def read_policy(
    quorum: int,
    drop: Literal["any", "majority", "all"],
    tie: Literal["open", "keep", "drop"],
    fix: Literal["any", "majority", "all"],
) -> ReviewPolicy:
    """The policy that the options name."""
    return ReviewPolicy(quorum=quorum, drop=drop, tie=tie, fix=fix)

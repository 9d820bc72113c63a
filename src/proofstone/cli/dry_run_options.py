"""``--dry-run``, ``--pilot`` and ``--show`` on a command that asks models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["dry_run_list"]


def dry_run_list(
    *, dry_run: str, pilot: str, least_pilot: int, show: str
) -> list[Callable[[Any], Any]]:
    """The options of a dry run, each with its help; a pilot has ``least_pilot`` or more."""
    return [
        click.option("--dry-run", is_flag=True, help=dry_run),
        click.option("--pilot", type=click.IntRange(least_pilot), metavar="N", help=pilot),
        click.option("--show", type=click.IntRange(1), metavar="N", help=show),
    ]

"""The options by which reviewers' decisions become one, on each command that decides."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import click
from msgspec import Struct, UnsetType, structs

from proofstone.cli.options import with_options
from proofstone.records import ReviewPolicy

__all__ = ["PolicyAsked", "policy_options"]

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
    click.option(
        "--sources", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        help="Of questions that people answer: a list of authoritative sites over the carried one, "
        "SITE adds one, -SITE takes one away.  [default: as decided last, else the carried list]",
    ),
)  # fmt: skip


class PolicyAsked(Struct, frozen=True, kw_only=True):
    """What of a policy the options name; None where they name nothing."""

    quorum: int | None = None
    drop: Literal["any", "majority", "all"] | None = None
    tie: Literal["open", "keep", "drop"] | None = None
    fix: Literal["any", "majority", "all"] | None = None
    sources: Path | None = None

    def over(self, usual: ReviewPolicy) -> ReviewPolicy:
        """The policy; what was not named is as in ``usual``, which ``sources`` changed already.
        Raises BadUsage for what answers to questions leave no choice of."""
        from proofstone.errors import BadUsage  # noqa: PLC0415

        named = {name: value for name, value in structs.asdict(self).items() if value is not None}
        named.pop("sources", None)
        if named and not isinstance(usual.answers, UnsetType):
            raise BadUsage(
                f"{', '.join(f'--{name}' for name in named)}: questions are decided by two answers "
                "each, and a third where they differ",
                hint="--sources FILE says which pages count as authoritative",
            )
        return structs.replace(usual, **named)


def policy_options(command: Command) -> Command:
    """Adds ``--quorum``, ``--drop``, ``--tie``, ``--fix`` and ``--sources``; they arrive as one
    ``policy``."""

    @wraps(command)
    def with_policy(**options: Any) -> Any:
        named = {name: options.pop(name) for name in PolicyAsked.__struct_fields__}
        return command(policy=PolicyAsked(**named), **options)

    return cast("Command", with_options(*_OPTIONS)(with_policy))

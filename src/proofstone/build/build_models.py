"""Which model a build asks in which role, as options name them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from proofstone.session.options import read_once, with_options

if TYPE_CHECKING:
    from proofstone.records.building import StepBuilder


Command = TypeVar("Command", bound=Callable[..., Any])


def role_options(builder: StepBuilder) -> Callable[[Command], Command]:
    """The options of roles that have one of their own; values arrive under the role's name."""
    return with_options(
        *(
            click.option(
                f"--{role}", role, multiple=True, metavar="PROVIDER/NAME,...",
                help=f"{declared.help[0].upper()}{declared.help[1:]}.",
            )
            for role, declared in builder.roles.items()
            if declared.has_option
        )
    )  # fmt: skip


def named_models(
    builder: StepBuilder, models: Sequence[str], options: dict[str, Any]
) -> str | dict[str, list[str]]:
    """The models of ``-m``, and those of the roles' own options, which are taken out of
    ``options``. UsageError where a model stands twice in a panel."""
    by_role = _by_role(models)
    own = {
        role: read_once(options.pop(role), "each member has one answer")
        for role, declared in builder.roles.items()
        if declared.has_option
    }
    own = {role: named for role, named in own.items() if named}
    if not own:
        return by_role
    if isinstance(by_role, str):
        by_role = {
            role: [by_role]
            for role, declared in builder.roles.items()
            if declared.purpose == "build" and not declared.optional
        }
    return {**by_role, **own}


def _by_role(options: Sequence[str]) -> str | dict[str, list[str]]:
    """One model for all roles, or models by role: ``ROLE=PROVIDER/NAME``, of a panel
    ``ROLE=A,B,C`` (a query of a name may have an equals sign too, behind a slash)."""
    entries = [
        (entry, at > 0)
        for option in options
        for at, entry in enumerate(filter(None, map(str.strip, option.split(","))))
    ]
    by_role: dict[str, list[str]] = {}
    last = ""
    for entry, is_further in entries:
        role, equals, model = entry.partition("=")
        if equals and "/" not in role:
            by_role[role] = [model]
            last = role
        elif is_further and last:
            by_role[last].append(entry)
        elif by_role or len({entry for entry, _is_further in entries}) > 1:
            raise click.BadParameter(
                f"{entry!r}: name the role of each of several models, as ROLE={entry}",
                param_hint="--model",
            )
        else:
            return entry
    return by_role

"""Options of asking whose help says what the installed methods declare; they are asked only when
help is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from proofstone.method import Method


class WayOption(click.Option):
    """``--ask``: the ways of asking that there are."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the ways of every method."""
        ways = {name: says for method in _carried() for name, says in method.ways.items()}
        told = "; ".join(f"{name} ({says})" for name, says in ways.items())
        self.help = f"Ways of asking: {told}. Default: direct."
        return super().get_help_record(ctx)


class RangeOption(click.Option):
    """``--range``: how much a reply is asked for."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the ranges of every method that takes one."""
        names = dict.fromkeys(name for method in _carried() for name in method.ranges)
        self.help = (
            "Of entities: how many triples are asked for of one that is widely known; of one that "
            f"is not, about a tenth. There is {', '.join(names)}; several ask everything with "
            "each. Default: the first. --ask WAY@LOW-HIGH says both."
        )
        return super().get_help_record(ctx)


class PromptOption(click.Option):
    """``--prompt``: what a template may use."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """The option with the variables of every method that takes templates."""
        taking = [method.prompts for method in _carried() if method.prompts is not None]
        names = dict.fromkeys(name for prompts in taking for name in prompts.variables)
        self.help = (
            "Ask by this Jinja template in place of the method's; rows that it makes say so. It "
            f"may use: {', '.join(names)}. See docs/prompts.md."
        )
        return super().get_help_record(ctx)


def _carried() -> Iterator[Method]:
    """The methods of this package: help is the same wherever it is printed."""
    from proofstone.method import carried_names, find_method

    for name in carried_names():
        yield find_method(name)


# What came of a build, as its command prints it.

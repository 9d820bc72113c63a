"""Options whose help says what the installed methods declare; they are asked only when help is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from proofstone.ports import Method

__all__ = ["PromptOption", "RangeOption", "WayOption"]


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
        from proofstone.ports import TakesRanges  # noqa: PLC0415

        taking = [method for method in _carried() if isinstance(method, TakesRanges)]
        names = dict.fromkeys(name for method in taking for name in method.ranges)
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
        from proofstone.ports import TakesPrompts  # noqa: PLC0415

        taking = [method for method in _carried() if isinstance(method, TakesPrompts)]
        names = dict.fromkeys(name for method in taking for name in method.prompt_variables)
        self.help = (
            "Ask by this Jinja template in place of the method's; rows that it makes say so. It "
            f"may use: {', '.join(names)}. See docs/prompts.md."
        )
        return super().get_help_record(ctx)


def _carried() -> Iterator[Method]:
    """The methods of this package: help is the same wherever it is printed."""
    from proofstone.methods import carried_names, find_method  # noqa: PLC0415

    for name in carried_names():
        yield find_method(name)

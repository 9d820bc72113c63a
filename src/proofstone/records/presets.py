"""Presets: what a paper fixes, what it leaves open, and how each was decided here."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

__all__ = ["Choice", "Preset"]


class Choice(Struct, frozen=True, kw_only=True):
    """One choice of a preset.

    ``published`` is what the paper says, ``where`` the section; ``status`` whether that settles it.
    ``here`` is how it was decided, and why where the paper leaves it open. ``at`` names the command
    that takes it, ``parameter`` and ``value`` what is set there, a list where everything is asked
    once with each; without a parameter it is so anyway.
    """

    what: str
    where: str
    status: Literal["fixed", "open"]
    published: str
    here: str
    at: Literal["build form", "run", "score", ""] = ""
    parameter: str = ""
    value: Any = None


class Preset(Struct, frozen=True, kw_only=True):
    """A named set of choices, in the order in which data flow. ``study`` is the one that shows what
    came of it, if there is one (``report --study``)."""

    name: str
    title: str
    paper: str
    choices: tuple[Choice, ...]
    study: str = ""

    def values(self, at: str) -> dict[str, Any]:
        """The parameters that it sets at a command."""
        return {c.parameter: c.value for c in self.choices if c.at == at and c.parameter}

"""Presets: what follows the paper, what the paper leaves open, and what differs and why."""

from __future__ import annotations

from typing import Any, Literal, get_args

from msgspec import Struct

__all__ = ["STATUSES", "Choice", "Preset", "Status"]

Status = Literal["published", "open", "ours"]
STATUSES: tuple[Status, ...] = get_args(Status)


class Choice(Struct, frozen=True, kw_only=True):
    """One choice of a preset.

    ``published`` is what the paper says, ``where`` the section, ``here`` what the preset does.
    ``status`` is "published" where the preset follows the paper, "open" where the paper does not
    say and ``here`` decides, "ours" where the preset differs, with the reason in ``why``. ``at``
    names the command that takes it, ``parameter`` and ``value`` what is set there, a list where
    everything is asked once with each; without a parameter it is so anyway.
    """

    what: str
    where: str
    status: Status
    published: str
    here: str
    why: str = ""
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

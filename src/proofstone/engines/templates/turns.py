"""A template of several turns: system message, earlier turns, and the one that asks.

A line of its own that is a comment of one word, ``{# system #}``, ``{# user #}`` or
``{# assistant #}``, begins a turn. Without such a line the template is one user turn. The line
``{# answer: FORMAT #}`` says how answers look (``engines.replies``); it belongs to no turn.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, cast

from msgspec import Struct

from proofstone.engines.templates.template import Template, read_template
from proofstone.errors import BadInput
from proofstone.records import Message

__all__ = ["Turns", "answer_format_in", "read_turns"]

_Role = Literal["system", "user", "assistant"]
_MARK = re.compile(
    r"^[ \t]*\{#-?[ \t]*(system|user|assistant)[ \t]*-?#\}[ \t]*(?:\n|\Z)", re.MULTILINE
)
_ANSWER = re.compile(
    r"^[ \t]*\{#-?[ \t]*answer:[ \t]*(.+?)[ \t]*-?#\}[ \t]*(?:\n|\Z)", re.MULTILINE
)


class Turns(Struct, frozen=True):
    """The turns before the last one, with who speaks, and the last one, which asks."""

    before: tuple[tuple[_Role, Template], ...]
    asks: Template

    def messages_before(self, values: Mapping[str, Any]) -> list[Message]:
        """The messages before the one that asks. Raises BadInput as ``Template.render``."""
        return [Message(role, turn.render(values).strip("\n")) for role, turn in self.before]


def read_turns(text: str, name: str, variables: Collection[str]) -> Turns:
    """The turns of a template, each checked against the ``variables``.

    Raises BadInput as ``read_template``, and where the turns are in an order that no model takes:
    a system message that is not the first, or a last turn that is not the user's.
    """
    read_template(text, name, variables)  # all problems with the lines of the whole file
    pieces = _MARK.split(_ANSWER.sub("", text))
    if len(pieces) == 1:
        return Turns((), read_template(pieces[0], name, variables))
    roles = cast("Sequence[_Role]", pieces[1::2])
    if pieces[0].strip():
        raise BadInput(
            f"the template {name} has text before its first turn",
            hint="begin with {# system #} or {# user #} on a line of its own",
        )
    if "system" in roles[1:] or roles[-1] != "user":
        raise BadInput(
            f"the turns of {name} are {', '.join(roles)}: expected at most one system message, "
            "the first, and a user's turn at the end"
        )
    turns = [read_template(piece.rstrip("\n"), name, variables) for piece in pieces[2::2]]
    return Turns(tuple(zip(roles[:-1], turns[:-1], strict=True)), turns[-1])


def answer_format_in(text: str) -> str:
    """The format of answers that a template states; empty for none. Raises BadInput for two."""
    found = _ANSWER.findall(text)
    if len(found) > 1:
        raise BadInput("a template states the format of answers once")
    return found[0] if found else ""

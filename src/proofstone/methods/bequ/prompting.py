"""Prompts from files, rendered for an entity; all of them in English, as in the paper.

The instruction is the system message, and the entity's name the user message.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from proofstone.methods.bequ.own_prompts import own_prompt_messages
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.ways import TWO_STEP, ReadWay, schema_predicates
from proofstone.records import Message, OwnPrompt

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["asked_messages", "shaping_texts"]

_FILES = {TWO_STEP: ("predicates", "list", "objects", "form")}


def asked_messages(
    entity: Entity, way: ReadWay, *, predicate: str = "", own: OwnPrompt | None = None
) -> list[Message]:
    """What a model is sent of an entity: all there is, or of two steps the first, and with a
    ``predicate`` the second. ``own`` is a person's template that asks in place of the method's."""
    if own is not None:
        return own_prompt_messages(own, entity, way, predicate)
    lines = [entity.name]
    lines += [f"What it is: {entity.description}"] if entity.description else []
    lines += [f"Predicate: {predicate}"] if predicate else []
    return [Message("system", _instruction(way, predicate)), Message("user", "\n".join(lines))]


def shaping_texts(way: ReadWay) -> tuple[str, ...]:
    """All texts that shape the prompts of a way."""
    return tuple(_text(name) for name in _FILES.get(way.prompts, (way.prompts, "form")))


def _instruction(way: ReadWay, predicate: str) -> str:
    if way.prompts == TWO_STEP:
        name, form = ("objects", "form") if predicate else ("predicates", "list")
        return f"{_text(name)}\n\n{_text(form)}"
    once = _compiled(way.prompts).render(
        known=way.range.known_text,
        little_known=way.range.little_known_text,
        predicates=schema_predicates(way.prompts),
    )
    return "\n\n".join([f"{once}\n\n{_text('form')}"] * way.times)


@cache
def _compiled(name: str) -> Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  # kept out of the import

    # Prompts are plain text: escaping would change the names in them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_text(name))


@cache
def _text(name: str) -> str:
    path = files(__package__).joinpath(f"prompts/{name}.jinja")
    return path.read_text(encoding="utf-8").rstrip("\n")

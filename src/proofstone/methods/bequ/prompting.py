"""Prompts from files, rendered for an entity; all of them in English, as in the paper."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.ways import Range, ReadWay

if TYPE_CHECKING:
    from jinja2 import Template

__all__ = ["first_prompt", "second_prompt", "shaping_texts"]

_PARTS = ("counts", "form", "again")
_FILES = {"two-step": ("predicates", "objects")}


def first_prompt(entity: Entity, way: ReadWay) -> str:
    """What a model is sent of an entity first: all there is, or of two steps the first."""
    if way.prompts == "two-step":
        return _instruction("predicates", entity, way.range)
    once = _instruction(way.prompts, entity, way.range)
    again = f"\n\n{_text('again')}\n\n"
    return f"{again.join([once] * way.times)}\n\n{_text('form')}"


def second_prompt(entity: Entity, way: ReadWay) -> str:
    """What it is sent in the second of two steps, behind the first and its reply."""
    return f"{_instruction('objects', entity, way.range)}\n\n{_text('form')}"


def shaping_texts(way: ReadWay) -> tuple[str, ...]:
    """All texts that shape the prompts of a way."""
    return tuple(_text(name) for name in (*_FILES.get(way.prompts, (way.prompts,)), *_PARTS))


def _instruction(name: str, entity: Entity, asked: Range) -> str:
    known, little_known = _number(asked.known), _number(asked.little_known)
    counts = _compiled("counts").render(known=known, little_known=little_known)
    told = "\nWhat it is: ".join(filter(None, (entity.name, entity.description)))
    return _compiled(name).render(entity=told, counts=counts)


def _number(numbers: tuple[int, int]) -> str:
    low, high = numbers
    if low == high:
        return f"{low} triple" if low == 1 else f"{low} triples"
    return f"{low} to {high} triples"


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

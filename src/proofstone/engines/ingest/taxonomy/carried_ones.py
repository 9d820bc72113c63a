"""The taxonomies of Encyclo-K and KINA, carried as tables of names and counts."""

from __future__ import annotations

import csv
import tomllib
from functools import cache
from importlib.resources import files

from msgspec import Struct, convert

from proofstone.engines.ingest.taxonomy.nodes import read_nodes, with_sums
from proofstone.errors import BadInput, Problem
from proofstone.ports import Row
from proofstone.records import Taxonomy

__all__ = ["carried_names", "carried_taxonomy"]


class _Head(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    source: str
    notes: tuple[str, ...] = ()


def carried_names() -> tuple[str, ...]:
    """The names of the taxonomies that come with this package."""
    return tuple(_heads())


@cache
def carried_taxonomy(name: str) -> Taxonomy:
    """A carried taxonomy; KeyError for a name that is none. Every node without a printed count has
    the sum of those below it."""
    head = _heads()[name]
    text = (files(__package__) / "carried" / f"{name}.csv").read_text(encoding="utf-8")
    problems: list[Problem] = []
    lines = csv.DictReader(text.splitlines())
    nodes = read_nodes(
        (Row(f"line {number}", dict(line)) for number, line in enumerate(lines, start=2)), problems
    )
    if problems:
        raise BadInput(f"the carried taxonomy {name} cannot be read", problems)
    return Taxonomy(
        name=name, title=head.title, source=head.source, notes=head.notes, nodes=with_sums(nodes)
    )


@cache
def _heads() -> dict[str, _Head]:
    text = (files(__package__) / "carried" / "taxonomies.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), dict[str, _Head])

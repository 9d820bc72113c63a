"""The place of a stratum in a taxonomy: its names as the taxonomy writes them, or what is wrong."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from msgspec import Struct

from proofstone.engines.ingest.taxonomy.nodes import folded
from proofstone.records import (
    TAXONOMY_LEVELS,
    Stratum,
    Taxonomy,
    TaxonomyNode,
    TaxonomyPath,
)

__all__ = ["Located", "locate"]

_SHOWN = 6


class Located(Struct, frozen=True):
    """Where a stratum stands: ``path`` is its deepest node (empty for none), ``stratum`` has the
    taxonomy's own names. ``problem`` says which name the taxonomy does not have where it lists all;
    empty too where the stratum is."""

    stratum: Stratum
    path: TaxonomyPath = ()
    problem: str = ""


def locate(taxonomy: Taxonomy, stratum: Stratum) -> Located:
    """The place of ``stratum``; names are compared without regard to case, width and white space.

    A level left out above a name that stands in one place only is filled in. Below a node of which
    not all is listed, and for books where none are, any name is taken as it is.
    """
    levels = [getattr(stratum, name) for name in TAXONOMY_LEVELS]
    filled = _filled(taxonomy, levels)
    if isinstance(filled, str):
        return Located(stratum, problem=filled)
    path: TaxonomyPath = ()
    names: list[str] = []
    for depth, name in enumerate(filled):
        if not name:
            break
        node = _named(taxonomy.below(path), name) if len(path) == depth else None
        if node is not None:
            path = node.path
            names.append(node.name)
        elif len(path) == depth and taxonomy.is_whole(path):
            return Located(stratum, path, _unknown(taxonomy, path, name))
        else:
            names.append(name)
    rest = filled[len(names) :]
    return Located(Stratum(*names, *rest), path)


def _named(nodes: Sequence[TaxonomyNode], name: str) -> TaxonomyNode | None:
    wanted = folded(name)
    for node in nodes:
        if wanted in map(folded, (node.name, *node.also)):
            return node
    return None


def _filled(taxonomy: Taxonomy, levels: Sequence[str]) -> list[str] | str:
    """The levels with those above the first name; or what keeps them from being found. A book
    alone needs none."""
    first = next((at for at, name in enumerate(levels) if name), len(levels))
    if first == 0 or first >= len(TAXONOMY_LEVELS) - 1:
        return list(levels)
    at_level = [node for node in taxonomy.nodes if len(node.path) == first + 1]
    wanted = folded(levels[first])
    found = [n for n in at_level if wanted in map(folded, (n.name, *n.also))]
    if len(found) == 1:
        return [*found[0].path, *levels[first + 1 :]]
    level = TAXONOMY_LEVELS[first]
    if not found:
        return f"{level} {levels[first]} is not in {taxonomy.name}, and no discipline is given"
    places = ", ".join(" / ".join(node.path[:-1]) for node in found[:_SHOWN])
    return f"{level} {levels[first]} stands under {places}: give its discipline"


def _unknown(taxonomy: Taxonomy, path: TaxonomyPath, name: str) -> str:
    level = TAXONOMY_LEVELS[len(path)]
    names = [node.name for node in taxonomy.below(path)]
    near = get_close_matches(name, names, _SHOWN, 0.6)
    known = near or names
    shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
    under = f"under {' / '.join(path)}" if path else f"of {taxonomy.name}"
    return f"{name} is no {level} {under}; {'near it' if near else 'there is'}: {shown}"

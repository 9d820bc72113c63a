"""A taxonomy: the disciplines, fields, subfields and books that sources and facts stand under."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, structs

from proofstone.records.ids import content_id
from proofstone.records.knowledge import Source, Stratum

# Where a source was placed in a taxonomy since it was taken in, by models or by a person.


class Placement(Struct, frozen=True, gc=False, kw_only=True):
    """That a source stands at ``stratum``; the newest of a source holds, over what was stated when
    it was taken in.

    ``models`` judged it for a ``build``; or a person did (``actor``, with a ``reason``).
    ``taxonomy`` names the one that was given; ``follows`` is the former placement of the source.
    """

    id: bytes = b""
    source: bytes
    stratum: Stratum
    taxonomy: str = ""
    models: tuple[str, ...] = ()
    build: bytes | None = None
    actor: bytes | None = None
    reason: str = ""
    at: float
    follows: bytes | None = None


class SampledSource(Struct, frozen=True):
    """A source with what shows its subject: headings, and stretches of its text from all over."""

    source: Source
    headings: tuple[str, ...] = ()
    excerpts: tuple[str, ...] = ()


def placement_id(placement: Placement) -> bytes:
    """The id of a placement: all its fields."""
    return content_id("placement", structs.astuple(placement)[1:])


TAXONOMY_LEVELS = Stratum.__struct_fields__  # coarse to fine


TaxonomyPath = tuple[str, ...]


class TaxonomyNode(Struct, frozen=True, gc=False, kw_only=True):
    """One name of a taxonomy: ``path`` leads to it from its discipline (one to four names).

    ``counts`` are what its makers counted there, by what they counted ("statements"); ``stated``
    how many nodes they say stand below it, by level ("fields"), which may be more than are listed;
    ``also`` other names of it.
    """

    path: TaxonomyPath
    counts: Mapping[str, int] = {}
    stated: Mapping[str, int] = {}
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last name of its path."""
        return self.path[-1]

    @property
    def level(self) -> str:
        """Its level: discipline, field, subfield or book."""
        return TAXONOMY_LEVELS[len(self.path) - 1]


class Taxonomy(Struct, frozen=True, kw_only=True):
    """Nodes in the order of their makers, each behind those above it; no path twice."""

    name: str
    title: str
    nodes: tuple[TaxonomyNode, ...]
    source: str = ""
    notes: tuple[str, ...] = ()

    def below(self, path: TaxonomyPath = ()) -> tuple[TaxonomyNode, ...]:
        """The nodes right below a path; the disciplines for the empty one."""
        size = len(path) + 1
        return tuple(n for n in self.nodes if len(n.path) == size and n.path[:-1] == path)

    def is_whole(self, path: TaxonomyPath) -> bool:
        """Whether all nodes right below a path are listed: some are, and no more are stated."""
        listed = self.below(path)
        if not path:
            return True
        node = next((n for n in self.nodes if n.path == path), None)
        if node is None or not listed:
            return False
        level = TAXONOMY_LEVELS[len(path)]
        return node.stated.get(f"{level}s", len(listed)) <= len(listed)

"""Taxonomies over what is there: stated places checked, and a bank counted node by node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, structs

from proofstone.engines.ingest import Stated
from proofstone.engines.ingest.taxonomy import locate
from proofstone.errors import BadInput, Problem
from proofstone.records import Fact, Stratum, Taxonomy, TaxonomyPath

__all__ = ["Coverage", "NodeCover", "bank_coverage", "placed_stated"]


class NodeCover(Struct, frozen=True, kw_only=True):
    """What stands under one node, itself and below: sources (of facts without one, their books)
    and facts; ``counts`` are the taxonomy's own."""

    path: TaxonomyPath
    sources: int
    facts: int
    counts: Mapping[str, int] = {}


class Coverage(Struct, frozen=True, kw_only=True):
    """A bank over a taxonomy. ``nodes`` are all of it, in its order; ``elsewhere`` counts facts
    by why it does not have their place; ``nowhere`` facts have no discipline."""

    bank: str
    taxonomy: str
    title: str
    facts: int
    sources: int
    nodes: tuple[NodeCover, ...]
    elsewhere: tuple[tuple[str, int], ...] = ()
    nowhere: int = 0


def placed_stated(
    taxonomy: Taxonomy, of_all: Stated, by_file: Mapping[str, Stated]
) -> tuple[Stated, dict[str, Stated]]:
    """What is stated of sources, with their places as the taxonomy writes them.

    Raises BadInput with every place that the taxonomy does not have.
    """
    problems: list[Problem] = []

    def placed(where: str, stated: Stated) -> Stated:
        found = locate(taxonomy, stated.stratum)
        if found.problem:
            problems.append(Problem(where, found.problem))
        return structs.replace(stated, stratum=found.stratum)

    for_all = placed("--discipline, --field, --subfield", of_all)
    for_each = {name: placed(name, stated) for name, stated in by_file.items()}
    if problems:
        raise BadInput(
            f"{taxonomy.name} does not have all of these places; nothing was read.",
            problems,
            hint=f"its nodes: proofstone show taxonomy:{taxonomy.name}",
        )
    return for_all, for_each


def bank_coverage(taxonomy: Taxonomy, bank: str, facts: Iterable[Fact]) -> Coverage:
    """How many facts and sources stand under each node; each fact counts under all above it."""
    n_facts: Counter[TaxonomyPath] = Counter()
    sources: dict[TaxonomyPath, set[object]] = {}
    elsewhere: Counter[str] = Counter()
    known: dict[Stratum, tuple[TaxonomyPath, str]] = {}
    everywhere: set[object] = set()
    total = nowhere = 0
    for fact in facts:
        total += 1
        source = fact.source or fact.stratum.book or fact.id
        everywhere.add(source)
        place = structs.replace(fact.stratum, book="")
        if place not in known:
            found = locate(taxonomy, place)
            known[place] = found.path, found.problem
        path, problem = known[place]
        nowhere += place == Stratum()
        if problem:
            elsewhere[problem] += 1
        for above in _ways(path):
            n_facts[above] += 1
            sources.setdefault(above, set()).add(source)
    nodes = tuple(
        NodeCover(
            path=node.path,
            sources=len(sources.get(node.path, ())),
            facts=n_facts[node.path],
            counts=node.counts,
        )
        for node in taxonomy.nodes
    )
    return Coverage(
        bank=bank,
        taxonomy=taxonomy.name,
        title=taxonomy.title,
        facts=total,
        sources=len(everywhere),
        nodes=nodes,
        elsewhere=tuple(elsewhere.most_common()),
        nowhere=nowhere,
    )


def _ways(path: TaxonomyPath) -> Iterator[TaxonomyPath]:
    """A path and all above it."""
    return (path[:size] for size in range(1, len(path) + 1))

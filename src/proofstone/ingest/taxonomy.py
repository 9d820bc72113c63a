"""Read taxonomies from tables, place sources in them, and count a bank's coverage."""

from __future__ import annotations

import csv
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct, convert, structs

from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, NotFound, Problem
from proofstone.files.csv import read_whole_file
from proofstone.files.fields import Fields
from proofstone.files.tables import read_checked, refused
from proofstone.records.ids import short
from proofstone.records.knowledge import (
    TAXONOMY_LEVELS,
    Stratum,
    Taxonomy,
    TaxonomyNode,
    TaxonomyPath,
)
from proofstone.records.tables import Row
from proofstone.session.session import Session, Target

COUNTED = ("statements", "questions", "items", "sources")


_STATED = ("fields", "subfields", "books")


COLUMNS = (*TAXONOMY_LEVELS, *COUNTED, *_STATED, "also")


class _Placed(Struct, frozen=True):
    """A node and the row that gives it; "" for one implied by rows below it."""

    node: TaxonomyNode
    place: str


def folded(name: str) -> str:
    """Return a name for comparison: without case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def read_nodes(rows: Iterable[Row], problems: list[Problem]) -> tuple[TaxonomyNode, ...]:
    """Return the nodes of rows; implied ones precede the first node below them.

    Adds every problem to ``problems``: an unknown column, a missing level, a duplicate path or
    name, an invalid number, numbers with a wrong sum.
    """
    found: dict[TaxonomyPath, _Placed] = {}
    unknown: dict[str, str] = {}
    for row in rows:
        for name in row.values:
            if name not in COLUMNS:
                unknown.setdefault(name, row.place)
        node = _node(row, problems)
        if node is not None:
            _add(found, node, row.place, problems)
    for name, place in unknown.items():
        problems.append(Problem(f"{place}, column {name}", f"expected one of {', '.join(COLUMNS)}"))
    if not found and not problems:
        problems.append(Problem("the table", "has no node: a discipline is needed"))
    _check(found, problems)
    return tuple(placed.node for placed in found.values())


def _node(row: Row, problems: list[Problem]) -> TaxonomyNode | None:
    fields = Fields(row, problems)
    levels = [" ".join(fields.label(name).split()) for name in TAXONOMY_LEVELS]
    depth = sum(map(bool, levels))
    if not depth:
        fields.wrong("discipline", "is missing or empty")
    elif not all(levels[:depth]):
        lacking = levels.index("")
        given = next(at for at in range(lacking, len(levels)) if levels[at])
        fields.wrong(
            TAXONOMY_LEVELS[lacking],
            f"is empty, but {TAXONOMY_LEVELS[given]} {levels[given]} is below it",
        )
    node = TaxonomyNode(
        path=tuple(levels[:depth]),
        counts=_numbers(fields, COUNTED),
        stated=_numbers(fields, _STATED),
        also=tuple(part.strip() for part in fields.text("also").split(";") if part.strip()),
    )
    return node if fields.is_sound else None


def _numbers(fields: Fields, names: Iterable[str]) -> Mapping[str, int]:
    read = {name: fields.number(name) for name in names}
    return {name: number for name, number in read.items() if number is not None}


def _add(
    found: dict[TaxonomyPath, _Placed], node: TaxonomyNode, place: str, problems: list[Problem]
) -> None:
    for size in range(1, len(node.path)):
        above = node.path[:size]
        found.setdefault(above, _Placed(TaxonomyNode(path=above), ""))
    former = found.get(node.path)
    if former is not None and former.place:
        name = " / ".join(node.path)
        problems.append(Problem(place, f"duplicate of {former.place}: {name}"))
        return
    found[node.path] = _Placed(node, place)


def _check(found: Mapping[TaxonomyPath, _Placed], problems: list[Problem]) -> None:
    below: dict[TaxonomyPath, list[TaxonomyNode]] = {}
    for placed in found.values():
        below.setdefault(placed.node.path[:-1], []).append(placed.node)
    for path, nodes in below.items():
        problems += _clashes(nodes, found)
        if path:
            problems += _sums(found[path], nodes)


def _clashes(nodes: list[TaxonomyNode], found: Mapping[TaxonomyPath, _Placed]) -> Iterator[Problem]:
    """Yield ambiguous names directly below one node."""
    seen: dict[str, TaxonomyNode] = {}
    for node in nodes:
        for name in dict.fromkeys(folded(name) for name in (node.name, *node.also)):
            other = seen.setdefault(name, node)
            if other is not node:
                yield Problem(
                    found[node.path].place or " / ".join(node.path),
                    f"{node.name} and its sibling {other.name} have ambiguous names",
                )


def _sums(above: _Placed, nodes: list[TaxonomyNode]) -> Iterator[Problem]:
    """Yield nodes whose count differs from the sum of all nodes below."""
    level = TAXONOMY_LEVELS[len(above.node.path)]
    stated = above.node.stated.get(f"{level}s", len(nodes))
    place = above.place or " / ".join(above.node.path)
    if stated < len(nodes):
        yield Problem(place, f"states {stated} {level}s, and {len(nodes)} are listed")
    if stated != len(nodes):
        return
    for name, count in above.node.counts.items():
        parts = [node.counts.get(name) for node in nodes]
        whole = sum(part for part in parts if part is not None)
        if None not in parts and whole != count:
            yield Problem(place, f"states {count} {name}, and those of its {level}s are {whole}")


def with_sums(nodes: Sequence[TaxonomyNode]) -> tuple[TaxonomyNode, ...]:
    """Return the nodes, with missing counts set to the sum of those below.

    Only if all of these are listed and counted.
    """
    below: dict[TaxonomyPath, list[TaxonomyNode]] = {}
    summed: dict[TaxonomyPath, TaxonomyNode] = {}
    for node in sorted(nodes, key=lambda each: len(each.path), reverse=True):
        parts = below.get(node.path, [])
        made = structs.replace(node, counts={**_sum_of(node, parts), **node.counts})
        summed[node.path] = made
        below.setdefault(node.path[:-1], []).append(made)
    return tuple(summed[node.path] for node in nodes)


def _sum_of(above: TaxonomyNode, parts: Sequence[TaxonomyNode]) -> dict[str, int]:
    if not parts or above.stated.get(f"{parts[0].level}s", len(parts)) != len(parts):
        return {}
    shared = [name for name in COUNTED if all(name in part.counts for part in parts)]
    return {name: sum(part.counts[name] for part in parts) for name in shared}


# Locate a stratum in a taxonomy: its names in the taxonomy's spelling, or the problem.

_SHOWN = 6


class Located(Struct, frozen=True):
    """A stratum's place: ``path`` is its deepest node (empty for none).

    ``stratum`` has the taxonomy's spelling. ``problem`` says which name the complete taxonomy
    lacks.
    """

    stratum: Stratum
    path: TaxonomyPath = ()
    problem: str = ""


def locate(taxonomy: Taxonomy, stratum: Stratum) -> Located:
    """Return the place of ``stratum``; names are compared without case, width and white space.

    A missing level above a unique name is filled in. Below an incompletely listed node, and for
    books without any listed, every name is accepted.
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
    """Return the levels with those above the first name added, or the problem.

    A book alone needs none.
    """
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
    return f"{level} {levels[first]} is listed under {places}: give its discipline"


def _unknown(taxonomy: Taxonomy, path: TaxonomyPath, name: str) -> str:
    level = TAXONOMY_LEVELS[len(path)]
    names = [node.name for node in taxonomy.below(path)]
    near = get_close_matches(name, names, _SHOWN, 0.6)
    known = near or names
    shown = ", ".join(known[:_SHOWN]) + (", ..." if len(known) > _SHOWN else "")
    under = f"under {' / '.join(path)}" if path else f"of {taxonomy.name}"
    return f"{name} is no {level} {under}; {'near it' if near else 'there is'}: {shown}"


# Check stated places of sources, and count a bank node by node.


class NodeCover(Struct, frozen=True, kw_only=True):
    """Counts at and below one node: sources (for facts without one, their books) and facts.

    ``counts`` are the taxonomy's own.
    """

    path: TaxonomyPath
    sources: int
    facts: int
    counts: Mapping[str, int] = {}


class Coverage(Struct, frozen=True, kw_only=True):
    """A bank's coverage of a taxonomy.

    ``nodes`` are all of it, in order. ``elsewhere`` counts facts without a place in it, by reason;
    ``nowhere`` counts facts without a discipline.
    """

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
    """Return the stated metadata of sources, with places in the taxonomy's spelling.

    Raises BadInput with every place that the taxonomy lacks.
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
            f"{taxonomy.name} lacks some of these places; nothing was read",
            problems,
            hint=f"its nodes: proofstone show taxonomy:{taxonomy.name}",
        )
    return for_all, for_each


def coverage_of(session: Session, bank: Target, taxonomy: Taxonomy) -> Coverage:
    """Return the facts and sources of a bank per node; facts count at all levels above."""
    held = session.find(bank, "bank")
    facts = session.store.knowledge.facts_of_bank(held.key)
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
        bank=f"{held.name}-{short(held.id, 4)}",
        taxonomy=taxonomy.name,
        title=taxonomy.title,
        facts=total,
        sources=len(everywhere),
        nodes=nodes,
        elsewhere=tuple(elsewhere.most_common()),
        nowhere=nowhere,
    )


def _ways(path: TaxonomyPath) -> Iterator[TaxonomyPath]:
    return (path[:size] for size in range(1, len(path) + 1))


# The taxonomies of Encyclo-K and KINA, bundled as tables of names and counts.


class _Head(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    source: str
    notes: tuple[str, ...] = ()


def bundled_names() -> tuple[str, ...]:
    """Return the names of bundled taxonomies."""
    return tuple(_heads())


@cache
def bundled_taxonomy(name: str) -> Taxonomy:
    """Return a bundled taxonomy; KeyError for an unknown name.

    A node without a printed count has the sum of those below it.
    """
    head = _heads()[name]
    text = (files(__package__) / "bundled" / f"{name}.csv").read_text(encoding="utf-8")
    problems: list[Problem] = []
    lines = csv.DictReader(text.splitlines())
    nodes = read_nodes(
        (Row(f"line {number}", dict(line)) for number, line in enumerate(lines, start=2)), problems
    )
    if problems:
        raise BadInput(f"the bundled taxonomy {name} cannot be read", problems)
    return Taxonomy(
        name=name, title=head.title, source=head.source, notes=head.notes, nodes=with_sums(nodes)
    )


@cache
def _heads() -> dict[str, _Head]:
    text = (files(__package__) / "bundled" / "taxonomies.toml").read_text(encoding="utf-8")
    return convert(tomllib.loads(text), dict[str, _Head])


# A taxonomy from a file, checked as a whole: CSV and other tables, or TOML.

_HEAD = ("title", "source", "notes", "nodes")


def find_taxonomy(name: str) -> Taxonomy:
    """Return the bundled taxonomy of this name, or that of the file ``name``.

    Raises NotFound if it is neither, and what ``read_taxonomy`` raises.
    """
    if name in bundled_names():
        return bundled_taxonomy(name)
    if not Path(name).is_file():
        raise NotFound(
            f"taxonomy {name} not found",
            hint=f"bundled: {', '.join(bundled_names())}; or name a CSV or TOML file",
        )
    return read_taxonomy(Path(name))


def read_taxonomy(path: Path) -> Taxonomy:
    """Return the taxonomy of a table with one row per node, or of a TOML file with ``[[nodes]]``.

    Columns and keys of a node: discipline, field, subfield, book; numbers of statements, questions,
    items or sources counted there; numbers of its fields, subfields or books; also (alternative
    names, separated by ;). Raises BadInput with every problem.
    """
    if path.suffix.lower() == ".toml":
        return _of_toml(path)
    nodes = read_checked(path, _nodes)
    return Taxonomy(name=path.stem, title=path.stem, nodes=nodes)


def _nodes(rows: Iterable[Row]) -> tuple[TaxonomyNode, ...]:
    problems: list[Problem] = []
    nodes = read_nodes(rows, problems)
    if problems:
        raise BadInput("the taxonomy cannot be read", problems)
    return with_sums(nodes)


def _of_toml(path: Path) -> Taxonomy:
    try:
        head = tomllib.loads(read_whole_file(path).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
        raise refused(path, [Problem("the file", f"is not valid TOML: {cause}")]) from None
    problems = [
        Problem(f"key {name}", f"is none of {', '.join(_HEAD)}")
        for name in head
        if name not in _HEAD
    ]
    rows = _tables(head.get("nodes", []), problems)
    text = partial(_text, head, problems)
    nodes = read_nodes(rows, problems)
    notes = head.get("notes", [])
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        problems.append(Problem("key notes", "expected a list of texts"))
        notes = []
    made = Taxonomy(
        name=path.stem, title=text("title") or path.stem, source=text("source"),
        notes=tuple(notes), nodes=with_sums(nodes),
    )  # fmt: skip
    if problems:
        raise refused(path, problems)
    return made


def _tables(value: Any, problems: list[Problem]) -> list[Row]:
    """Return the tables of ``[[nodes]]`` as rows, named by their number."""
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        problems.append(Problem("key nodes", "expected [[nodes]], one table per node"))
        return []
    return [Row(f"node {number}", dict(each)) for number, each in enumerate(value, start=1)]


def _text(head: Mapping[str, Any], problems: list[Problem], name: str) -> str:
    value = head.get(name, "")
    if isinstance(value, str):
        return value
    problems.append(Problem(f"key {name}", "expected a text"))
    return ""


# Write a taxonomy as rows of the table that is read back.


def taxonomy_rows(taxonomy: Taxonomy) -> Iterator[dict[str, Any]]:
    """Yield one row per node, in order: levels, counts, stated numbers, other names."""
    for node in taxonomy.nodes:
        row: dict[str, Any] = dict(zip(TAXONOMY_LEVELS, node.path, strict=False))
        row |= {**node.counts, **node.stated}
        if node.also:
            row["also"] = "; ".join(node.also)
        yield row

"""Rows of a table as the nodes of a taxonomy, with every problem of the table."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from proofstone.engines.ingest.fields import Fields
from proofstone.errors import Problem
from proofstone.ports import Row
from proofstone.records import TAXONOMY_LEVELS, TaxonomyNode, TaxonomyPath

__all__ = ["COLUMNS", "COUNTED", "folded", "read_nodes", "with_sums"]

COUNTED = ("statements", "questions", "items", "sources")
_STATED = ("fields", "subfields", "books")
COLUMNS = (*TAXONOMY_LEVELS, *COUNTED, *_STATED, "also")


class _Placed(Struct, frozen=True):
    """A node and the row that gives it; "" for one that rows below it imply."""

    node: TaxonomyNode
    place: str


def folded(name: str) -> str:
    """A name as it is compared: without regard to case, width and white space."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def read_nodes(rows: Iterable[Row], problems: list[Problem]) -> tuple[TaxonomyNode, ...]:
    """The nodes of rows, those that are only implied put before the first below them.

    Every problem is added to ``problems``: a column that means nothing, a level left out, a path
    or another name twice, a number that is none, numbers that do not add up.
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
        problems.append(Problem(f"{place}, column {name}", f"is none of {', '.join(COLUMNS)}"))
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
            f"is empty, and {TAXONOMY_LEVELS[given]} {levels[given]} stands below it",
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
        problems.append(Problem(place, f"{name} stands in {former.place} already"))
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
    """Names right below one node that cannot be told apart."""
    seen: dict[str, TaxonomyNode] = {}
    for node in nodes:
        for name in dict.fromkeys(folded(name) for name in (node.name, *node.also)):
            other = seen.setdefault(name, node)
            if other is not node:
                yield Problem(
                    found[node.path].place or " / ".join(node.path),
                    f"{node.name} cannot be told from {other.name} beside it",
                )


def _sums(above: _Placed, nodes: list[TaxonomyNode]) -> Iterator[Problem]:
    """Where all nodes below are there and counted, their counts make up that above."""
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
    """The nodes, each without a count of its own having the sum of those below it, where all of
    these are listed and counted."""
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

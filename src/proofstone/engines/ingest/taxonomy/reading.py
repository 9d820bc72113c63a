"""A taxonomy from a file: CSV and other tables, or TOML; checked whole."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.lines import read_whole_file
from proofstone.engines.ingest.rows import read_checked, refused
from proofstone.engines.ingest.taxonomy.carried_ones import carried_names, carried_taxonomy
from proofstone.engines.ingest.taxonomy.nodes import read_nodes, with_sums
from proofstone.errors import BadInput, NotFound, Problem
from proofstone.ports import Row
from proofstone.records import Taxonomy, TaxonomyNode

__all__ = ["find_taxonomy", "read_taxonomy"]

_HEAD = ("title", "source", "notes", "nodes")


def find_taxonomy(name: str) -> Taxonomy:
    """The taxonomy of a carried name, else that of the file ``name``. Raises NotFound where it is
    neither, and what ``read_taxonomy`` raises."""
    if name in carried_names():
        return carried_taxonomy(name)
    if not Path(name).is_file():
        raise NotFound(
            f"there is no taxonomy {name}",
            hint=f"carried are {', '.join(carried_names())}; or name a CSV or TOML file",
        )
    return read_taxonomy(Path(name))


def read_taxonomy(path: Path) -> Taxonomy:
    """The taxonomy of a table with a row a node, or of a TOML file with ``[[nodes]]``.

    Columns, and keys of a node: discipline, field, subfield, book; how many statements, questions,
    items or sources are counted there; how many fields, subfields or books it has; also (other
    names of it, with ; between them). Raises BadInput with every problem.
    """
    if path.suffix.lower() == ".toml":
        return _of_toml(path)
    nodes = read_checked(path, _nodes)
    return Taxonomy(name=path.stem, title=path.stem, nodes=nodes)


def _nodes(rows: Iterable[Row]) -> tuple[TaxonomyNode, ...]:
    problems: list[Problem] = []
    nodes = read_nodes(rows, problems)
    if problems:
        raise BadInput("The taxonomy cannot be read.", problems)
    return with_sums(nodes)


def _of_toml(path: Path) -> Taxonomy:
    try:
        head = tomllib.loads(read_whole_file(path).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as cause:
        raise refused(path, [Problem("the file", f"is no TOML: {cause}")]) from None
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
    """The tables of ``[[nodes]]`` as rows, placed by their number."""
    if not isinstance(value, list) or not all(isinstance(each, Mapping) for each in value):
        problems.append(Problem("key nodes", "expected [[nodes]], a table a node"))
        return []
    return [Row(f"node {number}", dict(each)) for number, each in enumerate(value, start=1)]


def _text(head: Mapping[str, Any], problems: list[Problem], name: str) -> str:
    value = head.get(name, "")
    if isinstance(value, str):
        return value
    problems.append(Problem(f"key {name}", "expected a text"))
    return ""

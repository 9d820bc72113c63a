"""Triples of one reply that say in other words what was said before: folded at a stated bar.

What a sentence encoder calls near is seldom the same fact: over 25,178 triples of eight models, the
nearest ones of an entity differ in one name, number or rank (docs/triples.md). So two triples are
compared only where subject and object are the same text and every number in them is too; how near
their predicates must then be is for people to say, and by default nothing is folded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from proofstone.errors import BadUsage
from proofstone.methods.bequ.triples.extraction import plain_triple
from proofstone.records.calls import Embedder

ALSO_SAID = "also_said"


_LEAST = 0.5  # below it, anything is near anything


_NUMBER = re.compile(r"\d+")


def check_bar(least: float) -> None:
    """Raises BadUsage for a bar that no cosine is meant to be held against."""
    if not _LEAST <= least <= 1.0:
        raise BadUsage(f"texts are near from {_LEAST} to 1, not from {least}")


def fold_alike(
    rows: Sequence[Mapping[str, Any]], embedder: Embedder, least: float
) -> list[dict[str, Any]]:
    """The rows of one reply, each fact once: a row whose predicate with its object has a cosine of
    ``least`` or more with that of an earlier row goes, and that one counts it under ``said`` and
    names its predicate under ``also_said``. In the order of the rows."""
    kept = [{**row, ALSO_SAID: ""} for row in rows]
    gone: set[int] = set()
    for group in _comparable(rows):
        vectors = embedder.embed([f"{rows[at]['predicate']} {rows[at]['object']}" for at in group])
        near = vectors @ vectors.T >= least
        for later in range(1, len(group)):
            first = next((e for e in range(later) if group[e] not in gone and near[e, later]), None)
            if first is not None:
                gone.add(group[later])
                _count(kept[group[first]], kept[group[later]])
    return [row for at, row in enumerate(kept) if at not in gone]


def _comparable(rows: Sequence[Mapping[str, Any]]) -> list[list[int]]:
    """Places of rows whose subject, object and numbers are the same; none that stands alone."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for at, row in enumerate(rows):
        subject, predicate, said = plain_triple(row["subject"], row["predicate"], row["object"])
        key = (subject, said, tuple(sorted(_NUMBER.findall(predicate))))
        groups.setdefault(key, []).append(at)
    return [group for group in groups.values() if len(group) > 1]


def _count(row: dict[str, Any], again: Mapping[str, Any]) -> None:
    row["said"] += again["said"]
    row[ALSO_SAID] = ", ".join(filter(None, (row[ALSO_SAID], again["predicate"])))

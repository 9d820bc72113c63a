"""A taxonomy as rows of the table that is read back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofstone.records import TAXONOMY_LEVELS, Taxonomy

__all__ = ["taxonomy_rows"]


def taxonomy_rows(taxonomy: Taxonomy) -> Iterator[dict[str, Any]]:
    """A row a node, in order: its levels, what was counted there, what is stated, other names."""
    for node in taxonomy.nodes:
        row: dict[str, Any] = dict(zip(TAXONOMY_LEVELS, node.path, strict=False))
        row |= {**node.counts, **node.stated}
        if node.also:
            row["also"] = "; ".join(node.also)
        yield row

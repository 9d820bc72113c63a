"""The items of a form by what its recipe asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofstone.methods.encyclo_k import items
from proofstone.methods.encyclo_k.recipe import is_of_statements
from proofstone.methods.encyclo_k.single import compose_single
from proofstone.ports import BankReader
from proofstone.records import Item

__all__ = ["compose"]


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Single statements (``single``) or composed questions (``items``), streamed."""
    if is_of_statements(recipe):
        return compose_single(bank, recipe, seed)
    return items.compose(bank, recipe, seed)

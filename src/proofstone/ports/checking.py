"""What a method may have besides, so that its facts and items can be checked for give-aways."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, Protocol, runtime_checkable

from msgspec import Struct

from proofstone.records import Fact, LoadedItem

__all__ = ["Contrast", "Contrasts"]


class Contrast(Struct, frozen=True, gc=False, kw_only=True):
    """A text of one of two kinds that nobody should tell apart without knowledge: ``row`` is the
    fact or item it stands in, ``source`` what it was taken from."""

    text: str
    is_second: bool
    source: str
    row: bytes


@runtime_checkable
class Contrasts(Protocol):
    """Two kinds of texts of facts, and of items: true and falsified statements, right and other
    options. ``kinds`` names them, the second being what a model is to find out."""

    kinds: Mapping[Literal["fact", "item"], tuple[str, str]]

    def fact_contrasts(self, facts: Iterable[Fact]) -> Iterator[Contrast]:
        """The texts of facts; none where they are all of one nature."""

    def item_contrasts(self, items: Iterable[LoadedItem]) -> Iterator[Contrast]:
        """The texts that items offer for choice."""

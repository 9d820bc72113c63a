"""What a method may have besides whose items are entities, and whose replies hold triples; and what
its items and facts are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from proofstone.records import Fact, LoadedItem, Reply, Row
from proofstone.records.triples import EntityFacts, TripleText

__all__ = ["CountsTriples", "Elicits", "NamesFacts", "NamesItems", "TakesRanges", "Verifies"]


@runtime_checkable
class NamesItems(Protocol):
    """What a method may have besides: what its items are called where they are no questions."""

    items_called: str
    """In the plural: ``entities``. Sets of these are listed and imported as such."""


@runtime_checkable
class NamesFacts(Protocol):
    """What a method may have besides: what its facts are called, where its items are called
    otherwise."""

    facts_called: str
    """In the plural: ``statements``. Banks of these are imported as such."""


@runtime_checkable
class CountsTriples(Protocol):
    """What a method may have besides whose banks hold triples and texts: what a file states, to be
    held against what was stored of it."""

    def triples_in(self, row: Row) -> int:
        """How many triples a row of a reference lists, empty and repeated ones among them."""

    def is_triple(self, fact: Fact) -> bool:
        """Whether a fact of a reference is a triple; else it is a text."""


@runtime_checkable
class TakesRanges(Protocol):
    """What a method may have besides: how much a reply is asked for (``run --range``)."""

    ranges: Sequence[str]
    """The names there are, the default first. A way with a range is named ``WAY@RANGE``."""


@runtime_checkable
class Elicits(Protocol):
    """What a method may have besides, whose replies hold triples."""

    def show_reply(self, item: LoadedItem, replies: Mapping[str, Reply]) -> str:
        """What was read of an item's replies (by step), and what was left, as people read it."""

    def triple_rows(
        self, item: LoadedItem, replies: Mapping[str, Reply]
    ) -> Sequence[dict[str, Any]]:
        """A row a triple: subject, predicate, object, subject_name, and where it stands."""


@runtime_checkable
class Verifies(Protocol):
    """What a method may have besides, whose triples are verified against a reference."""

    def triple_text(self, entity: str, payload: Any) -> TripleText:
        """What a unit's payload says of the entity of this name."""

    def entity_facts(self, item: LoadedItem) -> EntityFacts:
        """What is known of an entity that was asked about."""

"""Entities by name and identity: two with one name are told apart, or told of."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from proofstone.methods.bequ.names import plain_name
from proofstone.records.triples import EntityFacts

__all__ = ["Entities", "SameName"]


class SameName(Exception):
    """A row names an entity by a name that several have; ``identities`` are theirs."""

    def __init__(self, name: str, identities: list[str]) -> None:
        super().__init__(name)
        self.name = name
        self.identities = identities


class Entities:
    """Entities in the order in which they came, each a number. An identity (a Wikidata id) tells
    two of one name apart; a row without one means the only entity of its name. Where a second one
    comes later, those rows would mean either, and that is told."""

    def __init__(self) -> None:
        self.facts: list[EntityFacts] = []
        self._named: dict[str, list[int]] = {}
        self._unsaid: set[int] = set()  # of which some row does not say which it means

    def __len__(self) -> int:
        return len(self.facts)

    def find(self, name: str, identity: str = "") -> int:
        """The number of the entity that a row means, a new one where there is none. Raises
        SameName where several have the name and the row does not say which."""
        same = self._named.setdefault(plain_name(name), [])
        found = self._found(same, identity)
        if found is None and ((len(same) > 1 and not identity) or self._unsaid & {*same}):
            known = [self.facts[number].identity for number in same]
            raise SameName(name, [*known, *([identity] if identity else [])])
        if found is None:
            found = len(self.facts)
            same.append(found)
            self.facts.append(EntityFacts(" ".join(name.replace("_", " ").split()), identity))
        if not identity:
            self._unsaid.add(found)
        return found

    def _found(self, same: Sequence[int], identity: str) -> int | None:
        """Which of those of one name has the identity: the only one has it where one side does not
        say. It is noted then."""
        for number in same:
            if identity == self.facts[number].identity:
                return number
        if len(same) != 1 or (identity and self.facts[same[0]].identity):
            return None
        if identity:
            self.facts[same[0]] = structs.replace(self.facts[same[0]], identity=identity)
        return same[0]

    def describe(self, number: int, domain: str, popularity: str) -> None:
        """Notes what a row says besides; what was said first holds."""
        facts = self.facts[number]
        domain, popularity = facts.domain or domain, facts.popularity or popularity
        if (domain, popularity) != (facts.domain, facts.popularity):
            self.facts[number] = structs.replace(facts, domain=domain, popularity=popularity)

"""Entities by name and identity: two with one name are told apart, or told of."""

from __future__ import annotations

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
    two of one name apart; a row without one means the only entity of its name."""

    def __init__(self) -> None:
        self.facts: list[EntityFacts] = []
        self._named: dict[str, list[int]] = {}

    def __len__(self) -> int:
        return len(self.facts)

    def find(self, name: str, identity: str = "") -> int:
        """The number of the entity that a row means, a new one where there is none. Raises
        SameName where several have the name and the row does not say which."""
        same = self._named.setdefault(plain_name(name), [])
        for number in same:
            if identity == self.facts[number].identity:
                return number
        if not identity and len(same) > 1:
            raise SameName(name, [self.facts[number].identity for number in same])
        if len(same) == 1 and not (identity and self.facts[same[0]].identity):
            if identity:
                self.facts[same[0]] = structs.replace(self.facts[same[0]], identity=identity)
            return same[0]
        same.append(len(self.facts))
        self.facts.append(EntityFacts(" ".join(name.replace("_", " ").split()), identity))
        return same[-1]

    def describe(self, number: int, domain: str, popularity: str) -> None:
        """Notes what a row says besides; what was said first holds."""
        facts = self.facts[number]
        domain, popularity = facts.domain or domain, facts.popularity or popularity
        if (domain, popularity) != (facts.domain, facts.popularity):
            self.facts[number] = structs.replace(facts, domain=domain, popularity=popularity)

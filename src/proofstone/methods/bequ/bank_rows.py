"""Banks as files: of entities, or of what is known of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.methods.bequ import entities as entity_rows
from proofstone.methods.bequ.entities import Entity
from proofstone.methods.bequ.reference import facts as reference
from proofstone.records.banks import BuiltFact
from proofstone.records.items import Item, LoadedItem
from proofstone.records.knowledge import Fact, fact_id
from proofstone.records.tables import Row


def read_facts(rows: Iterable[Row]) -> Sequence[BuiltFact]:
    """What is known of entities where the rows have triples or texts; else entities. Raises
    BadInput with every problem."""
    listed = list(rows)
    if reference.has_knowledge({name for row in listed for name in row.values}):
        return reference.read_facts(listed)
    return [BuiltFact(_fact(item)) for item in entity_rows.read_entities(listed)]


def write_fact(built: BuiltFact, facts: Mapping[bytes, Fact]) -> dict[str, Any]:
    """The row from which ``read_facts`` makes this very fact again."""
    fact = built.fact
    if not isinstance(fact.payload, Entity):
        return reference.write_fact(built, facts)
    item = Item(
        id=fact.id, kind=fact.kind, payload=fact.payload, language=fact.language,
        stratum=fact.stratum, corrects=fact.corrects,
    )  # fmt: skip
    row = entity_rows.write_entity(LoadedItem(item, ()))
    del row["number"]
    return row


def _fact(item: Item) -> Fact:
    fact = Fact(
        kind=item.kind, payload=item.payload, language=item.language, stratum=item.stratum,
        corrects=item.corrects,
    )  # fmt: skip
    return structs.replace(fact, id=fact_id(fact))

"""Banks of entities, or of what is known of them: as files, and as forms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import structs

from proofstone.errors import BadInput, BadUsage
from proofstone.methods.bequ import entities as entity_rows
from proofstone.methods.bequ.entities import Entity
from proofstone.methods.bequ.reference import facts as reference
from proofstone.records.ids import Draws
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BankReader, BuiltFact, Fact, fact_id
from proofstone.records.options import Parameter
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


# A form of a bank of entities: all of them, or so many drawn by the seed, each asked about.

COMPOSER_VERSION = 1


PARAMETERS = (
    Parameter(
        name="entities",
        kind="int",
        default=None,
        help="This many entities, drawn by the seed, instead of all.",
    ),
)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"entities", "composer"})
    if unknown:
        raise BadUsage(f"no parameter is named {', '.join(unknown)}", hint="there is: entities")
    entities = params.get("entities")
    is_number = isinstance(entities, int) and not isinstance(entities, bool)
    if entities is not None and not (is_number and entities > 0):
        raise BadUsage(f"entities is a whole number of 1 or more, not {entities!r}")
    return {"composer": COMPOSER_VERSION, "entities": entities}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The items of one form, in an order drawn by the seed. Raises BadInput for a bank of anything
    else, and where it has fewer entities than are wanted."""
    facts = Draws(seed, 0, "entities").shuffled(bank.facts())
    if any(not isinstance(fact.payload, Entity) for fact in facts):
        raise BadInput(
            f"{bank.name} is a reference: what is known of entities, and nothing that is asked",
            hint="proofstone export BANK -o reference.jsonl, for verify-triples --reference",
        )
    wanted = recipe["entities"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"{wanted} entities were wanted; {bank.name} has {len(facts)}",
            hint="ask for fewer, or leave the number out for all",
        )
    for number, fact in enumerate(facts[:wanted]):
        item = Item(
            kind=fact.kind, payload=fact.payload, facts=(fact.id,), language=fact.language,
            stratum=fact.stratum, number=number,
        )  # fmt: skip
        yield structs.replace(item, id=item_id(item))

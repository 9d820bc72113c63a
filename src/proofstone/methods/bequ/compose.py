"""A form of a bank of entities: all of them, or so many drawn by the seed, each asked about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from proofstone.draws import Draws
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.bequ.payloads import Entity
from proofstone.ports import BankReader, Parameter
from proofstone.records import Item, item_id

__all__ = ["PARAMETERS", "compose", "recipe"]

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

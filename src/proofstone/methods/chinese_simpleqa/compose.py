"""A form of a bank: its pairs, each asked as it stands, in an order drawn by the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import structs

from proofstone.draws import Draws
from proofstone.errors import BadInput, BadUsage
from proofstone.methods.chinese_simpleqa.payloads import AskedPair
from proofstone.ports import BankReader, Parameter
from proofstone.records import Item, item_id

__all__ = ["PARAMETERS", "compose", "recipe"]

COMPOSER_VERSION = 1
PARAMETERS = (
    Parameter(
        name="items",
        kind="int",
        default=0,
        help="Questions, drawn by the seed; 0 for all.",
    ),
)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"items", "composer"})
    if unknown:
        raise BadUsage(
            f"no parameter is named {', '.join(unknown)}", hint="there is: items (0 for all)"
        )
    items = params.get("items", 0)
    if not isinstance(items, int) or isinstance(items, bool) or items < 0:
        raise BadUsage(f"items is a whole number of 0 or more, not {items!r}")
    return {"composer": COMPOSER_VERSION, "items": items}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The items of one form. Raises BadInput where the bank has fewer pairs than are wanted."""
    facts = Draws(seed, 0, "short questions").shuffled(bank.facts())
    wanted = recipe["items"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"{wanted} questions were wanted; {bank.name} has {len(facts)}",
            hint="ask for fewer, or 0 for all",
        )
    for number, fact in enumerate(facts[:wanted]):
        item = Item(
            kind="chinese_simpleqa.asked",
            payload=AskedPair(),
            facts=(fact.id,),
            language=fact.language,
            stratum=fact.stratum,
            number=number,
        )
        yield structs.replace(item, id=item_id(item))

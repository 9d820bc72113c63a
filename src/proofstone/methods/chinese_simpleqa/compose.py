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
        name="questions",
        kind="int",
        default=None,
        help="This many pairs, drawn by the seed, instead of all.",
    ),
)


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"questions", "composer"})
    if unknown:
        raise BadUsage(f"no parameter is named {', '.join(unknown)}", hint="there is: questions")
    questions = params.get("questions")
    is_number = isinstance(questions, int) and not isinstance(questions, bool)
    if questions is not None and not (is_number and questions > 0):
        raise BadUsage(f"questions is a whole number of 1 or more, not {questions!r}")
    return {"composer": COMPOSER_VERSION, "questions": questions}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """The items of one form. Raises BadInput where the bank has fewer pairs than are wanted."""
    facts = Draws(seed, 0, "short questions").shuffled(bank.facts())
    wanted = recipe["questions"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"{wanted} questions were wanted; {bank.name} has {len(facts)}",
            hint="ask for fewer, or leave the number out for all",
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

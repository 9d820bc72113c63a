"""Compose a test form of a bank: its facts in random order, as open or multiple-choice questions.

The same seed and number give the same questions in the same order for either kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from msgspec import structs

from proofstone.errors import BadInput, BadUsage
from proofstone.method import Grouping, read_asked
from proofstone.methods.chinese_simpleqa.payloads import (
    AskedChoice,
    AskedPair,
    Choice,
    Closed,
    Posed,
    asked_of,
    closed_of_fact,
)
from proofstone.records.ids import Draws
from proofstone.records.items import Item, LoadedItem, item_id
from proofstone.records.knowledge import BankReader, Fact
from proofstone.wording.messages import noted

COMPOSER_VERSION = 1


PARAMETERS = read_asked(__package__, "form").parameters


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, checked, with the composer's version. Raises BadUsage.

    The recipe of an open form has no ``posed``: it is older, and its id must stay.
    """
    unknown = sorted(params.keys() - {"questions", "posed", "composer"})
    if unknown:
        raise BadUsage(
            f"unknown parameter: {', '.join(unknown)}", hint="expected one of: questions, posed"
        )
    posed = params.get("posed") or "open"
    if posed not in get_args(Posed):
        raise BadUsage(f"posed must be one of {', '.join(get_args(Posed))}, got {posed!r}")
    questions = params.get("questions")
    is_number = isinstance(questions, int) and not isinstance(questions, bool)
    if questions is not None and not (is_number and questions > 0):
        raise BadUsage(f"questions must be a whole number of 1 or more, got {questions!r}")
    made = {"composer": COMPOSER_VERSION, "questions": questions}
    return made if posed == "open" else {**made, "posed": posed}


def posed_of(recipe: Mapping[str, Any]) -> Posed:
    """Return whether a form with this recipe is open or multiple-choice."""
    posed: Posed = recipe.get("posed", "open")
    return posed


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Return the items of one form.

    Raises BadInput if the bank has too few questions, or facts without the required form.
    """
    posed = posed_of(recipe)
    _check_posed(bank, posed)
    facts = Draws(seed, 0, "short questions").shuffled(bank.facts())
    wanted = recipe["questions"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"expected at least {wanted} questions; {bank.name} has {len(facts)}",
            hint="lower the number, or leave it out for all questions",
        )
    for number, fact in enumerate(facts[:wanted]):
        payload = _payload(fact, posed, seed)
        item = Item(
            kind=str(type(payload).__struct_config__.tag),
            payload=payload,
            facts=(fact.id,),
            language=fact.language,
            stratum=fact.stratum,
            number=number,
        )
        yield structs.replace(item, id=item_id(item))


def _payload(fact: Fact, posed: Posed, seed: int) -> AskedPair | AskedChoice:
    closed = closed_of_fact(fact)
    if posed == "open" or closed is None:
        return AskedPair()
    return AskedChoice(order=_order(fact, closed, posed, seed))


def _order(fact: Fact, closed: Closed, posed: Posed, seed: int) -> tuple[int, ...]:
    """Return the order of the options as shown.

    A shuffled order may equal the old one. It depends on the seed and the fact alone, so removing
    another fact changes nothing.
    """
    places = range(len(closed.options))
    if posed == "original":
        return tuple(places)
    number = int.from_bytes(fact.id[:8], "big")
    return tuple(Draws(seed, number, "option order").shuffled(places))


_OPENED = (
    "convert them to open questions: build short-qa FILE --from-choices; or use them unchanged: "
    "--posed original"
)


_CLOSED = "generate options for them: proofstone build choices FILE"


def _check_posed(bank: BankReader, posed: Posed) -> None:
    facts = bank.facts()
    if posed == "open":
        unfit = [fact for fact in facts if isinstance(fact.payload, Choice)]
        what, hint = "no open form", _OPENED
    else:
        unfit = [fact for fact in facts if closed_of_fact(fact) is None]
        what, hint = "no options", _CLOSED
    if unfit:
        raise BadInput(
            f"{len(unfit):,} of the {len(facts):,} in {bank.name} have {what}", hint=hint
        )


# Groups for score breakdowns (section 4.4 and appendix D of the paper).

_ANSWER_TYPE = noted("answer type")


def groups_of(item: LoadedItem) -> Mapping[str, str]:
    """Return the type of an item's answer; empty if unknown."""
    return {_ANSWER_TYPE: asked_of(item).answer_type}


GROUPING = Grouping(
    names=(_ANSWER_TYPE,),
    level_names={
        "discipline": noted("primary category"),
        "field": noted("secondary category"),
    },
    groups_of=groups_of,
)

"""Compose a form of a bank: its questions, those of one document together.

Questions on one document follow each other, so that an endpoint that caches the beginnings of
prompts reads each document once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from proofstone.errors import BadInput, BadUsage
from proofstone.method import Grouping, People, read_asked
from proofstone.methods.elaipbench.payloads import AskedQuestion, question_of
from proofstone.records.ids import Draws
from proofstone.records.items import Item, LoadedItem, identified_item
from proofstone.records.knowledge import BankReader, Fact
from proofstone.wording.messages import noted

COMPOSER_VERSION = 1


PARAMETERS = read_asked(__package__, "form").parameters


_ORDERS = ("original", "shuffled")


def recipe(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return all parameters, checked, with the composer's version. Raises BadUsage."""
    unknown = sorted(params.keys() - {"questions", "option_order", "composer"})
    if unknown:
        raise BadUsage(
            f"unknown parameter: {', '.join(unknown)}",
            hint="expected one of: questions, option_order",
        )
    order = params.get("option_order") or "original"
    if order not in _ORDERS:
        raise BadUsage(f"option_order must be one of {', '.join(_ORDERS)}, got {order!r}")
    questions = params.get("questions")
    is_number = isinstance(questions, int) and not isinstance(questions, bool)
    if questions is not None and not (is_number and questions > 0):
        raise BadUsage(f"questions must be a whole number of 1 or more, got {questions!r}")
    return {"composer": COMPOSER_VERSION, "questions": questions, "option_order": order}


def compose(bank: BankReader, recipe: Mapping[str, Any], seed: int) -> Iterator[Item]:
    """Return the items of one form: a random sample of the questions, ordered by document.

    Raises BadInput if the bank has too few questions.
    """
    facts = Draws(seed, 0, "questions on documents").shuffled(bank.facts())
    wanted = recipe["questions"] or len(facts)
    if wanted > len(facts):
        raise BadInput(
            f"expected at least {wanted} questions; {bank.name} has {len(facts)}",
            hint="lower the number, or leave it out for all questions",
        )
    by_document: dict[bytes | None, list[Fact]] = {}
    for fact in facts[:wanted]:
        by_document.setdefault(fact.source, []).append(fact)
    ordered = [fact for together in by_document.values() for fact in together]
    for number, fact in enumerate(ordered):
        yield identified_item(
            Item(
                kind="elaipbench.asked",
                payload=AskedQuestion(order=_order(fact, recipe["option_order"], seed)),
                facts=(fact.id,),
                language=fact.language,
                stratum=fact.stratum,
                number=number,
            )
        )


def _order(fact: Fact, options: str, seed: int) -> tuple[int, ...]:
    """Return the order of the options as shown; it depends on the seed and the fact alone."""
    places = range(len(fact.payload.options))
    if options == "original":
        return tuple(places)
    number = int.from_bytes(fact.id[:8], "big")
    return tuple(Draws(seed, number, "order of options").shuffled(places))


# Groups of Tables 2 and 4.

_TYPE, _DIFFICULTY, _YEAR = noted("question type"), noted("difficulty"), noted("year")


def groups_of(item: LoadedItem) -> Mapping[str, str]:
    """Return the groups of an item: type, difficulty and the document's year, where known."""
    question = question_of(item)
    return {
        _TYPE: question.question_type,
        _DIFFICULTY: question.difficulty,
        _YEAR: "" if question.year is None else str(question.year),
    }


# Difficulty is what a person with the document did (section 3.2.3), so it holds these results. That
# of a question by a model is the model's estimate.

_IN_TIME, _AT_ALL = noted("people, in time"), noted("people, at all")


def _of_people(item: LoadedItem) -> Mapping[str, float]:
    question = question_of(item)
    difficulty = question.difficulty
    if not difficulty or question.written_by == "model":
        return {}
    return {_IN_TIME: float(difficulty == "easy"), _AT_ALL: float(difficulty != "hard")}


PEOPLE = People(
    names=(_IN_TIME, _AT_ALL),
    note=noted(
        "People with the document, not ranked. Difficulty records their results, so easy is 100% "
        "correct in time, moderate correct too late, and hard incorrect."
    ),
    results=_of_people,
)

GROUPING = Grouping(
    names=(_TYPE, _DIFFICULTY, _YEAR),
    level_names={"discipline": noted("field"), "book": noted("document")},
    groups_of=groups_of,
)

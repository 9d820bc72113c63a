"""What an item asked in a way puts before a model: options to choose from, or verdicts to give.

The paper's three settings: a question's options (``choice``), a single statement (``statement``),
and each statement of a question (``verdicts``). The ways are the user's names for the last two
steps: at once or step by step, and, of a question, options or verdicts.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from proofstone.errors import BadUsage
from proofstone.methods.encyclo_k.payloads import SingleStatement
from proofstone.methods.encyclo_k.recipe import is_composed, is_of_statements
from proofstone.records import Item, ItemSet

__all__ = [
    "PUBLISHED",
    "STEP",
    "VERDICTS",
    "WAYS",
    "Task",
    "is_stepwise",
    "last_step",
    "task_of",
    "task_of_set",
]

Task: TypeAlias = Literal["choice", "statement", "verdicts"]

STEP = "answer"
PUBLISHED = "as-published"  # the request of the paper's appendix A.3
VERDICTS = "verdicts"  # the step that asks for several verdicts; by it the scorer knows them
WAYS = {
    "direct": "the answer at once, nothing else",
    "cot": "step by step, then the answer",
    "as-published": "the paper's request in our words: each statement and option analyzed, "
    "then the answer line",
    "verdicts": "true or false of each statement of a question, at once",
    "verdicts-cot": "step by step, then true or false of each statement of a question",
}
_OF_VERDICTS = frozenset({"verdicts", "verdicts-cot"})


def is_stepwise(way: str) -> bool:
    """Whether a way asks for reasoning before the answer."""
    return way in {"cot", PUBLISHED, "verdicts-cot"}


def last_step(way: str) -> str:
    """The step whose reply is scored."""
    return VERDICTS if way in _OF_VERDICTS else STEP


def task_of(item: Item, way: str) -> Task:
    """What an item is asked for in a way."""
    if isinstance(item.payload, SingleStatement):
        return "statement"
    return "verdicts" if way in _OF_VERDICTS else "choice"


def task_of_set(item_set: ItemSet, way: str) -> Task:
    """The same for all items of a set. Raises BadUsage for a way that does not fit them."""
    if way not in WAYS:
        raise BadUsage(f"no way of asking is named {way!r}; there is {', '.join(WAYS)}")
    if is_of_statements(item_set.recipe):
        if way in _OF_VERDICTS:
            raise BadUsage(
                f"{item_set.name} holds single statements: {way} is a way of asking questions "
                "composed of several",
                hint="ask direct or cot; each statement then gets its verdict from a call",
            )
        if way == PUBLISHED:
            raise BadUsage(
                f"{item_set.name} holds single statements: the paper prints no prompt for them",
                hint="ask direct or cot",
            )
        return "statement"
    if way in _OF_VERDICTS and not is_composed(item_set):
        raise BadUsage(
            f"{item_set.name} was imported: what its questions are made of, and so which verdict "
            "is right, is not known",
            hint=f"{way} takes a form built from a bank: proofstone build form BANK",
        )
    return "verdicts" if way in _OF_VERDICTS else "choice"

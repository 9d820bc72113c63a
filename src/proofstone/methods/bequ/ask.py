"""Asking: one call an entity, or two where predicates come first and objects then.

The second of two steps goes on in the conversation of the first, so that the model fills in what it
named itself, word by word: nothing of its first reply has to be read.
"""

from __future__ import annotations

import json

from proofstone.errors import BadUsage
from proofstone.identity import content_id
from proofstone.methods.bequ.payloads import Entity, entity_of
from proofstone.methods.bequ.prompting import first_prompt, second_prompt, shaping_texts
from proofstone.methods.bequ.ways import read_way
from proofstone.ports import BankReader, Call
from proofstone.records import ItemSet, LoadedItem, Message, Oracle, TextForm, Way

__all__ = ["PREDICATES", "TRIPLES", "ask", "prepare"]

PREDICATES = "predicates"
TRIPLES = "triples"
_TEXT_VERSION = 1  # raised by every change of the texts for base models
_ANSWER = "\n\nAnswer:\n"
_NOTHING = "[]"


def prepare(name: str, shots: int, _item_set: ItemSet, _bank: BankReader | None) -> Way:
    """A way of asking. Raises BadUsage for an unknown one, and for worked examples: there are
    none, since they would show which triples are wanted."""
    way = read_way(name)
    if shots:
        raise BadUsage(f"entities are asked about without worked examples, not with {shots}")
    key = [way.prompts, way.times, way.range, shaping_texts(way)]
    return Way(
        name=way.name,
        last_step=TRIPLES,
        prompt_hash=content_id("bequ.prompt", key),
        text=TextForm(version=_TEXT_VERSION),
    )


async def ask(item: LoadedItem, way: Way, call: Call) -> None:
    """Asks about one entity."""
    entity, asked = entity_of(item), read_way(way.name)
    turns = [Message("user", first_prompt(entity, asked))]
    if asked.prompts == "two-step":
        reply = await call(PREDICATES, _as_sent(turns, way), oracle=_oracle(entity, PREDICATES))
        turns.append(Message("assistant", reply.text.strip() or _NOTHING))
        turns.append(Message("user", second_prompt(entity, asked)))
    await call(TRIPLES, _as_sent(turns, way), oracle=_oracle(entity, TRIPLES))


def _as_sent(turns: list[Message], way: Way) -> list[Message]:
    """The conversation, in one text for a model that only goes on with one."""
    if not way.as_text:
        return turns
    parts = [turn.text + (_ANSWER if turn.role == "user" else "\n\n") for turn in turns]
    return [Message("user", "".join(parts).rstrip() + "\n")]


# ---------------------------------------------------------------- simulated respondents


def _oracle(entity: Entity, step: str) -> Oracle:
    """What a simulated respondent may look at: that an entity is an entity is all that is known
    of it here; of one that does not exist nothing is to be said."""
    said: list[object] = [{"subject": entity.name, "predicate": "instanceOf", "object": "entity"}]
    known = json.dumps(["instanceOf"] if step == PREDICATES else said, ensure_ascii=False)
    if entity.is_fictional:
        return Oracle(gold=_NOTHING, choices=(known,))
    return Oracle(gold=known, choices=(_NOTHING,))

"""Asking: one call an entity, or in two steps one for its predicates and one for each of them.

A predicate list that is empty, or cannot be read, ends the asking: the entity is then finished by
its first reply.
"""

from __future__ import annotations

import json
import re
from typing import Any

from proofstone.errors import BadUsage
from proofstone.identity import content_id
from proofstone.methods.bequ.payloads import Entity, entity_of
from proofstone.methods.bequ.prompting import asked_messages, shaping_texts
from proofstone.methods.bequ.ways import TWO_STEP, read_way, schema_predicates
from proofstone.ports import BankReader, Call
from proofstone.records import ItemSet, LoadedItem, Message, Oracle, TextForm, Way

__all__ = [
    "MOST_PREDICATES",
    "PREDICATES",
    "TRIPLES",
    "ask",
    "is_of_triples",
    "prepare",
    "read_predicates",
]

PREDICATES = "predicates"
TRIPLES = "triples"
_OBJECTS = "objects "  # and the number of the predicate, from 1; that of the last is TRIPLES
MOST_PREDICATES = 100  # are asked for: what a reply lists beyond is a runaway
_TEXT_VERSION = 2  # raised by every change of the texts for base models
_ANSWER = "\n\nAnswer:\n"
_NOTHING = "[]"
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)+)"')
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")
_LONGEST = 80  # characters of a predicate


def prepare(name: str, shots: int, _item_set: ItemSet, _bank: BankReader | None) -> Way:
    """A way of asking. Raises BadUsage for an unknown one, and for worked examples: there are
    none, since they would show which triples are wanted."""
    way = read_way(name)
    if shots:
        raise BadUsage(f"entities are asked about without worked examples, not with {shots}")
    listed = schema_predicates(way.prompts)
    key = [way.prompts, way.times, way.range, shaping_texts(way), listed]
    return Way(
        name=way.name,
        last_step=TRIPLES,
        prompt_hash=content_id("bequ.prompt", key),
        text=TextForm(version=_TEXT_VERSION),
        whole_response="every triple of a response is read, and its place is kept",
    )


async def ask(item: LoadedItem, way: Way, call: Call) -> None:
    """Asks about one entity."""
    entity, asked = entity_of(item), read_way(way.name)
    if asked.prompts != TWO_STEP:
        turns = asked_messages(entity, asked, own=way.own_prompt)
        await call(TRIPLES, _as_sent(turns, way), oracle=_oracle(entity, TRIPLES))
        return
    turns = asked_messages(entity, asked, own=way.own_prompt)
    reply = await call(PREDICATES, _as_sent(turns, way), oracle=_oracle(entity, PREDICATES))
    predicates = read_predicates(reply.text)[:MOST_PREDICATES]
    for number, predicate in enumerate(predicates, start=1):
        turns = asked_messages(entity, asked, predicate=predicate, own=way.own_prompt)
        step = TRIPLES if number == len(predicates) else f"{_OBJECTS}{number}"
        await call(step, _as_sent(turns, way), oracle=_oracle(entity, TRIPLES))


def is_of_triples(step: str) -> bool:
    """Whether the reply to a step holds triples."""
    return step == TRIPLES or step.startswith(_OBJECTS)


def read_predicates(text: str) -> tuple[str, ...]:
    """The predicates that a reply lists, each once: of a JSON array, of one that was cut off or
    written wrongly, or of lines with bullets or numbers."""
    opened = text.find("[")
    found = _of_json(text[opened:]) if opened >= 0 else None
    if found is None and opened >= 0:
        found = [match[1] for match in _QUOTED.finditer(text, opened)]
    if found is None:
        lines = [line for line in text.splitlines() if _BULLET.match(line)]
        found = [_BULLET.sub("", line).strip(" \t\"'`*.,;") for line in lines]
    plain = (" ".join(each.split()) for each in found)
    kept = {each.casefold(): each for each in plain if 0 < len(each) <= _LONGEST}
    return tuple(kept.values())


def _of_json(text: str) -> list[str] | None:
    try:
        found: Any = json.JSONDecoder().raw_decode(text)[0]
    except ValueError:
        return None
    named = [each.get("predicate") if isinstance(each, dict) else each for each in found]
    return [each for each in named if isinstance(each, str)]


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

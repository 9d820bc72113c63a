"""Prompts by a person's own template, such as one that holds a published text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from proofstone.engines.templates import Template, Turns, read_template, read_turns
from proofstone.errors import BadInput
from proofstone.methods.bequ.payloads import Entity
from proofstone.methods.bequ.ways import TWO_STEP, ReadWay, read_way, schema_predicates
from proofstone.records import ItemSet, Message, OwnPrompt

__all__ = ["VARIABLES", "check_prompt", "own_prompt_messages"]

VARIABLES: Mapping[str, str] = {
    "entity": "the entity's name",
    "description": "what its list says that it is; often empty",
    "known": "the number of triples asked for of a widely known entity: 50 to 100 triples",
    "little_known": "the same of a little known one: 5 to 10 triples",
    "predicates": "the closed list of wikidata and schema-org; empty for other sets",
    "predicate": "of two-step, the predicate whose objects are asked for; empty in the first step",
    "way": "the set of prompts, such as direct or wikidata",
}
# A last line that is the entity alone becomes the user message, what is before it the system one.
_ENTITY_LAST = re.compile(r"\n[^\S\n]*\{\{-?\s*entity\s*-?\}\}\s*\Z")


def check_prompt(prompt: OwnPrompt, way: str, _item_set: ItemSet) -> None:
    """Raises BadInput with every problem of the template, or where it leaves out the entity, or in
    two steps the predicate."""
    _turns(prompt.text, prompt.name)
    uses = _template(prompt.text, prompt.name).uses
    two_steps = read_way(way).prompts == TWO_STEP
    needed = ("entity", "predicate") if two_steps else ("entity",)
    if not uses.issuperset(needed):
        raise BadInput(
            f"the template {prompt.name} does not show what {way} asks: it must use "
            f"{' and '.join(needed)}",
            hint=f"it uses {', '.join(sorted(uses)) or 'nothing of the entity'}; see "
            "docs/prompts.md",
        )


def own_prompt_messages(
    prompt: OwnPrompt, entity: Entity, way: ReadWay, predicate: str
) -> list[Message]:
    """What a model is sent: the turns that the template marks, else one user message, or the
    instruction as the system message where the template ends with the entity alone. Raises BadInput
    where the template fails on it."""
    values = {
        "entity": entity.name,
        "description": entity.description,
        "known": way.range.known_text,
        "little_known": way.range.little_known_text,
        "predicates": list(schema_predicates(way.prompts)),
        "predicate": predicate,
        "way": way.name,
    }
    turns = _turns(prompt.text, prompt.name)
    found = None if turns.before else _ENTITY_LAST.search(prompt.text)
    if found is None:
        return [*turns.messages_before(values), Message("user", turns.asks.render(values))]
    instruction = _template(prompt.text[: found.start()], prompt.name).render(values)
    return [Message("system", instruction), Message("user", entity.name)]


@lru_cache(maxsize=32)
def _template(text: str, name: str) -> Template:
    return read_template(text, name, VARIABLES)


@lru_cache(maxsize=32)
def _turns(text: str, name: str) -> Turns:
    return read_turns(text, name, VARIABLES)

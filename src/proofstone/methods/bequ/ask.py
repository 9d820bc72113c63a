"""Elicit triples: one call per entity, or two steps (predicates, then one call per predicate).

An empty or unparsed predicate list ends the elicitation. The entity is then complete after its
first response.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from proofstone.errors import BadInput, BadUsage
from proofstone.method import OwnPrompts
from proofstone.methods.bequ.entities import Entity, entity_of
from proofstone.records.calls import Call, Message
from proofstone.records.ids import content_id
from proofstone.records.items import ItemSet, LoadedItem, Oracle, OwnPrompt, PromptMethod, TextForm
from proofstone.records.knowledge import BankReader
from proofstone.texts.templates import Template, Turns, read_template, read_turns

if TYPE_CHECKING:
    from jinja2 import Template as Jinja2Template


@cache
def _template(name: str) -> Jinja2Template:
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415  (kept out of the import)

    # Prompts are plain text: escaping would change the names in them.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(_prompt_text(name))


@cache
def _prompt_text(name: str) -> str:
    path = files(__package__).joinpath(f"prompts/{name}.jinja")
    return path.read_text(encoding="utf-8").rstrip("\n")


# Prompting methods: a prompt template, and the number of triples that it requests
# (``wikidata@25-50``).

PROMPT_METHODS = {
    "direct": "triples about an entity, in one request",
    "repeated-2": "like direct, with the instruction twice in one request",
    "repeated-3": "like direct, with the instruction three times; also repeated-4 to -9",
    "wikidata": "only predicates of a closed list of 50 Wikidata properties",
    "wikidata-open": "predicates of Wikidata or others",
    "schema-org": "only predicates of a closed list of 25 Schema.org properties",
    "schema-org-open": "predicates of Schema.org or others",
    "two-step": "first the applicable predicates, then one request per predicate for its objects",
}


TWO_STEP = "two-step"


RANGES_SIGN = "@"


_REPEATED = re.compile(r"repeated-([2-9])")


class Range(Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the numbers of triples requested for a well-known and a little-known entity.

    Also holds the maximum number of output tokens.
    """

    known: tuple[int, int]
    little_known: tuple[int, int]
    max_tokens: int

    @property
    def name(self) -> str:
        """Return the range for a well-known entity, such as ``50-100``."""
        return f"{self.known[0]}-{self.known[1]}"

    @property
    def known_text(self) -> str:
        """Return the number of triples for a well-known entity in words: ``50 to 100 triples``."""
        return _in_words(self.known)

    @property
    def little_known_text(self) -> str:
        """Return the number of triples for a little-known entity in words."""
        return _in_words(self.little_known)


class ReadPromptMethod(Struct, frozen=True):
    """Hold a parsed prompting method: prompt template, instruction repetitions and number of
    triples.
    """

    prompts: str
    times: int
    range: Range

    @property
    def name(self) -> str:
        """Return the name, without the default range."""
        prompts = self.prompts if self.times == 1 else f"repeated-{self.times}"
        is_default = self.range == default_range()
        return prompts if is_default else f"{prompts}{RANGES_SIGN}{self.range.name}"


def read_prompt_method(name: str) -> ReadPromptMethod:
    """Parse the name of a prompting method. Raises BadUsage with the available names."""
    prompts, sign, wanted = name.partition(RANGES_SIGN)
    repeated = _REPEATED.fullmatch(prompts)
    if prompts not in PROMPT_METHODS and repeated is None:
        raise BadUsage(
            f"unknown prompting method {name!r}; expected one of: {', '.join(PROMPT_METHODS)}"
        )
    if sign and wanted not in ranges():
        raise BadUsage(
            f"unknown range of triples {wanted!r}; expected one of: {', '.join(ranges())}",
            hint=(
                "each range applies to well-known entities; little-known entities have a "
                "smaller one"
            ),
        )
    if sign and prompts == TWO_STEP:
        raise BadUsage(
            f"{TWO_STEP} sends one request per predicate and sets no number of triples; the "
            f"range {wanted!r} does not apply",
            hint=f"leave the range out for {TWO_STEP}",
        )
    asked = ranges()[wanted] if sign else default_range()
    return (
        ReadPromptMethod("direct", int(repeated[1]), asked)
        if repeated
        else ReadPromptMethod(prompts, 1, asked)
    )


def _in_words(numbers: tuple[int, int]) -> str:
    low, high = numbers
    if low == high:
        return f"{low} triple" if low == 1 else f"{low} triples"
    return f"{low} to {high} triples"


def settings(name: str) -> dict[str, Any]:
    """Return the default settings of a prompting method. Raises BadUsage for an unknown one."""
    prompt_method = read_prompt_method(name)
    return {"max_tokens": prompt_method.range.max_tokens, "temperature": _defaults()["temperature"]}


@cache
def ranges() -> dict[str, Range]:
    """Return the ranges by name, the default first."""
    found = msgspec.convert(_defaults()["range"], dict[str, Range])
    return {one.name: one for one in found.values()}


def default_range() -> Range:
    """Return the default range."""
    return next(iter(ranges().values()))


@cache
def schema_predicates(prompts: str) -> tuple[str, ...]:
    """Return the predicates that a prompt template allows; empty if it allows any."""
    text = files(__package__).joinpath("schemas.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text).get(prompts, ()))


@cache
def _defaults() -> dict[str, Any]:
    text = files(__package__).joinpath("defaults.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


# Prompts from a user's template, for example a published text.

VARIABLES: Mapping[str, str] = {
    "entity": "the entity's name",
    "description": "description of the entity in the list; often empty",
    "known": "number of triples requested for a well-known entity: 50 to 100 triples",
    "little_known": "number of triples requested for a little-known entity: 5 to 10 triples",
    "predicates": "closed predicate list of wikidata and schema-org; empty for other templates",
    "predicate": (
        "two-step only: the predicate whose objects are requested; empty in the first step"
    ),
    "prompt_method": "prompt template, such as direct or wikidata",
}


# If the last line is only the entity, it becomes the user message and the rest the system message.
_ENTITY_LAST = re.compile(r"\n[^\S\n]*\{\{-?\s*entity\s*-?\}\}\s*\Z")


def check_prompt(prompt: OwnPrompt, prompt_method: str, _item_set: ItemSet) -> None:
    """Check a prompt template. Raises BadInput with every problem.

    The template must use the entity and, in two-step prompting, the predicate.
    """
    _turns(prompt.text, prompt.name)
    uses = _own_prompts_template(prompt.text, prompt.name).uses
    two_steps = read_prompt_method(prompt_method).prompts == TWO_STEP
    needed = ("entity", "predicate") if two_steps else ("entity",)
    if not uses.issuperset(needed):
        raise BadInput(
            f"the template {prompt.name} lacks fields that {prompt_method} needs; it must use "
            f"{' and '.join(needed)}",
            hint=(
                f"it uses {', '.join(sorted(uses)) or 'no field of the entity'}; see "
                "docs/reference/formats.md"
            ),
        )


PROMPTS = OwnPrompts(variables=VARIABLES, check=check_prompt)


def own_prompt_messages(
    prompt: OwnPrompt, entity: Entity, prompt_method: ReadPromptMethod, predicate: str
) -> list[Message]:
    """Return the messages for a model: the turns marked in the template, or one user message.

    If the template ends with the entity alone, the text before it is the system message. Raises
    BadInput if the template fails to render.
    """
    values = {
        "entity": entity.name,
        "description": entity.description,
        "known": prompt_method.range.known_text,
        "little_known": prompt_method.range.little_known_text,
        "predicates": list(schema_predicates(prompt_method.prompts)),
        "predicate": predicate,
        "prompt_method": prompt_method.name,
    }
    turns = _turns(prompt.text, prompt.name)
    found = None if turns.before else _ENTITY_LAST.search(prompt.text)
    if found is None:
        return [*turns.messages_before(values), Message("user", turns.asks.render(values))]
    instruction = _own_prompts_template(prompt.text[: found.start()], prompt.name).render(values)
    return [Message("system", instruction), Message("user", entity.name)]


@lru_cache(maxsize=32)
def _own_prompts_template(text: str, name: str) -> Template:
    return read_template(text, name, VARIABLES)


@lru_cache(maxsize=32)
def _turns(text: str, name: str) -> Turns:
    return read_turns(text, name, VARIABLES)


# Prompts from files, rendered for an entity. All are in English, as in the paper.
#
# The instruction is the system message, and the entity's name the user message.

_FILES = {TWO_STEP: ("predicates", "list", "objects", "form")}


def asked_messages(
    entity: Entity,
    prompt_method: ReadPromptMethod,
    *,
    predicate: str = "",
    own: OwnPrompt | None = None,
) -> list[Message]:
    """Return the messages for an entity: all of them, or one step of two-step prompting.

    With a ``predicate`` it is the second step, without one the first. ``own`` is a user's template
    that replaces the built-in one.
    """
    if own is not None:
        return own_prompt_messages(own, entity, prompt_method, predicate)
    lines = [entity.name]
    lines += [f"What it is: {entity.description}"] if entity.description else []
    lines += [f"Predicate: {predicate}"] if predicate else []
    return [
        Message("system", _instruction(prompt_method, predicate)),
        Message("user", "\n".join(lines)),
    ]


def shaping_texts(prompt_method: ReadPromptMethod) -> tuple[str, ...]:
    """Return all texts that shape the prompts of a prompting method."""
    return tuple(
        _prompt_text(name)
        for name in _FILES.get(prompt_method.prompts, (prompt_method.prompts, "form"))
    )


def _instruction(prompt_method: ReadPromptMethod, predicate: str) -> str:
    if prompt_method.prompts == TWO_STEP:
        name, form = ("objects", "form") if predicate else ("predicates", "list")
        return f"{_prompt_text(name)}\n\n{_prompt_text(form)}"
    once = _template(prompt_method.prompts).render(
        known=prompt_method.range.known_text,
        little_known=prompt_method.range.little_known_text,
        predicates=schema_predicates(prompt_method.prompts),
    )
    return "\n\n".join([f"{once}\n\n{_prompt_text('form')}"] * prompt_method.times)


PREDICATES = "predicates"


TRIPLES = "triples"


_OBJECTS = "objects "  # and the number of the predicate, from 1; the last number is TRIPLES


MOST_PREDICATES = 100  # requested: more than that is a runaway response


_TEXT_VERSION = 2  # incremented with every change of the texts for base models


_ANSWER = "\n\nAnswer:\n"


_NOTHING = "[]"


_QUOTED = re.compile(r'"((?:[^"\\]|\\.)+)"')


_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+")


_LONGEST = 80  # characters of a predicate


def prepare(name: str, shots: int, _item_set: ItemSet, _bank: BankReader | None) -> PromptMethod:
    """Prepare a prompting method. Raises BadUsage for an unknown one or for few-shot examples.

    Few-shot examples are not supported: they would show which triples are expected.
    """
    prompt_method = read_prompt_method(name)
    if shots:
        raise BadUsage(f"BeQu supports no few-shot examples, got {shots}")
    listed = schema_predicates(prompt_method.prompts)
    key = [
        prompt_method.prompts,
        prompt_method.times,
        prompt_method.range,
        shaping_texts(prompt_method),
        listed,
    ]
    return PromptMethod(
        name=prompt_method.name,
        last_step=TRIPLES,
        prompt_hash=content_id("bequ.prompt", key),
        text=TextForm(version=_TEXT_VERSION),
        whole_response="every triple of a response is read, and its position is kept",
    )


async def ask(item: LoadedItem, prompt_method: PromptMethod, call: Call) -> None:
    """Elicit triples about one entity."""
    entity, asked = entity_of(item), read_prompt_method(prompt_method.name)
    if asked.prompts != TWO_STEP:
        turns = asked_messages(entity, asked, own=prompt_method.own_prompt)
        await call(TRIPLES, _as_sent(turns, prompt_method), oracle=_oracle(entity, TRIPLES))
        return
    turns = asked_messages(entity, asked, own=prompt_method.own_prompt)
    response = await call(
        PREDICATES, _as_sent(turns, prompt_method), oracle=_oracle(entity, PREDICATES)
    )
    predicates = read_predicates(response.text)[:MOST_PREDICATES]
    for number, predicate in enumerate(predicates, start=1):
        turns = asked_messages(entity, asked, predicate=predicate, own=prompt_method.own_prompt)
        step = TRIPLES if number == len(predicates) else f"{_OBJECTS}{number}"
        await call(step, _as_sent(turns, prompt_method), oracle=_oracle(entity, TRIPLES))


def is_of_triples(step: str) -> bool:
    """Return True if the response to a step holds triples."""
    return step == TRIPLES or step.startswith(_OBJECTS)


def read_predicates(text: str) -> tuple[str, ...]:
    """Return the distinct predicates that a response lists.

    Reads a JSON array (also a truncated or malformed one) and lines with bullets or numbers.
    """
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


def _as_sent(turns: list[Message], prompt_method: PromptMethod) -> list[Message]:
    """Join the conversation into one text for a base model."""
    if not prompt_method.as_text:
        return turns
    parts = [turn.text + (_ANSWER if turn.role == "user" else "\n\n") for turn in turns]
    return [Message("user", "".join(parts).rstrip() + "\n")]


# --------------------------------------------------------------------- simulated models


def _oracle(entity: Entity, step: str) -> Oracle:
    """Return what a simulated model may use.

    Only the existence of the entity is known here. For a non-existent entity the expected response
    is empty.
    """
    said: list[object] = [{"subject": entity.name, "predicate": "instanceOf", "object": "entity"}]
    known = json.dumps(["instanceOf"] if step == PREDICATES else said, ensure_ascii=False)
    if entity.is_nonexistent:
        return Oracle(answer_key=_NOTHING, choices=(known,))
    return Oracle(answer_key=known, choices=(_NOTHING,))

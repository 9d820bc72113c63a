"""Items, item sets, units and what is asked: the questions and how they are put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, structs

from proofstone.identity import content_id, short
from proofstone.records.context import Evidence, Retrieved
from proofstone.records.knowledge import Fact, Passage, Stratum
from proofstone.records.own_prompts import OwnPrompt

__all__ = [
    "Item",
    "ItemLabel",
    "ItemSet",
    "LoadedItem",
    "Oracle",
    "TextForm",
    "Unit",
    "Way",
]


class Item(Struct, frozen=True, gc=False, kw_only=True):
    """What a model is asked. ``payload`` is the method's tagged struct (a composed question, an
    imported one, an entity); ``facts`` the ids it rests on, in the order the payload counts them.

    ``number`` is the place in the draw that made it, so that dropping one item changes no other.
    """

    id: bytes = b""
    kind: str
    payload: Any
    facts: tuple[bytes, ...] = ()
    language: str = ""
    stratum: Stratum = Stratum()
    number: int = 0
    corrects: bytes | None = None


def identified_item(item: Item) -> Item:
    """The item with the id of its content, whichever it had."""
    identity = item_id(item)
    return item if item.id == identity else structs.replace(item, id=identity)


def item_id(item: Item) -> bytes:
    """The id of an item: payload, facts, language, stratum and draw number."""
    key = [item.kind, item.payload, item.facts, item.language, item.stratum, item.number]
    return content_id("item", [*key, item.corrects])


class ItemSet(Struct, frozen=True, gc=False, kw_only=True):
    """A frozen ordered list of items. A form, an entity list and an imported file are item sets.

    ``recipe`` holds all that made it (composer version, parameters) as plain JSON values; a
    composed set's id hashes bank, seed and recipe, an imported one's its item ids. ``corrects``
    names the set that this one was made from by correcting some of its items; all that is said of
    how the set was made is then said of that one.
    """

    id: bytes = b""
    name: str
    kind: Literal["form", "imported", "entities"]
    method: str
    bank: bytes | None = None
    seed: int | None = None
    recipe: dict[str, Any] = {}
    n_items: int = 0
    corrects: bytes | None = None

    def __repr__(self) -> str:  # a notebook shows this
        size = f"{self.n_items:,} items" + ("" if self.seed is None else f"  seed {self.seed}")
        return f"<{self.kind}:{short(self.id)}  {self.name}  {self.method}  {size}>"


def composed_set_id(method: str, bank: bytes, seed: int, recipe: Mapping[str, Any]) -> bytes:
    """The id of a set composed from a bank."""
    return content_id("item-set", [method, bank, seed, dict(recipe)])


def imported_set_id(
    method: str, items: tuple[bytes, ...], labels: Sequence[ItemLabel] = ()
) -> bytes:
    """The id of a set imported from a file: its items in order, with their labels where there are
    any."""
    if not any(labels):
        return content_id("item-set-imported", [method, items])
    named = [[label.name, dict(label.metadata)] for label in labels]
    return content_id("item-set-imported", [method, items, named])


def corrected_set(former: ItemSet, items: Sequence[Item]) -> ItemSet:
    """The set that corrects ``former``, with these items in its order; its id hashes both."""
    key = [former.method, former.id, [item.id for item in items]]
    identity = content_id("item-set-corrected", key)
    return structs.replace(former, id=identity, corrects=former.id, n_items=len(items))


class ItemLabel(Struct, frozen=True, gc=False):
    """What a file calls an item: its own id there, and the columns of its row that mean nothing to
    the method (``{"difficulty": "hard"}``). No part of the item's content and id."""

    name: str = ""
    metadata: Mapping[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self.name or self.metadata)


class LoadedItem(Struct, frozen=True, gc=False):
    """An item with the facts it rests on, in the item's order, as ``ask`` and ``units`` take it.

    ``passages`` are those that the facts were made from, each once, where the item is asked with
    them; where it is asked with what a search found, that part of each passage alone. ``label`` is
    what the file calls it that it was imported from."""

    item: Item
    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...] = ()
    label: ItemLabel = ItemLabel()


class Oracle(Struct, frozen=True, gc=False):
    """What a simulated respondent may look at, and no endpoint ever sees: the right choice, all
    choices, and the template of a reply that states one (``{choice}`` is replaced). A reply that
    answers several things has ``parts``, one a line, and nothing else counts then."""

    gold: str
    choices: tuple[str, ...]
    reply: str = "{choice}"
    parts: tuple[Oracle, ...] = ()


class TextForm(Struct, frozen=True, gc=False, kw_only=True):
    """How a way is put to a model that only goes on with a text: ``stop`` are the texts that end
    an answer there (the head of the next question), ``version`` is raised when the text changes."""

    stop: tuple[str, ...] = ()
    version: int = 0


class Way(Struct, frozen=True, gc=False, kw_only=True):
    """A way of asking, ready: its name, the step whose reply finishes an item, and everything that
    shapes a prompt (templates' text, worked examples) as one hash that enters the run's id.
    ``shots`` is what worked examples are chosen from, ``n_shots`` how many one prompt shows.

    ``images``: its prompts show images, so that a model must take them.

    ``as_text`` is set for a model that only goes on with a text: the method then asks in one user
    message that holds the whole text, ``text`` says where an answer ends.

    ``unfit`` are facts that no worked example may rest on: former versions of what is asked.

    ``own_prompt`` is a person's template that questions are put by, in place of the method's.

    ``evidence`` is set where each item is asked with its passages; they are put into the prompts
    that the method makes, so a method does nothing for it. ``retrieved`` is the same for what a
    search found.

    ``whole_response`` says why answers are read from the whole response, so that no format of
    answers can be stated; empty where one can."""

    name: str
    last_step: str
    prompt_hash: bytes
    shots: tuple[LoadedItem, ...] = ()
    n_shots: int = 0
    images: bool = False
    text: TextForm = TextForm()
    as_text: bool = False
    unfit: frozenset[bytes] = frozenset()
    own_prompt: OwnPrompt | None = None
    evidence: Evidence | None = None
    retrieved: Retrieved | None = None
    whole_response: str = ""


class Unit(Struct, frozen=True, gc=False, kw_only=True):
    """What is scored: an item, or something found in a response (then ``kind`` and ``payload`` say
    what). ``replies`` are the texts by step it is scored on, of one sample; ``clusters`` the keys
    (kind, key) whose sharing makes two units dependent."""

    item: LoadedItem
    kind: str = "item"
    payload: Any = None
    sample: int = 0
    replies: Mapping[str, Any] = {}
    clusters: tuple[tuple[str, bytes], ...] = ()

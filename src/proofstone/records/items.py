"""Items, item sets, units and what is asked: the questions and how they are put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from proofstone.records.ids import content_id, digest, short
from proofstone.records.knowledge import Fact, Passage, Stratum

# A prompt template of a person's own, in place of the method's: every row it made says so.

# Settings of a run that was asked so: the template's hash, which makes the run another one, and the
# name of its file, which only says how people call it.
PROMPT = "prompt"


PROMPT_NAME = "prompt_name"


class OwnPrompt(Struct, frozen=True, gc=False):
    """A template: the ``name`` of its file, without any folder, and its text. ``file`` is where it
    lies on this machine, for commands to name; no run, export or merge has it."""

    name: str
    text: str
    file: str = ""

    @property
    def hash(self) -> bytes:
        """SHA-256 of the text in UTF-8."""
        return digest(self.text.encode())

    def __str__(self) -> str:
        return _label(self.name, self.hash)


def own_prompt_of(settings: Mapping[str, Any]) -> str:
    """How the rows of a run with these settings are marked: ``mine.jinja (3f2a91bc)``; empty where
    the method's own prompt asked."""
    if PROMPT not in settings:
        return ""
    return _label(settings.get(PROMPT_NAME, ""), bytes.fromhex(settings[PROMPT]))


def _label(name: str, identity: bytes) -> str:
    return f"{name} ({short(identity)})".lstrip()


# What a question is asked with: nothing beside it, the passages that it rests on, or what a search
# found for it.

ContextName = Literal["none", "evidence", "retrieved"]


CONTEXTS: tuple[ContextName, ...] = get_args(ContextName)


# Settings of a run that was asked with a context; one asked with nothing has none of them. How many
# items were left out only says what came of the others, and is no part of the run's id.
CONTEXT = "context"


CONTEXT_TOKENS = "context_tokens"


CONTEXT_CHUNKS = "context_chunks"


CONTEXT_SEARCH = "context_search"


CONTEXT_INDEX = "context_index"


# Only of a search of the web, and only where another embedder than the carried one is named.
CONTEXT_SOURCE = "context_source"


CONTEXT_EMBEDDING_MODEL = "context_embedding_model"


LEFT_OUT = "context_left_out"


CONTEXT_SETTINGS = (
    CONTEXT, CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_SEARCH, CONTEXT_INDEX, CONTEXT_SOURCE,
    CONTEXT_EMBEDDING_MODEL, LEFT_OUT,
)  # fmt: skip


class Evidence(Struct, frozen=True, gc=False):
    """Items are asked with all passages that they rest on, or not at all.

    ``most_tokens`` bounds the passages of one item together. ``left_out`` are the places in the set
    of items that are not asked: ``n_without`` because a fact of theirs has no passage here,
    ``n_too_long`` because the passages pass the bound.
    """

    most_tokens: int
    left_out: frozenset[int] = frozenset()
    n_without: int = 0
    n_too_long: int = 0


class ShownChunk(Struct, frozen=True, gc=False):
    """What a prompt shows of a passage (its id): code points [start, end) of its text."""

    passage: bytes
    start: int
    end: int


class Retrieved(Struct, frozen=True, kw_only=True):
    """Each item is asked with the chunks that a search found for it, best first, by item id; one
    without any is asked as it is.

    At most ``chunks`` of them and ``most_tokens`` tokens together, searched by ``search`` (with
    ``embedding_model``, where it is not the carried one) in the index named by ``index``, which is
    another one whenever a source changed. ``source`` is "local", or the search of the web that
    found the texts; then ``failed`` are items whose search failed, and why: they are not asked, and
    ``n_unsearched`` is how many were not searched for yet, where nothing may be sent.
    """

    by_item: Mapping[bytes, tuple[ShownChunk, ...]]
    chunks: int
    most_tokens: int
    search: str
    index: str
    source: str = "local"
    embedding_model: str = ""
    failed: Mapping[bytes, str] = {}
    n_unsearched: int = 0


def context_of(settings: Mapping[str, Any]) -> ContextName:
    """The context that a run with these settings was asked with."""
    found = settings.get(CONTEXT)
    return next((name for name in CONTEXTS if name == found), "none")


def context_label(settings: Mapping[str, Any]) -> str:
    """How rows of such a run are marked: ``context=evidence``, ``context=retrieved`` (of the
    workspace's own sources by words), ``context=retrieved:brave``; empty where nothing was
    added."""
    context = context_of(settings)
    if context == "none":
        return ""
    label = search_label(settings) if context == "retrieved" else "local"
    return f"{CONTEXT}={context}" + ("" if label == "local" else f":{label.replace(', ', ',')}")


def search_label(settings: Mapping[str, Any]) -> str:
    """Where and how a run's texts were searched for: ``local``, ``local, dense``,
    ``searxng:bing``, ``brave, hybrid``."""
    prompt_method = str(settings.get(CONTEXT_SEARCH, "bm25"))
    parts = [str(settings.get(CONTEXT_SOURCE, "local"))]
    parts += [] if prompt_method == "bm25" else [prompt_method]
    parts += [str(settings[CONTEXT_EMBEDDING_MODEL])] if CONTEXT_EMBEDDING_MODEL in settings else []
    return ", ".join(parts)


def left_out_of(settings: Mapping[str, Any]) -> int:
    """How many items of its set a run does not ask."""
    return int(settings.get(LEFT_OUT, 0))


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
    answers several things has ``parts``, one a line, and nothing else counts then. ``scored`` is
    the choice whose text a request scores; what is drawn is then the same for all of them."""

    answer_key: str
    choices: tuple[str, ...]
    response: str = "{choice}"
    scored: str = ""
    parts: tuple[Oracle, ...] = ()


class TextForm(Struct, frozen=True, gc=False, kw_only=True):
    """How a way is put to a model that only goes on with a text: ``stop`` are the texts that end
    an answer there (the head of the next question), ``version`` is raised when the text changes."""

    stop: tuple[str, ...] = ()
    version: int = 0


class PromptMethod(Struct, frozen=True, gc=False, kw_only=True):
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
    answers can be stated; empty where one can.

    ``likelihood``: nothing is generated; the options' texts are scored, or their letters. Without
    ``as_text`` letters are looked up in the most probable next tokens."""

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
    likelihood: Literal["", "text", "letter"] = ""


class Unit(Struct, frozen=True, gc=False, kw_only=True):
    """What is scored: an item, or something found in a response (then ``kind`` and ``payload`` say
    what). ``responses`` are the texts by step it is scored on, of one sample; ``clusters`` the keys
    (kind, key) whose sharing makes two units dependent."""

    item: LoadedItem
    kind: str = "item"
    payload: Any = None
    sample: int = 0
    responses: Mapping[str, Any] = {}
    clusters: tuple[tuple[str, bytes], ...] = ()


# Presets: what follows the paper, what the paper leaves open, and what differs and why.

Status = Literal["published", "open", "ours"]


STATUSES: tuple[Status, ...] = get_args(Status)


class Choice(Struct, frozen=True, kw_only=True):
    """One choice of a preset.

    ``published`` is what the paper says, ``where`` the section, ``here`` what the preset does.
    ``status`` is "published" where the preset follows the paper, "open" where the paper does not
    say and ``here`` decides, "ours" where the preset differs, with the reason in ``why``. ``at``
    names the command that takes it, ``parameter`` and ``value`` what is set there, a list where
    everything is asked once with each; without a parameter it is so anyway.
    """

    what: str
    where: str
    status: Status
    published: str
    here: str
    why: str = ""
    at: Literal["build form", "run", "grade", ""] = ""
    parameter: str = ""
    value: Any = None


class Preset(Struct, frozen=True, kw_only=True):
    """A named set of choices, in the order in which data flow. ``analysis`` is the one that shows
    what came of it, if there is one (``report --analysis``)."""

    name: str
    title: str
    paper: str
    choices: tuple[Choice, ...]
    analysis: str = ""

    def values(self, at: str) -> dict[str, Any]:
        """The parameters that it sets at a command."""
        return {c.parameter: c.value for c in self.choices if c.at == at and c.parameter}


def shown_name(item_set: ItemSet) -> str:
    """An item set's name with the digits that tell it from others of that name."""
    return f"{item_set.name}-{short(item_set.id, 4)}"


SearchMethod = Literal["bm25", "dense", "hybrid"]


SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)

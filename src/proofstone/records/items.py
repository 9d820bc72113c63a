"""Items, item sets, units, prompting methods and presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct, structs

from proofstone.records.ids import content_id, digest, short
from proofstone.records.knowledge import Fact, Passage, Stratum

# A user's prompt template that replaces the method's. Every row made with it is marked.

# Run settings for it: the template's hash, which makes it a different run, and its file name, for
# display only.
PROMPT = "prompt"


PROMPT_NAME = "prompt_name"


class OwnPrompt(Struct, frozen=True, gc=False):
    """A prompt template: the ``name`` of its file without folders, and its text.

    ``file`` is its local path, for commands only; it is not part of any run, export or merge.
    """

    name: str
    text: str
    file: str = ""

    @property
    def hash(self) -> bytes:
        """Return the SHA-256 of the text in UTF-8."""
        return digest(self.text.encode())

    def __str__(self) -> str:
        return _label(self.name, self.hash)


def own_prompt_of(settings: Mapping[str, Any]) -> str:
    """Return the label of a run's template, such as ``mine.jinja (3f2a91bc)``.

    Empty if the method's own prompt was used.
    """
    if PROMPT not in settings:
        return ""
    return _label(settings.get(PROMPT_NAME, ""), bytes.fromhex(settings[PROMPT]))


def _label(name: str, identity: bytes) -> str:
    return f"{name} ({short(identity)})".lstrip()


# Context of a question: none (closed-book), its evidence (open-book), search results (RAG), its
# whole document, or its document and search results.

ContextName = Literal["none", "evidence", "retrieved", "document", "document+retrieved"]


CONTEXTS: tuple[ContextName, ...] = get_args(ContextName)


# Run settings for a context; a closed-book run has none of them. The number of omitted items only
# describes the others, and is not part of the run's id.
CONTEXT = "context"


CONTEXT_TOKENS = "context_tokens"


CONTEXT_CHUNKS = "context_chunks"


CONTEXT_SEARCH = "context_search"


CONTEXT_INDEX = "context_index"


# Only for searches within each question's own document, and chunks of another length.
CONTEXT_WITHIN = "context_within"


CONTEXT_CHUNK_TOKENS = "context_chunk_tokens"


# Only for the beginnings of web pages.
CONTEXT_PAGE_TOKENS = "context_page_tokens"


# Only for web search, and only with an embedding model other than the bundled one.
CONTEXT_SOURCE = "context_source"


CONTEXT_EMBEDDING_MODEL = "context_embedding_model"


LEFT_OUT = "context_left_out"


CONTEXT_SETTINGS = (
    CONTEXT, CONTEXT_TOKENS, CONTEXT_CHUNKS, CONTEXT_SEARCH, CONTEXT_INDEX, CONTEXT_SOURCE,
    CONTEXT_EMBEDDING_MODEL, CONTEXT_WITHIN, CONTEXT_CHUNK_TOKENS,
    CONTEXT_PAGE_TOKENS, LEFT_OUT,
)  # fmt: skip


class Evidence(Struct, frozen=True, gc=False):
    """Open-book context: an item is asked with all its texts, or not at all.

    ``shows`` the evidence of its facts, or their documents whole. ``most_tokens`` bounds the texts
    of one item together. ``left_out`` are the indexes of items that are not asked: ``n_without``
    because a fact has no such text here, ``n_too_long`` because the texts exceed the bound.
    """

    most_tokens: int
    left_out: frozenset[int] = frozenset()
    n_without: int = 0
    n_too_long: int = 0
    shows: Literal["evidence", "document"] = "evidence"


class ShownChunk(Struct, frozen=True, gc=False):
    """The part of a passage (its id) shown in a prompt: code points [start, end) of its text."""

    passage: bytes
    start: int
    end: int


# What a search covers: all sources, or the documents of the question asked.
SearchedTexts = Literal["sources", "document"]


SEARCHED_TEXTS: tuple[SearchedTexts, ...] = get_args(SearchedTexts)


CHUNK_TOKENS = 200  # of a chunk, where nothing else is asked for


class Retrieved(Struct, frozen=True, kw_only=True):
    """RAG context: each item is asked with chunks found by a search, best first, by item id.

    Items without chunks are asked closed-book. At most ``chunks`` of them and ``most_tokens``
    tokens together, found by ``search`` (with ``embedding_model``, if not the bundled one) in the
    index named ``index``, which changes whenever a source changes. ``source`` is "local", or the
    web search used. In that case ``failed`` maps items whose search failed to the reason; they are
    not asked. ``n_unsearched`` counts items not searched yet, where nothing may be sent.

    ``within`` "document": each item's own documents were searched, each as a separate collection.
    Chunks have at most ``chunk_tokens`` tokens. With ``page_tokens`` they are the beginnings of
    ``chunks`` web pages instead, of at most so many tokens each.
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
    within: SearchedTexts = "sources"
    chunk_tokens: int = CHUNK_TOKENS
    page_tokens: int | None = None


def searches(context: ContextName) -> bool:
    """Return True for a context with search results."""
    return context in ("retrieved", "document+retrieved")


def shows_document(context: ContextName) -> bool:
    """Return True for a context with the whole document."""
    return context in ("document", "document+retrieved")


def context_of(settings: Mapping[str, Any]) -> ContextName:
    """Return the context of a run with these settings."""
    found = settings.get(CONTEXT)
    return next((name for name in CONTEXTS if name == found), "none")


def context_label(settings: Mapping[str, Any]) -> str:
    """Return the label of such a run's rows, empty without a context.

    Examples: ``context=evidence``, ``context=retrieved`` (local keyword search),
    ``context=retrieved:brave``.
    """
    context = context_of(settings)
    if context == "none":
        return ""
    label = search_label(settings) if searches(context) else "local"
    return f"{CONTEXT}={context}" + ("" if label == "local" else f":{label.replace(', ', ',')}")


def search_label(settings: Mapping[str, Any]) -> str:
    """Return where and how a run's texts were searched.

    Examples: ``local``, ``local, dense``, ``document``, ``searxng:bing``, ``brave, hybrid``.
    """
    prompt_method = str(settings.get(CONTEXT_SEARCH, "bm25"))
    parts = [str(settings.get(CONTEXT_WITHIN, settings.get(CONTEXT_SOURCE, "local")))]
    parts += [] if prompt_method == "bm25" else [prompt_method]
    parts += [str(settings[CONTEXT_EMBEDDING_MODEL])] if CONTEXT_EMBEDDING_MODEL in settings else []
    return ", ".join(parts)


def left_out_of(settings: Mapping[str, Any]) -> int:
    """Return how many items of its set a run does not ask."""
    return int(settings.get(LEFT_OUT, 0))


class Item(Struct, frozen=True, gc=False, kw_only=True):
    """A question for a model.

    ``payload`` is the method's tagged struct (a composed question, an imported one, an entity).
    ``facts`` are the ids it uses, in the payload's order. ``number`` is its index in the sampling
    that made it, so dropping one item changes no other.
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
    """Return the item with the id of its content, ignoring its current id."""
    identity = item_id(item)
    return item if item.id == identity else structs.replace(item, id=identity)


def item_id(item: Item) -> bytes:
    """Return the id of an item: payload, facts, language, stratum and number."""
    key = [item.kind, item.payload, item.facts, item.language, item.stratum, item.number]
    return content_id("item", [*key, item.corrects])


class ItemSet(Struct, frozen=True, gc=False, kw_only=True):
    """A frozen ordered list of items: a form, an entity list or an imported file.

    ``recipe`` holds everything that made it (composer version, parameters) as plain JSON values. A
    composed set's id hashes bank, seed and recipe, an imported one's its item ids. ``corrects``
    names the set that this one corrects; statements on how the set was made refer to that one.
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

    def __repr__(self) -> str:  # shown in notebooks
        size = f"{self.n_items:,} items" + ("" if self.seed is None else f"  seed {self.seed}")
        return f"<{self.kind}:{short(self.id)}  {self.name}  {self.method}  {size}>"


def composed_set_id(method: str, bank: bytes, seed: int, recipe: Mapping[str, Any]) -> bytes:
    """Return the id of a set composed from a bank."""
    return content_id("item-set", [method, bank, seed, dict(recipe)])


def imported_set_id(
    method: str, items: tuple[bytes, ...], labels: Sequence[ItemLabel] = ()
) -> bytes:
    """Return the id of a set imported from a file: its items in order, with labels if any."""
    if not any(labels):
        return content_id("item-set-imported", [method, items])
    named = [[label.name, dict(label.metadata)] for label in labels]
    return content_id("item-set-imported", [method, items, named])


def corrected_set(former: ItemSet, items: Sequence[Item]) -> ItemSet:
    """Return the set that corrects ``former``, with these items in its order; its id hashes
    both.
    """
    key = [former.method, former.id, [item.id for item in items]]
    identity = content_id("item-set-corrected", key)
    return structs.replace(former, id=identity, corrects=former.id, n_items=len(items))


class ItemLabel(Struct, frozen=True, gc=False):
    """An imported item's own id in its file, and columns unknown to the method.

    For example ``{"difficulty": "hard"}``. Not part of the item's content and id.
    """

    name: str = ""
    metadata: Mapping[str, Any] = {}

    def __bool__(self) -> bool:
        return bool(self.name or self.metadata)


class LoadedItem(Struct, frozen=True, gc=False):
    """An item with its facts, in the item's order, for ``ask`` and ``units``.

    ``passages`` is the facts' evidence in an open-book run; in a RAG run only the chunks found.
    ``documents`` are the documents of a run that shows them whole. ``label`` is its label in the
    imported file.
    """

    item: Item
    facts: tuple[Fact, ...]
    passages: tuple[Passage, ...] = ()
    documents: tuple[Passage, ...] = ()
    label: ItemLabel = ItemLabel()


class Oracle(Struct, frozen=True, gc=False):
    """Answers visible to simulated models only; never sent to an endpoint.

    The correct choice, all choices, and a response template that states one (``{choice}`` is
    replaced). A response with several answers has ``parts``, one per line, which replace the rest.
    ``scored`` is the choice whose text a request scores; the random numbers are the same for all.
    """

    answer_key: str
    choices: tuple[str, ...]
    response: str = "{choice}"
    scored: str = ""
    parts: tuple[Oracle, ...] = ()


class TextForm(Struct, frozen=True, gc=False, kw_only=True):
    """Format for completion-only models.

    ``stop`` are the texts that end an answer (the head of the next question); raise ``version``
    when the text changes.
    """

    stop: tuple[str, ...] = ()
    version: int = 0


class PromptMethod(Struct, frozen=True, gc=False, kw_only=True):
    """A prompting method, ready to use.

    It holds its name, the step whose response finishes an item, and the hash of everything that
    shapes a prompt (templates, few-shot examples), which enters the run's id. ``shots`` is the pool
    of few-shot examples, ``n_shots`` how many one prompt shows. ``images``: its prompts contain
    images, so the model must accept them.

    ``as_text`` is set for a completion-only model: the method then asks in one user message with
    the whole text, and ``text`` defines where an answer ends. ``unfit`` are facts that no few-shot
    example may use: former versions of the questions. ``own_prompt`` is the user's template that
    replaces the method's.

    ``evidence`` is set for open-book runs and ``retrieved`` for RAG runs, both if a document is
    shown with search results; the texts are inserted into the method's prompts automatically.
    ``whole_response`` is the reason why answers are read from the whole response, so that no answer
    format can be set; empty if one can.

    ``likelihood``: nothing is generated; the options' texts or letters are scored. Without
    ``as_text`` letters are looked up in the most probable next tokens.
    """

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
    """A scored unit: an item, or something found in a response (described by ``kind`` and
    ``payload``).

    ``responses`` are the texts by step it is scored on, from one sample. ``clusters`` are the keys
    (kind, key) that make units dependent if shared.
    """

    item: LoadedItem
    kind: str = "item"
    payload: Any = None
    sample: int = 0
    responses: Mapping[str, Any] = {}
    clusters: tuple[tuple[str, bytes], ...] = ()


# Presets: the settings that a paper reports, and every deviation with its reason.

Status = Literal["published", "open", "ours"]


STATUSES: tuple[Status, ...] = get_args(Status)


class Choice(Struct, frozen=True, kw_only=True):
    """One choice of a preset.

    ``published`` is what the paper says, ``where`` the section, ``here`` what the preset does.
    ``status`` is "published" if the preset follows the paper, "open" if the paper does not say and
    ``here`` decides, and "ours" if the preset differs, with the reason in ``why``. ``at`` names the
    command that takes it; ``parameter`` and ``value`` are the setting, a list to run everything
    once with each. Without a parameter it is always so.
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
    """A named set of choices, in the order of the data flow.

    ``analysis`` names the analysis that shows the results, if any (``report --analysis``).
    """

    name: str
    title: str
    paper: str
    choices: tuple[Choice, ...]
    analysis: str = ""

    def values(self, at: str) -> dict[str, Any]:
        """Return the parameters that it sets for a command."""
        return {c.parameter: c.value for c in self.choices if c.at == at and c.parameter}


def shown_name(item_set: ItemSet) -> str:
    """Return an item set's name with the id digits that make it unique."""
    return f"{item_set.name}-{short(item_set.id, 4)}"


SearchMethod = Literal["bm25", "dense", "hybrid"]


SEARCH_METHODS: tuple[SearchMethod, ...] = get_args(SearchMethod)

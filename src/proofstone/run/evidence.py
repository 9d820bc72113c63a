"""Ask items together with their source passages or with search results.

With evidence, an item is asked with all its passages or not at all. Half of them would measure
neither memory nor reading, and a shortened passage may lose the sentence that counts.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import msgspec
from msgspec import Struct, structs

from proofstone.errors import BadUsage, TextPurged
from proofstone.judging.question import fence_code, harmless
from proofstone.method import Method
from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import Call, Message, TextPart
from proofstone.records.ids import content_id, short
from proofstone.records.items import (
    CONTEXT,
    CONTEXT_CHUNKS,
    CONTEXT_EMBEDDING_MODEL,
    CONTEXT_INDEX,
    CONTEXT_SEARCH,
    CONTEXT_SOURCE,
    CONTEXT_TOKENS,
    LEFT_OUT,
    SEARCH_METHODS,
    Evidence,
    ItemSet,
    LoadedItem,
    Oracle,
    PromptMethod,
    Retrieved,
    SearchMethod,
    ShownChunk,
    left_out_of,
)
from proofstone.records.knowledge import Fact, Passage, origin_of
from proofstone.records.models import LOCAL
from proofstone.records.runs import Response, Run
from proofstone.run.run_options import CHUNKS, MOST_TOKENS
from proofstone.search.sources import OF_THE_WEB, RetrievedChunk, SourceIndex
from proofstone.store.items import StoredItem
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

# Items with search results from the workspace's sources. Unlike evidence, search results may or may
# not hold the answer, and every item is asked.

_AT_ONCE = 256  # questions searched for together


class RetrievalAsked(Struct, frozen=True, kw_only=True):
    """Hold what each item is asked with: so many chunks, of so many tokens together.

    ``search`` is the search method and ``source`` where to search (see ``SearchSource``).
    ``embedding_model`` replaces the bundled embedding model. ``index`` is the required state of the
    sources, if a run has one.
    """

    chunks: int = CHUNKS
    most_tokens: int
    search: SearchMethod = "bm25"
    source: str = LOCAL
    embedding_model: str = ""
    index: str = ""


class Retriever:
    """Find chunks for the items of sets.

    Each set is searched for once, even for several models. ``open_index`` returns the index for a
    search method and embedding model. Web results are passed in by ``know``: nothing is sent from
    here.
    """

    def __init__(
        self, store: Store, open_index: Callable[[SearchMethod, str], SourceIndex]
    ) -> None:
        self._store = store
        self._open = open_index
        self._indexes: dict[tuple[SearchMethod, str], SourceIndex] = {}
        self._known: dict[bytes, Retrieved] = {}
        self._of_the_web: dict[tuple[bytes, RetrievalAsked], Retrieved] = {}

    def index(self, search: SearchMethod, embedding_model: str = "") -> SourceIndex:
        """Return the index for a search method, opened once."""
        if (search, embedding_model) not in self._indexes:
            self._indexes[search, embedding_model] = self._open(search, embedding_model)
        return self._indexes[search, embedding_model]

    def know(self, item_set: bytes, asked: RetrievalAsked, found: Retrieved) -> None:
        """Store the web results for a set."""
        self._of_the_web[item_set, structs.replace(asked, index="")] = found

    def find(self, method: Method, item_set: ItemSet, asked: RetrievalAsked) -> Retrieved:
        """Return the chunks for all items of a set.

        Raises BadUsage if the method does not define search queries, or if no source can be
        searched.
        """
        if method.query is None:
            raise BadUsage(
                f"{method.title} defines no search query for its questions",
                hint="--context none or evidence",
            )
        if asked.source != LOCAL:
            return self._of_the_web[item_set.id, structs.replace(asked, index="")]
        index = self.index(asked.search, asked.embedding_model)
        if not index.n_chunks:
            raise BadUsage(
                "nothing to search: no source of this workspace has passages",
                hint="proofstone ingest FILE...",
            )
        key = content_id("retrieved", [item_set.id, asked, index.key])
        if key not in self._known:
            self._known[key] = Retrieved(
                by_item=dict(_found(self._store, method.query, item_set, index, asked)),
                chunks=asked.chunks,
                most_tokens=asked.most_tokens,
                search=asked.search,
                index=short(index.key, 16),
                embedding_model=asked.embedding_model,
            )
        return self._known[key]


def with_retrieval(
    prompt_method: PromptMethod,
    method: Method,
    item_set: ItemSet,
    asked: RetrievalAsked,
    retriever: Retriever | None,
) -> PromptMethod:
    """Return the prompting method with each item's search results added to its prompt.

    This changes the hash of its prompts, as does every change of a source. Raises BadUsage as
    ``Retriever.find``, and if the run was started with other sources.
    """
    if asked.chunks < 1 or asked.most_tokens < 1:
        raise BadUsage("--context-chunks and --context-tokens take 1 or more")
    if retriever is None:
        raise BadUsage("nothing can be searched here", hint="--context none or evidence")
    found = retriever.find(method, item_set, asked)
    if asked.index and asked.index != found.index:
        raise BadUsage(
            "the sources have changed since this run was started, so a search finds other chunks",
            hint="start it again with 'run': identical requests come from the cache",
        )
    what = [retrieved_prompt(), found.chunks, found.most_tokens, found.search, found.index]
    key = content_id("retrieved", [prompt_method.prompt_hash, *what])
    return structs.replace(prompt_method, retrieved=found, prompt_hash=key)


def retrieved_settings(prompt_method: PromptMethod) -> dict[str, Any]:
    """Return a run's settings on retrieval; empty without retrieval."""
    found = prompt_method.retrieved
    if found is None:
        return {}
    return {
        CONTEXT: "retrieved",
        CONTEXT_TOKENS: found.most_tokens,
        CONTEXT_CHUNKS: found.chunks,
        CONTEXT_SEARCH: found.search,
        CONTEXT_INDEX: found.index,
        **({} if found.source == LOCAL else {CONTEXT_SOURCE: found.source}),
        **({CONTEXT_EMBEDDING_MODEL: found.embedding_model} if found.embedding_model else {}),
    }


def retrieved_notes(prompt_method: PromptMethod) -> tuple[str, ...]:
    """Return notes to show before a run, such as questions without search results."""
    found = prompt_method.retrieved
    if found is None:
        return ()
    empty = sum(not chunks for chunks in found.by_item.values())
    n_failed, left = len(found.failed), found.n_unsearched
    total = len(found.by_item) + n_failed + left
    notes = []
    if empty:
        notes.append(
            f"for {empty:,} of {total:,} questions nothing was found (or nothing within "
            "--context-tokens): they are asked without context"
        )
    if n_failed:
        first = next(iter(found.failed.values()))
        notes.append(
            f"for {n_failed:,} of {total:,} questions the search by {found.source} failed "
            f"({first}): they are not asked; resume the run to search again"
        )
    if left:
        notes.append(
            f"{left:,} of {total:,} questions were not searched for by {found.source} yet: a "
            "run sends one query for each, and their results are not counted here"
        )
    return tuple(notes)


def retrieved_origins(store: Store, prompt_method: PromptMethod) -> list[Origin]:
    """Return the sources of the passages shown, with counts; all web pages count as one source."""
    found = prompt_method.retrieved
    if found is None:
        return []
    if found.source != LOCAL:
        n_passages = len({c.passage for each in found.by_item.values() for c in each})
        return [Origin(OF_THE_WEB, "", n_passages, (OF_THE_WEB,))] if n_passages else []
    return store.origins.of_passages({c.passage for each in found.by_item.values() for c in each})


def with_chunks(
    store: Store, prompt_method: PromptMethod, page: Iterable[StoredItem]
) -> Iterator[StoredItem]:
    """Yield items with the retrieved part of each passage in place of its text.

    Purged passages are not shown. Items whose search failed are left out.
    """
    found = prompt_method.retrieved
    failed = {} if found is None else found.failed
    page = [stored for stored in page if stored.loaded.item.id not in failed]
    by_item = {} if found is None else found.by_item
    wanted = {chunk.passage for each in page for chunk in by_item.get(each.loaded.item.id, ())}
    known = store.knowledge.passages(wanted)
    for stored in page:
        shown = tuple(
            _cut(passage, chunk)
            for chunk in by_item.get(stored.loaded.item.id, ())
            if (passage := known.get(chunk.passage)) is not None and passage.text
        )
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=shown))


def _cut(passage: Passage, chunk: ShownChunk) -> Passage:
    start, end = chunk.start, chunk.end
    return structs.replace(passage, start=start, end=end, text=passage.text[start:end])


def read_search(text: str) -> SearchMethod:
    """Return the search method with this name. Raises BadUsage."""
    for prompt_method in SEARCH_METHODS:
        if text == prompt_method:
            return prompt_method
    raise BadUsage(f"unknown search method {text!r}: expected {', '.join(SEARCH_METHODS)}")


def _found(
    store: Store,
    query: Callable[[LoadedItem], str],
    item_set: ItemSet,
    index: SourceIndex,
    asked: RetrievalAsked,
) -> Iterator[tuple[bytes, tuple[ShownChunk, ...]]]:
    for page in store.items.pages(item_set.id):
        for start in range(0, len(page), _AT_ONCE):
            part = page[start : start + _AT_ONCE]
            queries = [query(stored.loaded) for stored in part]
            hits = index.search(queries, asked.chunks, asked.search)
            for stored, each in zip(part, hits, strict=True):
                yield stored.loaded.item.id, tuple(within(each, asked.most_tokens))


def within(found: Iterable[RetrievedChunk], most_tokens: int) -> Iterator[ShownChunk]:
    """Yield the best chunks that fit the token limit together."""
    count, left = load_cl100k(), most_tokens
    for chunk in found:
        left -= count(chunk.text)
        if left < 0:
            return
        yield ShownChunk(chunk.passage.id, chunk.start, chunk.end)


def with_evidence(
    store: Store, prompt_method: PromptMethod, item_set: ItemSet, most_tokens: int
) -> PromptMethod:
    """Return the prompting method with each item's passages added to its prompt.

    This changes the hash of its prompts. Raises BadUsage if no item of the set has usable passages.
    """
    if most_tokens < 1:
        raise BadUsage(f"--context-tokens takes 1 or more, got {most_tokens}")
    evidence = _evidence(store, item_set, most_tokens)
    if len(evidence.left_out) == item_set.n_items:
        raise BadUsage(
            f"no question of {item_set.name} can be asked with its evidence: {_why(evidence)}",
            hint=(
                "use a form of a bank built from passages (proofstone ingest, then build "
                "statements); raise --context-tokens if passages are too long"
            ),
        )
    key = content_id("evidence", [prompt_method.prompt_hash, evidence_prompt(), most_tokens])
    return structs.replace(prompt_method, evidence=evidence, prompt_hash=key)


def evidence_settings(prompt_method: PromptMethod) -> dict[str, Any]:
    """Return a run's settings on evidence; empty without evidence."""
    evidence = prompt_method.evidence
    if evidence is None:
        return {}
    left_out = {LEFT_OUT: len(evidence.left_out)} if evidence.left_out else {}
    return {CONTEXT: "evidence", CONTEXT_TOKENS: evidence.most_tokens, **left_out}


def left_out_notes(prompt_method: PromptMethod, item_set: ItemSet) -> tuple[str, ...]:
    """Return notes to show before a run that does not ask all items."""
    evidence = prompt_method.evidence
    if evidence is None or not evidence.left_out:
        return ()
    n = len(evidence.left_out)
    return (
        f"{n:,} of {item_set.n_items:,} questions are left out, since evidence is shown whole "
        f"or not at all: {_why(evidence)}",
    )


def left_out_again(store: Store, key: int, run: Run, items: Container[int]) -> int:
    """Return how many of ``items`` (keys) the run with this key leaves out.

    For a run with all responses, these are the items without one. For an unfinished run, they are
    computed. An item whose text was purged since is never asked.
    """
    n_items = store.items.item_set(run.item_set).n_items
    answered = store.runs.answered(key, run.last_step)
    without = [
        item
        for _position, item in store.items.places(run.item_set, -1, n_items)
        if item in items and item not in answered
    ]
    if len(answered) + left_out_of(run.settings) == n_items:
        return len(without)
    most = int(run.settings.get(CONTEXT_TOKENS, MOST_TOKENS))
    return sum(not _can_be_asked(store, item, most) for item in without)


def _can_be_asked(store: Store, item: int, most_tokens: int) -> bool:
    try:
        stored = StoredItem(item, 0, store.items.one(item))
    except TextPurged:
        return False
    (found,) = _with_passages(store, [stored])
    count = load_cl100k()
    passages = found.loaded.passages
    return bool(passages) and sum(count(each.text) for each in passages) <= most_tokens


def passages_behind(store: Store, item_set: bytes) -> set[bytes]:
    """Return the passages behind a set's items, including those of false statements' originals."""
    named = store.origins.passages_of_set(item_set)
    others = store.knowledge.facts_by_id(store.origins.facts_without_passage(item_set),
                                         readable=True)  # fmt: skip
    return named | set(_passages_of(others.values(), store).values())


def asked_page(
    store: Store, prompt_method: PromptMethod, item_set: bytes, after: int, limit: int
) -> list[StoredItem]:
    """Return the items at the ``limit`` positions after ``after`` that are asked.

    Items come with their passages if they are asked with them.
    """
    page = store.items.page(item_set, after, limit)
    if prompt_method.retrieved is not None:
        return list(with_chunks(store, prompt_method, page))
    if prompt_method.evidence is None:
        return page
    left_out = prompt_method.evidence.left_out
    page = [stored for stored in page if stored.position not in left_out]
    return list(_with_passages(store, page))


def spread_items(
    store: Store, prompt_method: PromptMethod, item_set: ItemSet, n_items: int, n: int
) -> Iterator[LoadedItem]:
    """Yield up to ``n`` of the first ``n_items`` items that are asked, evenly spread."""
    places = range(n_items)
    if prompt_method.evidence is not None:
        asked = [place for place in places if place not in prompt_method.evidence.left_out]
    else:
        asked = list(places)
    n = min(n, len(asked))
    for at in range(n):
        place = asked[at * len(asked) // n]
        for stored in asked_page(store, prompt_method, item_set.id, place - 1, 1):
            yield stored.loaded


async def ask_item(
    method: Method, item: LoadedItem, prompt_method: PromptMethod, call: Call
) -> None:
    """Let the method ask an item, with its passages, if any, in the prompts."""
    if prompt_method.retrieved is not None:
        await method.ask(item, prompt_method, _informed(call, item, with_retrieved))
    else:
        informed = _informed(call, item, with_passages) if item.passages else call
        await method.ask(item, prompt_method, informed)


def _informed(call: Call, item: LoadedItem, told: Callable[..., list[Message]]) -> Call:
    """Return a ``Call`` that puts an item's passages before its question."""

    async def asked(
        step: str,
        messages: Sequence[Message],
        *,
        oracle: Oracle | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> Response:
        scored = messages[-1:] if messages[-1].role == "assistant" else ()
        asks = messages[: len(messages) - len(scored)]
        shown = [*told(asks, item.passages, item.item.language), *scored]
        return await call(step, shown, oracle=oracle, schema=schema)

    return asked


# ---------------------------------------------------------------- passages of an item


def _evidence(store: Store, item_set: ItemSet, most_tokens: int) -> Evidence:
    """Return which items of a set can be asked with all their passages."""
    count = load_cl100k()
    lengths: dict[bytes, int] = {}
    without, too_long = [], []
    for page in store.items.pages(item_set.id):
        for stored in _with_passages(store, page):
            item = stored.loaded
            if not item.passages:
                without.append(stored.position)
                continue
            for passage in item.passages:
                if passage.id not in lengths:
                    lengths[passage.id] = count(passage.text)
            if sum(lengths[passage.id] for passage in item.passages) > most_tokens:
                too_long.append(stored.position)
    return Evidence(most_tokens, frozenset([*without, *too_long]), len(without), len(too_long))


def _with_passages(store: Store, page: Iterable[StoredItem]) -> Iterator[StoredItem]:
    """Yield items with the passages of their facts, each once, in the order of the facts.

    An item has none if one of its facts has no passage here, or one whose text was purged.
    """
    page = list(page)
    places = _passages_of(
        {fact.id: fact for stored in page for fact in stored.loaded.facts}.values(), store
    )
    known = store.knowledge.passages(set(places.values()))
    for stored in page:
        passages = _of_facts(stored.loaded, places, known)
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=passages))


def _passages_of(facts: Collection[Fact], store: Store) -> dict[bytes, bytes]:
    """Return the passage of each fact that has one; a false statement may use its original's."""
    origins = {fact.id: origin_of(fact) for fact in facts if fact.passage is None}
    named = {each for each in origins.values() if each}
    originals = store.knowledge.facts_by_id(named, readable=True)
    found = {}
    for fact in facts:
        places = fact if fact.passage else originals.get(origins.get(fact.id) or b"")
        if places is not None and places.passage is not None:
            found[fact.id] = places.passage
    return found


def _of_facts(
    item: LoadedItem, places: Mapping[bytes, bytes], known: Mapping[bytes, Passage]
) -> tuple[Passage, ...]:
    found: dict[bytes, Passage] = {}
    for fact in item.facts:
        passage = known.get(places.get(fact.id, b""))
        if passage is None or not passage.text:
            return ()
        found[passage.id] = passage
    return tuple(found.values())


def _why(evidence: Evidence) -> str:
    reasons = []
    if evidence.n_without:
        reasons.append(f"{evidence.n_without:,} depend on a fact without a passage here")
    if evidence.n_too_long:
        reasons.append(
            f"{evidence.n_too_long:,} have passages of more than {evidence.most_tokens:,} "
            "tokens together (--context-tokens)"
        )
    return " and ".join(reasons) or "it has none"


# Search results in a prompt: delimited by marks that name the passage.

# Passages in a prompt: delimited by marks with a code, without hidden characters, before the
# question.

T = TypeVar("T")


_VERSION = 1  # increase when passages are placed differently while the words stay the same


class BlockWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language around passages. ``opens`` may contain ``{place}``."""

    material: str
    opens: str
    closes: str
    question: str


def with_passages(
    messages: Sequence[Message], passages: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with passages before the text of its last message, the question.

    Few-shot examples before it stay as they are, without passages.
    """
    return _preceded(messages, evidence_block([passage.text for passage in passages], language))


def evidence_block(texts: Sequence[str], language: str) -> str:
    """Return texts as a prompt shows them; the question follows."""
    return _block_of(_words(_language(language)), texts)


def _language(code: str) -> str:
    return "zh" if code.lower().partition("-")[0] == "zh" else "en"


def _block_of(words: BlockWords, texts: Sequence[str], places: Sequence[str] = ()) -> str:
    """Return texts between marks with a code that occurs in none of them, with places if given."""
    code = fence_code(texts)

    def mark(of: str, number: int) -> str:
        place = places[number - 1] if places else ""
        named = of.replace("{number}", str(number)).replace("{place}", place)
        return named.replace("{code}", code)

    blocks = [
        f"{mark(words.opens, number)}\n{harmless(text)}\n{mark(words.closes, number)}"
        for number, text in enumerate(texts, start=1)
    ]
    return "\n\n".join([words.material.replace("{code}", code), *blocks, words.question])


def _preceded(messages: Sequence[Message], block: str) -> list[Message]:
    """Return the conversation with a block before the text of its last message, the question.

    Images in that message keep their place.
    """
    *before, last = messages
    text = f"{block}\n\n"
    if isinstance(last.content, str):
        return [*before, structs.replace(last, content=text + last.content)]
    return [*before, structs.replace(last, content=(TextPart(text), *last.content))]


@cache
def _words(language: str) -> BlockWords:
    return _read_words(f"evidence.{language}.toml", BlockWords)


@cache
def _retrieved_words(language: str) -> RetrievedWords:
    return _read_words(f"retrieved.{language}.toml", RetrievedWords)


def _read_words(name: str, kind: type[T]) -> T:
    """Read the words in a file of this folder."""
    file = files(__package__) / name
    return msgspec.convert(tomllib.loads(file.read_text(encoding="utf-8")), kind)


def evidence_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id("evidence-prompt", [_VERSION, _words("en"), _words("zh")])


_DIGITS = 16  # characters of a passage's id that suffice to find it


_PLACE = rf"passage:([0-9a-f]{{{_DIGITS}}}) (\d+)-(\d+)"


class RetrievedWords(BlockWords, frozen=True, forbid_unknown_fields=True):
    """Hold the words of one language; ``nothing`` is shown if a search found nothing."""

    nothing: str


class ShownIn(Struct, frozen=True, gc=False):
    """A chunk in a prompt: a passage id as ``show`` takes it, and code points [start, end)."""

    passage: str
    start: int
    end: int


def with_retrieved(
    messages: Sequence[Message], chunks: Sequence[Passage], language: str
) -> list[Message]:
    """Return the conversation with chunks, best first, before the text of its last message.

    Each chunk is a passage shortened to the part shown. Without chunks, a text says that nothing
    was found. Few-shot examples before it stay as they are.
    """
    words = _retrieved_words(_language(language))
    if not chunks:
        return _preceded(messages, words.nothing)
    places = [f"passage:{each.id.hex()[:_DIGITS]} {each.start}-{each.end}" for each in chunks]
    return _preceded(messages, _block_of(words, [each.text for each in chunks], places))


def shown_to(prompt: bytes) -> list[ShownIn]:
    """Return the chunks that a stored prompt (canonical JSON of its messages) shows.

    Empty for a purged prompt.
    """
    if not prompt:
        return []
    messages = msgspec.json.decode(prompt, type=list[Message])
    return shown_in(messages[-1].text) if messages else []


def shown_in(text: str) -> list[ShownIn]:
    """Return the chunks that a prompt's text shows, in order; empty if it shows none.

    Only the marks of the opening block count. A chunk or question cannot imitate them, since none
    contains the code.
    """
    for language in ("en", "zh"):
        words = _retrieved_words(language)
        before, _, _after = words.material.partition("{code}")
        if not text.startswith(before):
            continue
        code = text[len(before) : len(before) + 8]
        pattern = re.escape(words.opens)
        for name, value in (("number", r"\d+"), ("place", _PLACE), ("code", re.escape(code))):
            pattern = pattern.replace(re.escape(f"{{{name}}}"), value)
        return [
            ShownIn(f"passage:{found[1]}", int(found[2]), int(found[3]))
            for found in re.finditer(f"^{pattern}$", text, re.MULTILINE)
        ]
    return []


def retrieved_prompt() -> bytes:
    """Return the hash of everything that these texts depend on."""
    return content_id(
        "retrieved-prompt", [_VERSION, _retrieved_words("en"), _retrieved_words("zh")]
    )

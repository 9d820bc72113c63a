"""Find the evidence or the whole documents of items, and which items can be asked with them.

An item is asked with all of them or not at all. Half of them would measure neither memory nor
reading, and a shortened passage may lose the sentence that counts.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import structs

from proofstone.errors import BadUsage, TextPurged
from proofstone.method import Method, find_method
from proofstone.records.ids import content_id
from proofstone.records.items import (
    CONTEXT,
    CONTEXT_TOKENS,
    LEFT_OUT,
    ContextName,
    Evidence,
    ItemSet,
    LoadedItem,
    PromptMethod,
    context_of,
    left_out_of,
    shows_document,
)
from proofstone.records.knowledge import Fact, Passage, origin_of, passage_id
from proofstone.records.runs import Run
from proofstone.run.context_texts import document_prompt, evidence_prompt
from proofstone.run.item_documents import document_tokens, documents_of, whole_documents
from proofstone.run.run_options import MOST_TOKENS
from proofstone.store.items import StoredItem
from proofstone.store.store import Store

Shows = Literal["evidence", "document"]

_SHOWN_AS: Mapping[Shows, str] = {"evidence": "evidence is", "document": "documents are"}


def with_evidence(
    store: Store,
    prompt_method: PromptMethod,
    item_set: ItemSet,
    most_tokens: int,
    *,
    shows: Literal["evidence", "document"] = "evidence",
) -> PromptMethod:
    """Return the prompting method with each item's evidence or documents added to its prompt.

    This changes the hash of its prompts. Raises BadUsage if no item of the set has usable texts.
    """
    if most_tokens < 1:
        raise BadUsage(f"--context-tokens takes 1 or more, got {most_tokens}")
    evidence = _evidence(store, item_set, most_tokens, shows)
    if len(evidence.left_out) == item_set.n_items:
        raise BadUsage(
            f"no question of {item_set.name} can be asked with its {shows}: {_why(evidence)}",
            hint=(
                "use questions on documents of this workspace (proofstone ingest, then build or "
                "import them); raise --context-tokens if the texts are too long"
            ),
        )
    what = [evidence_prompt(), most_tokens] if shows == "evidence" else [document_prompt()]
    key = content_id(shows, [prompt_method.prompt_hash, *what])
    return structs.replace(prompt_method, evidence=evidence, prompt_hash=key)


def evidence_settings(prompt_method: PromptMethod) -> dict[str, Any]:
    """Return a run's settings on evidence; empty without evidence."""
    evidence = prompt_method.evidence
    if evidence is None:
        return {}
    left_out = {LEFT_OUT: len(evidence.left_out)} if evidence.left_out else {}
    return {CONTEXT: evidence.shows, CONTEXT_TOKENS: evidence.most_tokens, **left_out}


def left_out_notes(prompt_method: PromptMethod, item_set: ItemSet) -> tuple[str, ...]:
    """Return notes to show before a run that does not ask all items."""
    evidence = prompt_method.evidence
    if evidence is None or not evidence.left_out:
        return ()
    n = len(evidence.left_out)
    return (
        f"{n:,} of {item_set.n_items:,} questions ({n / item_set.n_items:.1%}) are left out, since "
        f"{_SHOWN_AS[evidence.shows]} shown whole or not at all: {_why(evidence)}",
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
    shows = _shown_by(context_of(run.settings))
    return sum(not _can_be_asked(store, item, most, shows) for item in without)


def _can_be_asked(store: Store, item: int, most_tokens: int, shows: Shows) -> bool:
    try:
        stored = StoredItem(item, 0, store.items.one(item))
    except TextPurged:
        return False
    (found,) = with_texts(store, [stored], shows)
    texts = (*found.loaded.passages, *found.loaded.documents)
    return bool(texts) and sum(map(document_tokens, texts)) <= most_tokens


def passages_behind(store: Store, item_set: bytes) -> set[bytes]:
    """Return the passages behind a set's items, including those of false statements' originals."""
    named = store.origins.passages_of_set(item_set)
    others = store.knowledge.facts_by_id(store.origins.facts_without_passage(item_set),
                                         readable=True)  # fmt: skip
    return named | set(_passages_of(others.values(), store).values())


def _shown_by(context: ContextName) -> Shows:
    return "document" if shows_document(context) else "evidence"


def _evidence(store: Store, item_set: ItemSet, most_tokens: int, shows: Shows) -> Evidence:
    """Return which items of a set can be asked with all their texts."""
    without, too_long = [], []
    for page in store.items.pages(item_set.id):
        for stored in with_texts(store, page, shows):
            texts = (*stored.loaded.passages, *stored.loaded.documents)
            if not texts:
                without.append(stored.position)
            elif sum(map(document_tokens, texts)) > most_tokens:
                too_long.append(stored.position)
    left_out = frozenset([*without, *too_long])
    return Evidence(most_tokens, left_out, len(without), len(too_long), shows)


def with_texts(store: Store, page: Iterable[StoredItem], shows: Shows) -> Iterator[StoredItem]:
    """Yield items with their evidence, or with their documents; none if one of them is missing."""
    if shows == "evidence":
        yield from with_own_evidence(store, page)
        return
    known: dict[bytes, Passage | None] = {}
    for stored in page:
        named = documents_of(stored.loaded)
        for source in named:
            if source not in known:
                known[source] = next(whole_documents(store, [source]), None)
        found = [known[source] for source in named]
        texts = tuple(each for each in found if each is not None)
        if len(texts) < len(found):
            texts = ()
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, documents=texts))


def with_own_evidence(store: Store, page: Iterable[StoredItem]) -> Iterator[StoredItem]:
    """Yield items with the evidence of their facts, each text once, in the order of the facts.

    That is what the method names as evidence, or else the passage of each fact. An item has none if
    one of its facts has none here, or one whose text was purged.
    """
    page = list(page)
    places = _passages_of(
        {fact.id: fact for stored in page for fact in stored.loaded.facts}.values(), store
    )
    known = store.knowledge.passages(set(places.values()))
    for stored in page:
        method = find_method(stored.loaded.item.kind.partition(".")[0])
        if method.evidence is None:
            passages = _of_facts(stored.loaded, places, known)
        else:
            passages = evidence_of(method, stored.loaded.facts)
        yield structs.replace(stored, loaded=structs.replace(stored.loaded, passages=passages))


def evidence_of(method: Method, facts: Sequence[Fact]) -> tuple[Passage, ...]:
    """Return the spans that a method names as the evidence of facts, each once, in their order.

    Empty if one of the facts has none.
    """
    found: dict[bytes, Passage] = {}
    for fact in facts:
        spans = () if method.evidence is None else method.evidence(fact)
        if not spans or fact.source is None:
            return ()
        for span in spans:
            passage = Passage(
                source=fact.source, page=span.page, start=span.start, end=span.end, text=span.text
            )
            found.setdefault(passage_id(passage), passage)
    return tuple(found.values())


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
    what = "a document" if evidence.shows == "document" else "a passage"
    texts = "documents" if evidence.shows == "document" else "passages"
    reasons = []
    if evidence.n_without:
        reasons.append(f"{evidence.n_without:,} depend on a fact without {what} here")
    if evidence.n_too_long:
        reasons.append(
            f"{evidence.n_too_long:,} have {texts} of more than {evidence.most_tokens:,} "
            "tokens together (--context-tokens)"
        )
    return " and ".join(reasons) or "it has none"

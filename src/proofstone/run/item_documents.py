"""Read the whole documents of items, and count their tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from proofstone.documents.passages import BETWEEN
from proofstone.models.tokens import load_cl100k
from proofstone.records.ids import digest
from proofstone.records.items import LoadedItem
from proofstone.records.knowledge import Passage
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_COUNTED: dict[bytes, int] = {}  # tokens of texts, by their hash


def document_tokens(text: Passage) -> int:
    """Return the tokens of a text, counted once in this process."""
    key = digest(text.text.encode())
    if key not in _COUNTED:
        _COUNTED[key] = load_cl100k()(text.text)
    return _COUNTED[key]


def documents_of(item: LoadedItem) -> tuple[bytes, ...]:
    """Return the sources of an item's facts, each once, in the order of the facts."""
    return tuple(dict.fromkeys(fact.source for fact in item.facts if fact.source is not None))


def whole_documents(store: Store, sources: Iterable[bytes]) -> Iterator[Passage]:
    """Yield each source's whole text, its pages in order; none for a source without text here."""
    for source in sources:
        pages = [page.text for page in store.pages.pages(source) if page.text]
        if pages:
            text = BETWEEN.join(pages)
            yield Passage(source=source, start=0, end=len(text), text=text)


def documents_shown(store: Store, item_set: bytes) -> list[Origin]:
    """Return the documents of a set's items, each as one text."""
    named = {
        source
        for page in store.items.pages(item_set)
        for stored in page
        for source in documents_of(stored.loaded)
    }
    known = store.knowledge.sources(named).values()
    return [Origin(each.title, each.license, 1, (each.title,)) for each in known]

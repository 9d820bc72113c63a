"""That every passage stands verbatim at its offsets, and its lines within its page."""

from __future__ import annotations

from collections import Counter

from proofstone.records.knowledge import Passage
from proofstone.records.pages import Page
from proofstone.store.store import Store

__all__ = ["check_verbatim"]

_EDGE = 0.01  # points, by which a box that was packed may lie outside


def check_verbatim(store: Store) -> Counter[str]:
    """Checks every passage of every source; how many there are, by the source's name."""
    found: Counter[str] = Counter()
    for source in store.lookup.every("source"):
        passages = list(store.knowledge.passages_of(source.id))
        placed = store.pages.placed([passage.id for passage in passages])
        for passage in passages:
            _check_passage(passage, placed[passage.id].page)
            found[source.name] += 1
    return found


def _check_passage(passage: Passage, page: Page) -> None:
    assert page.number == passage.page
    assert page.state == "read"
    assert page.text[passage.start : passage.end] == passage.text
    assert passage.text.strip()
    boxes = page.places.boxes(passage.start, passage.end)
    assert bool(boxes) == bool(page.width), "a page that can be seen has its lines' places"
    for box in boxes:
        assert -_EDGE <= box.left < box.right <= page.width + _EDGE
        assert -_EDGE <= box.top < box.bottom <= page.height + _EDGE

"""Questions beside the pages that they rest on."""

from __future__ import annotations

from collections.abc import Iterator

from proofstone.engines.store import Store
from proofstone.methods import find_method
from proofstone.records import ItemSet, LoadedItem, Passage, Way
from proofstone.report.beside_page import Beside, QuestionBeside
from proofstone.stages.evidence import MOST_TOKENS, asked_page, with_evidence

__all__ = ["questions_beside"]

_AROUND = 400  # characters of a page before and after a passage


def questions_beside(store: Store, item_set: ItemSet, n: int) -> list[QuestionBeside]:
    """The first ``n`` questions of a set that rest on passages, with these."""
    way = with_evidence(store, _plain(item_set), item_set, 10 * MOST_TOKENS)
    found: list[QuestionBeside] = []
    for stored in asked_page(store, way, item_set.id, -1, item_set.n_items):
        if len(found) < n:
            found.append(_beside(store, item_set, stored.loaded))
    return found


def _plain(item_set: ItemSet) -> Way:
    method = find_method(item_set.method)
    return method.prepare(next(iter(method.ways)), 0, item_set, None)


def _beside(store: Store, item_set: ItemSet, item: LoadedItem) -> QuestionBeside:
    text = find_method(item_set.method).show(item)
    return QuestionBeside(text=text, rests_on=tuple(_pages(store, item.passages)))


def _pages(store: Store, passages: tuple[Passage, ...]) -> Iterator[Beside]:
    sources = store.knowledge.sources({passage.source for passage in passages})
    placed = store.pages.placed([passage.id for passage in passages])
    for passage in passages:
        source, there = sources[passage.source], placed.get(passage.id)
        whole = "" if there is None else there.page.text
        start, end = (passage.start, passage.end) if whole else (0, 0)
        label = "" if there is None else there.page.label
        yield Beside(
            title=source.title,
            page=label or ("" if passage.page is None else str(passage.page)),
            heading=passage.heading,
            before=whole[max(0, start - _AROUND) : start],
            text=passage.text,
            after=whole[end : end + _AROUND],
        )

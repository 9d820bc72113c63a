"""Sources as builds take them: at the place that holds, and sampled so that their subject shows."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from proofstone.engines.ingest import BETWEEN_TITLES
from proofstone.engines.store import Store
from proofstone.records import Passage, SampledSource, Source

__all__ = ["placed_source", "sampled_source", "sources_of_book"]

_HEADINGS = 24
_EXCERPTS = 5
_EXCERPT = 500  # characters of each


def placed_source(store: Store, identity: bytes) -> Source:
    """A source with the stratum that holds: that of its newest placement, else as stated."""
    source = store.knowledge.sources([identity])[identity]
    placement = store.placements.in_force([identity]).get(identity)
    return source if placement is None else structs.replace(source, stratum=placement.stratum)


def sources_of_book(store: Store, book: str) -> list[bytes]:
    """The sources that stand in this book, by their newest placement or as stated, in the order in
    which they came; none where no source does."""
    once = [source.id for source in store.knowledge.sources_of_book(book)]
    return [each for each in once if placed_source(store, each).stratum.book == book]


def sampled_source(store: Store, identity: bytes) -> SampledSource:
    """A source as it was taken in (a row must not change with its placement), with its first
    headings and the beginnings of passages spread evenly from the first to the last."""
    source = store.knowledge.sources([identity])[identity]
    passages = list(store.knowledge.passages_of(identity))
    tops = (passage.heading.split(BETWEEN_TITLES)[0] for passage in passages)
    return SampledSource(
        source=source,
        headings=tuple(dict.fromkeys(filter(None, tops)))[:_HEADINGS],
        excerpts=tuple(p.text[:_EXCERPT] for p in _spread(passages)),
    )


def _spread(passages: Sequence[Passage]) -> list[Passage]:
    if len(passages) <= _EXCERPTS:
        return list(passages)
    last = len(passages) - 1
    return [passages[round(at * last / (_EXCERPTS - 1))] for at in range(_EXCERPTS)]

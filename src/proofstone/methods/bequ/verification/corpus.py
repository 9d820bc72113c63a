"""What is known of one entity, cut into passages and indexed once; and candidates among triples."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from proofstone.engines.ingest.sentences import sentence_spans
from proofstone.engines.retrieval import (
    ChunkIndex,
    Chunking,
    ChunkPlace,
    Postings,
    SearchWay,
    SourcePart,
    cut_chunks,
    terms_of,
    tokens_by_bytes,
)
from proofstone.methods.bequ.verification.records import GivenTriple, ReferenceRow
from proofstone.methods.bequ.verification.texts import spoken
from proofstone.ports import Embedder
from proofstone.records.triples import Passage

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EntityCorpus", "PassageParts", "TextIndex", "triple_words"]

_CHUNKING = Chunking(most=200)
_BETWEEN_THOUSANDS = re.compile(r"(?<=\d)[,\u202f\u00a0](?=\d{3}(?!\d))")


def triple_words(subject: str, predicate: str, value: str) -> str:
    """A triple as words to search by."""
    return _plain(f"{subject} {spoken(predicate)} {value}")


def _plain(text: str) -> str:
    """A text to search in or by: its 12,500 is found by 12500."""
    return _BETWEEN_THOUSANDS.sub("", text)


class TextIndex:
    """Short texts, searched by words (BM25), by meaning, or by both."""

    def __init__(self, texts: Sequence[str], way: SearchWay, embedder: Embedder | None) -> None:
        self._texts = texts
        self._way = way
        self._embedder = None if way == "bm25" else embedder

    def search(self, queries: Sequence[str], k: int) -> list[list[int]]:
        """For each query the places of the ``k`` best texts, best first. Where fewer are found at
        all, the first of the others stand behind: what no word leads to may still be meant."""
        everything = range(len(self._texts))
        if len(self._texts) <= k:
            return [list(everything) for _query in queries]
        found = self._index.search(queries, k, self._way)
        return [
            _filled([int.from_bytes(hit.place.passage, "big") for hit in hits], everything, k)
            for hits in found
        ]

    @cached_property
    def _index(self) -> ChunkIndex:
        places = tuple(
            ChunkPlace(place.to_bytes(4, "big"), 0, len(text))
            for place, text in enumerate(self._texts)
        )
        part = SourcePart(places, Postings.of(terms_of(_plain(text)) for text in self._texts))
        vectors: list[NDArray[np.float32]] = []
        if self._embedder is not None:
            vectors.append(self._embedder.embed(self._texts).astype("float32"))
        return ChunkIndex([part], vectors=vectors, embedder=self._embedder)


class EntityCorpus:
    """The passages of an entity: its texts in pieces of whole sentences, and the passages of its
    reference triples. A triple whose passage was not kept stands as its own words. No passage
    stands twice."""

    def __init__(
        self,
        name: str,
        rows: Sequence[ReferenceRow],
        *,
        way: SearchWay = "bm25",
        embedder: Embedder | None = None,
    ) -> None:
        found: dict[str, Passage] = {}
        for row in rows:
            for passage in row.passages:
                _add(found, passage)
            for triple in row.triples:
                if triple.passage.text:
                    _add(found, triple.passage)
                else:
                    words = f"{name}: {spoken(triple.predicate)}: {triple.object}"
                    _add(found, _with_text(triple.passage, words))
        self.passages = tuple(found.values())
        self._index = TextIndex([passage.text for passage in self.passages], way, embedder)

    def search(self, triples: Sequence[GivenTriple], k: int) -> list[list[Passage]]:
        """For each triple the ``k`` passages nearest to it, best first; none of an empty corpus."""
        queries = [triple_words(each.subject, each.predicate, each.object) for each in triples]
        found = self._index.search(queries, k)
        return [[self.passages[place] for place in places] for places in found]


class PassageParts:
    """The passages that reference triples were taken from, each no longer than those of a corpus:
    of a longer one (an article) the part nearest to the triple. Each is cut and indexed once."""

    def __init__(self) -> None:
        self._cut: dict[str, tuple[list[str], TextIndex]] = {}

    def part(self, passage: Passage, words: str) -> Passage:
        """What to show of a passage beside a triple that is these words."""
        if passage.text not in self._cut:
            texts = list(_pieces(passage.text))
            self._cut[passage.text] = texts, TextIndex(texts, "bm25", None)
        texts, index = self._cut[passage.text]
        if len(texts) < 2:
            return passage
        ((place,),) = index.search([words], 1)
        return _with_text(passage, texts[place])


def _add(found: dict[str, Passage], passage: Passage) -> None:
    for text in _pieces(passage.text):
        found.setdefault(text, _with_text(passage, text))


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces of whole sentences; a short one as it stands."""
    if len(text.encode()) <= 4 * _CHUNKING.most:
        yield text
        return
    for chunk in cut_chunks(text, _CHUNKING, count=tokens_by_bytes, sentences=sentence_spans):
        yield text[chunk.start : chunk.end]


def _with_text(passage: Passage, text: str) -> Passage:
    return Passage(text, passage.source, passage.title, passage.url)


def _filled(found: list[int], everything: Iterable[int], k: int) -> list[int]:
    if len(found) < k:
        held = set(found)
        found += [place for place in everything if place not in held][: k - len(found)]
    return found

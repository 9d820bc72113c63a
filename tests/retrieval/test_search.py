"""An index of chunks searched by words, by meaning and by both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from proofstone.errors import BadUsage
from proofstone.search.bm25 import Postings, terms_of
from proofstone.search.chunks import Hit, fuse_ranks
from proofstone.search.index import ChunkIndex, ChunkPlace, DenseIndex, SourcePart

TEXTS = ["a metal conducts", "wood floats on water", "iron is a metal", "glass breaks"]


class Meanings:
    """An embedder that knows three meanings."""

    name = "meanings"
    known = (("metal", "iron", "copper"), ("water", "sea"), ("glass", "window"))

    def embed(self, texts: Sequence[str]) -> NDArray[np.float64]:
        found = [
            [0.1 + sum(word in text for word in words) for words in self.known] for text in texts
        ]
        made = np.asarray(found, dtype=float).reshape(len(texts), 3)
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def part(texts: Sequence[str], passage: bytes) -> SourcePart:
    places = tuple(ChunkPlace(passage, at, at + 1) for at in range(len(texts)))
    return SourcePart(places, Postings.of(terms_of(text) for text in texts))


def whole() -> ChunkIndex:
    parts = [part(TEXTS[:3], b"one"), part(TEXTS[3:], b"two")]
    vectors = [Meanings().embed(TEXTS[:3]).astype("f4"), Meanings().embed(TEXTS[3:]).astype("f4")]
    return ChunkIndex(parts, vectors=vectors, embedding_model=Meanings())


def places(index: ChunkIndex, query: str, k: int, prompt_method: str) -> list[tuple[bytes, int]]:
    (found,) = index.search([query], k, prompt_method)  # type: ignore[arg-type]
    return [(each.place.passage, each.place.start) for each in found]


def test_words_find_texts_that_hold_them() -> None:
    assert places(whole(), "metal water", 9, "bm25") == [(b"one", 1), (b"one", 0), (b"one", 2)]
    assert places(whole(), "window", 9, "bm25") == []


def test_meaning_finds_other_words() -> None:
    assert places(whole(), "window", 1, "dense") == [(b"two", 0)]
    assert places(whole(), "sea", 1, "dense") == [(b"one", 1)]


def test_both_put_what_both_find_first() -> None:
    """ "sea" is in no text: by words the metals, by meaning the water; iron is in both."""
    assert places(whole(), "iron sea", 2, "hybrid")[0] == (b"one", 2)


def test_an_index_without_vectors_says_so() -> None:
    index = ChunkIndex([part(TEXTS, b"one")])
    with pytest.raises(BadUsage, match="this index has no vectors"):
        index.search(["gold"], 1, "hybrid")


def test_an_empty_index_finds_nothing() -> None:
    assert ChunkIndex([], embedding_model=Meanings()).search(["gold", "lead"], 3, "hybrid") == [
        [],
        [],
    ]


def test_equal_vectors_are_found_in_their_order() -> None:
    """Also over the border of the blocks in which a product is worked out."""
    vector = np.random.default_rng(1).normal(size=(1, 300)).astype("f4")
    vector /= np.linalg.norm(vector)
    index = DenseIndex(np.repeat(vector, 1000, axis=0))
    for hits in index.search(np.repeat(vector, 70, axis=0), 5):
        assert hits == [Hit(place, 1.0) for place in range(5)]


def test_ranks_are_fused_as_published() -> None:
    """A text that is second and third comes before those that are first in one ranking alone."""
    fused = fuse_ranks([[Hit(7, 9.0), Hit(5, 8.0)], [Hit(3, 0.9), Hit(4, 0.8), Hit(5, 0.7)]], 3)
    assert fused == [Hit(5, 1 / 62 + 1 / 63), Hit(3, 1 / 61), Hit(7, 1 / 61)]


@given(st.lists(st.permutations(range(6)), max_size=4), st.integers(-1, 8))
def test_fused_ranks_hold_each_text_once(rankings: list[list[int]], k: int) -> None:
    fused = fuse_ranks([[Hit(place, 0.0) for place in ranking] for ranking in rankings], k)
    assert len({hit.place for hit in fused}) == len(fused) == min(max(k, 0), 6 if rankings else 0)
    assert fused == sorted(fused, key=lambda hit: (-hit.score, hit.place))

"""BM25: worked values, every text compared, and the library of the same name."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.search.bm25 import Bm25, Postings, terms_of
from proofstone.search.chunks import Hit

TEXTS = st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=9), max_size=30)
QUERIES = st.lists(st.sampled_from("abcdefghz"), max_size=6)


def index(texts: Sequence[Sequence[str]]) -> Bm25:
    return Bm25(Postings.of(texts))


def every_text_compared(texts: Sequence[Sequence[str]], query: Sequence[str], k: int) -> list[Hit]:
    """Lucene's BM25 as its formula stands, in plain Python."""
    n, mean = len(texts), sum(map(len, texts)) / len(texts) if texts else 0
    hits = []
    for place, text in enumerate(texts):
        score = 0.0
        for term in query:
            held = sum(term in other for other in texts)
            times = text.count(term)
            if times:
                idf = log(1 + (n - held + 0.5) / (held + 0.5))
                score += idf * times / (times + 1.5 * (1 - 0.75 + 0.75 * len(text) / mean))
        if score:
            hits.append(Hit(place, score))
    return sorted(hits, key=lambda hit: (-round(hit.score, 5), hit.place))[:k]


def test_a_worked_value() -> None:
    """Two texts of three and one words; "gold" stands twice in the first and in no other."""
    found = index([["gold", "gold", "is"], ["lead"]]).search(["gold"], 5)
    idf = log(1 + (2 - 1 + 0.5) / (1 + 0.5))
    norm = 1.5 * (1 - 0.75 + 0.75 * 3 / 2)
    assert found == [Hit(0, pytest.approx(idf * 2 / (2 + norm)))]


@given(TEXTS, QUERIES, st.integers(0, 12))
def test_the_best_are_those_of_every_text_compared(
    texts: list[list[str]], query: list[str], k: int
) -> None:
    found, expected = index(texts).search(query, k), every_text_compared(texts, query, k)
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], rel=1e-5)
    assert sorted(found, key=lambda hit: (-round(hit.score, 5), hit.place)) == [
        Hit(hit.place, pytest.approx(hit.score, rel=1e-5)) for hit in expected
    ]


def drawn_texts(n: int) -> list[list[str]]:
    """Texts whose words are as unevenly used as those of a language."""
    reach = np.cumsum(1 / np.arange(1, 3001))
    drawn = np.random.default_rng(7).uniform(0, reach[-1], size=(n, 40))
    return [[f"w{number}" for number in row] for row in np.searchsorted(reach, drawn)]


def test_what_is_passed_over_could_not_have_been_found() -> None:
    """Over 1,000 texts and queries of rare and common words, against all texts scored."""
    texts = drawn_texts(1000)
    made = index(texts)
    for at in range(0, 1000, 50):
        query = [*texts[at][:6], "w0", "w1"]
        whole = made.search(query, 1000)
        assert made.search(query, 10) == whole[:10]
        assert whole == sorted(whole, key=lambda hit: (-hit.score, hit.place))


def test_scores_are_those_of_bm25s() -> None:
    bm25s = pytest.importorskip("bm25s")
    texts = drawn_texts(300)
    peer = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    peer.index(texts, show_progress=False)
    made = index(texts)
    for at in range(0, 300, 20):
        query = sorted(set(texts[at][:8]))
        scores = peer.get_scores(query)
        found = made.search(query, 300)
        assert len(found) == np.count_nonzero(scores)
        for hit in found:
            assert hit.score == pytest.approx(float(scores[hit.place]), rel=1e-5)


def test_equals_are_found_in_their_order() -> None:
    same = [["gold"], ["lead"], ["gold"], ["gold"]]
    assert [hit.place for hit in index(same).search(["gold"], 2)] == [0, 2]


def test_nothing_is_found_of_nothing() -> None:
    assert index([]).search(["gold"], 5) == []
    assert index([[], []]).search(["gold"], 5) == []
    assert index([["gold"]]).search([], 5) == []
    assert index([["gold"]]).search(["lead"], 5) == []
    assert index([["gold"]]).search(["gold"], 0) == []


@given(TEXTS, TEXTS, QUERIES)
def test_parts_put_together_are_one_index(
    one: list[list[str]], other: list[list[str]], query: list[str]
) -> None:
    joined = Bm25(Postings.joined([Postings.of(one), Postings.of(other)]))
    found, expected = joined.search(query, 9), index([*one, *other]).search(query, 9)
    assert [hit.place for hit in found] == [hit.place for hit in expected]


def test_words_and_pairs_of_chinese_characters_find_their_text() -> None:
    texts = [
        "铜是一种能导电的金属。",
        "木头浮在水上。",
        "Copper conducts electricity.",
        "An OLD map",
    ]
    made = index([list(terms_of(text)) for text in texts])
    for query, place in [
        ("哪种金属能导电？", 0),
        ("浮在水上", 1),
        ("ELECTRICITY", 2),
        ("ｏｌｄ", 3),
    ]:
        assert made.search(terms_of(query), 1)[0].place == place

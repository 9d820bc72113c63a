"""Recall and nDCG of passages against evidence spans, on texts whose values are known by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.stats.retrieval import EvidenceSpan, Stretch, measure_found

TEXT = "ab cd  ef gh ij kl mn op"  # letters at 0, 1, 3, 4, 7, 8, 10, ...


def span(start: int, end: int, place: str = "p1") -> EvidenceSpan:
    return EvidenceSpan.of(place, start, TEXT[start:end])


def test_recall_counts_characters_of_each_span_alike() -> None:
    """One span whole and half of another; the third passage holds the rest."""
    spans = [span(0, 5), span(10, 15)]
    shown = [Stretch("p1", 0, 5), Stretch("p1", 13, 20), Stretch("p1", 10, 12)]
    found = measure_found(spans, shown, shown, 4)
    assert found.recall.tolist() == [0.5, 0.75, 1.0, 1.0]
    gains = [1.0, 0.5, 0.5]
    dcg = [sum(gain / log2(rank + 2) for rank, gain in enumerate(gains[:k])) for k in (1, 2, 3)]
    assert found.ndcg.tolist() == pytest.approx([1.0, 1.0, 1.0, 1.0])
    assert dcg[2] == pytest.approx(1 + 0.5 / log2(3) + 0.5 / 2)


def test_ndcg_falls_with_the_rank_of_the_evidence() -> None:
    spans = [span(0, 5)]
    best, other = Stretch("p1", 0, 9), Stretch("p2", 0, 9)
    first = measure_found(spans, [best, other], [best], 2)
    second = measure_found(spans, [other, best], [best], 2)
    assert first.ndcg.tolist() == [1.0, 1.0]
    assert second.ndcg.tolist() == pytest.approx([0.0, 1 / log2(3)])
    assert second.recall.tolist() == [0.0, 1.0]


def test_a_passage_that_was_not_found_lowers_ndcg() -> None:
    spans = [span(0, 5), span(10, 15)]
    whole, half = Stretch("p1", 0, 20), Stretch("p1", 7, 20)
    found = measure_found(spans, [half], [whole, half], 1)
    assert found.ndcg.tolist() == pytest.approx([0.5])


def test_a_split_at_white_space_loses_nothing() -> None:
    found = measure_found([span(0, 9)], [Stretch("p1", 0, 5), Stretch("p1", 7, 9)], [], 2)
    assert found.recall.tolist() == pytest.approx([4 / 6, 1.0])


def test_passages_that_overlap_count_once_for_recall() -> None:
    same = Stretch("p1", 0, 2)
    found = measure_found([span(0, 5)], [same, Stretch("p1", 0, 3)], [], 2)
    assert found.recall.tolist() == [0.5, 0.5]


def test_a_shortened_passage_is_compared_with_the_whole_one() -> None:
    found = measure_found([span(0, 5)], [Stretch("p1", 0, 2)], [Stretch("p1", 0, 9)], 1)
    assert found.recall.tolist() == [0.5]
    assert found.ndcg.tolist() == [0.5]


def test_a_span_is_within_a_stretch_that_holds_any_of_its_characters() -> None:
    assert span(0, 5).is_within(Stretch("p1", 4, 9))
    assert not span(0, 5).is_within(Stretch("p1", 5, 9))
    assert not span(0, 5).is_within(Stretch("p2", 0, 9))


def test_nothing_found_and_nothing_to_find() -> None:
    """Without evidence in the collection nDCG is undefined; a miss has nDCG 0."""
    none = measure_found([span(0, 5)], [], [], 3)
    assert none.recall.tolist() == [0.0, 0.0, 0.0]
    assert np.isnan(none.ndcg).all()
    missed = measure_found([span(0, 5)], [Stretch("p2", 0, 9)], [Stretch("p1", 0, 9)], 1)
    assert missed.ndcg.tolist() == [0.0]


def test_more_passages_than_asked_for_are_not_counted() -> None:
    found = measure_found([span(0, 5)], [Stretch("p2", 0, 1), Stretch("p1", 0, 9)], [], 1)
    assert found.recall.tolist() == [0.0]


@pytest.mark.parametrize("spans", [[], [EvidenceSpan.of("p1", 0, " \n")]])
def test_evidence_without_text_is_refused(spans: list[EvidenceSpan]) -> None:
    with pytest.raises(ValueError, match="evidence has one span or more"):
        measure_found(spans, [], [], 1)


stretches = st.builds(
    lambda place, start, n: Stretch(place, start, start + n),
    st.sampled_from(["p1", "p2"]), st.integers(0, 20), st.integers(1, 12),
)  # fmt: skip


@given(st.lists(stretches, max_size=5, unique=True), st.lists(stretches, max_size=5))
def test_recall_never_falls_and_all_values_are_shares(
    shown: list[Stretch], collection: list[Stretch]
) -> None:
    starts = {(each.place, each.start) for each in shown}
    shown = shown if len(starts) == len(shown) else []
    found = measure_found([span(0, 9), span(10, 18)], shown, collection, 5)
    assert (np.diff(found.recall) >= 0).all()
    known = found.ndcg[~np.isnan(found.ndcg)]
    assert ((known >= 0) & (known <= 1 + 1e-12)).all()
    assert ((found.recall >= 0) & (found.recall <= 1)).all()


def test_a_passage_and_its_beginning_count_once_in_any_order() -> None:
    """The best order of all passages has the whole one; its shortened beginning adds nothing."""
    spans = [span(0, 15)]
    whole, beginning = Stretch("p1", 0, 15), Stretch("p1", 0, 5)
    for pool in ([whole, beginning], [beginning, whole]):
        found = measure_found(spans, [beginning], pool, 1)
        assert found.ndcg.tolist() == pytest.approx(found.recall.tolist())
        assert 0 < found.recall[0] < 1

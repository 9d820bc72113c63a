"""What can be seen of a text without knowing anything."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from proofstone.check.artifacts import FeatureTable, surface_features, word_features


def seen(text: str) -> dict[str, float]:
    table = surface_features([text])
    return dict(zip(table.names, table.values[0].tolist(), strict=True))


def test_lengths_signs_and_kinds_of_words() -> None:
    text = 'All metals (3 of them) do not conduct; they must "never" melt, because they may.'
    found = seen(text)
    words = 15
    assert found["length in words"] == words
    assert found["length in characters"] == len(text)
    assert found["sentences"] == 1
    assert found["absolutes"] == 100 * 2 / words  # all, must
    assert found["negations"] == 100 * 2 / words  # not, never
    assert found["hedges"] == 100 * 1 / words  # may
    assert found["causal words"] == 100 * 1 / words
    assert found["numbers"] == 100 * 1 / words
    assert found["brackets"] == 100 * 1 / words
    assert found["ends in a full stop"] == 1


def test_chinese_is_counted_by_characters_and_its_own_words() -> None:
    found = seen("所有金属都不导电，因此必须绝缘。")
    assert found["length in words"] == 14
    assert found["absolutes"] == 100 * 2 / 14
    assert found["negations"] == 100 * 1 / 14
    assert found["causal words"] == 100 * 1 / 14
    assert (found["commas"], found["ends in a full stop"]) == (100 * 1 / 14, 1)


def test_common_words_and_pairs_of_characters_are_columns() -> None:
    table = word_features(["The iron bridge", "An iron valve", "Iron, always", "铁桥"], least=2)
    assert table.names == ('the word "iron"',)
    assert table.values[:, 0].tolist() == [1, 1, 1, 0]
    pairs = word_features(["铁桥上", "铁桥下", "木桥"], least=2)
    assert pairs.names == ('the word "铁桥"',)


def test_what_all_texts_hold_tells_nothing_and_is_no_column() -> None:
    assert word_features(["iron a", "iron b"], least=1, most=9).names == (
        'the word "a"', 'the word "b"',
    )  # fmt: skip


@given(st.lists(st.text(max_size=80), max_size=5))
def test_any_texts_give_finite_columns(texts: list[str]) -> None:
    table = surface_features(texts).beside(word_features(texts, least=1))
    assert table.values.shape == (len(texts), len(table.names))
    assert np.isfinite(table.values).all()


def test_tables_stand_side_by_side() -> None:
    both = FeatureTable(("a",), np.array([[1.0]])).beside(FeatureTable(("b",), np.array([[2.0]])))
    assert (both.names, both.values.tolist()) == (("a", "b"), [[1.0, 2.0]])

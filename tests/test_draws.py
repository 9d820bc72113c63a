"""Draws: golden values, which never change, and uniformity."""

from __future__ import annotations

from collections import Counter
from hashlib import blake2b
from itertools import islice, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.records.ids import Draws, words_of


def test_golden_values_of_every_kind_of_draw() -> None:
    """These values entered ids; a change of any of them changes every form ever composed."""
    draws = Draws(7, 3, "golden")
    assert [draws.below(10) for _ in range(10)] == [2, 8, 3, 6, 4, 5, 1, 8, 2, 4]
    assert draws.below(1 << 64) == 12484081464207962077
    assert draws.between(-2, 2) == 2
    assert draws.uniform() == 0.2895162409169534
    assert draws.choice("abc") == "b"
    assert draws.shuffled(range(10)) == [7, 4, 5, 1, 3, 2, 9, 6, 0, 8]
    assert draws.sample(range(100), 3) == [31, 77, 90]


def test_a_stream_is_blake2b_of_key_and_counter() -> None:
    """A second implementation, from the definition: eight little-endian words a block."""
    key = "proofstone-draws-1|-5|12|负|".encode()
    expected = []
    for block in range(3):
        digest = blake2b(key + block.to_bytes(8, "little")).digest()
        expected += [int.from_bytes(digest[at : at + 8], "little") for at in range(0, 64, 8)]
    assert list(islice(words_of(-5, 12, "负"), 24)) == expected


@given(st.integers(), st.integers(), st.text(alphabet="ab|", max_size=4), st.integers(1, 1 << 64))
def test_below_is_in_range_and_repeats(seed: int, number: int, purpose: str, n: int) -> None:
    """The same seed, number and purpose give the same draw, in [0, n)."""
    first = Draws(seed, number, purpose).below(n)
    assert 0 <= first < n
    assert Draws(seed, number, purpose).below(n) == first


def test_below_is_uniform_by_rejection() -> None:
    """Of n = 2**63 + 1, nearly half of all words must be rejected; none may come out too large."""
    n = (1 << 63) + 1
    draws = Draws(0, 0, "rejection")
    values = [draws.below(n) for _ in range(400)]
    assert max(values) < n
    assert 150 < sum(value < n // 2 for value in values) < 250  # 200 expected, 5 sigma is 50


def test_every_order_of_three_is_equally_likely() -> None:
    counts = Counter(tuple(Draws(1, i, "order").shuffled("abc")) for i in range(6000))
    assert set(counts) == set(permutations("abc"))
    assert sum((count - 1000) ** 2 / 1000 for count in counts.values()) < 25.7  # p = 1e-4, 5 df


@given(st.lists(st.integers(), max_size=30), st.data())
def test_a_sample_takes_different_places(items: list[int], data: st.DataObject) -> None:
    """A sample is a part of the input; the input stays as it is."""
    k = data.draw(st.integers(0, len(items)))
    before = list(items)
    sample = Draws(1, 2, "sample").sample(items, k)
    assert len(sample) == k
    assert not Counter(sample) - Counter(items)
    assert items == before


@pytest.mark.parametrize("n", [0, -1, (1 << 64) + 1])
def test_a_range_that_cannot_be_is_refused(n: int) -> None:
    with pytest.raises(ValueError, match="1 to 2\\*\\*64"):
        Draws(0, 0, "").below(n)


@pytest.mark.parametrize("k", [-1, 4])
def test_more_than_there_are_cannot_be_drawn(k: int) -> None:
    with pytest.raises(ValueError, match="of 3"):
        Draws(0, 0, "").sample([1, 2, 3], k)


def test_uniform_is_below_one() -> None:
    draws = Draws(0, 0, "uniform")
    values = [draws.uniform() for _ in range(1000)]
    assert 0 <= min(values) <= max(values) < 1
    assert abs(sum(values) / 1000 - 0.5) < 0.05  # 5 sigma: 5 / sqrt(12 * 1000) = 0.046

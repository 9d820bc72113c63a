"""Who reads what: even shares, the overlap, pairs, and what nobody may be given."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.errors import BadUsage
from proofstone.review.sheets import assign, draw_by_stratum, size_for


def test_a_fifth_goes_to_all_six_and_the_rest_to_one_each() -> None:
    made = assign(120, 6, overlap=0.2, seed=3)
    times = Counter(place for rows in made.rows for place in rows)
    assert Counter(times.values()) == {6: 24, 1: 96}
    assert [len(rows) for rows in made.rows] == [24 + 96 // 6] * 6
    assert made.shared == tuple(sorted(place for place, n in times.items() if n == 6))


def test_the_paper_has_three_read_all() -> None:
    made = assign(50, 3, overlap=1.0)
    assert [sorted(rows) for rows in made.rows] == [list(range(50))] * 3


def test_in_pairs_all_pairs_meet_about_as_often() -> None:
    made = assign(60, 4, overlap=1.0, readers=2, seed=1)
    held = [set(rows) for rows in made.rows]
    met = [len(a & b) for a, b in combinations(held, 2)]
    assert sum(met) == 60
    assert max(met) - min(met) <= 1
    assert [len(rows) for rows in made.rows] == [30] * 4


@given(
    st.integers(0, 60), st.integers(1, 7), st.floats(0.0, 1.0), st.integers(1, 7),
    st.integers(0, 9), st.none() | st.integers(1, 30),
)  # fmt: skip
def test_everything_is_read_and_nobody_reads_much_more(
    n: int, people: int, overlap: float, readers: int, seed: int, most: int | None
) -> None:
    made = assign(n, people, overlap=overlap, readers=readers, seed=seed, most=most)
    sizes = [len(rows) for rows in made.rows]
    assert max(sizes) - min(sizes) <= 1
    assert all(len(set(rows)) == len(rows) for rows in made.rows)
    read = {place for rows in made.rows for place in rows}
    assert sorted(read | set(made.left)) == list(range(n))
    assert not read & set(made.left)
    assert most is not None or not made.left
    assert max(sizes) <= (most or n)
    assert made == assign(n, people, overlap=overlap, readers=readers, seed=seed, most=most)


def test_who_has_read_it_is_not_given_it_again() -> None:
    barred = {0: frozenset({0}), 1: frozenset({0, 1}), 2: frozenset()}
    made = assign(3, 2, overlap=1.0, readers=1, barred=barred)
    assert 0 in made.rows[1]
    assert made.barred == (1,)
    assert {place for rows in made.rows for place in rows} == {0, 2}


def test_readers_orders_say_nothing_of_what_is_shared() -> None:
    first, second = assign(40, 2, overlap=1.0, seed=5).rows
    assert first != second
    assert sorted(first) == sorted(second)


def test_a_sample_takes_its_share_of_each_stratum() -> None:
    strata = ["a"] * 70 + ["b"] * 20 + ["c"] * 10
    drawn = draw_by_stratum(strata, 20, seed=4)
    assert Counter(strata[place] for place in drawn) == {"a": 14, "b": 4, "c": 2}
    assert drawn == sorted(set(drawn)) == draw_by_stratum(strata, 20, seed=4)
    assert drawn != draw_by_stratum(strata, 20, seed=5)


@given(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=80), st.data(), st.integers(0, 5))
def test_a_share_is_off_by_less_than_one(strata: list[str], data: st.DataObject, seed: int) -> None:
    size = data.draw(st.integers(1, len(strata)))
    drawn = Counter(strata[place] for place in draw_by_stratum(strata, size, seed))
    assert sum(drawn.values()) == size
    for name, n in Counter(strata).items():
        assert abs(drawn[name] - size * n / len(strata)) < 1


def test_more_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(BadUsage, match="cannot sample 3 of 2"):
        draw_by_stratum(["a", "b"], 3, 0)


def test_the_size_for_a_half_width() -> None:
    # 1.96**2 * 0.05 * 0.95 / 0.02**2 = 456.2, and of 43,019 statements 456.2 / 1.0106 = 451.4.
    assert size_for(0.02, 43_019) == 452
    assert size_for(0.02, 100) == 83  # 456.2 / (1 + 455.2 / 100) = 82.2
    with pytest.raises(BadUsage):
        size_for(0.0, 100)

"""Option sets: what is drawn, how, and what must hold of every one of them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofstone.choices.options import (
    MOST_OPTIONS,
    OptionSet,
    Subset,
    distractor_supply,
    draw_options,
    option_text,
    roman,
    subsets,
)
from proofstone.records.ids import words_of

CASES = st.tuples(
    st.integers(2, 11),  # places
    st.integers(1, 5),  # smallest option
    st.integers(0, 4),  # how much larger the largest is
    st.integers(1, 6),  # size of gold
    st.booleans(),  # forbid subsets
    st.integers(0, 10_000),  # seed
)


def _draw(case: tuple[int, int, int, int, bool, int], count: int) -> tuple[Subset, OptionSet]:
    places, smallest, more, n_correct, forbid, seed = case
    sizes = range(smallest, min(smallest + more, 6) + 1)
    assume(n_correct < places)
    assume(n_correct in sizes)
    supply = distractor_supply(places, n_correct, sizes, forbid_subsets=forbid)
    assume(1 <= count - 1 <= supply)
    answer_key = subsets(places, n_correct)[seed % len(subsets(places, n_correct))]
    words = words_of(seed, 0, "test")
    return answer_key, draw_options(words, places, answer_key, count, sizes, forbid_subsets=forbid)


@given(CASES, st.integers(2, MOST_OPTIONS))
def test_one_option_is_gold_and_every_other_holds_something_else(
    case: tuple[int, int, int, int, bool, int], count: int
) -> None:
    """As many options as asked for, no two alike, of permitted sizes; gold stands where it says."""
    answer_key, drawn = _draw(case, count)
    places, smallest, more, *_ = case
    assert len(drawn.options) == count == len(set(drawn.options))
    assert drawn.options[drawn.answer_key] == answer_key.places
    for at, option in enumerate(drawn.options):
        assert list(option) == sorted(set(option))
        assert set(option) <= set(range(places))
        assert smallest <= len(option) <= min(smallest + more, 6)
        assert at == drawn.answer_key or not set(option) <= set(answer_key.places)


@given(CASES, st.integers(3, MOST_OPTIONS))
def test_fewer_options_are_the_same_without_the_last_distractor(
    case: tuple[int, int, int, int, bool, int], count: int
) -> None:
    """Dropping the one distractor that count - 1 does not have leaves the others in their order."""
    _, more = _draw(case, count)
    _, fewer = _draw(case, count - 1)
    (last,) = set(more.options) - set(fewer.options)
    assert tuple(option for option in more.options if option != last) == fewer.options


@given(CASES, st.integers(2, MOST_OPTIONS))
def test_no_option_is_a_proper_subset_where_that_is_forbidden(
    case: tuple[int, int, int, int, bool, int], count: int
) -> None:
    _, drawn = _draw((*case[:4], True, case[5]), count)
    assert not any(set(a) < set(b) for a in drawn.options for b in drawn.options)


def test_all_distractors_can_be_drawn() -> None:
    """Of 4 places with 2 gold ones, sizes 1 to 3: 14 sets, less gold and its two single places."""
    answer_key = subsets(4, 2)[0]
    sizes = range(1, 4)
    assert distractor_supply(4, 2, sizes, forbid_subsets=False) == 14 - 3
    drawn = draw_options(words_of(1, 1, "all"), 4, answer_key, 1 + 11, sizes)
    expected = {
        one
        for n in sizes
        for one in combinations(range(4), n)
        if not set(one) < set(answer_key.places)
    }
    assert set(drawn.options) == expected


def test_without_subsets_the_largest_size_counts() -> None:
    """Of 8 places with 3 gold ones: 25 pairs are not within gold, 55 triples beside gold itself,
    and 70 - 5 sets of four do not hold it."""
    sizes = range(2, 5)
    assert distractor_supply(8, 3, range(2, 3), forbid_subsets=True) == 28 - 3
    assert distractor_supply(8, 3, range(3, 4), forbid_subsets=True) == 56 - 1
    assert distractor_supply(8, 3, sizes, forbid_subsets=True) == 70 - 5


@pytest.mark.parametrize("count", [2, 4, 8, 10])
def test_gold_stands_anywhere_with_the_same_chance(count: int) -> None:
    answer_key = subsets(9, 3)[7]
    n = 4000
    places = Counter(
        draw_options(words_of(5, i, "position"), 9, answer_key, count, range(2, 5)).answer_key
        for i in range(n)
    )
    assert set(places) == set(range(count))
    chi_square = sum((seen - n / count) ** 2 / (n / count) for seen in places.values())
    assert chi_square < 40  # p < 1e-5 on at most 9 degrees of freedom


def test_sizes_of_distractors_are_uniform() -> None:
    """Sets of 2, 3 and 4 come equally often, although there are far more sets of 4."""
    answer_key = subsets(10, 3)[0]
    n = 1500
    sizes = Counter(
        len(option)
        for i in range(n)
        for option in draw_options(words_of(6, i, "size"), 10, answer_key, 5, range(2, 5)).options
        if option != answer_key.places
    )
    assert sum(sizes.values()) == 4 * n
    assert sum((seen - 2000) ** 2 / 2000 for seen in sizes.values()) < 23  # p = 1e-5, 2 df


def test_options_are_written_in_roman_numerals() -> None:
    assert option_text((0, 2, 7)) == "i, iii, viii"


def test_numerals_count_as_the_romans_did() -> None:
    """The subtractive pairs, and a number with every letter."""
    pairs = {4: "iv", 9: "ix", 40: "xl", 90: "xc", 400: "cd", 900: "cm", 1666: "mdclxvi"}
    assert {number: roman(number) for number in pairs} == pairs
    assert len({roman(number) for number in range(1, 4000)}) == 3999


@pytest.mark.parametrize("number", [0, 4000])
def test_other_numbers_have_no_numeral(number: int) -> None:
    with pytest.raises(ValueError, match="1 to 3999"):
        roman(number)

"""Documents that stand for a folder: every kind and subfolder first, sizes spread, by a seed."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from proofstone.records.ids import Draws
from proofstone.start.guide import Candidate, choose_documents, dealt, spread_over


def candidate(file: str, size: int = 1) -> Candidate:
    return Candidate(file=file, kind="." + file.rpartition(".")[2], size=size)


FOLDER = [
    *(candidate(f"manuals/{n:02}.pdf", n) for n in range(40)),
    *(candidate(f"manuals/{n:02}.html", n) for n in range(3)),
    candidate("letters/one.txt"),
    candidate("top.pdf"),
]


def test_each_subfolder_and_kind_has_its_turn_before_any_has_a_second() -> None:
    """Four groups in six places: the two more go to groups that have more."""
    chosen = choose_documents(FOLDER, 6, seed=0)
    groups = Counter(each.group for each in chosen)
    assert groups.keys() == {
        ("manuals", ".pdf"), ("manuals", ".html"), ("letters", ".txt"), ("", ".pdf"),
    }  # fmt: skip
    assert sorted(groups.values()) == [1, 1, 2, 2]


def test_sizes_are_spread_over_a_group() -> None:
    """One of each quarter of the forty, small to large."""
    only = [each for each in FOLDER if each.group == ("manuals", ".pdf")]
    sizes = sorted(each.size for each in choose_documents(only, 4, seed=3))
    assert [size // 10 for size in sizes] == [0, 1, 2, 3]


def test_the_same_seed_chooses_the_same_and_another_others() -> None:
    chosen = {seed: choose_documents(FOLDER, 5, seed) for seed in range(6)}
    assert chosen[0] == choose_documents(list(reversed(FOLDER)), 5, 0)
    assert len({tuple(each.file for each in some) for some in chosen.values()}) > 1


@given(st.lists(st.integers(0, 9), max_size=6), st.integers(0, 60))
def test_what_is_dealt_is_as_even_as_the_groups_allow(sizes: list[int], n: int) -> None:
    """All of n or all there is; a group has one more than another only where that is empty or
    comes later in the turn."""
    given_out = dealt(sizes, n)
    assert sum(given_out) == min(n, sum(sizes))
    assert all(0 <= got <= size for got, size in zip(given_out, sizes, strict=True))
    most = max(given_out, default=0)
    assert all(got >= most - 1 or got == size for got, size in zip(given_out, sizes, strict=True))


@given(st.lists(st.integers(), max_size=30), st.integers(0, 40), st.integers(0, 5))
def test_what_is_spread_keeps_its_order_and_takes_each_once(
    things: list[int], n: int, seed: int
) -> None:
    places = list(enumerate(things))
    found = spread_over(places, n, Draws(seed, 0, "test"))
    assert len(found) == min(n, len(things))
    assert found == sorted(set(found), key=lambda each: each[0])

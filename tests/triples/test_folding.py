"""Triples that say the same in other letters are one; others stay apart."""

from __future__ import annotations

import pytest

from proofstone.methods.bequ.records import fold_triples, plain_triple
from proofstone.methods.bequ.response_json import read_triples


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("A", "birthPlace", "Ulm"), ("a", "birth place", "ULM")),
        (("A", "birth_place", "Ulm."), ("A", "Birth-Place", '"Ulm"')),
        (("A_B", "hasURLOf", "x"), ("A B", "has url of", "Ｘ")),
    ],
)
def test_these_are_the_same(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert plain_triple(*one) == plain_triple(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("A", "population", "1738"), ("A", "population", "1,738")),
        (("A", "birthPlace", "Ulm"), ("A", "birthplace", "Ulm")),
        (("A", "date", "1955-04-18"), ("A", "date", "1955-04-19")),
        (("A", "p", "-5"), ("A", "p", "5")),
    ],
)
def test_these_are_left_apart(one: tuple[str, str, str], other: tuple[str, str, str]) -> None:
    assert plain_triple(*one) != plain_triple(*other)


def test_each_stands_where_it_was_said_first_and_counts_the_others() -> None:
    text = "(A, p, x)\n(A, q, y)\n(a, P, X)\n(A, p, x)"
    folded = fold_triples(read_triples(text).triples)
    assert [(said.first.object, said.times) for said in folded] == [("x", 3), ("y", 1)]
    assert [again.start for again in folded[0].again] == [20, 30]

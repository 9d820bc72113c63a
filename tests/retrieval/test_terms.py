"""What of a text is looked up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.search.bm25 import jieba_words, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("... !?", []),
        ("Copper, conducts.", ["copper", "conducts"]),
        ("Don't use pi=3.14!", ["don't", "use", "pi", "3.14"]),
        ("snake_case", ["snake", "case"]),
        ("Straße ÀÉ", ["strasse", "àé"]),
        ("北京市", ["北京", "京市"]),
        ("金", ["金"]),
        ("用GPT五代", ["用", "gpt", "五代"]),
        ("Ａ１", ["a1"]),
        ("x" * 100, ["x" * 64]),
    ],
)
def test_terms_of_a_text(text: str, terms: list[str]) -> None:
    assert list(terms_of(text)) == terms


@given(st.text(max_size=40), st.text(max_size=40))
def test_terms_of_two_lines_are_those_of_each(one: str, other: str) -> None:
    assert list(terms_of(f"{one}\n{other}")) == [*terms_of(one), *terms_of(other)]


def test_words_of_a_list_where_it_is_there() -> None:
    pytest.importorskip("rjieba")
    assert list(terms_of("首都是北京市", jieba_words())) == ["首都", "是", "北京", "京市", "北京市"]

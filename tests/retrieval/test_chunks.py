"""Texts cut at the ends of sentences into chunks of so many tokens."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.documents.passages import sentence_spans
from proofstone.errors import BadUsage
from proofstone.models.tokens import load_cl100k
from proofstone.search.chunks import LEAST_TOKENS, Chunk, Chunking, cut_chunks

COUNT = load_cl100k()
WORDS = st.sampled_from(
    ["Copper", "conducts", "3.14", "e.g.", "铜能导电", "。", "；", ". ", "! ", "\n\n", " ", ", ",
     "，", "pneumonoultramicroscopic", "🜚", "é", "x" * 70]
)  # fmt: skip
TEXTS = st.lists(WORDS | st.text(max_size=8), max_size=60).map("".join)
CHUNKINGS = st.integers(LEAST_TOKENS, 40).flatmap(
    lambda most: st.builds(Chunking, most=st.just(most), overlap=st.integers(0, most // 2))
)


def cut(text: str, most: int = 20, overlap: int = 0) -> list[str]:
    chunking = Chunking(most=most, overlap=overlap)
    chunks = cut_chunks(text, chunking, count=COUNT, sentences=sentence_spans)
    return [text[chunk.start : chunk.end] for chunk in chunks]


def test_sentences_are_put_together_while_they_fit() -> None:
    text = "Copper conducts. Glass does not. Wood floats on water. Iron sinks."
    lengths = [
        COUNT(each) for each in ("Copper conducts. Glass does not.", "Wood floats on water.")
    ]
    assert lengths == [8, 5]
    assert cut(text, most=9) == [
        "Copper conducts. Glass does not.",
        "Wood floats on water. Iron sinks.",
    ]
    assert cut(text, most=200) == [text]


def test_chinese_is_cut_behind_its_own_full_stop() -> None:
    assert cut("铜能导电。玻璃不能导电。木头浮在水上。", most=10) == [
        "铜能导电。",
        "玻璃不能导电。",
        "木头浮在水上。",
    ]


def test_a_long_sentence_is_cut_behind_a_clause_else_a_word_else_anywhere() -> None:
    by_clause = cut("one two three four five six, seven eight nine ten eleven twelve", most=8)
    assert by_clause[0] == "one two three four five six,"
    assert cut("one two three four five six seven eight nine ten", most=8)[0] == (
        "one two three four five six seven eight"
    )
    endless = cut("x" * 4000, most=8)
    assert "".join(endless) == "x" * 4000
    assert all(COUNT(part) <= 8 for part in endless)


def test_chunks_overlap_by_whole_sentences() -> None:
    text = "Copper conducts. Glass does not. Wood floats. Iron sinks."
    assert cut(text, most=11, overlap=4) == [
        "Copper conducts. Glass does not. Wood floats.",
        "Wood floats. Iron sinks.",
    ]


@pytest.mark.parametrize("text", ["", " \n\t "])
def test_there_is_no_chunk_of_nothing(text: str) -> None:
    assert cut(text) == []


@given(TEXTS, CHUNKINGS)
def test_every_chunk_is_a_span_that_fits(text: str, chunking: Chunking) -> None:
    """No white space at its ends, within the bound, each later than the one before."""
    chunks = cut_chunks(text, chunking, count=COUNT, sentences=sentence_spans)
    for chunk in chunks:
        own = text[chunk.start : chunk.end]
        assert own
        assert own == own.strip()
        assert COUNT(own) <= chunking.most
    starts, ends = [chunk.start for chunk in chunks], [chunk.end for chunk in chunks]
    assert starts == sorted(set(starts))
    assert ends == sorted(set(ends))


@given(TEXTS, CHUNKINGS)
def test_nothing_is_left_out_and_without_overlap_nothing_stands_twice(
    text: str, chunking: Chunking
) -> None:
    chunks = cut_chunks(text, chunking, count=COUNT, sentences=sentence_spans)
    covered = [0] * len(text)
    for chunk in chunks:
        for at in range(chunk.start, chunk.end):
            covered[at] += 1
    assert all(n or char.isspace() for n, char in zip(covered, text, strict=True))
    if not chunking.overlap:
        assert max(covered, default=0) <= 1


@given(TEXTS)
def test_a_boundary_is_an_end_of_a_sentence_unless_the_sentence_is_too_long(text: str) -> None:
    spans = list(sentence_spans(text))
    short = [span for span in spans if COUNT(text[span[0] : span[1]]) <= 20]
    chunks = cut_chunks(text, Chunking(most=20), count=COUNT, sentences=lambda _text: spans)
    for start, end in short:
        assert any(chunk.start <= start and end <= chunk.end for chunk in chunks)


def test_a_text_without_an_end_takes_no_time_that_grows_with_its_square() -> None:
    """Counted characters, not seconds: each piece looks at a few times its own length."""
    looked_at = 0

    def count(text: str) -> int:
        nonlocal looked_at
        looked_at += len(text)
        return COUNT(text)

    text = "字" * 10_000
    cut_chunks(text, Chunking(most=50), count=count, sentences=sentence_spans)
    assert looked_at < 60 * len(text)


def test_a_chunk_cannot_be_smaller_than_a_character_may_be() -> None:
    with pytest.raises(BadUsage, match="expected chunks of 8 tokens or more, got 3"):
        Chunking(most=3)
    with pytest.raises(BadUsage, match="overlap of 0 to 10 tokens"):
        Chunking(most=20, overlap=11)


def test_where_chunks_stand_is_what_is_said() -> None:
    chunks = cut_chunks(
        " Copper conducts.  Glass does not. ", Chunking(most=9), count=COUNT,
        sentences=sentence_spans,
    )  # fmt: skip
    assert chunks == [Chunk(1, 34)]

"""Quotes are found in page texts: verbatim, in other typography, over pages, or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofstone.texts.quotes import PageTexts

PAGES = {
    1: "The coefﬁcients are estimated by least squares. Heteroskedas-\nticity is “com-\nmon” in "
    "cross-sections. A long-run variance exists",
    2: "for weakly dependent data.\nStandard errors — robust ones —\nneed no model of the errors.",
}


def places(quote: str) -> list[tuple[int | None, str]]:
    return [(span.page, span.text) for span in PageTexts(PAGES).find(quote).spans]


def test_a_verbatim_quote_is_one_span_at_its_offsets() -> None:
    found = PageTexts(PAGES).find(" need no model of the errors. ")
    (span,) = found.spans
    assert found.is_verbatim
    assert PAGES[2][span.start : span.end] == span.text == "need no model of the errors."


@pytest.mark.parametrize(
    ("quote", "page", "text"),
    [
        ("The coefficients are estimated", 1, "The coefﬁcients are estimated"),
        ("Heteroskedasticity is", 1, "Heteroskedas-\nticity is"),
        ('is "common" in', 1, "is “com-\nmon” in"),
        ("crosssections", 1, "cross-sections"),
        ("cross\u2010sections", 1, "cross-sections"),
        ("Standard errors - robust ones - need", 2, "Standard errors — robust ones —\nneed"),
        ("dependent  data. Standard", 2, "dependent data.\nStandard"),
    ],
)
def test_other_typography_is_found(quote: str, page: int, text: str) -> None:
    assert places(quote) == [(page, text)]
    assert not PageTexts(PAGES).find(quote).is_verbatim


def test_a_quote_over_a_page_break_is_a_span_on_each_page() -> None:
    assert places("variance exists for weakly dependent") == [
        (1, "variance exists"), (2, "for weakly dependent"),
    ]  # fmt: skip


def test_a_row_of_a_table_is_found_as_the_document_prints_it() -> None:
    pages = PageTexts({1: "Year | Yield | p\n2004 | 1.19 | 0.0614 .\nfit y ~ x | z by a|b"})
    for quote, text in {
        "2004 1.19 0.0614": "2004 | 1.19 | 0.0614",
        "2004 | 1.19 0.0614": "2004 | 1.19 | 0.0614",
        "fit y ~ x  | z": "fit y ~ x | z",
        "fit  y ~ x |": "fit y ~ x",
        "by a|b": "by a|b",
    }.items():
        assert [span.text for span in pages.find(quote).spans] == [text]
    assert pages.find("by a b").spans == ()


@pytest.mark.parametrize("end", ["", "\n", " \n"])
def test_a_word_broken_by_a_page_break_is_found(end: str) -> None:
    found = PageTexts({1: f"They are asymp-{end}", 2: "totically normal."}).find(
        "asymptotically normal"
    )
    assert [span.text for span in found.spans] == ["asymp", "totically normal"]


def test_elided_quotes_are_found_part_by_part_in_order() -> None:
    assert places("estimated by least squares ... for weakly dependent data") == [
        (1, "estimated by least squares"), (2, "for weakly dependent data"),
    ]  # fmt: skip
    assert places("for weakly dependent data [...] estimated by least squares") == []
    assert places("The ... errors") == []  # such short parts could be anywhere


def test_the_nearest_text_is_given_for_a_quote_that_is_not_there() -> None:
    found = PageTexts(PAGES).find("Robust standard errors need no model of all the errors")
    assert found.spans == ()
    assert "errors - robust ones - need no model" in found.nearest
    assert PageTexts(PAGES).find("Whales are mammals of the sea").nearest == ""


@pytest.mark.parametrize("quote", ["", "   ", "\u00ad", "...", "-"])
def test_quotes_without_words_are_nowhere(quote: str) -> None:
    assert PageTexts({1: "Text without such marks"}).find(quote).spans == ()


def test_no_pages_have_no_quotes() -> None:
    found = PageTexts({}).find("anything at all")
    assert (found.spans, found.nearest) == ((), "")


WORDS = st.lists(st.sampled_from(["ﬁt", "of", "long-run", "“odd”", "errors", "a", "–"]), min_size=8)


@given(words=WORDS, cut=st.tuples(st.integers(0, 7), st.integers(1, 8)), page=st.integers(1, 7))
def test_every_stretch_of_words_is_found_where_it_is(
    words: list[str], cut: tuple[int, int], page: int
) -> None:
    """Its spans are verbatim in the pages, and hold the words of the quote alone."""
    pages = {1: " ".join(words[:page]), 2: "\n".join(words[page:])}
    quote = " ".join(words[cut[0] : cut[0] + cut[1]])
    spans = PageTexts(pages).find(quote).spans
    assert spans
    for span in spans:
        assert pages[span.page or 0][span.start : span.end] == span.text
    together = "".join("".join(span.text.split()) for span in spans)
    assert together == "".join(quote.split())

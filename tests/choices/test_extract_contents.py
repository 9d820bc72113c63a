"""An answer that is the words of an option, or a list of numerals, is that option."""

from __future__ import annotations

import pytest

from choices.test_extract import NOTHING
from proofstone.choices.extraction import Extraction, extract_choice

ELEMENTS = ("carbon", "Carbon dioxide", "oxygen (O2)", "3.5 m", "None of the above")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("The answer is carbon.", "A"),
        ("Answer: **Carbon Dioxide**", "B"),
        ("The answer is carbon dioxide, of course", "B"),
        ("Answer: oxygen (O2)", "C"),
        ("答案：3.5 m", "D"),
        ("\\boxed{3.5 m}", "D"),
        ("CARBON DIOXIDE", "B"),
        ("Reasons.\n\ncarbon", "A"),
        ("It is always made of A. carbon", "A"),
        ("Answer: None of the above", "E"),
        ("The best of them is:\n\nB. Carbon dioxide\n\nThe others are wrong.", "B"),
        ("The best of them is:\n\nB. carbon\n\nThe others are wrong.", ""),
        ("The best of them is:\n\nZ. carbon\n\nThe others are wrong.", ""),
        ("The answer is carbon. But no: the answer is not listed.", ""),
        ("Z. carbon dioxide and more", ""),
        ("The answer is carbonate", ""),
        ("The answer is 3.5 mm", ""),
        ("Not carbon but something else", ""),
        ("A. carbon\nB. Carbon dioxide\nC. oxygen (O2)", ""),
    ],
)
def test_an_options_content_behind_an_anchor_or_alone_is_its_letter(text: str, letter: str) -> None:
    found = extract_choice(text, "ABCDE", ELEMENTS)
    assert (found.letter if found.is_option else "") == letter


def test_content_is_the_content_tier() -> None:
    expected = Extraction("B", "content", "whole text", True)
    assert extract_choice("Answer: carbon dioxide", "ABCDE", ELEMENTS) == expected


def test_a_stated_letter_that_begins_an_options_words_is_that_option() -> None:
    """ "A dog" is the option, not letter A; "B cells" neither letter B."""
    animals = ("B cells", "A dog", "A do", "")
    assert extract_choice("The answer is A dog.", "ABCD", animals).letter == "B"
    assert extract_choice("The answer is B cells.", "ABCD", animals).letter == "A"
    assert extract_choice("The answer is B dogs.", "ABCD", animals).letter == "B"
    assert extract_choice("The answer is A dogma", "ABCD", animals).letter == ""
    assert extract_choice("The answer is B cells", "AB", ("B cell", "T cell")).letter == "B"


def test_a_letter_that_is_no_option_may_be_an_options_content() -> None:
    """ "V" is the symbol of an element, among options A to C."""
    symbols = ("V", "K", "He")
    assert extract_choice("The answer is V.", "ABC", symbols).letter == "A"
    assert extract_choice("Answer: (K)", "ABC", symbols).letter == "B"
    assert extract_choice("The answer is H.", "ABC", symbols).letter == "H"


def test_two_options_of_the_same_content_are_no_answer() -> None:
    assert extract_choice("Answer: iron", "ABC", ("iron", "Iron", "gold")) == NOTHING


def test_a_run_of_letters_that_is_an_options_content_is_that_option() -> None:
    """Blood group AB, ACE inhibitors: content, not several letters."""
    assert extract_choice("Answer: AB", "ABCD", ("O", "AB", "A+", "B+")).letter == "B"


SETS = ("i, iii, viii", "ii, iv", "i, iii", "v, vii", "vi, viii", "i, ii, iii, iv", "ix, x")


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Answer: i, iii, viii", "A"),
        ("The answer is I, III, and VIII.", "A"),
        ("Answer: viii, i and iii", "A"),
        ("答案：ⅰ、ⅲ", "C"),
        ("答案是 i、iii 和 viii。", "A"),
        ("The answer is (ii) and (iv)", "B"),
        ("The correct statements are ii, iv", "B"),
        ("Statements ii and iv are correct.", "B"),
        ("v & vii", "D"),
        ("The answer is statements i, ii, iii, iv.", "F"),
        ("Answer: ix, x", "G"),
        ("Answer: i, ii", ""),
        ("i, iii and viii are true, while ii, iv are false", ""),
        ("i", ""),
    ],
)
def test_lists_of_roman_numerals_are_compared_as_sets(text: str, letter: str) -> None:
    """Order, separators, case and the Unicode numerals do not matter."""
    found = extract_choice(text, "ABCDEFG", SETS)
    assert (found.letter if found.is_option else "") == letter


def test_roman_numerals_are_not_the_letter_i_where_i_is_an_option() -> None:
    """Nine options and more: "i, iii" is content, "I" is the letter."""
    texts = ("i, iii", "ii, iv", "i, v", "i, vi", "ii, v", "ii, vi", "iii, v", "iii, vi", "v, vi")
    assert extract_choice("Answer: i, iii", "ABCDEFGHI", texts).letter == "A"
    assert extract_choice("Answer: I, V", "ABCDEFGHI", texts).letter == "C"
    assert extract_choice("Answer: I", "ABCDEFGHI", texts).letter == "I"
    assert extract_choice("Answer: I. v, vi", "ABCDEFGHI", texts).letter == "I"


@pytest.mark.parametrize(
    ("text", "options", "letter"),
    [
        ("The answer is A.", ("B", "A", "C", "D"), "A"),  # the letter, not the option that is "A"
        ("The answer is A).", ("tin", "A)", "iron", "lead"), "A"),
        ("the answer is\n  iron\n  ore", ("iron", "iron ore", "tin", "lead"), "A"),
        ("The answer is B for all of these reasons", (), "B"),
        ("The answer is A good thing", (), ""),
        ("A. carbon\nas it burns", (), "A"),
    ],
)
def test_an_option_is_told_from_a_letter_a_word_and_a_longer_option(
    text: str, options: tuple[str, ...], letter: str
) -> None:
    assert extract_choice(text, "ABCD", options).letter == letter


@pytest.mark.parametrize(
    ("text", "tier"),
    [
        ("选项是B", "marked"),
        ("答案：AD", "marked"),
        ("答案：AF", ""),  # letters that are no options are a word
        ("The choices: C", "bare"),
        ("Nie Antwort C. Mehr ist dazu hier auch gar nicht zu sagen, denn es steht so da", ""),
    ],
)
def test_how_an_answer_was_found_is_told(text: str, tier: str) -> None:
    assert extract_choice(text, "ABCD").tier == tier

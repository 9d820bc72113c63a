"""Replies in ten languages, each read by hand: the letter that it chooses, or none.

The replies are written for this test, in every form of
docs/reference/extraction.md; two in five choose nothing, most of them prose with letters in it.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
import pytest

from proofstone.choices.extraction import extract_choice
from proofstone.choices.outcomes import read_choice
from proofstone.records.runs import Response

FILE = Path(__file__).parent / "labelled" / "responses.jsonl"
LANGUAGES = {"en", "zh", "es", "fr", "de", "pt", "ru", "ja", "ko", "ar"}


class Labelled(msgspec.Struct, frozen=True):
    """A reply, the letters of its options, and the one it chooses (empty: none)."""

    language: str
    letters: str
    expected: str
    response: str


def read(row: Labelled) -> str:
    reading = read_choice(Response(text=row.response), row.letters)
    return reading.extraction.letter if reading.outcome == "answered" else ""


ROWS = [
    msgspec.json.decode(line, type=Labelled)
    for line in FILE.read_text(encoding="utf-8").splitlines()
]


def test_at_least_99_of_100_are_read_as_by_hand() -> None:
    same = sum(read(row) == row.expected for row in ROWS)
    assert len(ROWS) >= 300
    assert {row.language for row in ROWS} == LANGUAGES
    assert min(Counter(row.language for row in ROWS).values()) >= 30
    assert same >= 0.99 * len(ROWS)


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_no_letter_is_read_where_none_is_chosen(language: str) -> None:
    rows = [row for row in ROWS if row.language == language and not row.expected]
    assert len(rows) >= 10
    assert {row.response: read(row) for row in rows if read(row)} == {}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_what_is_chosen_is_read_in_each_language(language: str) -> None:
    rows = [row for row in ROWS if row.language == language and row.expected]
    assert len(rows) >= 15
    assert {row.response: read(row) for row in rows if read(row) != row.expected} == {}


@pytest.mark.parametrize(
    ("response", "letter", "tier"),
    [
        ("The third reading is off, so [[B]] stays.", "B", "marked"),
        ("[[B]] stays. The third reading is off.", "B", "marked"),
        ("[[A]]? No, the sign is wrong: [[D]]", "D", "marked"),
        ("It is not [[B]].", "", ""),
        ("Between [[A]] and [[C]] nothing decides.", "", "marked"),
        ("x[[B]] <- 3", "", ""),
        ("The article is [[Boron]].", "", ""),
        ("[[J]]", "J", "marked"),
        ("The array [[i]] is empty.", "", ""),
    ],
)
def test_a_letter_in_double_brackets_is_stated(response: str, letter: str, tier: str) -> None:
    found = extract_choice(response, "ABCD")
    assert (found.letter, found.tier) == (letter, tier)


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("La respuesta es el cobre.", "B"),
        ("La réponse est le cuivre.", "C"),
        ("Die Antwort ist Kupfer.", "D"),
        ("答えは銅です。", ""),
    ],
)
def test_an_options_text_counts_behind_the_anchors_of_other_languages(
    response: str, letter: str
) -> None:
    """A text that goes on without a space is no whole option."""
    options = ("zinc", "el cobre", "le cuivre", "Kupfer", "銅線")
    assert extract_choice(response, "ABCDE", options).letter == letter


@pytest.mark.parametrize(
    ("response", "letter"),
    [
        ("La opción incorrecta es la C.", "C"),  # some questions ask for it
        ("Beantwortung: B", "B"),
        ("Ответ: В", ""),  # a Cyrillic letter, the third of an alphabet or a B by its look
        ("Opciones de respuesta: A) cobre B) zinc", ""),
        ("Варианты ответа: A) медь, B) цинк", ""),
        ("الإجابة هي B و C", ""),
    ],
)
def test_lists_and_other_alphabets_are_no_answer(response: str, letter: str) -> None:
    assert extract_choice(response, "ABCD").letter == letter

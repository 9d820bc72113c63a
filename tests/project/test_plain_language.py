"""Texts for readers use the field's terms: tools/plain_language.toml says what replaces what."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.plain_language import (
    AREAS,
    Area,
    baseline,
    ceilings,
    exceptions_in,
    exceptions_without_reason,
    found_in,
    rules,
    texts,
)


@pytest.fixture(scope="module")
def read() -> list[tuple[Area, str, str]]:
    return list(texts())


@pytest.fixture(scope="module")
def counts(read: list[tuple[Area, str, str]]) -> Counter[str]:
    return Counter(each.area for text in read for each in found_in(*text))


@pytest.mark.parametrize("area", AREAS)
def test_no_area_has_more_old_words_than_its_ceiling(area: str, counts: Counter[str]) -> None:
    """``python -m tools.plain_language --list`` names each place and what to write."""
    assert counts[area] <= ceilings().get(area, 0)


def test_the_ceilings_add_up_to_a_tenth_of_what_was_there() -> None:
    assert sum(ceilings().values()) <= baseline() // 10


def test_a_phrase_is_found_with_what_replaces_it() -> None:
    (found,) = found_in("docs", "page.md", "The interval hangs on the\nitems; `luck` is code.")
    assert (found.words, found.instead) == ("hangs on", "depends on")


def test_long_sentences_and_hidden_subjects_are_found() -> None:
    """Long ones only where the reader meets the project first: the README and help."""
    long = f"It {'very ' * 25}often works."
    assert [each.instead for each in found_in("help", "run", long)] == ["at most 25 words, here 28"]
    assert list(found_in("docs", "page.md", long)) == []
    (found,) = found_in("strings", "a.py:1", "All is read. Of these, two are new. What is it?")
    assert (found.words, found.instead) == ("Of these, two are new.", "subject and verb first")


def test_correct_uses_are_left() -> None:
    assert (
        list(found_in("docs", "page.md", "The standings show the rest of what else is read.")) == []
    )


def test_each_exception_has_a_reason_and_matches_something(
    read: list[tuple[Area, str, str]],
) -> None:
    assert exceptions_without_reason() == []
    used = {exception for _area, _place, text in read for exception in exceptions_in(text)}
    assert {each.pattern for each in rules().exceptions} == used


def test_every_area_has_texts(read: list[tuple[Area, str, str]]) -> None:
    assert {area for area, _, _ in read} == set(AREAS)

"""Texts for readers use the field's terms: tools/plain_language.toml says what replaces what."""

from __future__ import annotations

from collections import Counter

import pytest
from tools.plain_language import AREAS, ceilings, found_in, texts


@pytest.fixture(scope="module")
def counts() -> Counter[str]:
    found = (each for area, place, text in texts() for each in found_in(area, place, text))
    return Counter(each.area for each in found)


@pytest.mark.parametrize("area", AREAS)
def test_no_area_has_more_old_words_than_its_ceiling(area: str, counts: Counter[str]) -> None:
    """``python -m tools.plain_language --list`` names each place and what to write."""
    assert counts[area] <= ceilings().get(area, 0)


def test_a_phrase_is_found_with_what_replaces_it() -> None:
    (found,) = found_in("docs", "page.md", "The interval hangs on the\nitems; `luck` is code.")
    assert (found.words, found.instead) == ("hangs on", "depends on")


def test_correct_uses_are_left() -> None:
    assert list(found_in("docs", "page.md", "The standings are carried out by the REST API.")) == []


def test_every_area_has_texts() -> None:
    assert {area for area, _, _ in texts()} == set(AREAS)

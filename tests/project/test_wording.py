"""Every text for readers stands in the Chinese catalogue, and only such texts do."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tools.resolved import ROOT
from tools.wording import (
    closed_sets,
    constants,
    literal_texts,
    places,
    said_in_code,
    said_in_templates,
)

from proofstone.wording.messages import catalogue, nouns

_PACKAGE = ROOT / "src" / "proofstone"
CHINESE = [
    *sorted((_PACKAGE / "wording" / "zh").glob("*.toml")),
    *sorted((_PACKAGE / "methods").glob("*/zh.toml")),
]


def test_every_message_has_a_chinese_one() -> None:
    """`python -m tools.wording` prints what is missing, ready to be filled in."""
    said = [each for each in (*said_in_code(), *said_in_templates()) if not each.is_noun]
    missing = {each.text for each in said} | set(closed_sets())
    assert sorted(missing - catalogue("zh").keys()) == []


def test_every_counted_thing_has_its_measure_word() -> None:
    counted = {each.text for each in (*said_in_code(), *said_in_templates()) if each.is_noun}
    assert sorted(counted - nouns("zh").keys()) == []


def test_a_chinese_message_has_the_places_of_the_english_one() -> None:
    entries = catalogue("zh").items()
    assert [english for english, chinese in entries if places(english) != places(chinese)] == []
    assert [noun for noun, chinese in nouns("zh").items() if places(chinese) != {"n"}] == []


def test_every_entry_is_used_and_filled() -> None:
    """What a package of the tests adds to the catalogue stands in no module here."""
    entries = [tomllib.loads(file.read_text(encoding="utf-8")) for file in CHINESE]
    own = {english for each in entries for english in {**each, **each.pop("nouns", {})}}
    assert own <= catalogue("zh").keys() | nouns("zh").keys() | {"nouns"}
    assert sorted(own - constants() - set(closed_sets()) - {"nouns"}) == []
    assert [english for english, chinese in catalogue("zh").items() if not chinese] == []


def test_an_entry_stands_in_one_file() -> None:
    seen: dict[str, str] = {}
    for file in CHINESE:
        if file.name != "nouns.toml":
            for english in tomllib.loads(file.read_text(encoding="utf-8")).keys() - {"nouns"}:
                assert english not in seen, f"{english!r} in {seen[english]} and {file}"
                seen[english] = str(file)


def test_templates_say_every_text_through_a_message() -> None:
    assert list(literal_texts()) == []


@pytest.mark.parametrize("file", CHINESE, ids=lambda file: file.relative_to(_PACKAGE).as_posix())
def test_chinese_sentences_end_as_chinese_sentences_do(file: Path) -> None:
    """A sentence's stop, comma and colon are the wide ones beside Chinese characters."""
    half = re.compile(r"[\u4e00-\u9fff][,;:?!]|[\u4e00-\u9fff]\.(?:$|\s)")
    entries = tomllib.loads(file.read_text(encoding="utf-8"))
    entries |= entries.pop("nouns", {})
    assert [chinese for chinese in entries.values() if half.search(chinese)] == []

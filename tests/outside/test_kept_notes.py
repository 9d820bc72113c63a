"""Notes of what came of asking the web."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from proofstone.search.http import read_note, write_note


class Note(Struct, frozen=True):
    text: str


def test_a_note_is_read_as_it_was_written(tmp_path: Path) -> None:
    file = tmp_path / "notes" / "a.json"
    for text in ("铜", "copper"):
        write_note(file, Note(text))
        assert read_note(file, Note) == Note(text)
    assert [each.name for each in file.parent.iterdir()] == ["a.json"]


def test_what_another_process_has_begun_is_not_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "a.part").mkdir()
    write_note(tmp_path / "a.json", Note("copper"))
    assert read_note(tmp_path / "a.json", Note) == Note("copper")


def test_what_cannot_be_read_is_nothing(tmp_path: Path) -> None:
    assert read_note(tmp_path / "none.json", Note) is None
    for place, body in enumerate((b"", b'{"text": 1}', b'{"text": "cut', b'"\xff"')):
        file = tmp_path / f"{place}.json"
        file.write_bytes(body)
        assert read_note(file, Note) is None

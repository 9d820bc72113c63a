"""Files put into a folder together: all of them, or none and everything as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadUsage, StoreFailed
from proofstone.session.written_files import TABLES, files_into


def write(folder: Path, **texts: str) -> None:
    with files_into(folder, "test") as (stage, about):
        for name, text in texts.items():
            (stage / name).write_text(text, encoding="utf-8")
            about[name] = name


def held(folder: Path) -> dict[str, str]:
    return {
        path.name: path.read_text(encoding="utf-8")
        for path in folder.iterdir()
        if path.name != TABLES.index
    }


def test_a_failure_leaves_no_folder(tmp_path: Path) -> None:
    """Where there was none before."""
    with pytest.raises(ZeroDivisionError), files_into(tmp_path / "t", "test") as (stage, _about):
        (stage / "a").write_text("a", encoding="utf-8")
        raise ZeroDivisionError
    assert not (tmp_path / "t").exists()


def test_a_failure_while_files_are_moved_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """A file that was promised is not there, so that the second move fails."""
    write(tmp_path / "t", a="1", c="1")
    with pytest.raises(StoreFailed), files_into(tmp_path / "t", "test") as (stage, about):
        (stage / "a").write_text("2", encoding="utf-8")
        about |= {"a": "a", "b": "b"}
    assert held(tmp_path / "t") == {"a": "1", "c": "1"}


def test_an_index_cannot_name_files_elsewhere(tmp_path: Path) -> None:
    """One from somebody else may say anything; nothing outside of the folder is moved."""
    (tmp_path / "victim").write_text("", encoding="utf-8")
    (tmp_path / "t").mkdir()
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    index = f'{{"made_by":"x","files":[{{"name":"../victim","about":"","sha256":"{empty}"}}]}}'
    (tmp_path / "t" / TABLES.index).write_text(index, encoding="utf-8")
    write(tmp_path / "t", a="1")
    assert (tmp_path / "victim").exists()
    assert held(tmp_path / "t") == {"a": "1"}


def test_what_appears_while_it_is_written_is_not_overwritten(tmp_path: Path) -> None:
    """The folder is looked at again when everything is ready."""
    with pytest.raises(BadUsage), files_into(tmp_path / "t", "test") as (stage, about):
        (stage / "a").write_text("2", encoding="utf-8")
        (tmp_path / "t" / "a").write_text("mine", encoding="utf-8")
        about["a"] = "a"
    assert held(tmp_path / "t") == {"a": "mine"}

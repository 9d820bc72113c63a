"""What every command prints, and the pages it writes, are what was recorded.

The recorded files were written once, by ``record.py``; none is ever recorded again. Where a
sentence or a figure is to change, its file is changed by hand in the commit that changes it.
"""

from __future__ import annotations

import difflib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from guards.session import PRINTED

_HERE = Path(__file__).parent
_CHAPTERS = sorted(f"{PRINTED}/{path.name}" for path in (_HERE / PRINTED).glob("*.txt"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the commands print today, in a process in which no other test has been."""
    file = tmp_path_factory.mktemp("guards") / "printed.json"
    subprocess.run([sys.executable, _HERE / "record.py", "--to", file], check=True)
    texts: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return texts


def test_every_chapter_is_recorded(printed: dict[str, str]) -> None:
    assert sorted(printed) == sorted([*_CHAPTERS, "help.json", "pages.json"])


@pytest.mark.parametrize("name", _CHAPTERS)
def test_commands_print_what_was_recorded(printed: dict[str, str], name: str) -> None:
    recorded = (_HERE / name).read_text(encoding="utf-8").splitlines()
    told = printed[name].splitlines()
    differ = list(difflib.unified_diff(recorded, told, "recorded", "printed", "", "", 2, ""))
    assert not differ, "\n" + "\n".join(differ[:200])


@pytest.mark.parametrize("name", ["pages.json", "help.json"])
def test_pages_and_help_are_what_was_recorded(printed: dict[str, str], name: str) -> None:
    """By their digests; the texts of help stand in docs/cli.md."""
    assert json.loads(printed[name]) == json.loads((_HERE / name).read_text(encoding="utf-8"))


def test_nothing_is_recorded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there stays, and what is not is written."""
    from guards import record  # noqa: PLC0415

    monkeypatch.setattr(record, "_HERE", tmp_path)
    assert record.record({"a.txt": "first"}) is None
    assert record.record({"a.txt": "second", "b.txt": "b"}) == "not recorded again: a.txt"
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "a.txt": "first", "b.txt": "b",
    }  # fmt: skip


def test_what_was_recorded_names_no_module() -> None:
    """So that it holds wherever modules stand."""
    for name in (*_CHAPTERS, "pages.json", "help.json"):
        text = (_HERE / name).read_text(encoding="utf-8").replace("proofstone.toml", "")
        assert "Traceback" not in text
        assert "proofstone." not in text

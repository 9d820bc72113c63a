"""What every command prints, and the words of the pages it writes, are what was recorded.

A change of a sentence, a figure or a page records the texts again (``record.py``); the difference
is reviewed with the code.
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
_RECORDED = sorted(path.stem for path in (_HERE / PRINTED).glob("*.txt"))


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the commands print today, in a process in which no other test has been."""
    file = tmp_path_factory.mktemp("guards") / "printed.json"
    subprocess.run([sys.executable, _HERE / "record.py", "--to", file], check=True)
    texts: dict[str, str] = json.loads(file.read_text(encoding="utf-8"))
    return texts


def test_every_chapter_is_recorded(printed: dict[str, str]) -> None:
    assert sorted(printed) == _RECORDED


@pytest.mark.parametrize("name", _RECORDED)
def test_commands_print_what_was_recorded(printed: dict[str, str], name: str) -> None:
    recorded = (_HERE / PRINTED / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    differ = list(
        difflib.unified_diff(recorded, printed[name].splitlines(), "recorded", "printed", n=2)
    )
    assert not differ, "\n" + "\n".join(differ[:200])


def test_no_output_names_a_module_or_a_traceback() -> None:
    for name in _RECORDED:
        text = (_HERE / PRINTED / f"{name}.txt").read_text(encoding="utf-8")
        assert "Traceback" not in text
        assert "proofstone." not in text.replace("proofstone.toml", "")

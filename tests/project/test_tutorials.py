"""The commands of the tutorials run as printed, and print what the pages show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.doc_pages import Block, blocks
from tools.resolved import ROOT

TUTORIALS = ROOT / "docs" / "tutorials"
SAVED = re.compile(r"Save (?:this|these) as ((?:`[^`]+`(?:,? and |, )?)+)")
# A model on this machine computes with floats, whose last bits depend on the processor.
LOCAL = "local/"


def steps(page: str) -> Iterator[tuple[str, Block]]:
    """Yield each block with the name of the file that the prose before it asks for, or nothing."""
    lines = page.splitlines()
    names: list[str] = []
    end = 0
    for block in blocks(page):
        prose = " ".join(lines[end : block.line - 2])
        for saved in SAVED.findall(prose):
            names += re.findall(r"`([^`]+)`", saved)
        end = block.line + block.text.count("\n")
        is_file = names and block.language not in {"sh", "text", "console"}
        yield names.pop(0) if is_file else "", block
    assert names == [], f"no block has the content of {names}"


class Reader:
    """Somebody who types a tutorial: one shell, in a new folder with docs/data in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "docs" / "data", folder / "docs" / "data")
        programs = str(Path(sys.executable).parent)
        self.environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
        self.last_place = folder.with_name(f"{folder.name}.place")

    def save(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def type(self, block: Block) -> str:
        """Return what the lines of ``block`` print; a folder that they enter stays entered."""
        script = f"set -eu\n{block.text}\npwd > {self.last_place}\n"
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"line {block.line}\n{block.text}\n{done.stdout}"
        self.folder = Path(self.last_place.read_text(encoding="utf-8").strip())
        return done.stdout


def plain(text: str) -> str:
    return " ".join(text.split())


def without_numbers(text: str) -> str:
    return re.sub(r"\d+(?:\.\d+)?|—", "#", text)


def absent(shown: str, printed: str) -> list[str]:
    """Return the lines of ``shown`` that ``printed`` does not have in this order. Spaces and line
    breaks do not count, and ``...`` at a line's end stands for what was left out."""
    found, place, whole = [], 0, plain(printed)
    for line in filter(None, map(plain, shown.splitlines())):
        wanted = line.removesuffix("...").strip()
        where = whole.find(wanted, place)
        if where < 0:
            found.append(line)
        else:
            place = where + len(wanted)
    return found


def installed(page: str, site: Path) -> Path:
    """Write what ``pip install -e .`` leaves of the package that the page makes."""
    code = page.partition("### Checking it")[0]
    info = site / "my_package-0.1.dist-info"
    entry_points = next(block.text for block in blocks(page) if block.language == "toml")
    files = {
        site / "my_package" / "__init__.py": "",
        site / "my_package" / "capitals.py": "\n".join(
            block.text for block in blocks(code) if block.language == "python"
        ),
        info / "METADATA": "Metadata-Version: 2.1\nName: my-package\nVersion: 0.1\n",
        info / "entry_points.txt": "[proofstone.methods]\n"
        + entry_points.partition('[project.entry-points."proofstone.methods"]\n')[2].replace(
            '"', ""
        ),
    }
    for file, text in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return site


def walk(name: str, folder: Path) -> None:
    """Do what a tutorial says, and compare what it shows with what was printed."""
    folder.mkdir()
    page = (TUTORIALS / name).read_text(encoding="utf-8")
    reader, printed = Reader(folder), ""
    if name == "write-a-method.md":
        reader.environment["PYTHONPATH"] = str(installed(page, folder.with_name("site")))
    for file, block in steps(page):
        if file:
            reader.save(file, block.text)
        elif block.language == "sh":
            printed = reader.type(block)
        elif block.language == "text":
            told = (block.text, printed)
            shown, found = map(without_numbers, told) if LOCAL in block.text else told
            assert absent(shown, found) == [], f"{name}, line {block.line}\n{printed}"


@pytest.mark.parametrize(
    "name",
    [
        "audit-a-leaderboard.md",
        "write-a-method.md",
        pytest.param("reproduce-a-paper.md", marks=pytest.mark.slow),
        pytest.param("own-questions.md", marks=pytest.mark.slow),
        pytest.param("documents-to-leaderboard.md", marks=pytest.mark.slow),
    ],
)
def test_a_tutorial_runs_as_printed(name: str, tmp_path: Path) -> None:
    walk(name, tmp_path / "reader")


def test_what_a_page_invents_is_noticed() -> None:
    """The comparison itself: a changed number, lines in another order, an ellipsis."""
    printed = " rank  model\n    1  a   91.7 [85.0,\n 95.5]\n    2  b   71.7"
    assert absent("1  a  91.7 [85.0, 95.5]\n2 b ...", printed) == []
    assert absent("1  a  91.8 [85.0, 95.5]", printed) == ["1 a 91.8 [85.0, 95.5]"]
    assert absent("2 b\n1 a", printed) == ["1 a"]


def test_files_are_those_that_the_prose_names() -> None:
    page = (
        "Save these as `a/x.md` and `y.md`:\n\n```csv\n1\n```\n\n```csv\n2\n```\n\n```sh\nls\n```\n"
    )
    assert [(name, block.text) for name, block in steps(page)] == [
        ("a/x.md", "1\n"),
        ("y.md", "2\n"),
        ("", "ls\n"),
    ]

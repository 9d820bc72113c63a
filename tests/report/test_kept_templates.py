"""What templates compile to is kept as Python keeps modules, and never believed when stale."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment
from jinja2.bccache import bc_magic

from proofstone.results.page import KeptTemplates


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "kept"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    return tmp_path / "kept"


def rendered(text: str) -> str:
    environment = Environment(
        loader=DictLoader({"page": text}), bytecode_cache=KeptTemplates(), autoescape=True
    )
    return environment.get_template("page").render(name="<a>")


def files(kept: Path) -> list[Path]:
    return [path for path in kept.rglob("*") if path.is_file()]


def test_a_template_is_compiled_once(kept: Path) -> None:
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"
    (file,) = files(kept)
    before = file.stat().st_ino
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"
    assert [each.stat().st_ino for each in files(kept)] == [before]  # written anew it is another


def test_another_text_is_compiled_anew(kept: Path) -> None:
    rendered("Hello {{ name }}")
    assert rendered("Goodbye {{ name }}") == "Goodbye &lt;a&gt;"
    assert len(files(kept)) == 1


@pytest.mark.parametrize("left", [0, 1, 20, 60])
def test_a_damaged_one_is_compiled_anew(kept: Path, left: int) -> None:
    rendered("Hello {{ name }}")
    (file,) = files(kept)
    file.write_bytes(file.read_bytes()[:left])
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"


@pytest.mark.parametrize("after", [0, 5, 10, 20])
def test_one_with_a_wrong_byte_is_compiled_anew(kept: Path, after: int) -> None:
    """Behind its first bytes stands the hash of the template, as a pickled text."""
    rendered("Hello {{ name }}")
    (file,) = files(kept)
    whole = bytearray(file.read_bytes())
    whole[len(bc_magic) + after] ^= 0xFF
    file.write_bytes(whole)
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"


def test_nothing_is_written_where_python_writes_nothing(
    kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"
    assert files(kept) == []


def test_a_place_that_cannot_be_written_is_no_matter(kept: Path) -> None:
    kept.write_text("a file where the folder would be", encoding="utf-8")
    assert rendered("Hello {{ name }}") == "Hello &lt;a&gt;"

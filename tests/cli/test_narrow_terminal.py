"""At a terminal of 80 columns no line is longer, and no name of a model is cut."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proofstone.page.text import cell_width, folded
from proofstone.session import terminal
from told import Proofstone

LONG = "sim/a-model-with-a-name-of-more-than-forty-characters-2026?ability=0.9"
RESULTS = "item,model,score\n" + "".join(
    f"{item},{model},{int((item + place) % 3 > 0)}\n"
    for item in range(30)
    for place, model in enumerate((LONG, "lab/other"))
)


@pytest.fixture
def narrow(made: Path, proofstone: Proofstone, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The workspace with a run of a long name, its commands at a terminal of 80 columns."""
    monkeypatch.chdir(made)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(terminal, "terminal_width", lambda _stream: 80)
    Path("results.csv").write_text(RESULTS, encoding="utf-8")
    Path("other.csv").write_text(RESULTS.replace(",1\n", ",0\n", 20), encoding="utf-8")
    Path("graded.csv").write_text(
        f"question,answer,response,model\nCapital of France?,Paris,Paris or Rome,{LONG}\n",
        encoding="utf-8",
    )
    said = proofstone("run", "old-books", "-m", LONG)
    assert said.code == 0
    assert is_narrow(said.out)
    assert is_narrow(said.err)
    assert is_whole(LONG, said.out)
    assert sum(line.startswith("Next: ") for line in said.err.splitlines()) <= 2
    return made


def is_narrow(text: str) -> bool:
    return all(cell_width(line) <= 80 for line in text.splitlines())


def is_whole(name: str, text: str) -> bool:
    """Whether a name stands in a text, maybe over several lines of its column."""
    pieces = [piece for piece in re.split(r"(?<=[/_=?&,:;.@-])", name) if piece]
    return all(piece in text for piece in pieces) and "\N{HORIZONTAL ELLIPSIS}" not in text


@pytest.mark.parametrize(
    "words",
    [
        ("doctor",), ("status",), ("leaderboard", "old-books"), ("list", "runs"), ("list", "banks"),
        ("list", "forms"), ("list", "presets"), ("list", "taxonomies"), ("show", "old-books"),
        ("build", "form", "old-books", "--seeds", "2", "--questions", "4"), ("models", "list"),
        ("audit", "results.csv"), ("report", "old-books"), ("review", "status", "old-books"),
        ("run", "old-books", "-m", LONG, "--dry-run"), ("run", "old-book", "-m", "sim/ann"),
        ("list", "bnks"), ("audit", "reslts.csv"), ("leaderboard", "old-books", "--columns", "x"),
        ("compare", "results.csv", "other.csv"), ("compare", "results.csv", "no.csv"),
        ("compare", "results.csv", "other.csv", "--gate", "--max-drop", "3"),
        ("grade", "graded.csv"), ("grade", "no.csv"), ("check", "old-books"), ("check", "no"),
        ("search", "iron"), ("search", "iron", "--in", "no"),
        ("review", "export", "old-books", "--to", "sheet.xlsx"), ("review", "import", "no.xlsx"),
        ("review", "export", "old-books", "--people", "Ann,Ben", "--to", "sheet.xlsx"),
        ("correct", "exclude", "item:zz", "--reason", "wrong"),
        ("correct", "apply", "results.csv"), ("audit", "graded.csv"),
        ("import", "results.csv", "--as", "form"), ("import", "graded.csv", "--as", "no"),
        ("export", "old-books"), ("export", "old-books", "-o", "bank.csv"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_no_line_is_longer_than_the_terminal(
    narrow: Path, proofstone: Proofstone, words: tuple[str, ...]
) -> None:
    said = proofstone(*words)
    assert not [line for line in (said.out + said.err).splitlines() if cell_width(line) > 80]
    assert sum(line.startswith("Next: ") for line in said.err.splitlines()) <= 2
    if words in (("leaderboard", "old-books"), ("list", "runs"), ("audit", "results.csv")):
        assert is_whole(LONG, said.out)
    assert narrow.is_dir()


@pytest.mark.parametrize("width", [1, 2, 10, 24, 26, 80])
@pytest.mark.parametrize(
    "text",
    [
        "x" * 500, " " * 90 + "word word " * 20, " " * 200, "a" + " " * 300 + "b",
        "Next: proofstone " + "y" * 200, "", "  - " + "\u4e2d" * 200,
    ],
)  # fmt: skip
def test_any_line_folds_at_any_width_and_loses_nothing(text: str, width: int) -> None:
    """Also one whose indent is wider than the terminal."""
    shown = folded(text, width).replace(" \\\n", "\n")
    assert "".join(shown.split()) == "".join(text.split())

"""Questions are dropped by the first rule they break, then by a panel that finds them easy."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kina.kina_rows import combination, standard, statement, write_rows
from told import Proofstone, Told

KNOWS = [f"sim/knows-{n}?ability=1" for n in range(5)]
GUESSES = [f"sim/guesses-{n}?ability=0" for n in range(5)]


@pytest.fixture
def folder(tmp_path: Path, proofstone: Proofstone) -> Path:
    assert proofstone("init", tmp_path / "w").code == 0
    rows = [*(combination(n) for n in range(6)), standard(6, material=""),
            combination(7, made_by="model")]  # fmt: skip
    write_rows(tmp_path / "asked.jsonl", rows)
    return tmp_path


def built(proofstone: Proofstone, folder: Path, *args: str, source: str = "") -> dict[str, Any]:
    told = proofstone(
        "build", "screened-questions", source or folder / "asked.jsonl", *args,
        "--yes", "--json", "-w", folder / "w",
    )  # fmt: skip
    assert told.code == 0, told.err
    result: dict[str, Any] = json.loads(told.out)
    return result


def kept(proofstone: Proofstone, folder: Path, name: str) -> int:
    told = proofstone("check", name, "--rules", "--json", "-w", folder / "w")
    assert told.code == 0, told.err
    found = json.loads(told.out)
    assert found["n"] == found["n_clean"]
    n: int = found["n"]
    return n


def test_rules_alone_leave_what_breaks_none(folder: Path, proofstone: Proofstone) -> None:
    result = built(proofstone, folder, "--name", "clean")
    assert "no panel is set" in json.dumps(result)
    assert kept(proofstone, folder, "clean") == 6


def test_a_bank_is_screened_as_its_file(folder: Path, proofstone: Proofstone) -> None:
    path, work = folder / "asked.jsonl", folder / "w"
    assert proofstone("import", path, "--as", "bank", "-w", work).code == 0
    built(proofstone, folder, "--name", "clean", source="asked")
    assert kept(proofstone, folder, "clean") == 6


@pytest.mark.parametrize("n_wrong", [0, 2])
def test_a_question_that_three_of_five_answer_is_too_easy(
    folder: Path, proofstone: Proofstone, n_wrong: int
) -> None:
    told = by_panel(proofstone, folder, [*GUESSES[:n_wrong], *KNOWS[: 5 - n_wrong]])
    assert told.code == 2
    assert "1 material, 1 written by, 6 too easy" in told.err


def test_a_question_that_three_of_five_miss_is_kept(folder: Path, proofstone: Proofstone) -> None:
    """A member that guesses is right with one of ten."""
    told = by_panel(proofstone, folder, GUESSES)
    assert told.code == 0, told.err
    assert kept(proofstone, folder, "hard") >= 4


def by_panel(proofstone: Proofstone, folder: Path, panel: list[str]) -> Told:
    return proofstone(
        "build", "screened-questions", folder / "asked.jsonl", "--panel", ",".join(panel),
        "--name", "hard", "--yes", "-w", folder / "w",
    )  # fmt: skip


def test_statements_are_refused_with_their_lines(folder: Path, proofstone: Proofstone) -> None:
    path = write_rows(folder / "ores.jsonl", [statement(1, correct=True)])
    told = proofstone("build", "screened-questions", path, "-w", folder / "w")
    assert told.code != 0
    assert "is a statement; expected a question" in told.err


def test_a_panel_smaller_than_its_rule_is_refused(folder: Path, proofstone: Proofstone) -> None:
    told = proofstone(
        "build", "screened-questions", folder / "asked.jsonl", "--panel", KNOWS[0], "--yes",
        "-w", folder / "w",
    )  # fmt: skip
    assert told.code == 2
    assert "least_wrong for a panel of 1 must be 1 to 1" in told.err

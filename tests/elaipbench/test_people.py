"""What people did with the document is shown below ranked models, as the difficulty records it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elaipbench.whole_documents import document, row, write_rows
from proofstone.api import Workspace, create_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """A workspace, and a folder with a document, whose questions a test writes."""
    (tmp_path / "metals.txt").write_text(document(), encoding="utf-8")
    with create_workspace(tmp_path / "work") as opened:
        yield opened


def board(workspace: Workspace, rows: list[dict[str, Any]], **options: Any) -> Any:
    path = write_rows(
        workspace.folder.parent / "questions.jsonl",
        [{**each, "document": "metals.txt"} for each in rows],
    )
    workspace.import_bank(path, method="elaipbench")
    workspace.build_form("questions")
    (found,) = workspace.store.lookup.every("form")
    form = f"form:{found.id.hex()[:8]}"
    workspace.run(form, models="sim/one", **options)
    return workspace.leaderboard(form)


def with_difficulties(*counts: int) -> list[dict[str, Any]]:
    levels = [
        level for level, n in zip(("easy", "moderate", "hard", ""), counts, strict=True)
        for _ in range(n)
    ]  # fmt: skip
    return [
        row(number, difficulty=level, written_by="person") for number, level in enumerate(levels)
    ]


def test_results_of_people_are_shares_of_the_questions(workspace: Workspace) -> None:
    made = board(workspace, with_difficulties(3, 5, 12, 0))
    (group,) = made.standings
    assert [(each.name, each.estimate.n, each.estimate.value) for each in group.people] == [
        ("people, in time", 20, 0.15), ("people, at all", 20, 0.4),
    ]  # fmt: skip
    assert [row.name for row in group.ranked] == ["sim/one"]
    lines = str(made).splitlines()
    (place,) = [at for at, line in enumerate(lines) if line.startswith("People with the document")]
    assert lines[place + 1].split()[:5] == ["people,", "in", "time", "20", "15.0"]
    assert lines[place + 2].split()[:5] == ["people,", "at", "all", "20", "40.0"]


def test_questions_without_a_difficulty_are_not_counted(workspace: Workspace) -> None:
    (group,) = board(workspace, with_difficulties(1, 1, 2, 3)).standings
    assert [each.estimate.n for each in group.people] == [4, 4]
    assert group.n_items == 7


def test_a_difficulty_that_a_model_estimated_is_no_result_of_people(workspace: Workspace) -> None:
    rows = [{**each, "written_by": "model"} for each in with_difficulties(1, 1, 2, 0)]
    assert board(workspace, rows).standings[0].people == ()


def test_nothing_is_said_of_people_without_any_difficulty(workspace: Workspace) -> None:
    made = board(workspace, with_difficulties(0, 0, 0, 4))
    assert made.standings[0].people == ()
    assert "People" not in str(made)


def test_people_had_the_document_so_memory_is_not_set_against_them(workspace: Workspace) -> None:
    made = board(workspace, with_difficulties(1, 1, 2, 0), context="none")
    assert made.standings[0].scale is not None
    assert made.standings[0].people == ()

"""CO, NA, IN, CGA and F by primary and secondary category and by type of answer: on the board, in
its text, in JSON and in the tables of the page."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_solver import SAYINGS, Desk, made_rows, write_rows

from proofstone.api import Workspace, create_workspace
from proofstone.results.board import Breakdown
from proofstone.results.board_text import Leaderboard, render_breakdowns, to_json
from proofstone.results.page_files import TablesAsked
from proofstone.results.report import board_of, selection_of
from proofstone.results.request import BoardAsked
from proofstone.results.sections.strata import strata_section
from proofstone.wording.messages import speaking
from serving import HurriedClock, configure, serving

ROWS = made_rows(20)


def asked(folder: Path, rows: Sequence[dict[str, Any]] = ROWS, times: int = 1) -> Workspace:
    """A workspace in which the solver was asked the questions, so many times."""
    made = create_workspace(folder / "work")
    made.clock = HurriedClock()
    with serving(Desk()) as server:
        configure(made.folder, server.url)
        form = made.import_form(write_rows(folder, rows), method="chinese_simpleqa")
        for time in range(times):
            made.run(form, models="scripted/solver", judge="scripted/judge", replicate=f"r{time}")
    return made


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Leaderboard:
    """Twenty questions, answered and graded, with categories and types of answer."""
    with asked(tmp_path_factory.mktemp("groups")) as workspace:
        return workspace.leaderboard("found")


def figures(column: str, value: str) -> dict[str, float | None]:
    """The five of the questions of a group, as counted."""
    grades = Counter(
        SAYINGS[n % len(SAYINGS)][1] for n, row in enumerate(ROWS) if row[column] == value
    )
    a, b, c = (grades[name] for name in ("CORRECT", "INCORRECT", "NOT_ATTEMPTED"))
    n = a + b + c
    return {
        "correct": a / n,
        "NA": c / n,
        "IN": b / n,
        "CGA": a / (a + b),
        "F": 2 * a / (2 * a + 2 * b + c),
    }


def named(board: Leaderboard, by: str) -> Breakdown:
    (found,) = [each for each in board.standings[0].breakdowns if each.by == by]
    return found


@pytest.mark.parametrize(
    ("by", "column"),
    [
        ("primary category", "primary_category"),
        ("secondary category", "secondary_category"),
        ("answer type", "answer_type"),
    ],
)
def test_each_group_has_the_five_figures_of_its_questions(
    board: Leaderboard, by: str, column: str
) -> None:
    part = named(board, by)
    assert [group.name for group in part.groups] == sorted({row[column] for row in ROWS})
    for group in part.groups:
        found = {"correct": group.estimates[0].value}
        found |= {other.label: other.estimates[0].value for other in group.others}
        assert found == pytest.approx(figures(column, group.name))
        assert group.n == sum(row[column] == group.name for row in ROWS)
        assert all(e.low <= e.value <= e.high for o in group.others for e in o.estimates)


def test_a_person_names_a_grouping_as_files_levels_or_tables_do(board: Leaderboard) -> None:
    texts = [
        list(render_breakdowns(board, [name]))
        for name in ("primary_category", "primary category", "primary-category", "discipline")
    ]
    assert all(text == texts[0] for text in texts)


def test_one_model_has_its_measures_side_by_side(board: Leaderboard) -> None:
    """The groups are small, and that is said."""
    (text,) = render_breakdowns(board, ["answer_type"], width=120)
    head, organisation, person, few = text.splitlines()
    assert head.split() == ["answer", "type", "n", "correct", "NA", "IN", "CGA", "F"]
    assert organisation.split()[:3] == ["organisation", "7", f"{100 * 3 / 7:.1f}"]
    assert person.split()[:3] == ["person", "13", f"{100 * 5 / 13:.1f}"]
    assert (
        few == "groups with fewer than 30 questions (wide intervals): organisation (7), person (13)"
    )


def test_a_group_of_one_question_has_no_interval(tmp_path: Path) -> None:
    """One question says nothing of others like it; nor has CGA a value where nothing was tried."""
    rows = [dict(row, primary_category="C") if n == 3 else row for n, row in enumerate(ROWS)]
    with asked(tmp_path, rows) as workspace:
        board = workspace.leaderboard("found")
    (text,) = render_breakdowns(board, ["primary_category"], width=120)
    (lone,) = [line.split() for line in text.splitlines() if line.startswith("C ")]
    assert lone == ["C", "1", "0.0", "—", "100.0", "—", "0.0", "—", "—", "0.0", "—"]
    assert "— marks fewer than two independent groups of questions" in text


def test_several_models_have_a_table_a_measure_also_on_the_page(tmp_path: Path) -> None:
    with asked(tmp_path, times=2) as workspace:
        texts = list(render_breakdowns(workspace.leaderboard("found"), ["answer_type"], width=120))
        evidence = board_of(workspace, selection_of(workspace, ["found"]), BoardAsked()).evidence
    titles = [text.splitlines()[0].partition("  ")[0] for text in texts]
    assert titles == [f"answer type, {name}" for name in ("correct", "NA", "IN", "CGA", "F")]
    section = strata_section(evidence)
    assert section is not None
    assert [table.title for table in section.tables if "answer type" in table.title] == [
        "Scores by answer type",
        *(f"By answer type: {name}" for name in ("NA", "IN", "CGA", "F")),
    ]  # fmt: skip


def test_page_and_table_files_hold_all_measures(tmp_path: Path) -> None:
    tables = TablesAsked(folder=tmp_path / "tables", kinds=("csv", "tex"))
    with asked(tmp_path) as workspace:
        workspace.report("found", path=tmp_path / "report.html", tables=tables)
        evidence = board_of(workspace, selection_of(workspace, ["found"]), BoardAsked()).evidence
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "By answer type, other measures" in page
    assert "20 items by secondary category within primary category" in page
    table = tmp_path / "tables" / "strata-6.csv"
    assert table.with_suffix(".tex").exists()
    head, organisation, _person = table.read_text(encoding="utf-8-sig").splitlines()
    assert head.startswith("answer type,n,not_attempted_value,")
    assert organisation.startswith(f"organisation,7,{2 / 7}")
    with speaking("zh"):
        section = strata_section(evidence)
    assert section is not None
    assert "按答案类型，其他指标" in [each.title for each in section.tables]


def test_json_has_every_measure_of_a_group(board: Leaderboard) -> None:
    found = json.loads(to_json(board))
    part = found["standings"][0]["breakdowns"][0]
    assert (part["by"], part["level"]) == ("primary category", "discipline")
    names = [other["name"] for other in part["groups"][0]["others"]]
    assert names == ["not_attempted", "incorrect", "correct_given_attempted", "f_score"]

"""``grade FILE`` and ``metrics FILE``: other people's replies and grades, without a workspace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from scripted_solver import Desk, write_rows

from proofstone.cli import main
from proofstone.methods.chinese_simpleqa.graded_files import grade_metrics
from serving import configure, serving


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no workspace, as the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def responses() -> list[dict[str, Any]]:
    question = {"question": "Who found number 1?", "answer": "Finder-1", "aliases": ["F. One"]}
    said = ["Finder-1.", "f. One", "I believe that it was Finder-1.", "Nobody-1", "I do not know."]
    rows = [{**question, "response": text, "mark": place} for place, text in enumerate(said)]
    return [*rows, {**question, "response": "", "mark": 5}]


def test_a_file_is_graded_by_rule_and_the_rest_waits(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Row by row in order, each column kept; the exit code says that it is not whole."""
    path = write_rows(elsewhere, responses())
    code, out, err = told(capsys, "grade", path, "-o", "graded.jsonl")
    rows = [json.loads(line) for line in Path("graded.jsonl").read_text("utf-8").splitlines()]
    assert code == 3
    assert "n 2 graded, 4 not graded" in out
    assert [row["mark"] for row in rows] == [0, 1, 2, 3, 4, 5]
    assert [(row["grade"], row["basis"]) for row in rows] == [
        ("CORRECT", "rule: reference"),
        ("", "waiting"),  # "f. One" for "F. One": the case of short words may mean something
        ("", "waiting"),
        ("", "waiting"),
        ("", "waiting"),
        ("NOT_ATTEMPTED", "no answer"),
    ]
    assert "4 responses need a judge" in err
    assert f"Fill in: proofstone grade {path} --judge PROVIDER/NAME" in err


def test_a_judge_grades_what_no_rule_settles(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its models are those of the folder's settings; nothing is left behind in it."""
    path, desk = write_rows(elsewhere, responses()), Desk()
    with serving(desk) as server:
        configure(elsewhere, server.url)
        code, _out, err = told(
            capsys, "grade", path, "--judge", "scripted/judge", "-o", "graded.jsonl", "-q"
        )
    assert (code, err) == (0, "")
    rows = [json.loads(line) for line in Path("graded.jsonl").read_text("utf-8").splitlines()]
    assert [row["grade"] for row in rows] == [
        "CORRECT", "CORRECT", "CORRECT", "INCORRECT", "NOT_ATTEMPTED", "NOT_ATTEMPTED",
    ]  # fmt: skip
    assert rows[3]["reason"].startswith("it says: Nobody-1") or "It says" in rows[3]["reason"]
    assert desk.judged == 4
    assert {each.name for each in elsewhere.iterdir()} == {
        "found.jsonl", "graded.jsonl", "proofstone.toml",
    }  # fmt: skip
    code, out, _err = told(capsys, "grade", "graded.jsonl", "--by", "basis", "--json")
    found = json.loads(out)
    assert (code, found["n"], found["ungraded"]) == (0, 6, 0)
    assert found["CO"] == pytest.approx(3 / 6)
    assert found["F"] == pytest.approx(2 * 3 / (2 * 3 + 2 * 1 + 2))
    assert set(found["by"]["basis"]) == {"rule: reference", "judge", "no answer"}


def test_replies_that_cannot_be_read_are_told_together(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"question": "Q?", "answer": "", "response": "x"},
        {"question": "Q?", "answer": "a"},
        {"question": "Q?", "answer": "a", "response": "x", "prompt_method": "twice"},
    ]
    code, _out, err = told(capsys, "grade", write_rows(elsewhere, rows))
    assert code == 2
    assert "line 1, field answer: is missing or empty" in err
    assert "line 2, field response: is missing" in err
    assert "line 3, field prompt_method: expected one of direct, recall, cot, confidence" in err


def test_metrics_are_counted_overall_and_by_columns(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Letters and words in one file; a row without a grade stands in no figure."""
    lines = ["question,grade,topic", "a,A,t", "b,correct,t", "c,B,u", "d,Not attempted,u", "e,,u"]
    Path("grades.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, _err = told(capsys, "grade", "grades.csv", "--by", "topic", "--json")
    found = json.loads(out)
    assert code == 0
    figures = {name: found[name] for name in ("n", "CO", "NA", "IN", "CGA", "F", "ungraded")}
    assert figures == {
        "n": 4, "CO": 2 / 4, "NA": 1 / 4, "IN": 1 / 4, "CGA": 2 / 3, "F": 4 / (4 + 2 + 1),
        "ungraded": 1,
    }  # fmt: skip
    assert found["intervals"].keys() == {"CO", "NA", "IN", "CGA", "F"}
    low, high = found["intervals"]["F"]
    assert low < figures["F"] < high
    by_topic = found["by"]["topic"]
    assert (by_topic["t"]["CO"], by_topic["t"]["n"]) == (1.0, 2)
    assert (by_topic["u"]["CGA"], by_topic["u"]["F"], by_topic["u"]["ungraded"]) == (0.0, 0.0, 1)


def test_rows_of_one_question_count_together(
    elsewhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten replies to each of four questions say less than to forty."""

    def low_of(rows: list[dict[str, Any]]) -> float:
        path = write_rows(elsewhere, rows, "grades.jsonl")
        return float(json.loads(told(capsys, "grade", path, "--json")[1])["intervals"]["CO"][0])

    same = [{"question": f"q{n % 4}", "grade": "AAAB"[n % 4]} for n in range(40)]
    apart = [{**row, "question": f"q{n}"} for n, row in enumerate(same)]
    assert low_of(same) < low_of(apart) - 0.1


def test_what_is_no_grade_is_refused(elsewhere: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"grade": "A"}, {"grade": "D"}, {"grade": "not correct"}]
    code, out, err = told(capsys, "grade", write_rows(elsewhere, rows))
    assert (code, out) == (2, "")
    assert "line 2, field grade" in err
    assert "line 3, field grade" in err
    code, _out, err = told(capsys, "grade", write_rows(elsewhere, [{"score": 1}]))
    assert (code, "has no columns that can be graded: score" in err) == (2, True)
    code, _out, err = told(capsys, "grade", write_rows(elsewhere, rows[:1]), "--by", "topic")
    assert (code, "unknown column topic" in err) == (2, True)


def test_nothing_attempted_has_an_f_of_nought_and_no_cga() -> None:
    found = grade_metrics(["NOT_ATTEMPTED"] * 3)
    assert (found.CO, found.NA, found.IN, found.CGA, found.F) == (0.0, 1.0, 0.0, None, 0.0)
    assert grade_metrics([]).F is None


@pytest.mark.parametrize(
    "row",
    [  # of the paper's Table 2: CO, NA, IN, CGA, F in percent, over 3,000 questions
        (63.8, 12.2, 24.0, 72.7, 67.9),
        (59.3, 1.4, 39.3, 60.1, 59.7),
        (46.2, 27.4, 26.4, 63.6, 53.5),
        (36.7, 31.2, 32.1, 53.3, 43.4),
        (5.3, 31.1, 63.6, 7.6, 6.2),
    ],
)
def test_the_papers_rows_are_the_figures_of_some_counts(row: tuple[float, ...]) -> None:
    """Among the counts that give CO and NA as printed, some give all five."""
    near = range(-2, 3)
    right, none = round(30 * row[0]), round(30 * row[1])
    counts = [(right + a, 3000 - right - a - none - c, none + c) for a in near for c in near]
    assert row in [_percent(*each) for each in counts]


def _percent(right: int, wrong: int, none: int) -> tuple[float, ...]:
    found = grade_metrics(["CORRECT"] * right + ["INCORRECT"] * wrong + ["NOT_ATTEMPTED"] * none)
    figures = (found.CO, found.NA, found.IN, found.CGA, found.F)
    return tuple(round(100 * float(figure or 0), 1) for figure in figures)

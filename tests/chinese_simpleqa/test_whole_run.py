"""The released questions, and a made set of the same shape, against a model of known behaviour."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from scripted_solver import write_rows

from proofstone.api import create_workspace
from proofstone.results.board_text import Leaderboard
from proofstone.run.forms import method_of_file
from scripted_server import Act, Seen, answer
from serving import configure, serving

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "chinese_simpleqa.jsonl.gz"
# What is said to a question, by the place of it in a round of ten, and the grade that it deserves.
ROUND: Sequence[tuple[str, str]] = (
    ("{answer}", "CORRECT"),
    ("答案：{answer}。", "CORRECT"),
    ("我认为是{answer}，不过不太确定。", "CORRECT"),
    ("应该是{answer}。", "CORRECT"),
    ("无名氏。", "INCORRECT"),
    ("起初我以为是无名氏，其实是{answer}。", "INCORRECT"),
    ("{answer}或者无名氏。", "INCORRECT"),
    ("无名氏，绝对没错。", "INCORRECT"),
    ("我不知道。", "NOT_ATTEMPTED"),
    ("", "NOT_ATTEMPTED"),
)
BY_RULE = 2  # of each round


class Known:
    """Both sides of the desk: the model's replies by the question, the judge's by the reply."""

    def __init__(self, answers: Mapping[str, str]) -> None:
        self._said = {
            question: ROUND[place % len(ROUND)][0].replace("{answer}", answer_key)
            for place, (question, answer_key) in enumerate(answers.items())
        }
        self.grades = {
            question: ROUND[place % len(ROUND)][1] for place, question in enumerate(answers)
        }

    def __call__(self, seen: Seen) -> Act:
        request = seen.json
        text = request["messages"][-1]["content"]
        if request["model"] == "model":
            return answer(self._said[text.partition("问题：")[2].strip("\n")])
        response = text.partition("[回答 | ")[2]
        if "不知道" in response:
            label = "NOT_ATTEMPTED"
        else:
            label = "INCORRECT" if "无名氏" in response else "CORRECT"
        return answer(json.dumps({"reason": "照定义判断", "label": label}))


def figures(grades: Sequence[str]) -> dict[str, float]:
    """CO, NA, IN, CGA and F by their definitions, from counts."""
    counts = Counter(grades)
    a, b, c = (counts[grade] for grade in ("CORRECT", "INCORRECT", "NOT_ATTEMPTED"))
    n = a + b + c
    return {
        "correct": a / n,
        "not_attempted": c / n,
        "incorrect": b / n,
        "correct_given_attempted": a / (a + b),
        "f_score": 2 * (a / n) * (a / (a + b)) / (a / n + a / (a + b)),
    }


def shown(board: Leaderboard) -> dict[str, float]:
    (row,) = board.standings[0].ranked
    return {"correct": row.estimate.value, **{o.name: o.estimate.value for o in row.others}}


def run_whole(folder: Path, path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    known = Known({row["question"]: row["answer"] for row in rows})
    with create_workspace(folder / "work") as workspace, serving(known) as server:
        configure(workspace.folder, server.url)
        form = workspace.import_form(path, method=method_of_file(path))
        (result,) = workspace.run(form, models="scripted/model", judge="scripted/judge")
        assert result.complete
        board = workspace.leaderboard(form)
    found = shown(board)
    assert found.pop("by_rule") == pytest.approx(BY_RULE / len(ROUND), abs=1 / len(rows))
    assert found == pytest.approx(figures(list(known.grades.values())))
    (breakdown,) = [b for b in board.standings[0].breakdowns if b.by == "primary category"]
    for group in breakdown.groups:
        grades = [
            known.grades[row["question"]] for row in rows if row["primary_category"] == group.name
        ]
        assert group.estimates[0].value == pytest.approx(figures(grades)["correct"])


def test_a_made_set_comes_out_as_counted(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"第{n}号发现者是谁？",
            "answer": f"发现者{n}",
            "primary_category": "甲乙丙"[n % 3],
            "secondary_category": f"{'甲乙丙'[n % 3]}{n % 2}",
        }
        for n in range(120)
    ]
    run_whole(tmp_path, write_rows(tmp_path, rows), rows)


@pytest.mark.slow
@pytest.mark.skipif(not REAL.exists(), reason="the real questions lie outside the project")
def test_the_released_questions_come_out_as_counted(tmp_path: Path) -> None:
    """All 3,000, from the file as it was released."""
    with gzip.open(REAL, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    run_whole(tmp_path, REAL, rows)

"""``metrics --against``: grades beside those that people gave to the same replies."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from scripted_solver import write_rows

from proofstone.cli import main
from proofstone.methods.chinese_simpleqa.graded_files import metrics_of
from proofstone.records.tables import Row
from scripted_server import Act, Seen, answer
from serving import configure, serving

FILE = Path(__file__).parent / "labelled_responses.jsonl"
LABELLED = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def lenient(seen: Seen) -> Act:
    """A judge to whom every reply is correct."""
    del seen
    return answer(json.dumps({"reason": "why not", "label": "CORRECT"}))


def test_a_lenient_judge_of_the_labelled_replies_agrees_as_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By hand 55 are settled by rule and right and two are empty; of the other 143 the judge is
    right where people say CORRECT. It gives one label only, so kappa there is nought."""
    monkeypatch.chdir(tmp_path)
    rows = [
        {("label" if key == "grade" else key): value for key, value in row.items()}
        for row in LABELLED
    ]
    with serving(lenient) as server:
        configure(tmp_path, server.url)
        code, _out, _err = told(
            capsys, "grade", write_rows(tmp_path, rows), "--judge", "scripted/judge",
            "-o", "graded.jsonl", "-q",
        )  # fmt: skip
    assert code == 0
    code, out, _err = told(capsys, "grade", "graded.jsonl", "--human-col", "label", "--json")
    found = json.loads(out)["against"]
    assert (code, found["column"]) == (0, "label")
    counts = Counter(row["grade"] for row in LABELLED)
    right = counts["CORRECT"]
    everything, judged = found["all"], found["judged"]
    assert everything["agree"]["n"] == 200
    assert everything["agree"]["value"] == pytest.approx((right + 2) / 200)
    assert judged["agree"]["n"] == 143
    assert judged["agree"]["value"] == pytest.approx((right - 55) / 143)
    assert judged["kappa"]["value"] == pytest.approx(0.0)
    assert judged["recall"]["CORRECT"]["value"] == 1.0
    assert judged["recall"]["INCORRECT"]["value"] == 0.0
    assert judged["precision"]["CORRECT"]["value"] == pytest.approx((right - 55) / 143)
    assert judged["precision"]["INCORRECT"] == {"value": None, "low": None, "high": None, "n": 0}
    assert judged["table"]["INCORRECT"] == {
        "CORRECT": counts["INCORRECT"], "INCORRECT": 0, "NOT_ATTEMPTED": 0,
    }  # fmt: skip


def rows_of(*pairs: tuple[str, str], question: str = "") -> list[Row]:
    return [
        Row(f"line {n}", {"grade": given, "label": people, "question": question or f"q{n}"})
        for n, (given, people) in enumerate(pairs)
    ]


def test_kappa_recall_and_precision_by_hand() -> None:
    """Six rows, four agree. Both say A in three of six, B in two, C in one: chance agrees in
    (3*3 + 2*2 + 1*1) / 36."""
    pairs = [("A", "A"), ("A", "A"), ("A", "B"), ("B", "A"), ("B", "B"), ("C", "C")]
    found = metrics_of(rows_of(*pairs), against="label")["against"].all
    chance = (9 + 4 + 1) / 36
    assert found.agree.value == pytest.approx(4 / 6)
    assert found.kappa.value == pytest.approx((4 / 6 - chance) / (1 - chance))
    assert found.recall["CORRECT"].value == pytest.approx(2 / 3)
    assert found.precision["INCORRECT"].value == pytest.approx(1 / 2)
    assert found.agree.low < 4 / 6 < found.agree.high


def test_rows_without_one_of_the_two_are_counted_apart() -> None:
    pairs = [("A", "A"), ("", "A"), ("B", ""), ("", "")]
    found = metrics_of(rows_of(*pairs), against="label")["against"].all
    assert (found.agree.n, found.ungraded, found.unlabelled) == (1, 1, 1)


def test_rows_of_one_question_say_less() -> None:
    pairs = [("A", "A"), ("A", "B")] * 10
    apart = metrics_of(rows_of(*pairs), against="label")["against"].all
    rows = [
        Row(row.place, {**row.values, "question": f"q{n // 10}"})
        for n, row in enumerate(rows_of(*([("A", "A")] * 10 + [("A", "B")] * 10)))
    ]
    together = metrics_of(rows, against="label")["against"].all
    assert together.agree.high - together.agree.low > apart.agree.high - apart.agree.low


def test_what_people_wrote_is_checked_as_grades_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_rows(tmp_path, [{"grade": "A", "label": "maybe"}])
    code, _out, err = told(capsys, "grade", path, "--human-col", "label")
    assert (code, "line 1, field label: expected A, B, C" in err) == (2, True)
    code, _out, err = told(capsys, "grade", path, "--human-col", "people")
    assert (code, "unknown column people" in err) == (2, True)

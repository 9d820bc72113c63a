"""``build reviewed-questions``: blind marks on six rubrics, and the bar."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kina.kina_rows import combination, write_rows
from proofstone.errors import BadInput
from proofstone.methods.kina.rubrics.marks import read_rubrics
from told import Proofstone, Told

SIX = ("representativeness", "factuality", "sources", "logic", "distractors", "combination")


@dataclass
class Bench:
    proofstone: Proofstone
    folder: Path
    ids: Sequence[str]

    def __call__(self, *words: Any, rc: int = 0) -> Told:
        told = self.proofstone(*words, "-w", self.folder / "w")
        assert told.code == rc, told.err
        return told

    def sheet(self, name: str, marks: dict[int, Sequence[Any]], **more: str) -> Path:
        """A reviewer's file: all questions, and marks on some of them."""
        path = self.folder / f"{name}.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["id", *SIX, *more])
            for number, identity in enumerate(self.ids):
                writer.writerow([identity, *marks.get(number, [""] * 6), *more.values()])
        return path

    def kept(self) -> set[str]:
        path = self.folder / "kept.jsonl"
        self("export", "reviewed", "-o", path)
        lines = path.read_text(encoding="utf-8").splitlines()
        return {json.loads(line)["id"] for line in lines}

    def build(self, *files: Path, rc: int = 0, more: Sequence[Any] = ()) -> Told:
        return self(
            "build", "reviewed-questions", "asked", "--scores", ",".join(map(str, files)),
            "--name", "reviewed", "--yes", *more, rc=rc,
        )  # fmt: skip


@pytest.fixture
def bench(tmp_path: Path, proofstone: Proofstone) -> Bench:
    work = tmp_path / "w"
    assert proofstone("init", work).code == 0
    path = write_rows(tmp_path / "asked.jsonl", [combination(number) for number in range(4)])
    assert proofstone("import", path, "--as", "bank", "-w", work).code == 0
    assert proofstone("export", "asked", "-o", tmp_path / "out.jsonl", "-w", work).code == 0
    lines = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    return Bench(proofstone, tmp_path, [json.loads(line)["id"] for line in lines])


def test_the_mean_of_two_blind_scores_decides(bench: Bench) -> None:
    """0: (1 + 0.6) / 2; 1: (0.6 + 0.8) / 2, at the bar; 2: below it; 3: one review only."""
    anna = bench.sheet("anna", {0: [5] * 6, 1: [3] * 6, 2: [5, 5, 0, 5, 2, 0], 3: [5] * 6},
                       comment="read twice")  # fmt: skip
    ben = bench.sheet("ben", {0: [3] * 6, 1: [4] * 6, 2: [4] * 6})
    result = json.loads(bench.build(anna, ben, more=["--json"]).out)
    assert bench.kept() == {bench.ids[0], bench.ids[1]}
    dropped = json.loads(bench("show", result["build"], "--dropped", "--json").out)
    assert {(each["reason"], each["found"]) for each in dropped} == {
        ("below the bar", "mean score 0.683 of 2, below 0.7; read twice"),
        ("too few scores", "1 of 2"),
    }


def test_marks_agreement_and_leniency_are_reported(bench: Bench) -> None:
    anna = bench.sheet("anna", {0: [5] * 6, 1: [3] * 6, 2: [0] * 6})
    ben = bench.sheet("ben", {0: [4] * 6, 1: [2] * 6, 2: [0] * 6})
    bench.build(anna, ben, more=["--bar", 0.4])
    tables = {
        table["title"]: table["rows"]
        for table in json.loads(bench("show", "reviewed", "--statistics", "--json").out)
    }
    (counts,) = tables["Review"]
    assert (counts["questions"], counts["scored"], counts["kept"]) == (4, 3, 2)
    assert counts["mean"] == pytest.approx((0.9 + 0.5 + 0) / 3)
    first = tables["Marks by rubric"][0]
    assert (first["rubric"], first["mean"]) == ("representativeness", pytest.approx(14 / 6))
    people = {row["reviewer"]: row for row in tables["Scores by reviewer"]}
    assert people["anna"]["above"] == pytest.approx((0.2 + 0.2 + 0) / 3)
    assert people["ben"]["above"] == pytest.approx(-(0.2 + 0.2 + 0) / 3)


def test_one_reviewer_rescores_what_was_refined(bench: Bench) -> None:
    carl = bench.sheet("carl", {0: [4] * 6, 1: [1] * 6}, reviewer="Carl")
    bench.build(carl, more=["--reviewers", 1])
    assert bench.kept() == {bench.ids[0]}


def test_rows_of_other_questions_are_counted(bench: Bench) -> None:
    anna, ben = (bench.sheet(name, {0: [4] * 6}) for name in ("anna", "ben"))
    text = anna.read_text(encoding="utf-8")
    anna.write_text(f"{text}{'0' * 64},5,5,5,5,5,5\n", encoding="utf-8")
    result = json.loads(bench.build(anna, ben, more=["--json"]).out)
    assert bench.kept() == {bench.ids[0]}
    told = bench("show", result["build"], "--statistics").out
    assert "Left out: 1 row of other questions." in told


def test_every_problem_of_the_files_is_named_at_once(bench: Bench) -> None:
    anna = bench.sheet("anna", {0: [6, "x", 3, 3, 3, ""], 1: [3] * 6})
    told = bench.build(anna, rc=2)
    assert "anna.csv, line 2: representativeness is '6', expected a whole number" in told.err
    assert "factuality is 'x'" in told.err
    assert "combination is empty" in told.err
    short = write_rows(bench.folder / "short.jsonl", [{"id": bench.ids[0], "logic": 3}])
    assert "short.jsonl: has no marks under representativeness" in bench.build(short, rc=2).err
    ben = bench.sheet("ben", {0: [3] * 6}, reviewer="Ann")
    more = bench.sheet("more", {0: [3] * 6}, reviewer="Ann")
    assert "Ann scored this question already" in bench.build(ben, more, rc=2).err


def test_what_cannot_be_asked_is_refused(bench: Bench) -> None:
    told = bench("build", "reviewed-questions", "asked", "--yes", rc=2)
    assert "no scores are given" in told.err
    assert "representativeness, factuality" in told.err
    assert "no such file" in bench.build(bench.folder / "none.csv", rc=2).err
    file = bench.sheet("anna", {0: [3] * 6})
    assert "--bar must be above 0" in bench.build(file, rc=2, more=["--bar", 0]).err
    told = bench.build(file, rc=2, more=["-m", "sim/a"])
    assert "no step of reviewed-questions takes sim/a" in told.err
    assert "--reviewers must be 1" in bench.build(file, rc=2, more=["--reviewers", 0]).err


def test_rubrics_of_a_file_with_weights(tmp_path: Path) -> None:
    path = tmp_path / "rubrics.toml"
    rubric = '[[rubrics]]\nname = "{}"\nasks = "?"\nweight = {}\n'
    path.write_text("most = 10\n" + rubric.format("depth", 3) + rubric.format("style", 1),
                    encoding="utf-8")  # fmt: skip
    assert read_rubrics(str(path)).score([10, 0]) == pytest.approx(0.75)
    path.write_text("most = 0\n" + rubric.format("id", 0), encoding="utf-8")
    with pytest.raises(BadInput) as caught:
        read_rubrics(str(path))
    assert [each.what for each in caught.value.problems] == [
        "most is 0, expected 1 or more", "weight of 'id' is 0",
        "'id' cannot be the name of a rubric",
    ]  # fmt: skip
    with pytest.raises(BadInput):
        read_rubrics(str(tmp_path / "none.toml"))

"""What a workspace holds goes into files and data frames, and says the same there."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from proofstone.api import create_workspace, open_workspace
from small_bank import rows, write_lines
from told import Proofstone

QUESTIONS = 8


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def test_a_runs_responses_say_what_was_asked_what_came_and_what_it_was_worth(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """One row a response; the right ones are as many as the leaderboard counts."""
    with open_workspace(made) as workspace:
        (run, *_others) = [run for _key, run in workspace.store.runs.every()]
    file = tmp_path / "run.jsonl"
    said = proofstone("export", f"run:{run.id.hex()}", "-o", file, "-w", made)
    assert said.out == f"{file}   {QUESTIONS} rows\n"
    found = lines(file)
    assert [row["number"] for row in found] == list(range(QUESTIONS))
    for row in found:
        assert row["id"] == f"response:{run.id.hex()[:8]}/{row['item'][:8]}/0"
        assert (row["model"], row["prompt_method"], row["step"]) == (
            run.respondent,
            run.prompt_method,
            "answer",
        )
        assert "shows" in row["question"]
        assert row["response"].startswith("Answer: ") or row["outcome"] != "answered"
        assert row["prompt_tokens"] > 0
        assert proofstone("show", row["id"], "-w", made).code == 0
    with open_workspace(made) as workspace:
        board = workspace.leaderboard(f"run:{run.id.hex()}")
    (row,) = board.standings[0].ranked
    assert sum(each["value"] for each in found) / QUESTIONS == row.estimate.value


@pytest.mark.parametrize("what", ["scores", "leaderboard"])
@pytest.mark.parametrize("suffix", ["xlsx", "csv", "parquet", "jsonl"])
@pytest.mark.parametrize("kind", ["run", "form", "bank"])
def test_scores_and_leaderboards_of_anything_go_into_any_file(
    made: Path, tmp_path: Path, proofstone: Proofstone, kind: str, what: str, suffix: str
) -> None:
    """A row a score, and a row a respondent: of one run, or of all four."""
    if suffix in ("xlsx", "parquet"):
        pytest.importorskip({"xlsx": "xlsxwriter", "parquet": "pyarrow"}[suffix])
    file = tmp_path / f"out.{suffix}"
    target = f"{kind}:" + proofstone("list", kind, "-w", made, "--json").json[0]["id"]
    told = proofstone("export", target, "--what", what, "-o", file, "-w", made, "--json")
    n = 1 if kind == "run" else 4
    assert told.json == {"file": str(file), "rows": n * (QUESTIONS if what == "scores" else 1)}
    assert file.stat().st_size > 0


def test_the_leaderboards_file_says_what_its_json_says(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Value, interval, n, rank interval and rates of every row, in its order."""
    board = proofstone("leaderboard", "old-books", "-w", made, "--json").json
    proofstone("export", "old-books", "--what", "leaderboard", "-o", tmp_path / "b.csv", "-w", made)
    with (tmp_path / "b.csv").open(encoding="utf-8", newline="") as file:
        found = list(csv.DictReader(file))
    ranked = board["standings"][0]["ranked"]
    assert [row["model"] for row in found] == [row["name"] for row in ranked]
    for row, told in zip(found, ranked, strict=True):
        estimate = told["estimate"]
        assert [float(row[name]) for name in ("value", "low", "high")] == [
            estimate["value"], estimate["low"], estimate["high"],
        ]  # fmt: skip
        assert (int(row["n"]), int(row["rank_low"])) == (estimate["n"], told["rank"]["low"])
        assert row["simulated"] == "true"
        assert row["runs"] == f"run:{told['runs'][0]}"


def test_what_a_row_has_none_of_is_refused(
    made: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """With what there is."""
    said = proofstone(
        "export", "old-books", "--what", "responses", "-o", tmp_path / "x.csv", "-w", made
    )
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "error[PS-201]: a bank has no responses\n  it has: facts, scores, leaderboard\n"
    )
    assert proofstone("export", "old-books", "-o", tmp_path / "x.doc", "-w", made).code == 2


def test_a_bank_of_formulas_goes_out_and_comes_back_the_same(
    empty: Path, tmp_path: Path, proofstone: Proofstone
) -> None:
    """Statements that begin like formulas are no formulas in the file, and the bank imported from
    it has the same id."""
    live = [{**row, "text": f"=1+{n}: {row['text']}"} for n, row in enumerate(rows())]
    bank = write_lines(tmp_path / "live.jsonl", live)
    first = proofstone("import", bank, "--as", "bank", "-w", empty, "--json").json
    proofstone("export", "live", "-o", tmp_path / "out.csv", "-w", empty)
    assert not re.search(r"(?m)(^|,)\"?=", (tmp_path / "out.csv").read_text(encoding="utf-8"))
    create_workspace(tmp_path / "other").close()
    again = proofstone(
        "import", tmp_path / "out.csv", "--as", "bank", "-w", tmp_path / "other", "--json"
    )
    assert again.json["bank"] == first["bank"]


def test_score_tables_and_leaderboards_become_frames(made: Path) -> None:
    """The same numbers in pyarrow, pandas and polars; few different texts are coded."""
    for module in ("pyarrow", "pandas", "polars"):
        pytest.importorskip(module)
    with open_workspace(made) as workspace:
        table, board = workspace.score_table("old-books"), workspace.leaderboard("old-books")
    arrow, pandas, polars = table.to_arrow(), table.to_pandas(), table.to_polars()
    assert arrow.num_rows == len(pandas) == polars.height == 4 * QUESTIONS
    assert arrow.column_names == list(pandas.columns) == polars.columns
    by_model = pandas.groupby(["model", "prompt_method"], observed=True)["value"].mean()
    for row in board.standings[0].ranked:
        mine = pandas[
            (pandas["model"] == row.name) & (pandas["prompt_method"] == row.prompt_method)
        ]
        right = (mine["value"] == 1.0).sum()
        assert right / QUESTIONS == row.estimate.value
    assert len(by_model) == 4
    assert str(pandas["outcome"].dtype) == "category"
    assert polars["answer"].to_list() == pandas["answer"].to_list()
    shown = board.to_pandas()
    assert board.to_arrow().num_rows == board.to_polars().height == len(shown) == 4
    assert list(shown["value"]) == [row.estimate.value for row in board.standings[0].ranked]


@pytest.mark.parametrize("name", ["pyarrow", "pandas", "polars"])
def test_a_missing_library_is_named_with_the_extra_that_brings_it(made: Path, name: str) -> None:
    """Asked of a Python in which it cannot be imported."""
    method = {"pyarrow": "to_arrow", "pandas": "to_pandas", "polars": "to_polars"}[name]
    script = (
        f"import sys; sys.modules[{name!r}] = None\n"
        "import proofstone, proofstone.errors\n"
        f"board = proofstone.open_workspace({str(made)!r}).leaderboard('old-books')\n"
        f"try: board.{method}()\n"
        "except proofstone.errors.ExtraMissing as error: print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    extra = {"pyarrow": "parquet"}.get(name, name)
    assert done.stdout == (f"{name} is not installed\n  pip install 'proofstone[{extra}]'\n"), (
        done.stderr
    )

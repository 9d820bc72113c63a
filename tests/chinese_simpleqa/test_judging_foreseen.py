"""What judging takes is told before anybody is asked, and run files say who judges."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_solver import Desk, made_rows, write_rows

from proofstone.api import create_workspace
from proofstone.cli import main
from proofstone.errors import BadInput
from proofstone.run.judges import judges_asked
from proofstone.run.run_file import read_run_file
from serving import configure, serving

N = 10
TO_JUDGE = 8  # a rule settles two


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """A workspace in ``work`` with the solver and judges, one with a price, and questions."""
    made = Desk()
    create_workspace(tmp_path / "work").close()
    write_rows(tmp_path, made_rows(N))
    with serving(made) as server:
        configure(tmp_path / "work", server.url)
        path = tmp_path / "work" / "proofstone.toml"
        with path.open("a", encoding="utf-8") as file:
            file.write(
                '\n[models."scripted/dear"]\n'
                'price = { input = 1.0, output = 2.0, date = "2026-01-01", source = "x" }\n'
            )
        yield made


def told(
    capsys: pytest.CaptureFixture[str], folder: Path, *arguments: object
) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments), "-w", str(folder / "work")])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def run_of(capsys: pytest.CaptureFixture[str], folder: Path, *more: object) -> dict[str, Any]:
    _code, out, _err = told(
        capsys, folder, "run", folder / "found.jsonl", "-m", "scripted/solver", "--json", *more
    )
    (result,) = json.loads(out)
    found: dict[str, Any] = result
    return found


def test_score_says_what_judges_would_take_and_asks_nobody(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Eight of ten replies, two orders of two votes by two judges; a price makes money of it."""
    run = f"run:{run_of(capsys, tmp_path)['run'][:8]}"
    asked = ["--judge", "scripted/dear,scripted/two", "--votes", "2", "--orders", "2"]
    code, out, _err = told(capsys, tmp_path, "grade", run, "--dry-run", "--json", *asked)
    found = json.loads(out)
    assert code == 0
    assert (found["of"], found["responses"]["likely"]) == (N, TO_JUDGE)
    dear, two = found["judges"]
    assert dear["judge"] == "scripted/dear"
    assert dear["amounts"]["requests"]["high"] == TO_JUDGE * 2 * 2
    tokens, usd = dear["amounts"]["tokens"], dear["amounts"]["cost_usd"]
    assert tokens["high"] - tokens["low"] == TO_JUDGE * 4 * 512
    assert usd["low"] == pytest.approx(tokens["low"] / 1e6)
    assert usd["high"] == pytest.approx((tokens["low"] + 2 * TO_JUDGE * 4 * 512) / 1e6)
    assert (two["unpriced"], two["amounts"]["cost_usd"]) == (True, None)
    code, out, _err = told(capsys, tmp_path, "grade", run, "--dry-run", *asked)
    lines = out.splitlines()
    assert lines[0] == "judging  8 of 10 responses need judges; rules settle the rest"
    assert lines[1].split() == ["requests", "tokens", "USD"]
    assert lines[2].split()[:2] == ["scripted/dear", "32"]
    assert lines[4] == (
        "from prompts alone to responses of max_tokens, without retries; no API calls were made"
    )
    assert "no price is known for scripted/two" in lines[5]
    assert desk.judged == 0


def test_what_a_judge_graded_already_is_not_foreseen_again(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = f"run:{run_of(capsys, tmp_path, '--judge', 'scripted/two')['run'][:8]}"
    _code, out, _err = told(capsys, tmp_path, "grade", run, "--dry-run", "--judge", "scripted/two")
    assert out == "judging  no judge is needed for 0 responses\n"
    _code, out, _err = told(capsys, tmp_path, "grade", run, "--dry-run", "--judge", "scripted/dear")
    assert out.startswith("judging  8 of 10 responses need judges")
    _code, out, _err = told(
        capsys, tmp_path, "grade", run, "--dry-run", "--again", "--judge", "scripted/two"
    )
    assert out.startswith("judging  8 of 10 responses need judges")
    code, _out, err = told(capsys, tmp_path, "grade", run, "--dry-run")
    assert (code, "no judge is given" in err) == (2, True)
    assert desk.judged == TO_JUDGE


def test_a_dry_run_foresees_its_judges(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of replies that nobody has given yet: from none, for a rule may settle all, to all."""
    code, out, _err = told(
        capsys, tmp_path, "run", tmp_path / "found.jsonl", "-m", "scripted/solver", "--dry-run",
        "--pilot", "0", "--judge", "scripted/dear", "--json", "--max-tokens", "100",
    )  # fmt: skip
    judging = json.loads(out)["judging"]
    assert code == 0
    assert (judging["of"], judging["responses"]) == (N, {"low": 0, "high": N, "likely": None})
    (dear,) = judging["judges"]
    assert dear["amounts"]["requests"] == {"low": 0, "high": N, "likely": None}
    assert dear["amounts"]["tokens"]["low"] == 0
    assert dear["amounts"]["tokens"]["high"] > N * (100 + 512)
    _code, out, _err = told(
        capsys, tmp_path, "run", tmp_path / "found.jsonl", "-m", "scripted/solver", "--dry-run",
        "--pilot", "0", "--judge", "scripted/dear",
    )  # fmt: skip
    assert "judging  up to 10 of 10 responses need judges; rules settle some" in out
    assert (desk.solved, desk.judged) == (0, 0)


def test_a_run_file_names_judges_and_save_writes_them(
    desk: Desk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is saved runs again to the very same run, graded by the same judges."""
    saved = tmp_path / "run.toml"
    first = run_of(
        capsys, tmp_path, "--judge", "scripted/a,scripted/b", "--majority", "all", "--save", saved
    )
    text = saved.read_text(encoding="utf-8")
    assert 'judge = ["scripted/a", "scripted/b"]' in text
    assert 'majority = "all"' in text
    request = read_run_file(saved).request
    judges = judges_asked(request.asked)
    assert judges is not None
    assert (judges.models, judges.majority) == (("scripted/a", "scripted/b"), "all")
    judged = desk.judged
    assert judged == 2 * TO_JUDGE
    code, out, _err = told(capsys, tmp_path, "run", saved, "--json")
    (again,) = json.loads(out)
    assert (code, again["run"], again["complete"]) == (0, first["run"], True)
    assert desk.judged == judged
    code, out, _err = told(capsys, tmp_path, "run", saved, "--judge", "scripted/c", "--json")
    assert code == 0
    assert desk.judged == judged + TO_JUDGE
    _code, out, _err = told(
        capsys, tmp_path, "grade", f"run:{first['run'][:8]}", "--list", "--json"
    )
    judges = [each["judge"] for each in json.loads(out)["scorings"]]
    assert judges == ["scripted/a, scripted/b majority=all", "scripted/c majority=all"]


def test_wrong_judges_of_a_run_file_are_named_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text(
        'target = "x"\nmodels = ["sim/a"]\njudge = 3\nvotes = 0\nmajority = "some"\n',
        encoding="utf-8",
    )
    with pytest.raises(BadInput) as refused:
        read_run_file(path)
    said = str(refused.value)
    assert "line 3" in said
    assert "judge: expected a model or several, got 3" in said
    assert "votes: expected a whole number of 1 or more, got 0" in said
    assert 'majority: expected "half", "most" or "all"' in said

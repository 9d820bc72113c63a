"""What judges said of replies: kept with the scores, merged with them, emptied by a purge; and who
is warned of a judge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scripted_solver import Desk, made_rows, write_rows
from sqlalchemy import select

from proofstone.api import Workspace, create_workspace
from proofstone.cli import main
from proofstone.records.verdicts import PanelVerdict
from proofstone.store import schema
from proofstone.store.rows import empty_verdicts
from serving import HurriedClock, configure, serving

N = 10
TO_JUDGE = 8  # a rule settles two of ten


@pytest.fixture
def judged(tmp_path: Path) -> Path:
    """A workspace with a run that two judges graded together."""
    folder = tmp_path / "work"
    with create_workspace(folder) as workspace, serving(Desk()) as server:
        workspace.clock = HurriedClock()
        configure(folder, server.url)
        form = workspace.import_form(write_rows(tmp_path, made_rows(N)), method="chinese_simpleqa")
        workspace.run(form, models="scripted/solver", judge=["scripted/a", "scripted/b"])
    return folder


def verdicts(workspace: Workspace) -> list[PanelVerdict]:
    scorings = [
        scoring.key for key, _run in workspace.store.runs.every()
        for scoring in workspace.store.scores.of_run(key)
    ]  # fmt: skip
    return workspace.store.scores.verdicts(scorings)


def test_verdicts_come_along_in_a_merge_and_twice_change_nothing(
    judged: Path, tmp_path: Path
) -> None:
    with Workspace(judged) as here:
        said = verdicts(here)
    assert len(said) == TO_JUDGE
    with create_workspace(tmp_path / "other") as other:
        assert other.merge(judged).added["score_verdict"] == TO_JUDGE
        assert other.merge(judged).added["score_verdict"] == 0
        assert verdicts(other) == said


def test_a_purge_takes_the_words_and_leaves_the_labels(judged: Path) -> None:
    with Workspace(judged) as workspace:
        before = verdicts(workspace)
        with workspace.store.database.writing() as connection:
            units = [key for (key,) in connection.execute(select(schema.unit.c.id))]
            empty_verdicts(connection, schema.score_verdict.c.unit_id, units)
        after = verdicts(workspace)
    assert [each.label for each in after] == [each.label for each in before]
    assert all(judge_vote.reason for each in before for judge_vote in each.judge_votes)
    assert not any(judge_vote.reason for each in after for judge_vote in each.judge_votes)
    assert not any(heard.reason for each in after for b in each.judge_votes for heard in b.heard)


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as left:
        main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    assert isinstance(left.value.code, int)
    return left.value.code, out, err


def test_a_file_is_run_by_one_command_and_judged_by_the_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Incomplete without a judge, with the line that goes on; a judge that judges itself is named
    before it is asked; the list of scorings says who judged."""
    folder = tmp_path / "work"
    create_workspace(folder).close()
    path, desk = write_rows(tmp_path, made_rows(N)), Desk()
    with serving(desk) as server:
        configure(folder, server.url)
        code, out, err = told(capsys, "run", path, "-m", "scripted/solver", "-w", folder, "--json")
        (result,) = json.loads(out)
        assert (code, result["scored"], result["waiting"], result["complete"]) == (
            3, N - TO_JUDGE, TO_JUDGE, False,
        )  # fmt: skip
        run = f"run:{result['run'][:8]}"
        assert "10 questions" in err
        assert f"8 responses wait for a judge: proofstone grade {run} --judge" in err
        assert "Next: proofstone run --resume" not in err
        code, out, err = told(
            capsys, "grade", run, "--judge", "scripted/judge,scripted/two", "-w", folder
        )
        assert (code, out.strip()) == (0, f"{run}   {N} scored")
        assert "warning" not in err
        code, out, _err = told(capsys, "grade", run, "--list", "-w", folder)
        assert "scripted/judge, scripted/two" in out
        assert desk.solved == N
        code, out, err = told(
            capsys, "run", path, "-m", "scripted/solver", "--judge", "scripted/solver",
            "--limit", "1", "-w", folder,
        )  # fmt: skip
    assert "warning: the judge scripted/solver is itself the contestant" in err


def test_a_file_that_nobody_reads_says_what_was_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work"
    create_workspace(folder).close()
    path = write_rows(tmp_path, [{"prompt": "Who?", "target": "x"}])
    code, _out, err = told(capsys, "run", path, "-m", "sim/x", "-w", folder)
    assert code == 2
    assert "found.jsonl: prompt, target" in err
    assert "expected question and answer; or question, options and answer" in err
    rows = [{"question": "Who?", "answer": ""}, {"question": "What?", "answer": "y"}]
    code, _out, err = told(capsys, "run", write_rows(tmp_path, rows), "-m", "sim/x", "-w", folder)
    assert code == 2
    assert "line 1, field answer: is missing or empty; expected an answer" in err

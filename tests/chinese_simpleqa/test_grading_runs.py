"""Questions from a file, asked, settled by rule and judged: the five figures, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripted_solver import Desk, judge_of_sayings, made_rows, write_rows

from proofstone.errors import BadUsage
from proofstone.report import Leaderboard
from proofstone.wiring import Workspace, create_workspace
from proofstone.wiring.question_files import method_of_file
from serving import HurriedClock, configure, serving

N = 20  # four times each saying: 4 right by rule, 4 right in words, 8 wrong, 4 without an answer
A, B, C = 8, 8, 4


@contextmanager
def asked(folder: Path, desk: Desk, **options: object) -> Iterator[tuple[Workspace, str]]:
    """A workspace in which the solver was asked the questions, and the run."""
    with create_workspace(folder / "work") as workspace, serving(desk) as server:
        workspace.clock = HurriedClock()
        configure(workspace.folder, server.url)
        path = write_rows(folder, made_rows(N))
        form = workspace.import_form(path, method=method_of_file(path))
        (result,) = workspace.run(form, models="scripted/solver", **options)  # type: ignore[arg-type]
        yield workspace, f"run:{result.planned.run.id.hex()}"


def shares(board: Leaderboard) -> dict[str, float]:
    """The measures of the one respondent."""
    (row,) = board.standings[0].ranked
    return {"correct": row.estimate.value, **{o.name: o.estimate.value for o in row.others}}


def test_the_five_figures_come_out_as_counted(tmp_path: Path) -> None:
    """CO, NA and IN over all; CGA over what was attempted; F from counts; a rule settled one in
    five; only what it left went to the judge."""
    desk = Desk()
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, run):
        found = shares(workspace.leaderboard(run))
    assert found["correct"] == pytest.approx(A / N)
    assert found["not_attempted"] == pytest.approx(C / N)
    assert found["incorrect"] == pytest.approx(B / N)
    assert found["correct_given_attempted"] == pytest.approx(A / (A + B))
    assert found["f_score"] == pytest.approx(2 * A / (2 * A + 2 * B + C))
    assert found["by_rule"] == pytest.approx(4 / N)
    assert (desk.solved, desk.judged) == (N, N - 4)


def test_without_a_judge_replies_wait_and_nothing_is_shown(tmp_path: Path) -> None:
    """What a rule settled is right: shown alone it would be a score of 100%."""
    desk = Desk()
    with asked(tmp_path, desk) as (workspace, run):
        scored = workspace.score(run)
        board = workspace.leaderboard(run)
        assert (scored.n, scored.waiting) == (4, N - 4)
        assert not board.standings[0].ranked
        later = workspace.score(run, judge="scripted/judge")
        assert (later.n, later.waiting) == (N, 0)
        assert shares(workspace.leaderboard(run))["correct"] == pytest.approx(A / N)
    assert desk.solved == N


def test_another_judge_is_another_scoring_of_the_same_replies(tmp_path: Path) -> None:
    """The contestant is not asked again; both scorings stay, the newest counts."""
    desk = Desk()
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, run):
        desk.label = lambda _reply: "INCORRECT"
        workspace.score(run, judge="scripted/harsh")
        first, second = workspace.scorings(run)
        assert (first.judge, second.judge) == ("scripted/judge", "scripted/harsh")
        assert second.is_current
        assert shares(workspace.leaderboard(run))["correct"] == pytest.approx(4 / N)
    assert desk.solved == N


@pytest.mark.parametrize(
    "said",
    ["It is right, I would say.", "CORRECT or INCORRECT", "", "正确", "A", "NOT CORRECT"],
    ids=["prose", "both", "nothing", "another language", "a letter", "a negation"],
)
def test_a_judge_that_gives_no_label_is_no_score(tmp_path: Path, said: str) -> None:
    """It is asked again twice; then the reply has no grade, and every figure is over the others."""
    desk = Desk(lambda reply: said if "do not know" in reply else judge_of_sayings(reply))
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, run):
        board = workspace.leaderboard(run)
        found = shares(board)
        (row,) = board.standings[0].ranked
    assert desk.judged == (N - 4 - C) + 3 * C
    assert row.rate("unparsed").count == C
    assert found["correct"] == pytest.approx(A / (A + B))
    assert found["not_attempted"] == 0.0


def test_a_judge_that_was_not_heard_is_asked_another_time(tmp_path: Path) -> None:
    """A failed judge is never the contestant's error: the replies wait."""
    desk = Desk(lambda reply: None if "do not know" in reply else judge_of_sayings(reply))
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, run):
        assert workspace.score(run, judge="scripted/judge").waiting == C
        assert not workspace.leaderboard(run).standings[0].ranked
        desk.label = judge_of_sayings
        assert workspace.score(run, judge="scripted/judge").waiting == 0
        assert shares(workspace.leaderboard(run))["not_attempted"] == pytest.approx(C / N)


def test_a_panel_decides_by_its_majority_and_keeps_every_vote(tmp_path: Path) -> None:
    """Three judges of one mind; the verdicts stand beside the scores with their reasons."""
    desk = Desk()
    judges = ["scripted/j1", "scripted/j2", "scripted/j3"]
    with asked(tmp_path, desk, judge=judges) as (workspace, run):
        key, _run = workspace.store.runs.run(bytes.fromhex(run.removeprefix("run:")))
        current = workspace.store.scores.current(key)
        assert current is not None
        verdicts = workspace.store.scores.verdicts([current.key])
        assert current.judge == ", ".join(judges)
    assert len(verdicts) == N - 4
    assert desk.judged == 3 * (N - 4)
    assert {len(verdict.ballots) for verdict in verdicts} == {3}
    assert all(ballot.reason for verdict in verdicts for ballot in verdict.ballots)


def test_a_simulated_respondent_is_no_judge(tmp_path: Path) -> None:
    with (
        asked(tmp_path, Desk()) as (workspace, run),
        pytest.raises(BadUsage, match="reads nothing"),
    ):
        workspace.score(run, judge="sim/ann")

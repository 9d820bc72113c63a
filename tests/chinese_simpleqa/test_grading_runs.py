"""Questions from a file, asked, settled by rule and judged: the five figures, exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from scripted_solver import Desk, judge_of_sayings, made_rows, write_rows

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.results.board_text import Leaderboard, render_breakdowns
from proofstone.results.report import board_of, selection_of
from proofstone.results.request import BoardAsked
from proofstone.run.forms import method_of_file
from proofstone.run.score import metrics_of_file
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

N = 20  # four times each saying: 4 right by rule, 4 right in words, 8 wrong, 4 without an answer
A, B, C = 8, 8, 4
METHOD = "chinese_simpleqa"


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
        with pytest.raises(BadUsage) as refused:
            list(render_breakdowns(board, ["answer_type"]))
        assert "no model is complete yet" in str(refused.value.hint)
        later = workspace.score(run, judge="scripted/judge")
        assert (later.n, later.waiting) == (N, 0)
        assert shares(workspace.leaderboard(run))["correct"] == pytest.approx(A / N)
    assert desk.solved == N


def test_another_judge_is_another_scoring_of_the_same_replies(tmp_path: Path) -> None:
    """The contestant is not asked again; both scorings stay, the newest counts."""
    desk = Desk()
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, run):
        desk.label = lambda _response: "INCORRECT"
        workspace.score(run, judge="scripted/harsh")
        first, second = workspace.scorings(run)
        assert (first.judge, second.judge) == ("scripted/judge", "scripted/harsh")
        assert second.is_current
        assert shares(workspace.leaderboard(run))["correct"] == pytest.approx(4 / N)
    assert desk.solved == N


def test_runs_by_different_judges_are_not_compared(tmp_path: Path) -> None:
    """Neither in the workspace nor as exported files, of scores or of responses; a gate cannot
    tell. A second scoring of both by one judge makes them comparable."""
    desk = Desk()
    with asked(tmp_path, desk, judge="scripted/judge") as (workspace, first):
        desk.label = lambda _response: "INCORRECT"
        (form,) = workspace.store.lookup.every("form")
        (result,) = workspace.run(
            form, models="scripted/solver", replicate="again", judge="scripted/harsh"
        )
        second = f"run:{result.planned.run.id.hex()}"
        files = []
        for name, run in (("first", first), ("second", second)):
            for what in ("scores", "responses"):
                files.append(tmp_path / f"{name}-{what}.csv")
                workspace.export(run, files[-1], what=what)
        for before, after in ((first, second), *zip(files[:2], files[2:], strict=True)):
            (pair,) = workspace.compare(before, after).pairs
            assert pair.difference is None
            assert "(A: scripted/judge; B: scripted/harsh)" in pair.cannot[0]
            gated = workspace.gate(after, before, max_drop=100)
            assert gated.verdict == "inconclusive"
            assert "Different judges graded them" in gated.checks[0].said
        workspace.score(first, judge="scripted/harsh")
        (pair,) = workspace.compare(first, second).pairs
        assert pair.difference is not None
        audited = workspace.compare(*files[:2])
        assert audited.pairs[0].difference is not None


@pytest.mark.parametrize(
    "said",
    ["It is right, I would say.", "CORRECT or INCORRECT", "", "正确", "A", "NOT CORRECT"],
    ids=["prose", "both", "nothing", "another language", "a letter", "a negation"],
)
def test_a_judge_that_gives_no_label_is_no_score(tmp_path: Path, said: str) -> None:
    """It is asked again twice; then the reply has no grade, and every figure is over the others."""
    desk = Desk(lambda response: said if "do not know" in response else judge_of_sayings(response))
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
    desk = Desk(lambda response: None if "do not know" in response else judge_of_sayings(response))
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
    assert {len(verdict.judge_votes) for verdict in verdicts} == {3}
    assert all(judge_vote.reason for verdict in verdicts for judge_vote in verdict.judge_votes)


def test_a_simulated_respondent_is_no_judge(tmp_path: Path) -> None:
    with (
        asked(tmp_path, Desk()) as (workspace, run),
        pytest.raises(BadUsage, match="read no text"),
    ):
        workspace.score(run, judge="sim/ann")


def test_an_exported_run_is_counted_as_the_leaderboard_counts_it(tmp_path: Path) -> None:
    """Each reply with its grade, the judge's reason and its categories; by type of answer too."""
    out = tmp_path / "responses.jsonl"
    with asked(tmp_path, Desk(), judge="scripted/judge") as (workspace, run):
        workspace.export(run, out)
    rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert sum(bool(row["reason"]) for row in rows) == N - 4
    found = metrics_of_file(out, ["answer_type", "primary_category"])
    overall = found["overall"]
    assert (overall.n, overall.CO, overall.NA, overall.IN) == (N, A / N, C / N, B / N)
    assert {name: each.n for name, each in found["by"]["answer_type"].items()} == {
        "organisation": 7,
        "person": 13,
    }
    assert {name: each.n for name, each in found["by"]["primary_category"].items()} == {
        "A": N / 2,
        "B": N / 2,
    }


def test_stated_confidence_reaches_the_calibration_of_a_report(tmp_path: Path) -> None:
    """What a reply states stands beside its score, in [0, 1]; other ways state none."""

    def said(seen: Seen) -> Act:
        number = int(seen.json["messages"][-1]["content"].rpartition("number ")[2].rstrip("?\n"))
        who = "Finder" if number % 4 else "Nobody"
        return answer(f"Answer: {who}-{number}\nConfidence: {50 + number % 4 * 10}")

    desk = Desk()
    with create_workspace(tmp_path / "work") as workspace:
        with serving(
            lambda seen: said(seen) if seen.json["model"] == "solver" else desk(seen)
        ) as s:
            configure(workspace.folder, s.url)
            form = workspace.import_form(write_rows(tmp_path, made_rows(N)), method=METHOD)
            workspace.run(
                form, models="scripted/solver", prompt_method="confidence", judge="scripted/judge"
            )
        (row,) = workspace.leaderboard(form).standings[0].ranked
        evidence = board_of(workspace, selection_of(workspace, [form]), BoardAsked()).evidence
    stated = next(other for other in row.others if other.name == "confidence")
    assert stated.estimate.value == pytest.approx((0.5 + 0.6 + 0.7 + 0.8) / 4)
    assert row.estimate.value == pytest.approx(3 / 4)
    assert evidence.sheet is not None
    stated_with = evidence.sheet.table.confidence
    assert stated_with is not None
    assert sorted(stated_with.tolist()) == pytest.approx(
        [0.5] * 5 + [0.6] * 5 + [0.7] * 5 + [0.8] * 5
    )

"""``show``: each judge's label and reason beside a reply, and whose doing an unparsed one is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from scripted_solver import Desk, judge_of_sayings, made_rows, write_rows

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import look
from proofstone.records.verdicts import Heard, JudgeVote, PanelVerdict
from proofstone.results.report import board_of, selection_of
from proofstone.results.request import BoardAsked
from proofstone.results.trace import show_responses
from proofstone.results.trust import data_quality_lines
from proofstone.run.judges import verdict_lines
from serving import HurriedClock, configure, serving

N = 5


@pytest.fixture
def judged(tmp_path: Path) -> Iterator[tuple[Workspace, str]]:
    """A run that a judge graded who says nothing to the point of what is not attempted, and that
    was then graded by two others."""
    desk = Desk(
        lambda response: "perhaps" if "do not know" in response else judge_of_sayings(response)
    )
    with create_workspace(tmp_path / "work") as workspace, serving(desk) as server:
        workspace.clock = HurriedClock()
        configure(workspace.folder, server.url)
        form = workspace.import_form(write_rows(tmp_path, made_rows(N)), method="chinese_simpleqa")
        (result,) = workspace.run(form, models="scripted/solver", judge="scripted/judge")
        yield workspace, f"run:{result.planned.run.id.hex()}"


def response_of(workspace: Workspace, run: str, outcome: str | None) -> str:
    (shown,) = show_responses(workspace.store, workspace.find(run), outcome=outcome, limit=1)
    return shown.response


def test_a_response_is_shown_with_what_each_judge_of_each_scoring_said(
    judged: tuple[Workspace, str],
) -> None:
    workspace, run = judged
    with serving(Desk()) as server:
        configure(workspace.folder, server.url)
        workspace.score(run, judge=["scripted/a", "scripted/b"])
        response = response_of(workspace, run, "wrong")
        found = look(workspace.store, f"response:{response}")
    panel, alone = [text for text in found.texts if text.startswith("--- judged in")]
    said = "it says: It was Nobody-2."
    assert panel.splitlines()[1:] == [
        "--- judge scripted/a: INCORRECT", said,
        "--- judge scripted/b: INCORRECT", said,
        "--- panel: INCORRECT",
    ]  # fmt: skip
    assert alone.splitlines()[1:] == ["--- judge scripted/judge: INCORRECT", said]
    score = next(value for name, value in found.lines if name == "score" and "/correct" in value)
    shown = look(workspace.store, score.split()[0])
    assert shown.texts[-1].splitlines() == panel.splitlines()[1:]


def test_a_reply_without_a_label_shows_what_the_judge_last_said(
    judged: tuple[Workspace, str],
) -> None:
    """Asked three times; the reply as listed by outcome says so too."""
    workspace, run = judged
    (shown,) = show_responses(workspace.store, workspace.find(run), outcome="unparsed", limit=1)
    lines = str(shown).splitlines()
    place = lines.index("--- judge scripted/judge: no label in 3 responses (unknown label)")
    assert lines[place + 1] == "it says: I do not know."


def test_what_is_unparsed_is_put_down_to_the_judge(judged: tuple[Workspace, str]) -> None:
    workspace, run = judged
    made = board_of(workspace, selection_of(workspace, [run]), BoardAsked())
    (row,) = made.board.standings[0].ranked
    (advice,) = row.warnings
    assert advice.what == f"{100 / N:.1f}% unparsed (1 of {N})"
    assert advice.try_next.startswith("the judge's responses had no label")
    assert "grade RUN --judge OTHER" in advice.try_next
    abouts = [line.about for line in data_quality_lines(made.evidence)]
    assert "Unparsed judge responses" in abouts


def test_a_tie_and_a_judge_that_was_not_heard_are_told_apart() -> None:
    voted = [
        JudgeVote(judge="a", state="voted", label="X"),
        JudgeVote(judge="b", state="voted", label="Y"),
    ]
    tied = PanelVerdict(state="tied", judge_votes=tuple(voted))
    assert list(verdict_lines(tied)) == ["--- judge a: X", "--- judge b: Y", "--- panel: tied"]
    kept = PanelVerdict(state="decided", label="Y", by_rule=True, judge_votes=tuple(voted))
    assert list(verdict_lines(kept))[-1] == "--- panel: Y, by the tie rule"
    failed = JudgeVote(judge="c", state="failed", trouble="rate_limited", heard=(Heard(order=0),))
    lone = PanelVerdict(state="no_quorum", judge_votes=(failed,))
    assert list(verdict_lines(lone)) == ["--- judge c: no response (rate limited)"]

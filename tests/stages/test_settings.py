"""The three settings of Encyclo-K from bank to leaderboard, offline, with simulated respondents."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from proofstone.errors import BadUsage
from proofstone.wiring import Workspace, create_workspace
from small_bank import write_bank

ANN = "sim/ann?ability=0.6&bias=1.0&miss=0.1"


@pytest.fixture
def workspace(tmp_path: Path):
    with create_workspace(tmp_path / "work") as opened:
        opened.import_bank(write_bank(tmp_path))
        yield opened


def near(share: float, expected: float, n: int) -> bool:
    return abs(share - expected) <= 4 * sqrt(expected * (1 - expected) / n)


def test_single_statements_go_from_bank_to_leaderboard(workspace: Workspace) -> None:
    """48 statements, half of them true: 0.9 of the true ones right, 0.9 * 0.6 of the false ones."""
    (form,) = workspace.build_form("old-books", setting="statements")
    results = workspace.run(form, models=[ANN], ask=["direct", "cot"], shots=1)
    assert [result.complete for result in results] == [True, True]
    (group,) = workspace.leaderboard(form).standings
    assert (group.chance, group.n_items, group.scale) == (0.5, 48, None)
    for row in group.ranked:
        found = {other.name: other.estimate for other in row.others}
        assert (found["true_positive"].n, found["true_negative"].n) == (24, 24)
        assert near(found["true_positive"].value, 0.9, 24)
        assert near(found["true_negative"].value, 0.9 * 0.6, 24)
        both = (found["true_positive"].value + found["true_negative"].value) / 2
        assert row.estimate.value == pytest.approx(both)
        assert not {"verdict_accuracy", "verdict_miss"} & set(found)


def test_a_form_is_asked_for_choices_and_for_verdicts(workspace: Workspace) -> None:
    """The same items in both; the verdicts are ranked apart, and a missing one is wrong."""
    (form,) = workspace.build_form("old-books", questions=30)
    workspace.run(form, models=[ANN], ask=["verdicts", "direct", "verdicts-cot"])
    choices, verdicts = workspace.leaderboard(form).standings
    assert [row.way for row in choices.ranked] == ["direct"]
    assert sorted(row.way for row in verdicts.ranked) == ["verdicts", "verdicts-cot"]
    assert choices.chance < 0.3
    assert verdicts.chance == 0.5
    assert choices.n_items == verdicts.n_items == 30
    for row in verdicts.ranked:
        found = {other.name: other.estimate for other in row.others}
        n = found["verdict_accuracy"].n
        assert n == found["verdict_true_positive"].n + (found["verdict_true_negative"].n)
        assert near(found["verdict_miss"].value, 0.1, n)
        assert near(found["verdict_true_positive"].value, 0.9, n // 2)
        assert near(found["verdict_true_negative"].value, 0.9 * 0.6, n // 2)
        assert abs(row.estimate.value - found["verdict_accuracy"].value) < 0.02
    assert "said_true" not in {other.name for other in choices.ranked[0].others}


def test_the_order_of_asking_changes_no_unit(workspace: Workspace) -> None:
    """Asked for verdicts first, a question keeps its letter and its chance."""
    forms = workspace.build_form("old-books", seeds=[1, 2], questions=12)
    for form, ways in zip(forms, (["verdicts", "direct"], ["direct", "verdicts"]), strict=True):
        for way in ways:
            workspace.run(form, models=[ANN], ask=way)
        choices, _verdicts = workspace.leaderboard(form).standings
        assert choices.chance < 0.3
        assert {part.by for part in choices.breakdowns} >= {"gold position"}


def test_scoring_again_gives_the_same_verdicts(workspace: Workspace) -> None:
    (form,) = workspace.build_form("old-books", questions=10)
    (result,) = workspace.run(form, models=[ANN], ask="verdicts")
    before = str(workspace.leaderboard(form))
    assert workspace.score(result.planned.run, again=True) == 10
    assert str(workspace.leaderboard(form)) == before


def test_verdicts_of_single_statements_are_refused(workspace: Workspace) -> None:
    (form,) = workspace.build_form("old-books", setting="statements", sample=4)
    with pytest.raises(BadUsage, match="holds single statements"):
        workspace.run(form, models=[ANN], ask="verdicts")

"""The three settings of Encyclo-K from bank to leaderboard, offline, with simulated respondents."""

from __future__ import annotations

from math import sqrt
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.errors import BadUsage
from proofstone.results.request import View
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
    results = workspace.run(form, models=[ANN], prompt_method=["direct", "cot"], shots=1)
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
    """The same items in both; the verdicts are ranked separately, and a missing one is wrong."""
    (form,) = workspace.build_form("old-books", questions=30)
    workspace.run(form, models=[ANN], prompt_method=["verdicts", "direct", "verdicts-cot"])
    choices, verdicts = workspace.leaderboard(form).standings
    assert [row.prompt_method for row in choices.ranked] == ["direct"]
    assert sorted(row.prompt_method for row in verdicts.ranked) == ["verdicts", "verdicts-cot"]
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
    for form, prompt_methods in zip(
        forms, (["verdicts", "direct"], ["direct", "verdicts"]), strict=True
    ):
        for prompt_method in prompt_methods:
            workspace.run(form, models=[ANN], prompt_method=prompt_method)
        choices, _verdicts = workspace.leaderboard(form).standings
        assert choices.chance < 0.3
        assert {part.by for part in choices.breakdowns} >= {"answer key position"}


def test_scoring_again_gives_the_same_verdicts(workspace: Workspace) -> None:
    (form,) = workspace.build_form("old-books", questions=10)
    (result,) = workspace.run(form, models=[ANN], prompt_method="verdicts")
    before = str(workspace.leaderboard(form))
    assert workspace.score(result.planned.run, again=True).n == 10
    assert str(workspace.leaderboard(form)) == before


def test_verdicts_of_single_statements_are_refused(workspace: Workspace) -> None:
    (form,) = workspace.build_form("old-books", setting="statements", sample=4)
    with pytest.raises(BadUsage, match="holds single statements"):
        workspace.run(form, models=[ANN], prompt_method="verdicts")


def test_a_ruling_on_a_reply_of_verdicts_holds_for_each_statement(workspace: Workspace) -> None:
    """Ruled correct, the whole question is right and each of its statements too; ruled void,
    they are all left out. The mean over statements moves with the mean over questions."""
    (form,) = workspace.build_form("old-books", questions=6)
    (result,) = workspace.run(form, models="sim/ann?ability=0&miss=1", prompt_method="verdicts")
    run = result.planned.run

    def measured() -> dict[str, tuple[float, int]]:
        (group,) = workspace.leaderboard(form).standings
        (row,) = group.ranked
        found = {other.name: (other.estimate.value, other.estimate.n) for other in row.others}
        return found | {"accuracy": (row.estimate.value, row.estimate.n)}

    before = measured()
    assert before["accuracy"] == (0.0, 6)
    assert before["verdict_accuracy"][0] == 0.0
    n_statements = before["verdict_accuracy"][1]
    items = [stored.loaded for stored in workspace.store.items.page(form.id, -1, 6)]
    first, second = items[:2]
    workspace.override(f"{run.id.hex()}/{first.item.id.hex()}", "correct", reason="all are there")
    after = measured()
    assert after["accuracy"] == (pytest.approx(1 / 6), 6)
    right = len(first.facts)
    assert after["verdict_accuracy"] == (pytest.approx(right / n_statements), n_statements)
    assert after["verdict_miss"][0] == pytest.approx(1 - right / n_statements)
    true = sum(fact.payload.correct for fact in first.facts)
    assert after["verdict_said_true"] == (pytest.approx(true / right), right)
    workspace.override(f"{run.id.hex()}/{second.item.id.hex()}", "invalidated", reason="misprinted")
    left = measured()
    assert left["accuracy"] == (pytest.approx(1 / 5), 5)
    assert left["verdict_accuracy"][1] == n_statements - len(second.facts)
    (group,) = workspace.leaderboard(form, view=View(ignore_corrections=True)).standings
    found = {other.name: other.estimate for other in group.ranked[0].others}
    assert found["verdict_accuracy"].value == 0.0

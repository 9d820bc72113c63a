"""A two-step method from outside the package goes from build to leaderboard by the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace

PAIRS = [f"What is {a} + {b}?={a + b}" for a in range(1, 7) for b in range(1, 6)]


@pytest.fixture
def workspace(tmp_path: Path):
    with create_workspace(tmp_path) as opened:
        yield opened


def test_it_goes_from_build_to_leaderboard(workspace: Workspace) -> None:
    """30 pairs, asked in two steps of one who knows all and one who knows nothing."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    (form,) = workspace.build_form(bank, seeds=[7])
    assert form.n_items == len(PAIRS) == 30
    results = workspace.run(form, models=["sim/knows?ability=1", "sim/fails?miss=1"], ask="recall")
    assert [result.complete for result in results] == [True, True]
    with workspace.store.database.reading() as connection:
        steps = connection.exec_driver_sql("SELECT step, count(*) FROM response GROUP BY step")
        assert dict(steps.all()) == {"recall": 60, "answer": 60}
    board = workspace.leaderboard(form)
    (standings,) = board.standings
    assert standings.simulated
    assert [row.estimate.value for row in standings.ranked] == [1.0, 0.0]
    assert [row.estimate.n for row in standings.ranked] == [30, 30]


def test_asking_again_asks_nothing(workspace: Workspace) -> None:
    """The second run finds every (item, sample) done and makes no call."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    forms = workspace.build_form(bank, seeds=[7])
    for _ in range(2):
        workspace.run(forms, models="sim/knows?ability=1", ask="recall")
    with workspace.store.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM call").scalar() == 60
        assert connection.exec_driver_sql("SELECT count(*) FROM score").scalar() == 30
        assert connection.exec_driver_sql("SELECT count(*) FROM run").scalar() == 1


def test_samples_are_asked_apart(workspace: Workspace) -> None:
    """Three samples of 30 pairs in two steps: 180 calls, 90 scores; average at 3 is known."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    (form,) = workspace.build_form(bank, seeds=[7])
    workspace.run(form, models="sim/half?ability=0.5", ask="recall", samples=3)
    with workspace.store.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM call").scalar() == 180
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert row.n_replies == 90
    assert row.average is not None

"""A two-step method from outside the package goes from build to leaderboard by the protocol."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.review.request import SheetsAsked
from proofstone.review.sheets import give_out
from proofstone.wording.messages import say, speaking
from small_bank import write_lines
from told import Proofstone

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
    results = workspace.run(
        form, models=["sim/knows?ability=1", "sim/fails?miss=1"], prompt_method="recall"
    )
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
        workspace.run(forms, models="sim/knows?ability=1", prompt_method="recall")
    with workspace.store.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM call").scalar() == 60
        assert connection.exec_driver_sql("SELECT count(*) FROM score").scalar() == 30
        assert connection.exec_driver_sql("SELECT count(*) FROM run").scalar() == 1


def test_samples_are_asked_apart(workspace: Workspace) -> None:
    """Three samples of 30 pairs in two steps: 180 calls, 90 scores; average at 3 is known."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    (form,) = workspace.build_form(bank, seeds=[7])
    workspace.run(form, models="sim/half?ability=0.5", prompt_method="recall", samples=3)
    with workspace.store.database.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM call").scalar() == 180
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert row.n_responses == 90
    assert row.average is not None


def test_its_answers_are_verified_exported_and_shown_by_itself(
    workspace: Workspace, tmp_path: Path, proofstone: Proofstone
) -> None:
    """``score --reference``, ``leaderboard`` and ``export`` go to the method's own functions: of 30
    answers one differs from the reference's."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    (form,) = workspace.build_form(bank, seeds=[7])
    (result,) = workspace.run(form, models="sim/knows?ability=1", prompt_method="recall")
    run = f"run:{result.planned.run.id.hex()}"
    rows = [pair.split("=") for pair in PAIRS]
    known = [{"question": q, "answer": a} for q, a in rows[1:]]
    reference = write_lines(tmp_path / "known.jsonl", known)
    (made,) = workspace.verify_runs([run], judge="scripted/judge", reference=reference)
    assert made.counts == {"precision": {"supported": 29, "not supported": 1}}
    assert workspace.verified_board(run) is None
    workspace.export(run, tmp_path / "said.jsonl", "triples")
    assert len((tmp_path / "said.jsonl").read_text().splitlines()) == 30
    told = proofstone("leaderboard", run, "-w", tmp_path)
    assert told.out == f"answers of {run}, verified one by one\n"


def test_its_section_stands_on_its_page_in_both_languages(
    workspace: Workspace, tmp_path: Path, proofstone: Proofstone
) -> None:
    """The page of the method's runs has its section, in Chinese by the package's own catalogue."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    (form,) = workspace.build_form(bank, seeds=[7])
    workspace.run(form, models="sim/knows?ability=1", prompt_method="recall")
    workspace.report(form, path=tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "1 runs recalled something." in page
    with speaking("zh"):
        assert say("Recalled") == "回忆"


def test_its_facts_are_reviewed_in_sheets(workspace: Workspace, tmp_path: Path) -> None:
    """A sheet a person, with the 30 questions."""
    bank = workspace.build_bank("pairs", PAIRS, name="sums", method="recall")
    asked = SheetsAsked(people=("Ada",))
    given = give_out(workspace, f"bank:{bank.id.hex()}", asked, tmp_path / "sheets.xlsx")
    assert [sheet.n_statements for sheet in given.sheets] == [30]


def test_its_command_is_found_by_name(proofstone: Proofstone) -> None:
    """``proofstone quiz`` is the other package's, and no command of this one."""
    assert proofstone("quiz", "2", "3").out == "What is 2 + 3?=5\n"
    assert "quiz" not in proofstone("--help").out

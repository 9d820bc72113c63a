"""Scoring stored replies: what a scoring lacks, what waits, and what a unit is stored as."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.method import Method
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.records.calls import Judge
from proofstone.records.items import Unit
from proofstone.records.runs import Run, Score
from proofstone.records.verdicts import JudgeQuestion, PanelVerdict
from proofstone.run.scorings import (
    Judging,
    Scored,
    fill_scoring,
    open_scoring,
    pages_to_score,
    score_responses,
    score_run,
    score_units,
    unit_row,
)
from small_bank import write_bank

QUESTIONS = 5


def needs_judge(version: int) -> Method:
    """A method that leaves the first question of a page to a judge; a version of its own makes
    scorings of its own."""

    async def score(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
        found = await METHOD.score(units, judge)
        return found if judge is not None else found[1:]

    return dataclasses.replace(METHOD, scorer_version=version, score=score)


async def judge(_question: JudgeQuestion) -> PanelVerdict:
    """Never asked here: that there is one is enough."""
    raise NotImplementedError


Asked = tuple[int, Run]


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A form of the small bank, which a simulated model answered whole and statement by
    statement."""
    folder = tmp_path_factory.mktemp("scores")
    with create_workspace(folder / "work") as opened:
        form = opened.build_form(opened.import_bank(write_bank(folder)), questions=QUESTIONS)
        opened.run(form, models="sim/ann", prompt_method=["direct", "verdicts"])
        yield opened


def run_in(workspace: Workspace, prompt_method: str) -> Asked:
    for key, run in workspace.store.runs.every():
        if run.prompt_method == prompt_method:
            return key, run
    raise AssertionError(prompt_method)


@pytest.fixture
def asked(workspace: Workspace) -> Asked:
    return run_in(workspace, "direct")


def test_a_scoring_goes_on_until_nothing_waits(workspace: Workspace, asked: Asked) -> None:
    """It is current only then; what it holds is not scored twice."""
    (key, run), store, clock = asked, workspace.store, workspace.clock
    method, before = needs_judge(98), store.scores.current(key)
    first = asyncio.run(score_run(store, method, key, run, clock=clock))
    assert first == Scored(n=QUESTIONS - 1, waiting=1)
    assert store.scores.current(key) == before
    opened = open_scoring(store, method, key, run, clock)
    assert open_scoring(store, method, key, run, clock) == opened
    (left,) = pages_to_score(store, key, run, opened)
    assert len(left) == 1
    whole = asyncio.run(fill_scoring(store, method, opened, key, run, judge))
    assert whole == Scored(n=QUESTIONS, waiting=0)
    assert asyncio.run(fill_scoring(store, method, opened, key, run)) == whole


def test_judges_and_again_make_scorings_of_their_own(workspace: Workspace, asked: Asked) -> None:
    (key, run), store, clock = asked, workspace.store, workspace.clock
    judging = Judging("panel", judge)
    assert not judging.is_stopped()
    method = needs_judge(99)
    whole = asyncio.run(score_run(store, method, key, run, clock=clock, judging=judging))
    assert whole.waiting == 0
    first = store.scores.current(key)
    assert first is not None
    assert (first.judge, first.scorer_version) == ("panel", 99)
    asyncio.run(score_run(store, method, key, run, clock=clock, again=True, judging=judging))
    again = store.scores.current(key)
    assert again is not None
    assert again.key != first.key
    asyncio.run(score_run(store, method, key, run, clock=clock, judging=judging))
    after = store.scores.current(key)
    assert after is not None
    assert after.key == again.key


def test_without_a_scoring_all_of_a_run_is_to_score(workspace: Workspace, asked: Asked) -> None:
    key, run = asked
    (page,) = pages_to_score(workspace.store, key, run, None)
    assert len(page) == QUESTIONS
    rows = asyncio.run(score_responses(workspace.store, METHOD, page))
    assert len(rows) == QUESTIONS
    assert {row.unit.kind for row in rows} == {"item"}


def test_places_of_scores_go_over_all_pages(workspace: Workspace, asked: Asked) -> None:
    key, run = asked
    (page,) = pages_to_score(workspace.store, key, run, None)
    method = METHOD
    units = [
        unit for one in page for unit in method.units(one.item.loaded, one.responses, one.sample)
    ]
    found = asyncio.run(score_units(method, units * 40, None))
    assert [score.unit for score in found] == list(range(QUESTIONS * 40))


def test_a_unit_with_a_payload_is_stored_by_what_it_is(workspace: Workspace) -> None:
    """One that is its item needs no bytes of its own."""
    key, run = run_in(workspace, "verdicts")
    (page,) = pages_to_score(workspace.store, key, run, None)
    method, one = METHOD, page[0]
    units = method.units(one.item.loaded, one.responses, one.sample)
    rows = [unit_row(workspace.store, method, one.item.key, unit) for unit in units]
    kinds = {row.kind for row in rows}
    assert len(kinds) == 2
    for row in rows:
        assert bool(row.key) == bool(row.payload) == (row.kind != "item")
    assert len({row.key for row in rows}) == len(rows)

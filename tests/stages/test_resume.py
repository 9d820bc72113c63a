"""What makes a run and a request the same: nothing asked twice, nothing taken for another."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterator, Sequence
from random import Random

import pytest

from proofstone.api import Workspace
from proofstone.methods.encyclo_k.method import METHOD
from proofstone.models.concurrency import Limiters
from proofstone.models.registry import open_asker
from proofstone.records.calls import Judge
from proofstone.records.items import ItemSet, Unit
from proofstone.records.runs import Score
from proofstone.run.campaign import progress_of
from proofstone.run.loop import perform_run
from proofstone.run.plan import RunSpec, plan_run, store_run
from proofstone.run.scorings import score_run
from scripted_server import Act, ScriptedServer, Seen, answer, error
from serving import configure, serving

QUESTIONS = 12


@pytest.fixture
def server(workspace: Workspace) -> Iterator[ScriptedServer]:
    """An endpoint that answers all, configured as the provider ``scripted``."""
    with serving(answer("Answer: A")) as serves:
        configure(workspace.folder, serves.url)
        yield serves


def count(workspace: Workspace, table: str) -> int:
    with workspace.store.database.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def items(workspace: Workspace, form: ItemSet) -> set[bytes]:
    """The ids of a form's items."""
    pages = workspace.store.items.pages(form.id)
    return {stored.loaded.item.id for page in pages for stored in page}


def test_the_same_command_asks_and_scores_nothing_again(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """One run, one call and one score a question, however often it is repeated."""
    runs = {workspace.run(form, models="scripted/one")[0].planned.run.id for _ in range(3)}
    assert len(runs) == count(workspace, "run") == 1
    assert server.requests == count(workspace, "call") == QUESTIONS
    assert count(workspace, "score") == QUESTIONS
    assert count(workspace, "scoring") == 1


@pytest.mark.parametrize(
    "change",
    [{"temperature": 0.7}, {"prompt_method": "cot"}, {"shots": 1}, {"models": "scripted/two"},
     {"replicate": "b"}, {"max_tokens": 77}, {"top_p": 0.5}],
    ids=str,
)  # fmt: skip
def test_what_shapes_an_answer_makes_another_run(
    workspace: Workspace, form: str, server: ScriptedServer, change: dict[str, object]
) -> None:
    """A changed setting, way, model or replicate is another run, asked anew; the first one's
    command then still asks nothing."""
    usual: dict[str, object] = {"models": "scripted/one"}
    (first,) = workspace.run(form, **usual)
    (second,) = workspace.run(form, **{**usual, **change})
    assert first.planned.run.id != second.planned.run.id
    assert server.requests == 2 * QUESTIONS
    (again,) = workspace.run(form, **usual)
    assert again.planned.run.id == first.planned.run.id
    assert server.requests == 2 * QUESTIONS


def test_what_shapes_no_answer_makes_no_other_run(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Connections, the time limit and the price are no part of a run or a request."""
    (first,) = workspace.run(form, models="scripted/one")
    configure(workspace.folder, server.url, "timeout_s = 7", "max_connections = 2")
    workspace.__dict__.pop("config", None)  # the file is read anew, as by another command
    (second,) = workspace.run(form, models="scripted/one", max_connections=3)
    assert first.planned.run.id == second.planned.run.id
    assert server.requests == QUESTIONS


def test_more_samples_ask_only_the_new_ones(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Going from one sample to three asks two more of each question; the first is the same call."""
    workspace.run(form, models="scripted/one")
    (three,) = workspace.run(form, models="scripted/one", samples=3)
    assert three.complete
    assert server.requests == 3 * QUESTIONS
    assert count(workspace, "response") == (1 + 3) * QUESTIONS
    assert count(workspace, "call") == 3 * QUESTIONS


def test_forms_share_the_calls_of_their_common_questions(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """A larger form of the same seed is asked only what the smaller one lacks."""
    (bank,) = workspace.store.lookup.every("bank")
    (small,) = workspace.build_form(bank, questions=QUESTIONS)
    (large,) = workspace.build_form(bank, questions=QUESTIONS + 8)
    new = items(workspace, large) - items(workspace, small)
    assert len(new) == 8
    workspace.run(small, models="scripted/one")
    (result,) = workspace.run(large, models="scripted/one")
    assert result.complete
    assert server.requests == QUESTIONS + len(new)


@pytest.mark.parametrize("models", [["scripted/one"], ["scripted/one", "scripted/two"]])
def test_forms_of_one_command_share_their_common_questions_too(
    workspace: Workspace, form: str, server: ScriptedServer, models: list[str]
) -> None:
    """Both forms named at once cost each model no more than one after the other."""
    (bank,) = workspace.store.lookup.every("bank")
    (large,) = workspace.build_form(bank, questions=QUESTIONS + 8)
    results = workspace.run([form, large], models=models)
    assert all(result.complete for result in results)
    assert server.requests == len(models) * (QUESTIONS + 8)


def test_a_limit_is_where_the_same_run_goes_on(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """The first, the first five, then all: one run, and only the others are asked each time."""
    (one,) = workspace.run(form, models="scripted/one", limit=1)
    assert (one.n_scored, server.requests) == (1, 1)
    (part,) = workspace.run(form, models="scripted/one", limit=5)
    assert (part.n_scored, server.requests) == (5, 5)
    (whole,) = workspace.run(form, models="scripted/one")
    assert part.planned.run.id == whole.planned.run.id
    assert (whole.complete, server.requests) == (True, QUESTIONS)


@pytest.mark.parametrize("n", [5, 18])  # after 18, as many replies as half the questions
def test_resuming_keeps_the_settings_of_the_run(workspace: Workspace, form: str, n: int) -> None:
    """What is left is asked as the rest was: temperature, samples, shots; a default that the run
    did without stays out."""
    spoiled = {"for": n}

    def failing(_seen: Seen) -> Act:
        spoiled["for"] -= 1
        return error(400, {"error": {"message": "no"}}) if spoiled["for"] >= 0 else answer()

    with serving(failing) as server:
        configure(workspace.folder, server.url)
        asked = {"temperature": 0.5, "samples": 2, "shots": 1, "max_tokens": None}
        (part,) = workspace.run(form, models="scripted/one", **asked)
        assert (part.failed, part.complete) == (n, False)
        (whole,) = workspace.resume(part.planned.run)
        assert (whole.complete, server.requests) == (True, 2 * QUESTIONS + n)
        bodies = [seen.json for seen in server.seen]
    assert whole.planned.run == part.planned.run
    assert {body["temperature"] for body in bodies} == {0.5}
    assert not any("max_tokens" in body for body in bodies)


def test_scoring_again_is_a_new_scoring_that_asks_nobody(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """The former scores stay; a leaderboard shows the newest whole scoring only."""
    (result,) = workspace.run(form, models="scripted/one")
    assert workspace.score(result.planned.run).n == QUESTIONS
    assert count(workspace, "scoring") == 1
    assert workspace.score(result.planned.run, again=True).n == QUESTIONS
    assert (count(workspace, "scoring"), count(workspace, "score")) == (2, 2 * QUESTIONS)
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert row.n_responses == server.requests == QUESTIONS


def test_scoring_again_goes_by_pages_and_leaves_none_out(workspace: Workspace, form: str) -> None:
    """More questions than a page holds: each has one score of the new scoring."""
    (bank,) = workspace.store.lookup.every("bank")
    (long,) = workspace.build_form(f"bank:{bank.id.hex()}", seeds=[5], questions=300)
    (result,) = workspace.run(long, models="sim/ann")
    assert workspace.score(result.planned.run, again=True).n == 300
    assert count(workspace, "score") == 2 * 300


def test_replies_that_a_killed_process_left_unscored_are_scored_once(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """Scores lost behind their replies come back from these, in the same scoring; nobody is asked
    and nothing is scored twice."""
    workspace.run(form, models="scripted/one")
    with workspace.store.database.writing() as connection:
        connection.exec_driver_sql("UPDATE scoring SET completed_at = NULL")
        connection.exec_driver_sql(
            "DELETE FROM score WHERE unit_id IN (SELECT id FROM unit ORDER BY id LIMIT 5)"
        )
    assert count(workspace, "score") == QUESTIONS - 5
    (result,) = workspace.run(form, models="scripted/one")
    assert (result.complete, result.n_scored) == (True, QUESTIONS)
    assert (count(workspace, "score"), count(workspace, "scoring")) == (QUESTIONS, 1)
    assert server.requests == QUESTIONS


async def _failing(units: Sequence[Unit], judge: Judge | None) -> Sequence[Score]:
    """Fails on every reply, as a scorer with a fault would."""
    raise ZeroDivisionError(f"{len(units)} units")


async def test_a_scorer_that_fails_does_not_end_a_run(
    workspace: Workspace, form: str, server: ScriptedServer
) -> None:
    """All questions are asked and kept before its error is raised; the sound scorer then scores
    them without a call."""
    clock, store = workspace.clock, workspace.store
    method = dataclasses.replace(METHOD, score=_failing)
    rng = Random(1)
    asker = await open_asker(
        "scripted/one", workspace.config, store=store.calls, clock=clock, rng=rng,
        limiters=Limiters(),
    )  # fmt: skip
    spec = RunSpec(item_set=workspace.find(form).id, model="scripted/one", prompt_method="direct")
    planned = store_run(store, plan_run(store, method, spec, asker.model), clock)
    progress = progress_of(store, planned)
    async with store.writer() as writer:
        await perform_run(
            store, writer, method, planned, asker, progress=progress,
            stop=asyncio.Event(), clock=clock,
        )  # fmt: skip
    await asker.close()
    assert count(workspace, "response") == server.requests == progress.done == QUESTIONS
    with pytest.raises(ZeroDivisionError):
        await score_run(store, method, planned.key, planned.run, clock=clock)
    scored = await score_run(store, METHOD, planned.key, planned.run, clock=clock)
    assert scored.n == server.requests == QUESTIONS

"""What an endpoint does wrong, and what becomes of the run: nothing is lost, nothing made up."""

from __future__ import annotations

import random
import subprocess
import sys
from collections import Counter
from hashlib import sha256

import pytest

from proofstone.api import Workspace
from proofstone.errors import RunInUse
from proofstone.records.runs import OUTCOMES
from scripted_server import (
    Act,
    Script,
    Seen,
    answer,
    drop,
    drop_after_headers,
    empty,
    error,
    half,
    html,
    malformed,
)
from serving import configure, serving, wait_until

QUESTIONS = 12
BAD_KEY = error(401, {"error": {"message": "bad key given", "code": "invalid_api_key"}})
NO_MODEL = error(404, {"error": {"message": "model one not found", "code": "model_not_found"}})
TOO_ODD = error(400, {"error": {"message": "this one cannot be asked"}})
PASSING = (
    error(503, {"error": {"message": "overloaded"}}),
    error(429, {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}),
    drop(),
    drop_after_headers(),
    half(),
    malformed(),
    empty(),
)


def count(workspace: Workspace, table: str) -> int:
    with workspace.store.database.reading() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def faults_that_pass(share: float) -> Script:
    """Each time that a body comes it meets a fault with this chance, drawn from the body and how
    often it came, so that the order of requests does not matter."""
    came: Counter[str] = Counter()

    def act(seen: Seen) -> Act:
        body = sha256(seen.body).hexdigest()
        came[body] += 1
        rng = random.Random(f"{body} {came[body]}")
        return rng.choice(PASSING) if rng.random() < share else answer("Answer: A")

    return act


@pytest.mark.parametrize(
    ("act", "kind", "advice"),
    [
        (html(), "not_an_api", "it often ends in /v1"),
        (html(404), "not_an_api", "it often ends in /v1"),
        (BAD_KEY, "bad_key", "no key is set"),
        (NO_MODEL, "unknown_model", "check the spelling of one"),
    ],
    ids=["a page", "a page 404", "401", "unknown model"],
)
def test_a_hopeless_endpoint_is_asked_once_a_connection(
    workspace: Workspace, form: str, act: Act, kind: str, advice: str
) -> None:
    """No retry: at most one request a connection; the run says why and what to do, has no score,
    and stands as unfinished."""
    with serving(act) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one", max_connections=3)
        assert server.requests <= 3
    assert kind in result.stopped
    assert advice in result.stopped
    assert not result.complete
    assert result.n_scored == 0
    assert count(workspace, "response") == 0


def test_one_model_stops_and_another_goes_on(workspace: Workspace, form: str) -> None:
    """A key that is refused ends its own model's run only."""

    def by_model(seen: Seen) -> Act:
        return BAD_KEY if seen.json["model"] == "locked" else answer("Answer: A")

    with serving(by_model) as server:
        configure(workspace.folder, server.url)
        locked, opened = workspace.run(form, models=["scripted/locked", "scripted/open"])
    assert "bad_key" in locked.stopped
    assert (opened.stopped, opened.n_scored, opened.complete) == ("", QUESTIONS, True)


def test_faults_that_pass_leave_a_complete_run(workspace: Workspace, form: str) -> None:
    """With three requests in ten failing in seven ways, every question has one reply, one score."""
    with serving(faults_that_pass(0.3)) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one")
        assert server.requests > QUESTIONS
    assert (result.complete, result.failed, result.n_scored) == (True, 0, QUESTIONS)
    assert count(workspace, "response") == count(workspace, "score") == QUESTIONS
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert (row.n_responses, row.estimate.n) == (QUESTIONS, QUESTIONS)


def test_a_question_that_fails_for_good_leaves_the_run_incomplete(
    workspace: Workspace, form: str
) -> None:
    """One of twelve is refused for ever: the run stands below the ranking with bounds of one
    question's width, resuming asks that one again and no other, and its answer completes it."""
    odd: list[bytes] = []

    def refusing_one(seen: Seen) -> Act:
        if not odd:
            odd.append(seen.body)
        return TOO_ODD if seen.body in odd else answer("Answer: A")

    with serving(refusing_one) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one")
        assert (result.complete, result.failed, result.n_scored) == (False, 1, QUESTIONS - 1)
        assert server.requests == QUESTIONS  # an error of the request is not tried again

        (standings,) = workspace.leaderboard(form).standings
        (row,) = standings.incomplete
        assert standings.ranked == ()
        assert (row.missing, row.failed, row.n_responses) == (1, 1, QUESTIONS - 1)
        assert row.bounds is not None
        assert row.bounds.high - row.bounds.low == pytest.approx(1 / QUESTIONS)

        (again,) = workspace.resume(result.planned.run)
        assert not again.complete
        assert server.requests == QUESTIONS + 1
        odd[:] = [b""]
        (mended,) = workspace.resume(result.planned.run)
        assert mended.complete
        assert server.requests == QUESTIONS + 2
    (row,) = workspace.leaderboard(form).standings[0].ranked
    assert (row.missing, row.failed) == (0, 0)


RESPONSES = {
    "answered": answer("Answer: A"),
    "answered after thinking": answer("<think>it might be B</think>Answer: A"),
    "refused": answer("I'm sorry, but I cannot help with that."),
    "refused in its field": answer(None, refusal="No."),
    "refused by a filter": answer("", finish="content_filter"),
    "refused by a filter with 400": error(400, {"error": {"code": "content_filter"}}),
    "unparsed": answer("It depends."),
    "unparsed, no such option": answer("Answer: Z"),
    "truncated": answer("Let us look at the first", finish="length"),
    "truncated in its thoughts": answer("<think>Answer: A, or rather"),
    "answered, rest cut off": answer("Answer: A\nThe reason is", finish="length"),
    "failed": TOO_ODD,
}


def test_each_kind_of_reply_has_its_outcome(workspace: Workspace, form: str) -> None:
    """Twelve replies of twelve kinds: eleven scores, one outcome each, a failed call has none."""
    acts = list(RESPONSES.values())
    wanted = Counter(name.split()[0].rstrip(",") for name in RESPONSES)
    assert wanted.pop("failed") == 1
    assert len(acts) == QUESTIONS
    with serving(lambda seen: acts[seen.number]) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one", max_connections=1)
    with workspace.store.database.reading() as connection:
        codes = connection.exec_driver_sql("SELECT outcome FROM score").scalars().all()
    assert Counter(OUTCOMES[code] for code in codes) == wanted
    assert (result.n_scored, result.failed) == (QUESTIONS - 1, 1)
    (row,) = workspace.leaderboard(form).standings[0].incomplete
    unanswered = wanted["refused"] + wanted["unparsed"] + wanted["truncated"]
    assert row.rate("no answer").count == unanswered
    assert row.rate("truncated").count == wanted["truncated"] == 2


def test_a_useless_reply_is_charged(workspace: Workspace, form: str) -> None:
    """A body that is billed but cannot be read is kept with its tokens before it is asked again."""
    came: Counter[bytes] = Counter()

    def broken_once(seen: Seen) -> Act:
        came[seen.body] += 1
        return malformed() if came[seen.body] == 1 else answer("Answer: A")

    with serving(broken_once) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one")
    assert result.complete
    with workspace.store.database.reading() as connection:
        query = "SELECT state, count(*), sum(prompt_tokens) FROM call GROUP BY state ORDER BY state"
        kept = [tuple(row) for row in connection.exec_driver_sql(query)]
    assert kept == [
        ("complete", QUESTIONS, 100 * QUESTIONS),
        ("failed", QUESTIONS, 100 * QUESTIONS),
    ]


def test_a_second_process_on_a_run_is_refused_by_the_holders_name(
    workspace: Workspace, form: str
) -> None:
    """Who holds the run is named; once it is dead, even by kill -9, the run is free at once."""
    pace = {"seconds": 60.0}
    with serving(lambda _seen: answer("Answer: A").later(pace["seconds"])) as server:
        configure(workspace.folder, server.url)
        command = [
            sys.executable, "-m", "proofstone", "run", form, "-m", "scripted/one", "-q",
            "-w", str(workspace.folder),
        ]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as holder:
            try:
                wait_until(lambda: server.requests == QUESTIONS)
                with pytest.raises(RunInUse, match=f"in use by process {holder.pid} on "):
                    workspace.run(form, models="scripted/one")
            finally:
                holder.kill()
        pace["seconds"] = 0.0
        (result,) = workspace.run(form, models="scripted/one")
        assert (result.complete, server.requests) == (True, 2 * QUESTIONS)
    assert count(workspace, "run") == 1

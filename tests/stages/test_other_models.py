"""Recorded errors end one model's work with what to do; the other models of the run go on."""

from __future__ import annotations

from proofstone.api import Workspace
from proofstone.models.failures import treatment
from recorded import recorded
from scripted_server import Act, Seen, answer
from serving import configure, serving

QUESTIONS = 12


def test_what_stops_a_model_leaves_the_others_at_work(workspace: Workspace, form: str) -> None:
    """Each recorded error that stops a model, each behind a model of its own, beside two that
    answer: those are complete, each other one says its kind and the next step."""
    stopping = [row for row in recorded() if treatment(row.kind).stops]
    acts = {f"broken-{number}": row.act() for number, row in enumerate(stopping)}
    assert {row.kind for row in stopping} == {
        "bad_key", "no_credit", "not_an_api", "unknown_model", "unsupported_parameter",
    }  # fmt: skip

    def by_model(seen: Seen) -> Act:
        return acts.get(seen.json["model"], answer("Answer: A"))

    names = ["first", *acts, "last"]
    with serving(by_model) as server:
        configure(workspace.folder, server.url)
        first, *broken, last = workspace.run(
            form, models=[f"scripted/{name}" for name in names], max_connections=1
        )
        assert server.requests == 2 * QUESTIONS + len(acts)
    assert all(result.complete and not result.stopped for result in (first, last))
    for row, result in zip(stopping, broken, strict=True):
        assert f": {row.kind}: " in result.stopped
        assert result.stopped.count("\n") >= 1  # the next step below
        assert result.n_scored == 0


def test_a_filter_and_a_prompt_too_long_end_nothing(workspace: Workspace, form: str) -> None:
    """Of twelve questions the endpoint's filter refuses one and one is too long: the first is
    scored as refused by the endpoint, the second failed, and the ten others are answered."""
    by_kind = {row.kind: row for row in recorded("azure", "vllm")}
    acts = [by_kind["content_filter"].act(), by_kind["too_long"].act()]

    with serving(lambda seen: [*acts, answer("Answer: A")][min(seen.number, 2)]) as server:
        configure(workspace.folder, server.url)
        (result,) = workspace.run(form, models="scripted/one", max_connections=1)
        assert server.requests == QUESTIONS
    assert (result.n_scored, result.failed, result.stopped) == (QUESTIONS - 1, 1, "")
    with workspace.store.database.reading() as connection:
        query = "SELECT outcome, flags, count(*) FROM score GROUP BY 1, 2 ORDER BY 1"
        kept = [tuple(row) for row in connection.exec_driver_sql(query)]
        failed = connection.exec_driver_sql("SELECT error FROM call WHERE state = 'failed'")
        assert failed.scalars().all() == ["too_long"]
    assert kept == [(0, "", QUESTIONS - 2), (1, "by endpoint", 1)]

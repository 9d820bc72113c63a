"""A base model behind text completions, with worked examples: what is sent, and which run it is."""

from __future__ import annotations

import pytest

from proofstone.api import Workspace
from proofstone.errors import BadUsage
from scripted_server import Act, Seen, answer, error, text_answer
from serving import configure, serving

QUESTIONS = 12
BASE = ('[models."scripted/base"]', 'wire = "openai-completions"')
STOP = ["\n\n", "\nQuestion:", "\n问题："]


def by_wire(seen: Seen) -> Act:
    return text_answer(" A") if seen.path == "/v1/completions" else answer("Answer: A")


def test_a_base_model_is_shown_examples_and_goes_on_with_an_answer(
    workspace: Workspace, form: str
) -> None:
    """Each request is one text that ends at the open answer, with stops at the next question; a
    bare letter is read as the answer."""
    with serving(by_wire) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(form, models="scripted/base", shots=2)
        bodies = [seen.json for seen in server.seen]
    assert (result.complete, result.n_scored, len(bodies)) == (True, QUESTIONS, QUESTIONS)
    for body in bodies:
        assert set(body) == {"model", "prompt", "max_tokens", "temperature", "stop"}
        assert body["stop"] == STOP
        assert body["prompt"].count("Question: ") == 2 + 1
        assert body["prompt"].count("\nAnswer: ") == 2
        assert body["prompt"].endswith("\nAnswer:")
    with workspace.store.database.reading() as connection:
        kept = connection.exec_driver_sql("SELECT DISTINCT answer, basis FROM score").all()
    assert [tuple(row) for row in kept] == [("A", "bare, last line")]


def test_it_is_another_run_than_the_same_model_s_chat(workspace: Workspace, form: str) -> None:
    """Same name, another wire: another prompt, so another run, and nothing of one serves the
    other from the cache."""
    with serving(by_wire) as server:
        configure(workspace.folder, server.url)
        (chat,) = workspace.run(form, models="scripted/base")
        del workspace.config
        configure(workspace.folder, server.url, *BASE)
        (text,) = workspace.run(form, models="scripted/base")
        assert server.requests == 2 * QUESTIONS
    assert chat.planned.run.id != text.planned.run.id
    assert chat.planned.run.prompt_hash != text.planned.run.prompt_hash
    assert text.planned.run.settings["stop"] == STOP
    assert "stop" not in chat.planned.run.settings


def test_a_base_models_run_is_resumed_as_it_is(workspace: Workspace, form: str) -> None:
    """Its stops come from the run; the same run is finished, and nothing is asked twice."""
    odd: list[bytes] = []

    def refusing_one(seen: Seen) -> Act:
        if not odd:
            odd.append(seen.body)
        return error(400, {"error": {"message": "no"}}) if seen.body in odd else text_answer(" A")

    with serving(refusing_one) as server:
        configure(workspace.folder, server.url, *BASE)
        (result,) = workspace.run(form, models="scripted/base", shots=1, stop=["END", "\n\n"])
        assert result.failed == 1
        assert server.seen[0].json["stop"] == ["END", *STOP]
        odd[:] = [b""]
        (again,) = workspace.resume(result.planned.run)
        assert server.requests == QUESTIONS + 1
        assert server.seen[-1].json["stop"] == ["END", *STOP]
    assert again.complete
    assert again.planned.run.id == result.planned.run.id


def test_stops_end_a_chat_s_reply_too(workspace: Workspace, form: str) -> None:
    with serving(by_wire) as server:
        configure(workspace.folder, server.url)
        workspace.run(form, models="scripted/chat", stop=["\n\n"])
        assert server.seen[0].json["stop"] == ["\n\n"]


def test_a_stop_that_is_none_is_refused_before_anything_is_asked(
    workspace: Workspace, form: str
) -> None:
    with serving(by_wire) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadUsage, match="stop takes texts that end a response, got \\[''\\]"):
            workspace.run(form, models="scripted/chat", stop=[""])
        assert server.requests == 0


def test_the_control_asks_a_base_model_for_plain_continuations(workspace: Workspace) -> None:
    with serving(text_answer(" Paris.")) as server:
        configure(workspace.folder, server.url, *BASE)
        report = workspace.control("scripted/base")
        assert {seen.json["logprobs"] for seen in server.seen} == {1}
        prompts = {seen.json["prompt"] for seen in server.seen}
        assert "Finish the sentence: The capital city of France is" in prompts
    assert any(answer.is_right for answer in report.answers)

"""Thinking on and off: what is sent, which runs it makes, and the study that sets them beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.errors import BadInput, BadUsage
from proofstone.stages.run_file import read_run_file
from proofstone.stages.run_file_text import run_file_text
from proofstone.stages.run_request import Asking, RunRequest
from proofstone.wiring import Workspace
from proofstone.wiring.run_files import perform_request
from scripted_server import Act, Seen, answer
from serving import configure, serving

QUESTIONS = 12
SWITCH = (
    "[providers.scripted.thinking]\n"
    "on = { chat_template_kwargs = { enable_thinking = true } }\n"
    "off = { chat_template_kwargs = { enable_thinking = false } }\n"
)


def by_thinking(seen: Seen) -> Act:
    """A model that is right with thinking, if A is right, and says nothing without."""
    thinks = seen.json["chat_template_kwargs"]["enable_thinking"]
    return answer("Answer: A") if thinks else answer("I would rather not say.")


def test_both_are_asked_in_one_request_and_stand_side_by_side(
    workspace: Workspace, form: str
) -> None:
    """Two runs of one model, each with the fields that its provider's entry names; the study
    shows their paired difference."""
    with serving(by_thinking) as server:
        configure(workspace.folder, server.url, SWITCH)
        request = RunRequest(targets=(form,), models={"scripted/one": Asking()}).over(
            flags=Asking(), thinking=["on", "off"]
        )
        on, off = perform_request(workspace, request)
        again = perform_request(workspace, request)
        assert server.requests == 2 * QUESTIONS
    assert (on.complete, off.complete) == (True, True)
    assert on.planned.run.settings["thinking"] == "on"
    assert [result.planned.run.id for result in again] == [on.planned.run.id, off.planned.run.id]
    board = str(workspace.leaderboard(form))
    assert "thinking=on" in board
    assert "thinking=off" in board
    study = workspace.study("thinking", form)
    (row,) = study.rows
    assert row[0] == "scripted/one direct"
    assert row[2].startswith("0.0 [")
    assert study.finding.startswith("Thinking changes accuracy by +")


def test_a_model_whose_switch_is_not_known_is_refused_before_the_run(
    workspace: Workspace, form: str
) -> None:
    """The error says the lines to add; a word that is neither is refused too."""
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadUsage, match="nothing is known") as raised:
            workspace.run(form, models="scripted/one", thinking="on")
        assert '[models."scripted/one".thinking]' in str(raised.value.hint)
        with pytest.raises(BadUsage, match="thinking is on or off"):
            workspace.run(form, models="scripted/one", thinking="maybe")
        assert server.requests == 0


def test_the_switch_may_hold_no_field_that_is_ours(workspace: Workspace, form: str) -> None:
    """A model's name or a key is no way to switch thinking."""
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url, '[providers.scripted.thinking]\non = {model = "x"}')
        with pytest.raises(BadInput, match=r"thinking\.model"):
            workspace.run(form, models="scripted/one")


def test_a_run_file_may_name_both(tmp_path: Path) -> None:
    """As a list they are asked one after the other, and come back from the text; as a word it is a
    setting like others; anything else is named with its line."""
    path = tmp_path / "run.toml"
    path.write_text('target = "a"\nmodels = ["sim/x"]\nthinking = ["on", "off"]\n', "utf-8")
    request = read_run_file(path).request
    assert request.thinking == ("on", "off")
    assert [spec.settings["thinking"] for spec in request.specs([b"a"])] == ["on", "off"]
    path.write_text(run_file_text(request, tmp_path), "utf-8")
    assert read_run_file(path).request.thinking == ("on", "off")
    path.write_text('target = "a"\nmodels = ["sim/x"]\nthinking = "off"\n', "utf-8")
    request = read_run_file(path).request
    assert (request.thinking, request.for_all.settings) == ((), {"thinking": "off"})
    path.write_text('target = "a"\nmodels = ["sim/x"]\nthinking = ["on", "maybe"]\n', "utf-8")
    with pytest.raises(BadInput, match="line 3"):
        read_run_file(path)

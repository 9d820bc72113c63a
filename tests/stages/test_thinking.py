"""Thinking on and off: what is sent, which runs it makes, and the study that sets them beside."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.api import Workspace
from proofstone.errors import BadInput, BadUsage
from proofstone.run.campaign import perform_request
from proofstone.run.request import Asking, RunRequest
from proofstone.run.run_file import read_run_file, run_file_text, save_request
from scripted_server import Act, Seen, answer
from serving import configure, serving
from table_texts import rows

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
    analysis = workspace.analysis("thinking", form)
    (row,) = rows(analysis)
    assert row[0] == "scripted/one direct"
    assert row[2].startswith("0.0 [")
    assert analysis.finding.startswith("Thinking changes accuracy by +")


def test_a_model_whose_switch_is_not_known_is_refused_before_the_run(
    workspace: Workspace, form: str
) -> None:
    """The error says the lines to add; a word that is neither is refused too."""
    with serving(answer("Answer: A")) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadUsage, match="no switch for thinking is known") as raised:
            workspace.run(form, models="scripted/one", thinking="on")
        assert '[models."scripted/one".thinking]' in str(raised.value.hint)
        with pytest.raises(BadUsage, match="expected thinking on or off"):
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
    assert request.asked.thinking == ("on", "off")
    assert [spec.settings["thinking"] for spec in request.specs([b"a"])] == ["on", "off"]
    path.write_text(run_file_text(request, tmp_path), "utf-8")
    assert read_run_file(path).request.asked.thinking == ("on", "off")
    path.write_text('target = "a"\nmodels = ["sim/x"]\nthinking = "off"\n', "utf-8")
    request = read_run_file(path).request
    assert (request.asked.thinking, request.for_all.settings) == ((), {"thinking": "off"})
    path.write_text('target = "a"\nmodels = ["sim/x"]\nthinking = ["on", "maybe"]\n', "utf-8")
    with pytest.raises(BadInput, match="line 3"):
        read_run_file(path)


def most_tokens(workspace: Workspace, request: RunRequest) -> dict[str, int]:
    """``max_tokens`` of each run, by its word."""
    results = perform_request(workspace, request)
    runs = [result.planned.run for result in results]
    return {run.settings.get("thinking", ""): run.settings["max_tokens"] for run in runs}


@pytest.mark.parametrize(
    ("entry", "settings", "on", "off"),
    [
        ("", {}, 1024 + 16_384, 1024),
        ("tokens = 500\n", {}, 1024 + 500, 1024),
        ("", {"max_tokens": 300}, 300, 300),
        ("", {"max_tokens": 300, "thinking_tokens": 200}, 300 + 200, 300),
        ("", {"thinking_tokens": 0}, 1024, 1024),
        ("window = 8192\n", {}, 8192 // 2, 1024),
        ("window = 8192\n", {"thinking_tokens": 5000}, 1024 + 5000, 1024),
    ],
)
def test_thinking_has_room_of_its_own_unless_one_is_named(
    workspace: Workspace, form: str, entry: str, settings: dict[str, int], on: int, off: int
) -> None:
    """1,024 tokens is what the way of asking allows; a saved file means the same runs."""
    with serving(by_thinking) as server:
        of_switch = entry.startswith("tokens")
        configure(workspace.folder, server.url, "" if of_switch else entry, SWITCH,
                  entry if of_switch else "")  # fmt: skip
        request = RunRequest(targets=(form,), models={"scripted/one": Asking()}).over(
            flags=Asking(settings=settings), thinking=["on", "off"]
        )
        assert most_tokens(workspace, request) == {"on": on, "off": off}
        saved = workspace.folder / "saved.toml"
        save_request(workspace, request, saved)
        asked = server.requests
        assert most_tokens(workspace, read_run_file(saved).request) == {"on": on, "off": off}
        assert server.requests == asked
    analysis = workspace.analysis("thinking", form)
    assert [row[0] for row in rows(analysis)] == ["scripted/one direct"]


def test_a_layer_that_names_the_longest_reply_means_all_of_it(workspace: Workspace) -> None:
    """Over a layer below that names a room; and a saved request keeps to it."""
    request = RunRequest(
        models={"a/b": Asking(settings={"max_tokens": 50})},
        prompt_methods={"direct": Asking(settings={"thinking_tokens": 7, "thinking": "on"})},
    )
    assert dict(request.asking("a/b", "direct").settings) == {"thinking": "on", "max_tokens": 50}
    whole = request.over(flags=Asking(settings={"max_tokens": 9}))
    resolved = whole.resolved(("t",), lambda _prompt_method: {"max_tokens": 1024})
    assert dict(resolved.asking("a/b", "direct").settings) == {"thinking": "on", "max_tokens": 9}


def test_a_room_that_is_no_number_is_refused(workspace: Workspace, form: str) -> None:
    with pytest.raises(BadUsage, match="thinking_tokens takes a whole number"):
        workspace.run(form, models="sim/ann", thinking="on", thinking_tokens="much")


def test_a_resumed_run_keeps_its_room(workspace: Workspace, form: str) -> None:
    with serving(by_thinking) as server:
        configure(workspace.folder, server.url, SWITCH)
        (part,) = workspace.run(form, models="scripted/one", thinking="on", limit=3)
        (whole,) = workspace.resume(f"run:{part.planned.run.id.hex()}")
    assert whole.planned.run.id == part.planned.run.id
    assert whole.complete


def test_the_switch_is_laid_over_the_body_however_deep(workspace: Workspace, form: str) -> None:
    """What the entry's body says beside the switch is sent as well."""
    seen: list[object] = []

    def keep(request: Seen) -> Act:
        seen.append(request.json["chat_template_kwargs"])
        return answer("Answer: A")

    body = "body = { chat_template_kwargs = { tone = 'dry', enable_thinking = false } }\n"
    with serving(keep) as server:
        configure(workspace.folder, server.url, body, SWITCH)
        workspace.run(form, models="scripted/one", thinking="on", limit=1)
    assert seen == [{"tone": "dry", "enable_thinking": True}]


def test_a_simulated_respondent_says_that_it_does_not_think(
    workspace: Workspace, form: str
) -> None:
    """Its runs are as good as any, and have no room that nobody fills; a wrong word is refused."""
    on, off = (workspace.run(form, models="sim/ann", thinking=word)[0] for word in ("on", "off"))
    assert on.planned.notes == off.planned.notes
    assert on.planned.notes == (
        "sim/ann does not think: simulated models answer identically with --thinking on and off",
    )
    assert on.planned.run.settings["max_tokens"] == 1024
    assert workspace.run(form, models="sim/ann")[0].planned.notes == ()
    with pytest.raises(BadUsage, match="expected thinking on or off"):
        workspace.run(form, models="sim/ann", thinking="maybe")

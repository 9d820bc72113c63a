"""Prompts are shown as they would be sent."""

from __future__ import annotations

import json

import msgspec
import pytest

from proofstone.api import Workspace
from proofstone.records.calls import Message
from proofstone.run.plan import RunSpec
from serving import configure, serving
from stages.test_dry_runs import PLAIN, QUESTIONS


@pytest.fixture
def shown(workspace: Workspace, form: str) -> tuple[Workspace, str, list[RunSpec]]:
    (found,) = workspace.store.lookup.every("form")
    specs = [
        RunSpec(item_set=found.id, model=model, prompt_method=prompt_method)
        for model in ("scripted/one", "scripted/two")
        for prompt_method in ("direct", "cot")
    ]
    return workspace, form, specs


def test_prompts_are_shown_as_they_are_sent(
    shown: tuple[Workspace, str, list[RunSpec]],
) -> None:
    workspace, form, specs = shown
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        prompts = workspace.rendered(specs, 2)
        assert server.requests == 0
        workspace.run(
            form, models=["scripted/one", "scripted/two"], prompt_method=["direct", "cot"], limit=2
        )
        sent = [seen.json for seen in server.seen]
    assert [(prompt.prompt_method, len(prompt.to)) for prompt in prompts] == [
        ("direct", 2), ("direct", 2), ("cot", 2), ("cot", 2)
    ]  # fmt: skip
    for prompt in prompts:
        messages = json.loads(msgspec.json.encode(prompt.messages))
        for to in prompt.to:
            expected = {"model": to.model.removeprefix("scripted/"), "messages": messages}
            assert {**expected, **to.settings} in sent
    assert all(isinstance(message, Message) for prompt in prompts for message in prompt.messages)


def test_no_more_prompts_are_shown_than_there_are(
    shown: tuple[Workspace, str, list[RunSpec]],
) -> None:
    workspace, _form, specs = shown
    with serving(PLAIN) as server:
        configure(workspace.folder, server.url)
        assert len(workspace.rendered(specs[:1], 50)) == QUESTIONS

"""Questions are asked with the whole document, passages, both, evidence, or nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elaipbench.whole_documents import METALS, TITLE, document, row, sentence, several, write_rows
from proofstone.api import Workspace, create_workspace
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage
from proofstone.ingest.ingest import ingest_paths
from proofstone.method import find_method
from proofstone.models.tokens import load_cl100k
from proofstone.records.items import left_out_of
from proofstone.run.campaign import RunResult
from scripted_server import Seen, answering
from serving import HurriedClock, configure, serving

OTHER = "Eight more metals"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """Two documents, the second longer, and four questions on them, alternating in the file."""
    (tmp_path / "first.txt").write_text(document(), encoding="utf-8")
    (tmp_path / "second.txt").write_text(document(OTHER, trials=60), encoding="utf-8")
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        for name, title in (("first", TITLE), ("second", OTHER)):
            path = tmp_path / f"{name}.txt"
            ingest_paths(opened.store, [path], stated=Stated(title=title), clock=opened.clock)
        rows = [row(0), row(50, document=OTHER), several(1), several(52, document=OTHER)]
        opened.import_bank(write_rows(tmp_path / "questions.jsonl", rows), method="elaipbench")
        opened.build_form("questions")
        yield opened


@pytest.fixture
def form(workspace: Workspace) -> str:
    (found,) = workspace.store.lookup.every("form")
    return f"form:{found.id.hex()[:8]}"


@pytest.fixture
def prompts(workspace: Workspace) -> Iterator[list[str]]:
    """The prompts that scripted/one is sent; it always answers A and B."""
    seen: list[str] = []

    def response(request: Seen) -> str:
        seen.append(request.json["messages"][-1]["content"])
        return "\\boxed{AB}"

    with serving(answering(response)) as server:
        configure(workspace.folder, server.url)
        yield seen


def asked(workspace: Workspace, form: str, **options: Any) -> RunResult:
    (result,) = workspace.run(form, models="scripted/one", **options)
    assert result.complete
    return result


def question_of(prompt: str) -> str:
    (found,) = re.findall(r"Under which load did .*|Which samples are .*", prompt)
    return str(found)


def paragraphs(text: str) -> list[str]:
    return text.split("\n\n")[1:]


def test_the_whole_document_comes_first_unless_asked_otherwise(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    """Questions on one document follow each other and share the beginning of their prompts."""
    result = asked(workspace, form, prompt_method="direct")
    assert result.planned.run.settings["context"] == "document"
    assert len(prompts) == 4
    for prompt in prompts:
        told, question = prompt.index("In trial 3 "), prompt.index(question_of(prompt))
        assert told < question
        text = document() if "In trial 59" not in prompt else document(OTHER, 60)
        assert all(paragraph in prompt for paragraph in paragraphs(text))
    of_document = ["In trial 59" in prompt for prompt in sorted(prompts)]
    assert sorted(of_document) == of_document or sorted(of_document, reverse=True) == of_document
    shared = [prompt for prompt in prompts if "In trial 59" in prompt]
    least = len(document(OTHER, 60))
    assert shared[0][:least] == shared[1][:least]


def test_none_sends_the_question_alone(workspace: Workspace, form: str, prompts: list[str]) -> None:
    asked(workspace, form, context="none")
    assert len(prompts) == 4
    assert not any("In trial 3 " in prompt for prompt in prompts)


def test_evidence_sends_the_quotes_alone(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    asked(workspace, form, context="evidence")
    (prompt,) = [each for each in prompts if "trial 52?" in each]
    lines = [line for line in prompt.splitlines() if line.startswith("In trial")]
    assert lines == [sentence(METALS[52 % 8], 52), sentence(METALS[55 % 8], 52)]


def test_passages_are_searched_in_the_question_s_own_document(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    asked(workspace, form, context="retrieved", context_within="document", context_chunks=2)
    assert len(prompts) == 4
    for prompt in prompts:
        number = int(re.findall(r"trial (\d+)\?", prompt)[0])
        shown = {int(n) for n in re.findall(r"In trial (\d+)", prompt)}
        assert shown
        assert max(shown) < (60 if number >= 40 else 40)
        assert len(re.findall(r"\| begin", prompt)) <= 2


def test_both_share_one_budget_and_only_passages_are_shortened(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    longest = load_cl100k()(document(OTHER, 60))
    asked(
        workspace, form, context="document+retrieved", context_within="document",
        context_tokens=longest + 60,
    )  # fmt: skip
    for prompt in prompts:
        text = document(OTHER, 60) if "In trial 59" in prompt else document()
        assert all(paragraph in prompt for paragraph in paragraphs(text))
        again = [
            line for line in prompt.splitlines()
            if line.startswith("In trial") and line not in text.splitlines()
        ]  # fmt: skip
        assert load_cl100k()(" ".join(again)) <= 60 or text == document()
        for line in again:  # whole sentences
            assert line.endswith(".")


def test_a_document_beyond_the_budget_leaves_its_questions_out(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    fits = load_cl100k()(document()) + 10
    result = asked(workspace, form, context="document", context_tokens=fits)
    assert left_out_of(result.planned.run.settings) == 2
    assert len(prompts) == 2
    (note,) = [each for each in result.planned.notes if "left out" in each]
    assert note.startswith("2 of 4 questions (50.0%) are left out")
    assert f"documents of more than {fits:,} tokens" in note


def test_a_budget_below_every_document_is_refused(workspace: Workspace, form: str) -> None:
    with pytest.raises(BadUsage, match="4 have documents of more than 100 tokens"):
        workspace.run(form, models="sim/one", context="document", context_tokens=100)


def test_runs_of_different_contexts_are_ranked_apart(
    workspace: Workspace, form: str, prompts: list[str]
) -> None:
    for context in ("none", "evidence", "document"):
        asked(workspace, form, context=context)
    text = str(workspace.leaderboard(form))
    usual, evidence, memory = text.split("ranked separately")
    assert "context=document" in usual
    assert usual.endswith("With the evidence, ")
    assert "context=evidence" in evidence
    assert evidence.endswith("Without the document, ")
    assert memory.startswith(": the prompt contained no document")


def test_the_web_is_searched_for_the_question_and_the_title(workspace: Workspace) -> None:
    (found,) = workspace.store.lookup.every("form")
    (first, *_others) = workspace.store.items.page(found.id, -1, 9)
    method = find_method("elaipbench")
    assert method.query is not None
    assert method.web_query is not None
    question = method.query(first.loaded)
    title = first.loaded.facts[0].payload.title
    assert title in (TITLE, OTHER)
    assert title not in question
    assert method.web_query(first.loaded) == f"{question} {title}"

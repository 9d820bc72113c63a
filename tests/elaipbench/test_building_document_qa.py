"""``build document-qa``: each check drops for its own reason, and the rest is a bank that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elaipbench.scripted_question_writer import PANEL, RIGHT, QuestionWriter, pump_document
from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import describe
from proofstone.build.build import BuildResult
from proofstone.build.funnel import list_ended
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput, BadUsage
from proofstone.ingest.bank_files import export_bank
from proofstone.ingest.ingest import ingest_paths
from proofstone.method import find_method
from serving import HurriedClock, configure, serving

KEPT = ["good", "guessed"]
ENDED = {
    "passages": {"no linked passages": ["twinless"]},
    "question": {
        "unparsed response": ["mumbling"],
        "no question in it": ["barren"],
        "not of the requested form": ["narrow", "twofold", "misjudged"],
    },
    "quotes": {
        "quote not found": ["invented", "dreamt"],
        "correct option without evidence": ["bare"],
        "passage without evidence": ["onesided"],
        "undefined abbreviation": ["jargon"],
    },
    "evidence": {"answered incorrectly": ["unfounded"], "no parsed answer": ["silent"]},
    "keyword match": {"answered by keyword match": ["lookup"], "no parsed answer": ["hushed"]},
    "closed book": {"answered without the document": ["famous"]},
    "whole document": {"answered with the document": ["easy"], "no parsed answer": ["garbled"]},
}
MODELS = {"author": "scripted/author", "panel": list(PANEL)}
NOWHERE = "http://127.0.0.1:9"


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def ingest(workspace: Workspace, *tags: str, sections: int = 11) -> list[str]:
    """A document for each tag; their titles."""
    titles = [pump_document(workspace.folder, tag, sections=sections) for tag in tags]
    files = [workspace.folder / f"{tag}.md" for tag in tags]
    for file in (each for each in files if each.stem == "twinless"):
        text = file.read_text(encoding="utf-8")
        file.write_text(re.sub(r"The \w+ pump of Aberdour stops.*?bars\. ", "", text))
    stated = Stated(license="CC0-1.0", language="en", year=2021)
    ingest_paths(workspace.store, files, clock=workspace.clock, stated=stated)
    return titles


def built(workspace: Workspace, inputs: list[str], **params: Any) -> BuildResult:
    asked = {"models": MODELS, "several": 0.0, **params}
    return workspace.build_in_steps(
        "document-qa", inputs, name="pumps", judge="scripted/judge", **asked
    )


def dropped(result: BuildResult) -> dict[str, dict[str, int]]:
    return {
        step.name: {reason: n for reason, n in step.dropped.items() if n}
        for step in result.funnel.steps
        if any(step.dropped.values())
    }


def facts_of(workspace: Workspace, result: BuildResult) -> list[Any]:
    assert result.bank is not None
    return list(workspace.store.knowledge.bank(result.bank.id).facts())


def test_each_check_drops_for_its_reason_and_the_rest_is_a_bank(workspace: Workspace) -> None:
    tags = [tag for reasons in ENDED.values() for tagged in reasons.values() for tag in tagged]
    writer = QuestionWriter()
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        inputs = ingest(workspace, *tags, *KEPT)
        result = built(workspace, inputs)
        asked = server.requests
        again = built(workspace, inputs)
        assert server.requests == asked
    assert dropped(result) == {
        step: {reason: len(tagged) for reason, tagged in reasons.items()}
        for step, reasons in ENDED.items()
    }
    assert {fact.payload.question for fact in facts_of(workspace, result)} == {
        f"When does the {tag} pump of Aberdour run?" for tag in KEPT
    }
    assert (again.bank, again.funnel) == (result.bank, result.funnel)
    assert result.notes == ()
    spent = {step.name: step.spent.calls for step in result.funnel.steps}
    n_left = len(KEPT)
    assert spent["whole document"] == 3 * (n_left + 2)
    assert spent["closed book"] == 3 * (n_left + 3)
    assert writer.asked["judge passage"] == n_left + 3 + 2
    assert (spent["passages"], spent["quotes"]) == (0, 0)


def test_a_question_keeps_its_writer_its_evidence_and_its_checkers(workspace: Workspace) -> None:
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, "good"), several=1.0)
    (fact,) = facts_of(workspace, result)
    question = fact.payload
    assert (question.written_by, question.question_type, question.year) == (
        "model", "multiple", 2021
    )  # fmt: skip
    assert {question.options[place] for place in question.answer_key} == set(RIGHT)
    assert question.title == fact.stratum.book == "Good station"
    pages = {page.number: page.text for page in workspace.store.pages.pages(fact.source)}
    spans = {span for each in question.evidence for span in each.spans}
    assert {span.text for span in spans} == {
        "The good pump of Aberdour starts at seven bars.",
        "The good pump of Aberdour stops at nine bars.",
    }
    assert all(pages[span.page][span.start : span.end] == span.text for span in spans)
    (with_roles,) = workspace.store.knowledge.built_facts([fact])
    assert {(role.role, role.model) for role in with_roles.roles} == {
        ("wrote", "scripted/author"), ("checked", "scripted/judge"),
        *(("filtered", member) for member in PANEL),
    }  # fmt: skip


def test_an_export_says_that_a_model_wrote_it(workspace: Workspace, tmp_path: Path) -> None:
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, "good"))
    assert result.bank is not None
    file = tmp_path / "pumps.jsonl"
    export_bank(workspace.store, find_method("elaipbench"), result.bank.id, file)
    assert '"written_by":"model"' in file.read_text(encoding="utf-8").replace(" ", "")


def test_the_card_of_the_bank_promises_no_verdicts(workspace: Workspace) -> None:
    """The judge answered the questions; it was asked for no verdict on them."""
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, "good"))
    assert result.bank is not None
    found = workspace.find(f"bank:{result.bank.id.hex()}", "bank")
    assert dict(describe(workspace.store, found).lines)["judged by"] == "scripted/judge"


def test_a_missing_quote_is_shown_with_the_nearest_text(workspace: Workspace) -> None:
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadInput, match="2 quote not found"):
            built(workspace, ingest(workspace, "invented", "dreamt"))
    (build,) = (build for _key, build in workspace.store.builds.every())
    found = workspace.find(f"build:{build.id.hex()}", "build")
    shown = {each.found for each in list_ended(workspace.store, found)}
    assert shown == {
        "The invented pump of Aberdour stops at ninety bars.; nearest text: The invented pump of "
        "Aberdour stops at nine bars.",
        "Bees sleep among clover while rain falls; no similar text",
    }


def test_an_endpoint_that_fails_leaves_a_candidate_pending(workspace: Workspace) -> None:
    """Whichever check it fails in; the same command again asks only for what is missing."""
    writer = QuestionWriter()
    inputs = ingest(workspace, "good")
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        for model, step in [("judge", "evidence"), ("member-2", "closed book")]:
            writer.down = {model}
            held = built(workspace, inputs)
            assert (held.bank, held.complete, dropped(held)) == (None, False, {})
            pending = {each.name: each.pending for each in held.funnel.steps if each.pending}
            assert pending == {step: 1}
        asked, writer.down = dict(writer.asked), set()
        done = built(workspace, inputs)
    assert len(facts_of(workspace, done)) == 1
    assert dict(writer.asked) == {
        **asked,
        "member-2 nothing": 1,
        **{f"{name.removeprefix('scripted/')} document": 1 for name in PANEL},
    }


def test_the_judge_may_see_the_document_and_the_step_says_so(workspace: Workspace) -> None:
    writer = QuestionWriter()
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, "good"), judge_sees="document")
    assert "evidence and document" in [step.name for step in result.funnel.steps]
    assert (writer.asked["judge both"], writer.asked["judge evidence"]) == (1, 0)


def test_an_answer_after_the_time_limit_does_not_count(workspace: Workspace) -> None:
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadInput, match="1 answered too late"):
            built(workspace, ingest(workspace, "good"), time_limit=1e-9)


def test_a_panel_of_another_size_and_rule(workspace: Workspace) -> None:
    """Of two, both must know the answer for a majority, and one miss is enough to stay."""
    models = {"author": "scripted/author", "panel": ["scripted/member-1", "scripted/member-3"]}
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        inputs = ingest(workspace, "famous", "easy")
        result = built(workspace, inputs, models=models, least_wrong=1)
    assert result.notes == ("the panel has 2 models; the paper's has 3",)
    assert dropped(result) == {}
    assert len(facts_of(workspace, result)) == 2


def test_without_a_panel_two_checks_are_left_out_and_that_is_said(workspace: Workspace) -> None:
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, ingest(workspace, "easy"), models={"author": "scripted/author"})
    assert [step.name for step in result.funnel.steps][-1] == "keyword match"
    assert result.notes == (
        "no panel is set (--panel): questions are not tried without the document, nor with it",
    )


def test_a_document_that_no_window_takes_is_dropped(workspace: Workspace) -> None:
    configure(workspace.folder, NOWHERE)
    with pytest.raises(BadInput, match="1 document too long"):
        built(workspace, ingest(workspace, "good"), document_tokens=4096)


def test_a_short_document_is_dropped(workspace: Workspace) -> None:
    configure(workspace.folder, NOWHERE)
    inputs = ingest(workspace, "good", sections=3)
    with pytest.raises(BadInput, match="1 document too short"):
        built(workspace, inputs)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"questions": 0}, "--questions must be 1 or more, got 0"),
        ({"passage_tokens": 8}, "--passage-tokens must be 64 or more, got 8"),
        ({"document_tokens": -1}, "--document-tokens must be 0 or more, got -1"),
        ({"apart": -1}, "--apart must be 0 or more, got -1"),
        ({"n_options": 3}, "--n-options must be 4 to 8, got 3"),
        ({"several": 1.5}, "--several must be a share from 0 to 1, got 1.5"),
        ({"time_limit": 0.0}, "--time-limit must be above 0 seconds, got 0.0"),
        ({"least_wrong": -1}, "--least-wrong must be 0 or more, got -1"),
        ({"least_wrong": 4}, "least_wrong for a panel of 3 must be 1 to 3, got 4"),
        (
            {"least_wrong": 2, "models": {"author": "scripted/author"}},
            "--least-wrong is for a panel, and none is named",
        ),
    ],
)
def test_parameters_that_cannot_be(workspace: Workspace, params: dict[str, Any], said: str) -> None:
    inputs = ingest(workspace, "good")
    configure(workspace.folder, NOWHERE)
    with pytest.raises(BadUsage, match=said):
        built(workspace, inputs, **params)


def test_a_dry_run_forecasts_calls_and_tokens(workspace: Workspace) -> None:
    """Two of four documents are tried: one question each passes eight calls."""
    with serving(QuestionWriter()) as server:
        configure(workspace.folder, server.url)
        tags = ["good", "guessed", "rare", "grey"]
        found = workspace.forecast_build(
            "document-qa", ingest(workspace, *tags), models=MODELS, judge="scripted/judge",
            several=0.0, pilot=2,
        )  # fmt: skip
    assert found.total.requests is not None
    assert found.total.tokens is not None
    per_row = 1 + 1 + 1 + 3 + 3  # author, evidence, keyword match, closed book, whole document
    assert (found.spent.calls, found.left) == (2 * per_row, 2)
    assert found.total.requests.likely == 2 * per_row


def test_a_dry_run_without_a_pilot_counts_the_calls_that_can_be_sent_now(
    workspace: Workspace,
) -> None:
    """The author's for each set of passages; once these are cached, the judge's."""
    writer, inputs = QuestionWriter(), ingest(workspace, "good", "unfounded", "mumbling")
    asked = {"models": MODELS, "judge": "scripted/judge", "several": 0.0, "pilot": 0}
    with serving(writer) as server:
        configure(workspace.folder, server.url)
        first = workspace.forecast_build("document-qa", inputs, **asked)
        assert server.requests == 0
        writer.down = {"judge"}
        built(workspace, inputs)
        requests = server.requests
        later = workspace.forecast_build("document-qa", inputs, **asked)
        assert server.requests == requests
    (author,) = first.next_requests
    assert (author.step, author.models, author.requests) == ("question", ("scripted/author",), 3)
    assert author.completion_tokens == 3 * 4096
    assert 3 * 600 < author.prompt_tokens < 3 * 8000
    (judge,) = later.next_requests
    assert (judge.step, judge.requests, later.next_of) == ("evidence", 2, 3)


def test_prompts_are_shown_without_asking(workspace: Workspace) -> None:
    configure(workspace.folder, NOWHERE)
    inputs = ingest(workspace, "good")
    shown = workspace.prompts_of_build(
        "document-qa", inputs, 1, models=MODELS, judge="scripted/judge", several=0.0
    )
    (prompt,) = shown
    text = prompt.messages[-1].text
    assert prompt.step == "question"
    assert "combines all 2 passages" in text
    assert "The good pump of Aberdour starts at seven bars." in text
    assert "Section: Good station > Part 0" in text

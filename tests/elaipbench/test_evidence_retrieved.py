"""How much of the evidence a run's prompts show, read from the prompts and from the search."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from elaipbench.whole_documents import TITLE, document, row, several, write_rows
from proofstone.api import Workspace, create_workspace
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage
from proofstone.ingest.ingest import ingest_paths
from proofstone.records.items import ContextName
from proofstone.run.campaign import RunResult
from proofstone.run.context_texts import shown_to
from proofstone.run.evidence_found import found_by_run, found_by_search
from proofstone.stats.retrieval import EvidenceFound
from serving import HurriedClock
from table_texts import rows as table_rows


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """One document, three questions that name their trial, and one whose words are nowhere."""
    (tmp_path / "first.txt").write_text(document(), encoding="utf-8")
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        ingest_paths(
            opened.store, [tmp_path / "first.txt"], stated=Stated(title=TITLE), clock=opened.clock
        )
        rows = [row(7), row(12), several(5), row(20, question="Quibus viribus cessit?")]
        opened.import_bank(write_rows(tmp_path / "questions.jsonl", rows), method="elaipbench")
        opened.build_form("questions")
        yield opened


def asked(workspace: Workspace, context: ContextName, form: str = "", **options: Any) -> RunResult:
    form = form or f"form:{workspace.store.lookup.every('form')[0].id.hex()}"
    (result,) = workspace.run(form, models="sim/one?ability=0.5", context=context, **options)
    return result


def values(found: dict[bytes, EvidenceFound]) -> list[float]:
    measured = (found[item] for item in sorted(found))
    return [value for each in measured for value in (*each.recall, *each.ndcg)]


@pytest.mark.parametrize("context", ["retrieved", "document+retrieved"])
def test_prompts_and_search_agree(workspace: Workspace, context: ContextName) -> None:
    planned = asked(workspace, context, context_within="document", context_chunk_tokens=40).planned
    assert planned.prompt_method.retrieved is not None
    by_run = found_by_run(workspace.store, planned.key, planned.run)
    by_search = found_by_search(workspace.store, planned.item_set, planned.prompt_method.retrieved)
    assert len(by_run) == 4
    assert values(by_run) == pytest.approx(values(by_search), nan_ok=True)
    last = sorted(each.recall[-1] for each in by_run.values())
    assert (last[0], last[-1]) == (0.0, 1.0)


def test_evidence_over_two_passages_is_found_when_both_are(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Each passage holds one of its two sentences, in neighbouring paragraphs."""
    first = "The apprentice lit the kiln before dawn, as he did on every market day of the year."
    second = "Its heavy lid was sealed with yellow wax, which the widow next door had brought."
    (tmp_path / "kiln.txt").write_text(f"{document('Kiln')}\n\n{first}\n\n{second}", "utf-8")
    ingest_paths(
        workspace.store, [tmp_path / "kiln.txt"], stated=Stated(title="Kiln"), clock=workspace.clock
    )
    asks = row(
        document="Kiln",
        question="Who lit the kiln before dawn, and who brought the wax that sealed its lid?",
        options=["apprentice, widow", "widow, both", "both, apprentice", "neither"],
        evidence={"A": [f"{first} {second}"]},
    )
    workspace.import_bank(write_rows(tmp_path / "kiln.jsonl", [asks]), method="elaipbench")
    (form,) = workspace.build_form("kiln")
    planned = asked(
        workspace, "retrieved", form=f"form:{form.id.hex()}", context_chunk_tokens=24,
        context_within="document", context_chunks=3,
    ).planned  # fmt: skip
    (call,) = workspace.store.runs.some_calls(planned.key)
    lengths = [each.end - each.start for each in shown_to(call.prompt)[:2]]
    assert sorted(lengths) == sorted([len(first), len(second)])
    best = first if lengths[0] == len(first) else second
    share = len(best.replace(" ", "")) / len((first + second).replace(" ", ""))
    (found,) = found_by_run(workspace.store, planned.key, planned.run).values()
    assert found.recall.tolist() == pytest.approx([share, 1.0, 1.0])


def test_the_passages_after_a_document_are_read_from_the_prompt(workspace: Workspace) -> None:
    planned = asked(workspace, "document+retrieved", context_chunks=3).planned
    for call in workspace.store.runs.some_calls(planned.key):
        assert len(shown_to(call.prompt)) in (0, 3)
    assert any(shown_to(call.prompt) for call in workspace.store.runs.some_calls(planned.key))


def test_a_search_is_measured_before_anything_is_asked(workspace: Workspace) -> None:
    planned = asked(workspace, "retrieved", context_chunk_tokens=40).planned
    (note,) = [note for note in planned.notes if "evidence" in note]
    assert note.startswith("the 5 passages found hold all evidence of ")
    assert "of 4 questions" in note


def test_other_contexts_have_no_search(workspace: Workspace) -> None:
    for context in ("none", "evidence", "document"):
        planned = asked(workspace, context).planned
        assert found_by_run(workspace.store, planned.key, planned.run) == {}
        assert not any("passages found" in note for note in planned.notes)
    with pytest.raises(BadUsage, match="no complete run here was asked with passages"):
        workspace.analysis("evidence", workspace.store.lookup.every("form")[0].id.hex())


def test_the_study_pairs_passages_with_evidence_alone(workspace: Workspace) -> None:
    asked(workspace, "retrieved", context_within="document", context_chunk_tokens=40)
    asked(workspace, "evidence")
    made = workspace.analysis("evidence", workspace.store.lookup.every("form")[0].id.hex())
    assert table_rows(made)[-1][:3] == (
        "document: 5 passages of up to 40 tokens", "5", "4",
    )  # fmt: skip
    assert table_rows(made, 1)[-1][2:4] == ("every question", "4")


def test_a_comparison_says_what_each_context_held(workspace: Workspace) -> None:
    names: tuple[ContextName, ...] = ("none", "evidence", "retrieved", "document",
                                      "document+retrieved")  # fmt: skip
    runs = {
        name: f"run:{asked(workspace, name, context_within='document').planned.run.id.hex()}"
        for name in names
    }

    def said(before: ContextName, after: ContextName) -> str:
        return " ".join(str(workspace.compare(runs[before], runs[after])).split())

    assert "A had the whole documents, B the source passages of the" in said("document", "evidence")
    assert "A had retrieved passages, B the whole documents." in said("retrieved", "document")
    assert "A had the whole documents, B the whole documents and retrieved passages." in said(
        "document", "document+retrieved"
    )
    assert "A measures memory, B reading; the difference is the effect of having the whole" in said(
        "none", "document"
    )
    assert "what retrieval missed or added" in said("evidence", "retrieved")
    assert "what searching is worth" in said("none", "retrieved")
    assert "the effect of having the passages" in said("evidence", "none")

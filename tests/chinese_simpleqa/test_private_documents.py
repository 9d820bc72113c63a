"""Short questions from private documents: what only their owners know is kept, with its date."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chinese_simpleqa.scripted_examiner import PANEL, Examiner, passage_of
from proofstone.api import Workspace, create_workspace
from proofstone.build.build import BuildResult
from proofstone.documents.sources import Stated
from proofstone.errors import BadInput
from proofstone.ingest.ingest import ingest_paths
from proofstone.review.request import SheetsAsked
from proofstone.review.state import ReviewState
from proofstone.start.guide import read_documents
from review.filled import rows_of
from scripted_server import Act, Seen, answer
from serving import HurriedClock, configure, serving

OWN = passage_of("rare", "Halite", 1801)


class Outsider(Examiner):
    """Finds all that it is asked about known to its owners alone: a judge says so wherever that is
    a label, and a checker wherever a fact must be one that the world can look up."""

    def __init__(self) -> None:
        super().__init__()
        self.prompts: list[str] = []

    def __call__(self, seen: Seen) -> Act:
        prompt = seen.json["messages"][-1]["content"]
        self.prompts.append(prompt)
        if "- specific:" in prompt:
            return answer(json.dumps({"reason": "internal", "label": "specific"}))
        return super().__call__(seen)

    def _check(self, blocks: list[str]) -> Act:
        if "about the world that can be looked up" not in self.prompts[-1]:
            return super()._check(blocks)
        names = ("objective", "single", "lasting", "demanding", "datable", "named")
        review = {name: {"label": "met", "suggestion": ""} for name in names}
        review["objective"] = {"label": "missed", "suggestion": "Nobody else knows it."}
        return answer(json.dumps(review))


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        yield opened


def ingest(
    workspace: Workspace, title: str, text: str, license: str = "", year: int | None = None
) -> str:
    """A document, and its name as an input."""
    file = workspace.folder / f"{title}.md"
    file.write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    stated = Stated(license=license, year=year)
    report = ingest_paths(workspace.store, [file], clock=workspace.clock, stated=stated)
    return f"source:{report.taken[0].id.hex()}"


def built(workspace: Workspace, *inputs: str, **params: Any) -> BuildResult:
    return workspace.build_in_steps(
        "short-qa", inputs, name="own", judge="scripted/judge",
        models={"author": "scripted/author", "panel": list(PANEL)}, **params,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("params", "reason"),
    [({}, "1 too specific"), ({"knowledge": "rules", "rounds": 0}, "1 criteria not met")],
)
def test_what_only_its_owners_know_is_kept_of_private_documents_and_dropped_of_public_ones(
    workspace: Workspace, params: dict[str, Any], reason: str
) -> None:
    source = ingest(workspace, "Site", OWN)
    with serving(Outsider()) as server:
        configure(workspace.folder, server.url)
        with pytest.raises(BadInput, match=reason):
            built(workspace, source, documents="public", **params)
        result = built(workspace, source, **params)
    assert result.bank is not None
    assert result.notes[0] == (
        "the documents are private: questions that only their owners can answer are kept "
        "(--documents)"
    )
    (fact,) = workspace.store.knowledge.bank(result.bank.id).facts()
    assert fact.payload.question == "In which year was the rare mineral Halite first described?"
    assert fact.source is not None
    assert f"source:{fact.source.hex()}" == source
    assert fact.payload.validity == ""


def test_only_a_license_that_permits_publication_makes_documents_public(
    workspace: Workspace,
) -> None:
    """Any other text does not. The build says which it was and what changes it, and people are
    asked as the build was told."""
    free = ingest(workspace, "Free", OWN, "CC-BY-4.0")
    other = ingest(workspace, "Other", passage_of("grey", "Barite", 1803), "CC-BY-4.0")
    own = ingest(workspace, "Own", passage_of("grey", "Pyrite", 1802), "company use only")
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        results = {
            documents: built(workspace, *inputs, evidence=0, documents=documents)
            for inputs, documents in (([other], "private"), ([own], "public"))
        }
        public = built(workspace, free, evidence=0)
        private = built(workspace, free, own, evidence=0)
    assert public.notes[-1] == (
        "the documents count as public by their license (CC-BY-4.0); --documents private changes "
        "that"
    )
    assert private.notes[-1] == (
        "1 of 2 documents may not be published by the license stated, as 'Own' (license 'company "
        "use only'): the build is of private documents; --documents public changes that"
    )
    urls = {
        name: ReviewState.of(workspace.store, result.bank).policy.answers.urls
        for name, result in {**results, "by license": public, "by text": private}.items()
        if result.bank is not None
    }
    assert urls == {"private": 0, "public": 2, "by license": 2, "by text": 0}


def test_private_documents_are_those_without_a_licence(workspace: Workspace) -> None:
    free = ingest(workspace, "Free", OWN, "CC-BY-4.0")
    own = ingest(workspace, "Own", passage_of("grey", "Pyrite", 1802))
    (passage,) = workspace.store.knowledge.passages_of(bytes.fromhex(own[7:]))
    folder = workspace.folder / "documents"
    folder.mkdir()
    (folder / "site.txt").write_text(passage_of("rare", "Barite", 1803), encoding="utf-8")
    report = read_documents(workspace, folder, Stated())  # as "start --private" reads them
    started = [f"source:{entry.id.hex()}" for entry in report.taken]
    pairs = workspace.folder / "pairs.jsonl"
    pairs.write_text('{"question": "Which year was it, rare one?", "answer": "1801"}\n')
    with serving(Examiner()) as server:
        configure(workspace.folder, server.url)
        found = {
            name: built(workspace, *inputs, evidence=0, **params).build.params["documents"]
            for name, inputs, params in (
                ("free", [free], {}),
                ("own", [own], {}),
                ("both", [free, own], {}),
                ("passage", [f"passage:{passage.id.hex()}"], {}),
                ("file", [str(pairs)], {}),
                ("started", started, {}),
                ("named", [free], {"documents": "private"}),
            )
        }
    assert found == {
        "free": "public", "own": "private", "both": "private", "passage": "private",
        "file": "public", "started": "private", "named": "private",
    }  # fmt: skip


def test_evidence_of_a_private_document_is_this_document_alone(workspace: Workspace) -> None:
    own = ingest(workspace, "Own", OWN)
    ingest(workspace, "Other", f"{OWN} Another firm wrote that.", "CC-BY-4.0")
    outsider = Outsider()
    with serving(outsider) as server:
        configure(workspace.folder, server.url)
        result = built(workspace, own)
    assert result.bank is not None
    (asked,) = (prompt for prompt in outsider.prompts if "- insufficient:" in prompt)
    assert OWN in " ".join(asked.split())
    assert "Another firm" not in asked
    (fact,) = workspace.store.knowledge.bank(result.bank.id).facts()
    assert fact.passage is not None


def test_the_date_of_a_document_is_told_and_kept(workspace: Workspace, tmp_path: Path) -> None:
    dated, named = "The document is valid at {}:", "2024-05-01"
    outsider = Outsider()
    with serving(outsider) as server:
        configure(workspace.folder, server.url)
        by_year = built(workspace, ingest(workspace, "Old", OWN, year=2019))
        assert any(dated.format("2019") in prompt for prompt in outsider.prompts)
        text = passage_of("grey", "Pyrite", 1802)
        by_name = built(workspace, ingest(workspace, "New", text), valid_at=named)
        assert any(dated.format(named) in prompt for prompt in outsider.prompts)
    assert by_year.bank is not None
    assert by_name.bank is not None
    (old,) = workspace.store.knowledge.bank(by_year.bank.id).facts()
    assert old.payload.validity == "2019"

    bank = f"bank:{by_name.bank.id.hex()}"
    file = tmp_path / "own.jsonl"
    workspace.export(bank, file)
    (row,) = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert row["valid_at"] == named
    again = workspace.import_bank(file, method="chinese_simpleqa")
    (fact,) = workspace.store.knowledge.bank(again.id).facts()
    assert fact.payload.valid_at == named

    (form,) = workspace.build_form(bank, seeds=[0])
    workspace.export(f"form:{form.id.hex()}", tmp_path / "form.jsonl")
    (row,) = map(json.loads, (tmp_path / "form.jsonl").read_text(encoding="utf-8").splitlines())
    assert row["valid_at"] == named

    workspace.give_out_sheets(bank, SheetsAsked(people=("Anna",)), tmp_path / "s.xlsx")
    head, cells = rows_of(tmp_path / "s.xlsx")
    assert cells[head.index("Valid at")] == named

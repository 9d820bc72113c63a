"""A source that a reference rests on is purged, and with it the evidence of verdicts."""

from __future__ import annotations

from pathlib import Path

from known_world import reference_rows
from msgspec import structs
from spoken_world import N, speaking, towns_file
from sqlalchemy import text

from proofstone.api import Workspace, create_workspace
from proofstone.browse.show import look
from proofstone.ingest.ingest import ingest_paths
from proofstone.method import find_method
from proofstone.methods.bequ.bank import ReferenceFact
from proofstone.methods.bequ.records import VerifySettings
from proofstone.methods.bequ.verification.stored_verdicts import read_verified
from proofstone.records.knowledge import BuiltFact, Fact, fact_id
from proofstone.run.forms import select_runs
from serving import configure, serving


def known_bank(workspace: Workspace, folder: Path) -> None:
    """The known world as the reference bank ``known``, which rests on a source of the workspace."""
    document = folder / "lore.txt"
    rows = reference_rows(N)
    document.write_text("\n".join(row["passage"] for row in rows), encoding="utf-8")
    ingest_paths(workspace.store, [document], clock=workspace.clock)
    source = workspace.find("lore", "source").id
    facts = []
    for row in rows:
        said = {name: row[name] for name in ("entity", "predicate", "object", "passage", "source")}
        fact = Fact(kind="bequ.reference", payload=ReferenceFact(**said), source=source)
        facts.append(BuiltFact(structs.replace(fact, id=fact_id(fact))))
    workspace.store.knowledge.add_bank("known", "bequ", facts, workspace.clock.now())


def quoted(workspace: Workspace) -> list[str]:
    """The tables in which anything of the source stands in plain text."""
    columns = {"unit": "payload", "score_verdict": "payload", "fact": "payload", "passage": "text"}
    with workspace.store.database.reading() as connection:
        return [
            table
            for table, column in columns.items()
            for (body,) in connection.execute(text(f"SELECT {column} FROM {table}"))
            if "is known for" in (body if isinstance(body, str) else body.decode())
        ]


def test_the_evidence_of_verdicts_goes_with_its_source(tmp_path: Path) -> None:
    """Passages and reference triples are gone from every row; labels and figures stay."""
    with create_workspace(tmp_path / "work") as workspace, serving(speaking()) as server:
        configure(workspace.folder, server.url)
        known_bank(workspace, tmp_path)
        form = workspace.import_form(towns_file(tmp_path), method="bequ")
        (result,) = workspace.run(form, models="scripted/talker")
        run = result.planned.run
        settings = VerifySettings(sample=0)
        workspace.score(run, judge="scripted/judge", reference="known", settings=settings)
        assert {"unit", "score_verdict", "fact", "passage"} == set(quoted(workspace))
        selection = select_runs(workspace.store, [workspace.find(run)])
        before = read_verified(workspace.store, find_method("bequ"), selection)
        labels = [(each.direction, each.verdict.label) for each in before.read()]
        report = workspace.purge("lore", reason="the licence has ended", name="Ann")
        assert report.removed["verdicts"] > 0
        assert quoted(workspace) == []
        after = read_verified(workspace.store, find_method("bequ"), selection)
        found = list(after.read())
        assert [(each.direction, each.verdict.label) for each in found] == labels
        assert {each.known.text for each in found} == {""}
        said = {each.verdict.passage.text for each in found if each.direction == "precision"}
        assert said == {""}
        assert "purged" in str(look(workspace.store, found[-1].response))

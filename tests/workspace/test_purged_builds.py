"""A purge takes a source out of builds, and leaves what was built of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from test_purge import every_text

from chinese_simpleqa.test_private_documents import OWN, Outsider, built, ingest
from proofstone.api import Workspace, create_workspace
from proofstone.build.funnel import funnel_of
from proofstone.errors import BadInput, TextPurged
from proofstone.ingest.ingest import ingest_paths
from proofstone.store.payloads import Finder
from proofstone.store.purge import derived_build_rows
from serving import configure, serving
from small_bank import write_lines

LORE = "The third mandrake of the cellar was drawn by candle light in one night."


def build_excerpts(workspace: Workspace, *sources: str) -> Any:
    return workspace.build_in_steps(
        "excerpts", sources, name="excerpts", models="sim/ann?ability=0.5"
    )


def test_a_purge_takes_a_source_out_of_builds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What entered from it, what was made of that and what quotes it are gone; the counts stay, and
    so does what was built from others. Once it may come back, it is built anew."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "outside"))
    for name in ("cellar", "attic"):
        told = f"{LORE.replace('cellar', name)} Nothing else is known of the {name}.\n" * 3
        (tmp_path / f"{name}.txt").write_text(told, encoding="utf-8")
    with create_workspace(tmp_path / "work") as workspace:
        texts = [tmp_path / "cellar.txt", tmp_path / "attic.txt"]
        ingest_paths(workspace.store, texts, clock=workspace.clock)
        built = build_excerpts(workspace, "cellar", "attic")
        assert built.complete
        ((key, build),) = workspace.store.builds.every()
        with workspace.store.database.reading() as connection:  # by their words alone
            found = derived_build_rows(connection, [], frozenset(), Finder([LORE]))
            first = connection.execute(text("SELECT min(id) FROM build_row")).scalar_one()
        assert first in found
        report = workspace.purge("cellar", reason="the owner asked", name="Ann")
        assert report.removed["rows of builds"] > 0
        assert funnel_of(workspace.store, key, build) == built.funnel
        with workspace.store.database.reading() as connection:
            rows = connection.execute(text("SELECT payload FROM build_row")).scalars().all()
            found = connection.execute(text("SELECT found FROM build_outcome")).scalars().all()
        assert any(b"attic" in row for row in rows)
        assert not any(b"cellar" in row for row in rows)
        assert not any("cellar" in quote for quote in found)
        attic = build_excerpts(workspace, "attic")
        assert attic.complete
        workspace.lift("cellar", reason="they changed their mind", name="Ann")
        ingest_paths(workspace.store, [tmp_path / "cellar.txt"], clock=workspace.clock)
        again = build_excerpts(workspace, "cellar", "attic")
        assert again.bank == built.bank
    raw = b"".join(file.read_bytes() for file in (tmp_path / "work").rglob("*") if file.is_file())
    assert LORE.encode() in raw  # it came back with the source


def test_exported_rows_of_a_build_that_were_imported_again_go_too(tmp_path: Path) -> None:
    """A model put them in words of its own, and they name no source: they are found by what the
    rows of the build say. What was imported from elsewhere stays."""
    with create_workspace(tmp_path / "work") as workspace, serving(Outsider()) as server:
        configure(workspace.folder, server.url)
        source = ingest(workspace, "Site", OWN)
        with pytest.raises(BadInput, match="1 criteria not met"):
            built(workspace, source, documents="public", knowledge="rules", rounds=0)
        (build,) = workspace.store.lookup.every("build")
        assert workspace.export(build, tmp_path / "dropped.jsonl") == 1
        (row,) = map(json.loads, (tmp_path / "dropped.jsonl").read_text("utf-8").splitlines())
        other = {"question": "Which metal is liquid at room temperature?", "answer": "mercury"}
        plain = [{"question": row["question"], "answer": row["answer"]}, other]
        write_lines(tmp_path / "again.jsonl", plain)
        bank = workspace.import_bank(tmp_path / "again.jsonl", method="chinese_simpleqa")
        assert row["question"] not in OWN
        workspace.purge("Site", reason="x")
        (tmp_path / "dropped.jsonl").unlink(missing_ok=True)
        left = every_text(workspace)
        assert row["question"] not in left
        assert other["question"] in left
        with pytest.raises(TextPurged):
            workspace.export(bank, tmp_path / "out.jsonl")

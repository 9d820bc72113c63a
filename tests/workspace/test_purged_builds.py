"""A purge takes a source out of builds, and leaves what was built of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from proofstone.stages.building import funnel_of
from proofstone.stages.ingest import ingest_paths
from proofstone.wiring import Workspace, create_workspace

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

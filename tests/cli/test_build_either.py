"""``build statements``: from tables by rules, with -m from sources by models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import Author
from proofstone.stages.ingest import ingest_paths
from proofstone.wiring import create_workspace
from serving import configure, serving
from told import Proofstone

BOOK = "\n\n".join(
    f"Pure {metal} conducts electric current well at {degrees} degrees because its electrons move "
    f"freely through the lattice of {metal}."
    for metal, degrees in (("copper", 20), ("silver", 40), ("iron", 60))
)


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Path]:
    """A workspace with one source and a scripted author behind its endpoint."""
    (tmp_path / "Metals.txt").write_text(BOOK, encoding="utf-8")
    with create_workspace(tmp_path / "work") as workspace:
        ingest_paths(workspace.store, [tmp_path / "Metals.txt"], clock=workspace.clock)
    with serving(Author()) as server:
        configure(tmp_path / "work", server.url)
        yield tmp_path / "work"


def test_with_a_model_inputs_are_sources(work: Path, proofstone: Proofstone) -> None:
    told = proofstone(
        "build", "statements", "Metals", "-m", "scripted/author", "--judge", "scripted/judge",
        "--yes", "-w", work, "--json",
    )  # fmt: skip
    assert told.code == 0
    assert (told.json["complete"], told.json["facts"]) == (True, 2 * 3)
    models = {role: str(model) for role, model in dict(told.json["models"]).items()}
    assert models == {
        "writer": "scripted/author", "falsifier": "scripted/author", "judge": "scripted/judge",
    }  # fmt: skip


def test_without_one_they_are_tables(work: Path, proofstone: Proofstone) -> None:
    pytest.importorskip("mendeleev")
    told = proofstone(
        "build", "statements", "elements", "--limit", "5", "--languages", "en", "-w", work, "--json"
    )
    assert told.code == 0
    assert 5 < told.json["statements"] <= 2 * 5 * 3


def test_options_of_the_other_way_are_refused_all_at_once(
    work: Path, proofstone: Proofstone
) -> None:
    tables = proofstone("build", "statements", "elements", "--votes", "3", "--temperature", "0",
                        "-w", work)  # fmt: skip
    assert tables.code == 2
    assert "--temperature" in tables.err
    assert "--votes" in tables.err
    assert "no model is named" in tables.err
    sources = proofstone("build", "statements", "Metals", "-m", "scripted/author", "--judge",
                         "scripted/judge", "--templates", "x", "-w", work)  # fmt: skip
    assert (sources.code, "--templates shapes statements from tables" in sources.err) == (2, True)

"""``build statements``: from tables by rules, with -m from sources by models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from encyclo_k.scripted_author import Author
from proofstone.api import create_workspace
from proofstone.ingest.ingest import ingest_paths
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
        "writer": "scripted/author", "perturber": "scripted/author", "judge": "scripted/judge",
    }  # fmt: skip


def test_what_is_printed_next_can_be_typed(work: Path, proofstone: Proofstone) -> None:
    """Books with few statements are left out; a name that is not taken is said to be so."""
    build = ("build", "statements", "Metals", "-m", "scripted/author", "--judge", "scripted/judge",
             "--yes", "-w", work)  # fmt: skip
    first = proofstone(*build, "--name", "metals")
    _show, build_form = [line for line in first.err.splitlines() if line.startswith("Next: ")]
    assert build_form.endswith(" --seeds 3 --skip-small")
    again = proofstone(*build, "--name", "alloys")
    assert "the same statements are here already, under the name metals" in again.err
    unnamed = proofstone(*build)
    assert "are here already" not in unnamed.err


def test_a_judge_has_one_vote(work: Path, proofstone: Proofstone) -> None:
    """Named twice it is refused, however it is named."""
    for judges in (("--judge", "sim/a,sim/a"), ("--judge", "sim/a", "--judge", "sim/a")):
        told = proofstone("build", "statements", "Metals", "-m", "sim/b", *judges, "-w", work)
        assert (told.code, "sim/a is named twice: each judge has one vote" in told.err) == (2, True)
    roles = ("writer=sim/b", "perturber=sim/b", "judge=sim/a,sim/a")
    named = [word for role in roles for word in ("-m", role)]
    told = proofstone("build", "statements", "Metals", *named, "-w", work)
    assert (told.code, "sim/a would judge twice" in told.err) == (2, True)
    told = proofstone("build", "statements", "Metals", "-m", "scripted/author,scripted/author",
                      "--judge", "scripted/judge", "-w", work)  # fmt: skip
    assert told.code == 0, told.err


def test_what_was_dropped_names_what_show_takes(tmp_path: Path, proofstone: Proofstone) -> None:
    """Passages and sources by ids, on the terminal, as JSON and in a file."""
    text = "The stubborn metal lead conducts current slowly through its whole lattice by day."
    (tmp_path / "Odd.txt").write_text(text, encoding="utf-8")
    with create_workspace(tmp_path / "work") as workspace:
        ingest_paths(workspace.store, [tmp_path / "Odd.txt"], clock=workspace.clock)
        found = workspace.find("Odd", "source")
        (passage,) = workspace.store.knowledge.passages_of(found.id)
    folder = tmp_path / "work"
    with serving(Author()) as server:
        configure(folder, server.url)
        made = proofstone("build", "statements", "Odd", "-m", "scripted/author", "--judge",
                          "scripted/judge", "--yes", "-w", folder, "--json")  # fmt: skip
    build = f"build:{made.json['build'][:8]}"
    (row,) = proofstone("show", build, "--dropped", "-w", folder, "--json").json
    ground = row["values"]["draft"]["ground"]
    assert ground["passage"] == f"passage:{passage.id.hex()[:8]}"
    assert ground["source"] == f"source:{found.id.hex()[:8]}"
    told = proofstone("show", build, "--dropped", "-w", folder).out
    assert ground["passage"] in told
    for name in (ground["passage"], ground["source"]):
        assert proofstone("show", name, "-w", folder).code == 0


def test_without_one_they_are_tables(work: Path, proofstone: Proofstone) -> None:
    pytest.importorskip("mendeleev")
    command = ("build", "statements", "elements", "--limit", "5", "--languages", "en", "-w", work)
    told = proofstone(*command, "--json")
    assert told.code == 0
    again = proofstone(*command, "--name", "metals")
    assert "the same statements are here already, under the name elements" in again.err
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

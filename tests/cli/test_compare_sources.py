"""``compare`` of two editions of a source, and what retires of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from encyclo_k.scripted_author import Author
from proofstone.api import create_workspace
from proofstone.ingest.ingest import ingest_paths
from serving import configure, serving
from told import Proofstone

OLD = (
    "Pure copper conducts electric current well because its electrons move freely about.\n\n"
    "Pure silver conducts electric current at 40 degrees better than any other known metal.\n\n"
    "Cast iron conducts heat slowly since graphite flakes stand between its many grains."
)
NEW = (
    "Pure copper conducts electric current well because its electrons move freely about.\n\n"
    "Pure silver conducts electric current at 45 degrees better than any other known metal.\n\n"
    "Gold was washed from rivers by the people of antiquity, who wore it."
)


@pytest.fixture
def work(tmp_path: Path, proofstone: Proofstone) -> Path:
    """A workspace with two editions, and a bank and a form made of the older one."""
    for name, text in (("Metals", OLD), ("Metals two", NEW)):
        (tmp_path / f"{name}.txt").write_text(text, encoding="utf-8")
    folder = tmp_path / "work"
    with create_workspace(folder) as workspace:
        paths = [tmp_path / "Metals.txt", tmp_path / "Metals two.txt"]
        ingest_paths(workspace.store, paths, clock=workspace.clock)
    with serving(Author()) as server:
        configure(folder, server.url)
        built = proofstone(
            "build", "statements", "Metals", "-m", "scripted/author", "--judge", "scripted/judge",
            "--yes", "-w", folder, "--json",
        )  # fmt: skip
    assert built.json["facts"] == 6
    return folder


def test_only_statements_whose_sentences_no_longer_stand_retire(
    work: Path, proofstone: Proofstone
) -> None:
    form = proofstone("build", "form", "Metals", "--setting", "statements", "-w", work, "--json")
    assert form.code == 0, form.err
    told = proofstone("compare", "Metals", "Metals two", "--json", "-w", work)
    assert told.json["passages"] == {"stands": 1, "changed": 1, "vanished": 1}
    assert told.json["statements"] == {"stands": 2, "changed": 2, "vanished": 2}
    assert told.json["new_passages"] == 1
    assert [n for _name, n in told.json["forms"]] == [4]
    moved = {row["text"].split()[1]: row for row in told.json["rows"] if row["nature"] == "true"}
    assert moved["silver"]["after"].startswith("Pure silver conducts electric current at 45")
    assert (moved["iron"]["status"], moved["iron"]["after"]) == ("vanished", "")

    listed = proofstone("compare", "Metals", "Metals two", "-o", work / "gone.csv", "-w", work)
    assert "6 statements, each with its decision" in listed.err
    excluded = proofstone("correct", "apply", work / "gone.csv", "-w", work)
    assert excluded.out.startswith("gone.csv   4 excluded   2 kept")
    again = proofstone("compare", "Metals", "Metals two", "--json", "-w", work)
    assert again.json["statements"] == {"stands": 2, "changed": 0, "vanished": 0}


def test_the_terminal_shows_what_stood_and_what_stands_there_now(
    work: Path, proofstone: Proofstone
) -> None:
    told = proofstone("compare", "Metals", "Metals two", "-n", "1", "-w", work)
    lines = told.out.splitlines()
    assert lines[0].endswith("  Metals")
    assert lines[3].split() == ["passages", "1", "1", "1"]
    assert lines[4].split() == ["statements", "2", "2", "2"]
    assert lines[-4].endswith("better than any other known metal.")
    assert lines[-3].startswith("  + Pure silver conducts electric current at 45 degrees")
    assert lines[-1] == "and 3 more (-n 4, or --json)"


def test_what_cannot_be_compared_is_refused(work: Path, proofstone: Proofstone) -> None:
    same = proofstone("compare", "source:Metals", "source:Metals", "-w", work)
    assert (same.code, "both are the same source" in same.err) == (2, True)
    options = proofstone("compare", "source:Metals", "Metals two", "--rescore", "-w", work)
    assert (options.code, "--rescore: of results, and these are sources" in options.err) == (
        2,
        True,
    )
    absent = proofstone("compare", "Metals two", "nothing here", "-w", work)
    assert (absent.code, "a source is compared with a source" in absent.err) == (2, True)

"""``search`` as people and programs see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec import structs

from proofstone.api import create_workspace
from proofstone.cli import cli
from proofstone.records.knowledge import Passage, Source, passage_id, source_id


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A workspace with two editions of a manual."""
    with create_workspace(tmp_path) as workspace:
        for n, text in enumerate(("Hold it by hand.", "apt-mark hold keeps it.\nUse it.")):
            source = Source(
                kind="document", title="Packages", content=bytes([n]) * 32, language="en",
                origin="packages.pdf",
            )  # fmt: skip
            source = structs.replace(source, id=source_id(source))
            passage = Passage(source=source.id, page=4, start=0, end=len(text), text=text)
            passage = structs.replace(passage, id=passage_id(passage))
            workspace.store.knowledge.add_passages(source, [passage])
    return tmp_path


def search(folder: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["search", "-w", str(folder), *words])


def test_what_is_found_is_shown_with_its_place(folder: Path) -> None:
    result = search(folder, "how to hold it")
    (first, place, *body) = result.stdout.splitlines()
    assert first == "1  Packages, page 4"
    assert place.split() == ["passage:" + place.split("passage:")[1][:8], "0-31", place.split()[2]]
    assert body == ["   apt-mark hold keeps it.", "   Use it."]
    assert result.stderr == (
        "reading Packages\n"
        "not searched, being older editions (--in SOURCE searches one): Packages\n"
    )


def test_a_program_gets_the_same(folder: Path) -> None:
    (row,) = json.loads(search(folder, "hold", "--json", "-q").stdout)
    assert (row["title"], row["page"], row["start"], row["end"]) == ("Packages", 4, 0, 31)
    assert row["text"] == "apt-mark hold keeps it.\nUse it."
    assert row["origin"] == "packages.pdf"


def test_nothing_found_is_said(folder: Path) -> None:
    result = search(folder, "zebra", "-q")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing was found\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "--embedding-model", "a/b"], "--embedding-model goes with --method dense or hybrid"),
        (["x", "--source", "brave", "--in", "y"], "--in names sources of the workspace"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, words: list[str], told: str) -> None:
    result = search(folder, *words)
    assert (result.exit_code, told in result.stderr) == (2, True)

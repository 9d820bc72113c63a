"""A wiki's page that is kept as a file goes when its source is purged."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from proofstone.api import create_workspace, open_workspace
from proofstone.documents.wiki_api import WikiFile
from proofstone.ingest.ingest import ingest_paths
from told import Proofstone

KEPT = ".proofstone/wiki/wiki.example/{}.wikipage"
TEXT = "Revision {} says that copper melts at 1085 degrees."


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A workspace with two pages as they are kept when they are fetched, and read."""
    with create_workspace(tmp_path / "work") as workspace:
        for revision in (90, 91):
            file = tmp_path / "work" / KEPT.format(revision)
            file.parent.mkdir(parents=True, exist_ok=True)
            html = f'<div class="mw-parser-output"><p>{TEXT.format(revision)}</p></div>'
            page = WikiFile(
                title=f"Copper {revision}", revision=revision, timestamp="2021-02-03T04:05:06Z",
                address=f"https://wiki.example/w/index.php?oldid={revision}", site="Metal Wiki",
                language="en", license="CC-BY-SA-4.0", html=html,
            )  # fmt: skip
            file.write_bytes(msgspec.json.encode(page))
            ingest_paths(workspace.store, [file], clock=workspace.clock)
    return tmp_path / "work"


def files_with(folder: Path, words: str) -> list[str]:
    return [
        file.relative_to(folder).as_posix()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and words.encode() in file.read_bytes()
    ]


def test_a_dry_run_names_the_file_and_leaves_it(work: Path, proofstone: Proofstone) -> None:
    said = proofstone("workspace", "purge", "Copper 90", "--dry-run", "-w", work)
    assert said.out.splitlines()[-1] == f"would go  {KEPT.format(90)}"
    would = proofstone("workspace", "purge", "Copper 90", "--dry-run", "--json", "-w", work).json
    assert would["files"] == [KEPT.format(90)]
    assert KEPT.format(90) in files_with(work, TEXT.format(90))


def test_the_text_is_in_no_file_afterwards(work: Path, proofstone: Proofstone) -> None:
    """The other revision keeps its own."""
    purge = ("workspace", "purge", "Copper 90", "--reason", "recalled", "--yes", "-w", work)
    said = proofstone(*purge)
    assert (said.code, said.out.splitlines()[-1]) == (0, f"gone      {KEPT.format(90)}")
    assert files_with(work, TEXT.format(90)) == []
    assert KEPT.format(91) in files_with(work, TEXT.format(91))


def test_a_file_that_came_back_goes_when_the_purge_is_repeated(work: Path) -> None:
    """As it does where the first purge was cut off."""
    file = work / KEPT.format(90)
    kept = file.read_bytes()
    with open_workspace(work) as workspace:
        for _twice in range(2):
            file.write_bytes(kept)
            report = workspace.purge("Copper 90", reason="recalled", name="Ada")
            assert report.files == (KEPT.format(90),)
            assert not file.exists()
        assert workspace.purge("Copper 90", reason="recalled", name="Ada").files == ()

"""A reviewed workspace, for the tests of sheets."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from small_bank import rows, write_lines


@pytest.fixture(scope="session")
def bank_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the small bank, one of whose statements looks like a formula."""
    folder = tmp_path_factory.mktemp("reviewed")
    lines = rows()
    lines[0]["text"] = "=1+1 is how the Herbal's first leaf writes two."
    with create_workspace(folder / "work") as workspace:
        workspace.import_bank(write_lines(folder / "old-books.jsonl", lines))
    return folder / "work"


@pytest.fixture
def workspace(bank_once: Path, tmp_path: Path) -> Iterator[Workspace]:
    with Workspace(Path(shutil.copytree(bank_once, tmp_path / "work"))) as opened:
        yield opened

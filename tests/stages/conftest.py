"""A workspace with one small form, whose retries do not dawdle."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofstone.api import Workspace, create_workspace
from proofstone.records.ids import short
from serving import HurriedClock
from small_bank import write_bank

QUESTIONS = 12


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    """It holds the small bank and a form of twelve questions."""
    with create_workspace(tmp_path / "work") as opened:
        opened.clock = HurriedClock()
        opened.build_form(opened.import_bank(write_bank(tmp_path)), questions=QUESTIONS)
        yield opened


@pytest.fixture
def form(workspace: Workspace) -> str:
    """The form, as a person would name it."""
    (found,) = workspace.store.lookup.every("form")
    return f"form:{short(found.id)}"

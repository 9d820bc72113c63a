"""The command line as a person meets it: arguments in; exit code, stdout and stderr out."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from proofstone.api import create_workspace
from small_bank import write_bank

QUESTIONS = 8


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with the small bank as ``old-books``, a form of eight questions, and two models
    that were asked in two ways."""
    folder = tmp_path_factory.mktemp("made")
    with create_workspace(folder / "work") as workspace:
        forms = workspace.build_form(workspace.import_bank(write_bank(folder)), questions=QUESTIONS)
        workspace.run(
            forms,
            models=["sim/ann?ability=0.8", "sim/bob?miss=0.5"],
            prompt_method=["direct", "cot"],
        )
    return folder / "work"


@pytest.fixture
def made(made_once: Path, tmp_path: Path) -> Path:
    """A copy of that workspace, for one test to change."""
    return shutil.copytree(made_once, tmp_path / "work")


@pytest.fixture
def empty(tmp_path: Path, empty_once: Path) -> Path:
    """A workspace that holds nothing."""
    return shutil.copytree(empty_once, tmp_path / "empty")


@pytest.fixture(scope="session")
def empty_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    create_workspace(folder).close()
    return folder

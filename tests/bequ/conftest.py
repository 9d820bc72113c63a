"""Commands in a workspace of the test's own, and an endpoint of contestants and a judge."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from spoken_world import speaking

from proofstone.cli import main
from scripted_server import ScriptedServer
from serving import configure, serving
from told import Proofstone, Told


@pytest.fixture
def proofstone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Proofstone:
    """Runs a command in a folder that is a workspace."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Told:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        assert isinstance(left.value.code, int)
        return Told(left.value.code, *capsys.readouterr())

    run("init", ".")
    return run


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ScriptedServer]:
    """An endpoint of the workspace: two contestants and a judge."""
    with serving(speaking()) as server:
        configure(tmp_path, server.url)
        yield server


@pytest.fixture
def done(proofstone: Proofstone) -> Proofstone:
    """Runs a command that is to succeed."""

    def run(*arguments: object) -> Told:
        told = proofstone(*arguments)
        assert told.code == 0, (arguments, told.err)
        return told

    return run

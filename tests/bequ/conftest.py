"""Commands of the whole chain, in a workspace of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from proofstone.cli import main
from told import Proofstone, Told


@pytest.fixture
def proofstone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Proofstone:
    """Runs a command that is to succeed in a folder that is a workspace."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Told:
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert left.value.code == 0, (arguments, err)
        return Told(0, out, err)

    run("init", ".")
    return run

"""How many modules a light command loads: what a user waits for before the first word.

The ceilings were measured when they were set, and 2% put on top. They may only be lowered.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

# By command: of this package, and of all packages.
CEILINGS: dict[str, tuple[int, int]] = {
    "--help": (4, 116),
    "run --help": (87, 336),
    "list form": (59, 420),
    "status": (56, 417),
}
_SCRIPT = """
import sys
from proofstone.cli import main
try:
    main(sys.argv[1:])
except SystemExit as left:
    assert left.code == 0, left.code
own = [name for name in sys.modules if name.partition(".")[0] == "proofstone"]
print(len(own), len(sys.modules), file=sys.stderr)
"""


def loaded_by(command: str, folder: Path) -> tuple[int, int]:
    """How many modules a fresh interpreter has after a command: the package's own, and all."""
    result = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *command.split()], capture_output=True, text=True,
        check=True, cwd=folder, env={**os.environ, "PROOFSTONE_ACTOR": "Ada"},
    )  # fmt: skip
    own, every = result.stderr.splitlines()[-1].split()
    return int(own), int(every)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace that holds nothing."""
    folder = tmp_path_factory.mktemp("empty")
    loaded_by("init .", folder)
    return folder


@pytest.mark.parametrize("command", CEILINGS)
def test_no_more_modules_are_loaded_than_when_this_was_set(command: str, empty: Path) -> None:
    own, every = loaded_by(command, empty)
    most_own, most = CEILINGS[command]
    assert own <= most_own, f"{command} loads {own} modules of this package"
    assert every <= most, f"{command} loads {every} modules"

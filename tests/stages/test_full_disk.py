"""A disk that is full in mid-run: what was committed stays, and the same command goes on."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from proofstone.api import Workspace, open_workspace
from scripted_server import Seen, answering
from serving import PATIENCE_S, configure, serving

QUESTIONS = 400
RESPONSE_CHARS = 6000
# The child may write no file beyond this many bytes more than the database has.
ROOM = 800_000
COMMAND = """
import resource, sys
room = int(sys.argv.pop(1))
resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
from proofstone.cli import main
main()
"""


def run_with_room(folder: Path, room: int, form: str) -> subprocess.CompletedProcess[str]:
    arguments = ["run", form, "-m", "scripted/one", "-q", "-w", str(folder)]
    return subprocess.run(
        [sys.executable, "-c", COMMAND, str(room), *arguments],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip


def incompressible(seen: Seen) -> str:
    noise = random.Random(seen.body).choices(
        "abcdefghijklmnopqrstuvwxyz0123456789", k=RESPONSE_CHARS
    )
    return f"{''.join(noise)}\nAnswer: A"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit on the size of files")
def test_a_full_disk_in_mid_run_loses_nothing(workspace: Workspace) -> None:
    """Replies of 1.5 MB into 0.8 MB of room: exit 3 that says so; then, with room, the same command
    completes the run and asks again no more than was in flight and one commit group."""
    (bank,) = workspace.store.lookup.every("bank")
    (form,) = workspace.build_form(bank, questions=QUESTIONS)
    workspace.close()
    folder, name = workspace.folder, f"form:{form.id.hex()[:8]}"
    size = (folder / ".proofstone" / "store.sqlite").stat().st_size
    with serving(answering(incompressible)) as server:
        configure(folder, server.url, "max_connections = 8")
        full = run_with_room(folder, size + ROOM, name)
        assert full.returncode == 3, full.stderr
        assert full.stderr.startswith("error[PS-301]: could not write to ")
        assert "committed rows are kept" in full.stderr
        assert "Traceback" not in full.stderr
        asked = server.requests
        kept = done(folder)
        assert 0 < kept < QUESTIONS
        assert asked - kept <= 8 + 256

        roomy = run_with_room(folder, size + 100 * ROOM, name)
        assert roomy.returncode == 0, roomy.stderr
        assert server.requests == asked + QUESTIONS - kept
    assert done(folder) == QUESTIONS


def done(folder: Path) -> int:
    """How many questions have a reply in the store."""
    with open_workspace(folder) as workspace:
        (run,) = workspace.store.runs.every()
        return workspace.store.runs.count_done(run[0], run[1].last_step)

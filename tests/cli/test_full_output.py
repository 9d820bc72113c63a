"""Results that do not fit where they go."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_behind_stdout_is_told_and_is_no_failed_gate(tmp_path: Path) -> None:
    """Exit code 3 and one line: a traceback would exit 1, which says that a gate failed."""
    table = tmp_path / "results.csv"
    table.write_text("item,a,b\n1,1,0\n2,0,0\n", encoding="utf-8")
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-m", "proofstone", "audit", str(table)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        3,
        "error[PS-301]: no room for the results: the disk that they go to is full\n",
    )

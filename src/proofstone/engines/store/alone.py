"""Making sure that nobody else has a workspace's database open, and saying who has."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from proofstone.engines.store.leases import held_leases
from proofstone.engines.store.opening import Database
from proofstone.errors import RunInUse, WorkspaceInUse
from proofstone.identity import short

__all__ = ["leave_log", "refuse_held", "users_of"]

_WAIT_S = 2.0


def refuse_held(database: Database, now: float) -> None:
    """Raises RunInUse, naming the holders, where a living process works on a run or build."""
    held = held_leases(database, now)
    if held:
        named = ", ".join(f"{each.kind}:{short(each.id)} ({each.holder})" for each in held)
        what = " and ".join(dict.fromkeys(f"{each.kind}s" for each in held))
        one = f"{len(held)} {held[0].kind} is" if len(held) == 1 else f"{len(held)} {what} are"
        raise RunInUse(
            f"{one} being worked on: {named}",
            hint="wait for them or stop them (Ctrl-C there), then repeat this command",
        )


def leave_log(file: Path) -> None:
    """Puts all that is committed into ``file`` itself, which then stands without a log beside it.

    Needs every other connection to be closed, this process's own too; the next opening begins a
    log again. Raises WorkspaceInUse where somebody has the file open.
    """
    try:
        with closing(sqlite3.connect(file, timeout=_WAIT_S)) as connection:
            mode = connection.execute("PRAGMA journal_mode=DELETE").fetchone()[0]
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            raise
        mode = "wal"
    if mode != "delete":
        raise WorkspaceInUse(
            f"{file} is open in {users_of(file) or 'another process'}",
            hint="wait for it or close it, then repeat this command",
        )


def users_of(file: Path) -> str:
    """The other processes that have a file open, as far as the system tells (Linux only)."""
    found = sorted(set(_pids_with(file.resolve()))) if sys.platform == "linux" else []
    return ", ".join(f"process {pid} ({_command(pid)})" for pid in found)


def _pids_with(file: Path) -> Iterator[int]:
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or process.name == str(os.getpid()):
            continue
        try:
            opened = [os.readlink(entry) for entry in (process / "fd").iterdir()]  # noqa: PTH115
        except OSError:  # gone meanwhile, or somebody else's
            continue
        if str(file) in opened:
            yield int(process.name)


def _command(pid: int) -> str:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return "it ended meanwhile"
    return " ".join(words)[:60].strip()

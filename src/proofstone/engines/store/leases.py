"""Who holds a run: a process named by host and number, and whether it still lives.

A lease ends by itself, but whoever repeats a command after ``kill -9`` need not wait for that: on
its own host a process can see that the holder is gone.
"""

from __future__ import annotations

import os
import socket
import sys

import msgspec
from sqlalchemy import select

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database

__all__ = ["HeldLease", "held_leases", "holder_is_gone", "this_process"]


class HeldLease(msgspec.Struct, frozen=True):
    """A run's id, and the process that works on it."""

    run: bytes
    holder: str


def held_leases(database: Database, now: float) -> list[HeldLease]:
    """The runs that living processes work on, oldest first."""
    table = schema.run
    query = (
        select(table.c.hash, table.c.lease_owner)
        .where(table.c.lease_owner.is_not(None), table.c.lease_until >= now)
        .order_by(table.c.id)
    )
    with database.reading() as connection:
        found = [HeldLease(run, holder) for run, holder in connection.execute(query)]
    return [lease for lease in found if not holder_is_gone(lease.holder)]


def this_process() -> str:
    """The name of this process as a lease holder."""
    return f"process {os.getpid()} on {socket.gethostname()}"


def holder_is_gone(holder: str) -> bool:
    """Whether a holder is a process of this host that no longer runs; False when unsure."""
    words = holder.split()
    if len(words) != 4 or words[3] != socket.gethostname() or not words[1].isdigit():
        return False
    return not _is_running(int(words[1]))


if sys.platform == "win32":

    def _is_running(pid: int) -> bool:
        import ctypes  # noqa: PLC0415

        query_limited_information, still_active = 0x1000, 259
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(query_limited_information, False, pid)
        if not handle:
            return False
        code = ctypes.c_ulong()
        kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        kernel.CloseHandle(handle)
        return code.value == still_active

else:

    def _is_running(pid: int) -> bool:
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # it lives, and is somebody else's
        return True

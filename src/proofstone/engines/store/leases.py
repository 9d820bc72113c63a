"""Who holds a run or a build: a process named by host and number, and whether it still lives.

A lease ends by itself, but whoever repeats a command after ``kill -9`` need not wait for that: on
its own host a process can see that the holder is gone.
"""

from __future__ import annotations

import os
import socket
import sys

import msgspec
from sqlalchemy import Table, or_, select, update

from proofstone.engines.store import schema
from proofstone.engines.store.opening import Database
from proofstone.errors import RunInUse

__all__ = [
    "LEASE_S",
    "HeldLease",
    "give_back_lease",
    "held_leases",
    "holder_is_gone",
    "take_lease",
    "this_process",
]

LEASE_S = 30.0
_LEASED = (schema.run, schema.build)


class HeldLease(msgspec.Struct, frozen=True):
    """What is worked on ("run" or "build") by its id, and the process that works on it."""

    kind: str
    id: bytes
    holder: str


def held_leases(database: Database, now: float) -> list[HeldLease]:
    """The runs, then the builds that living processes work on, each oldest first."""
    found: list[HeldLease] = []
    with database.reading() as connection:
        for table in _LEASED:
            query = (
                select(table.c.hash, table.c.lease_owner)
                .where(table.c.lease_owner.is_not(None), table.c.lease_until >= now)
                .order_by(table.c.id)
            )
            found += [HeldLease(table.name, *row) for row in connection.execute(query)]
    return [lease for lease in found if not holder_is_gone(lease.holder)]


def take_lease(database: Database, table: Table, key: int, owner: str, now: float) -> None:
    """Takes or renews the lease of a run or build. Raises RunInUse, naming the holder."""
    free = or_(
        table.c.lease_owner.is_(None), table.c.lease_owner == owner, table.c.lease_until < now
    )
    lease = {"lease_owner": owner, "lease_until": now + LEASE_S}
    with database.writing() as connection:
        statement = update(table).where(table.c.id == key, free).values(lease)
        if connection.execute(statement).rowcount == 1:
            return
        query = select(table.c.lease_owner, table.c.lease_until).where(table.c.id == key)
        holder = connection.execute(query).one()
        if holder_is_gone(holder.lease_owner):
            connection.execute(update(table).where(table.c.id == key).values(lease))
            return
    raise RunInUse(
        f"this {table.name} is being worked on by {holder.lease_owner}",
        hint=f"wait for it, or stop it; a dead process's lease ends in "
        f"{max(0.0, holder.lease_until - now):.0f} s",
    )


def give_back_lease(database: Database, table: Table, key: int, owner: str) -> None:
    """Ends a lease that this owner holds."""
    statement = (
        update(table)
        .where(table.c.id == key, table.c.lease_owner == owner)
        .values(lease_owner=None, lease_until=None)
    )
    with database.writing() as connection:
        connection.execute(statement)


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

"""Which file system a folder is on, as Linux, macOS and Windows say it."""

from __future__ import annotations

import ctypes
import re
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

__all__ = ["Mount", "mounts_around", "parse_mounts", "parse_statfs"]

# Darwin's struct statfs with 64-bit inodes, up to the mount point; the rest is not read.
_STATFS = struct.Struct("=Ii5Q2i4I16s1024s")
_STATFS_BYTES = 4096
_MNT_LOCAL = 0x1000
_DRIVE_REMOTE = 4


class Mount(NamedTuple):
    """A mounted file system: where, of which kind (``nfs4``, ``ext4``), with which options.

    ``kind`` is ``remote`` where the system only says that it is on another machine.
    """

    point: str
    kind: str
    options: str = ""


def parse_mounts(lines: Iterable[str]) -> list[Mount]:
    """The mounts of /proc/mounts; spaces in names are written there as octal numbers."""
    fields = [line.split() for line in lines]
    return [Mount(_plain(f[1]), f[2], f[3]) for f in fields if len(f) >= 4]


def parse_statfs(buffer: bytes) -> Mount:
    """The mount that Darwin's ``statfs`` tells of in its first 1,112 bytes."""
    *_numbers, flags, _subtype, kind, point = _STATFS.unpack_from(buffer)
    name = kind.partition(b"\0")[0].decode("ascii", "replace")
    return Mount(
        point.partition(b"\0")[0].decode("utf-8", "surrogateescape"),
        name if flags & _MNT_LOCAL else f"remote {name}",
    )


def _plain(name: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), name)


if sys.platform == "win32":

    def mounts_around(path: Path) -> list[Mount]:
        """The drive of an absolute path."""
        root = path.anchor
        is_remote = ctypes.windll.kernel32.GetDriveTypeW(root) == _DRIVE_REMOTE
        return [Mount(root, "remote" if is_remote else "drive")]

elif sys.platform == "darwin":

    def mounts_around(path: Path) -> list[Mount]:
        """The file system of an absolute path, or of the nearest folder above it that exists."""
        library = ctypes.CDLL(None, use_errno=True)
        statfs = getattr(library, "statfs$INODE64", None) or library.statfs
        buffer = ctypes.create_string_buffer(_STATFS_BYTES)
        there = next((p for p in (path, *path.parents) if p.exists()), Path("/"))
        return [] if statfs(bytes(there), buffer) else [parse_statfs(buffer.raw)]

else:

    def mounts_around(path: Path) -> list[Mount]:
        """All mounts of this machine; none where the system does not say."""
        try:
            text = Path("/proc/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:
            return []
        return parse_mounts(text.splitlines())

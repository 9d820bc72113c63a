"""ZIM files made for tests, by the published format."""

from __future__ import annotations

import lzma
import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import zstandard

__all__ = ["zim"]

Row = tuple[str, str, str, str, bytes]  # namespace, path, title, type, content
_PACK: dict[int, Callable[[bytes], bytes]] = {1: bytes, 4: lzma.compress, 5: zstandard.compress}


def zim(path: Path, rows: Sequence[Row], *, packing: int = 5, minor: int = 1) -> Path:
    """A file with one cluster. A row of the type "redirect" leads to the first entry."""
    ordered = sorted(rows, key=lambda row: (row[0], row[1].encode()))
    mimes = sorted({row[3] for row in rows if row[3] != "redirect"})
    contents = [row[4] for row in ordered if row[3] != "redirect"]
    offsets, at = [], 4 * (len(contents) + 1)
    for content in contents:
        offsets.append(at)
        at += len(content)
    plain = struct.pack(f"<{len(contents) + 1}I", *offsets, at) + b"".join(contents)
    cluster = bytes([packing]) + _PACK[packing](plain)
    entries, blob = [], 0
    for namespace, name, title, mime, _content in ordered:
        if mime == "redirect":
            head = struct.pack("<HBcII", 0xFFFF, 0, namespace.encode(), 0, 0)
        else:
            head = struct.pack("<HBcIII", mimes.index(mime), 0, namespace.encode(), 0, 0, blob)
            blob += 1
        entries.append(head + name.encode() + b"\0" + title.encode() + b"\0")
    mime_list = b"".join(mime.encode() + b"\0" for mime in mimes) + b"\0"
    entries_at = 80 + len(mime_list)
    clusters_at = entries_at + 8 * len(entries)
    first = clusters_at + 8
    places, at = [], first
    for entry in entries:
        places.append(at)
        at += len(entry)
    header = struct.pack(
        "<IHH16sIIQQQQIIQ", 72173914, 6, minor, bytes(16), len(entries), 1, entries_at,
        entries_at, clusters_at, 80, 0, 0, at + len(cluster),
    )  # fmt: skip
    path.write_bytes(
        header + mime_list + struct.pack(f"<{len(places)}Q", *places) + struct.pack("<Q", at)
        + b"".join(entries) + cluster + bytes(16)
    )  # fmt: skip
    return path

"""Content identity: canonical JSON and the 32-byte hash of it.

The same content has the same bytes, and so the same id, on every machine and Python version:
keys sorted, no white space, UTF-8, shortest round-trip floats (RFC 8785 but for its number
format; non-finite floats are refused by the readers before they come here).
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec

__all__ = ["canonical_json", "content_id", "digest", "short"]

_PIECE, _LONG = 2047, 262_144
_encoder = msgspec.json.Encoder(order="sorted")


def canonical_json(value: Any) -> bytes:
    """The one JSON text of ``value`` (structs, dicts, lists, scalars; bytes become base64)."""
    return _encoder.encode(value)


def content_id(kind: str, value: Any) -> bytes:
    """The 32-byte SHA-256 of ``value`` under the name ``kind``, so that kinds never collide."""
    return sha256(kind.encode() + b"\n" + canonical_json(value)).digest()


def digest(data: bytes) -> bytes:
    """The 32-byte SHA-256 of ``data``, as the run loop takes it.

    In pieces below the size at which Python gives up the interpreter lock: for a prompt of a few
    thousand characters, getting it back from a busy thread costs five times the hash.
    """
    if not _PIECE < len(data) <= _LONG:
        return sha256(data).digest()
    state = sha256()
    for start in range(0, len(data), _PIECE):
        state.update(data[start : start + _PIECE])
    return state.digest()


def short(identity: bytes, digits: int = 8) -> str:
    """The first hexadecimal digits of an id, as people read and type it."""
    return identity.hex()[:digits]

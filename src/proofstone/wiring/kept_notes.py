"""Notes of what came of asking the web, a file each: written whole, believed where readable."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct

from proofstone.identity import canonical_json

__all__ = ["read_note", "write_note"]

T = TypeVar("T", bound=Struct)


def read_note(file: Path, kind: type[T]) -> T | None:
    """What was noted; None where nothing was, or nothing that can be read."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None


def write_note(file: Path, note: Struct) -> None:
    """Notes it in place of what was noted before; two processes may do so at once."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_name(f".{file.name}.{secrets.token_hex(4)}.part")
    begun.write_bytes(canonical_json(note))
    begun.replace(file)

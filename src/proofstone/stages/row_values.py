"""The values of a build's rows as people read them: ids as ``show`` takes them, not as JSON has to
hold bytes."""

from __future__ import annotations

from base64 import b64decode
from typing import Any

import msgspec

from proofstone.engines.store import KINDS
from proofstone.identity import short

__all__ = ["row_values"]

_ID = 32  # bytes; its base64 has 44 characters, the last of them an equals sign
_KINDS = {"origin": "fact", "corrects": "fact", **{kind: kind for kind in KINDS}}
_DIGESTS = {"content", "image"}  # of files, of which there is nothing to show


def row_values(payload: bytes) -> dict[str, Any] | None:
    """The values of a row by name, a passage's id as ``passage:9ab3c4d1``; None where its text was
    purged."""
    return _plain(msgspec.json.decode(payload), "", "") if payload else None


def _plain(value: Any, name: str, within: str) -> Any:
    """A value called ``name`` of a struct that is called ``within``."""
    if isinstance(value, dict):
        return {key: _plain(each, key, name) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each, name, within) for each in value]
    kind = _KINDS.get(within if name == "id" else name, "")
    if not isinstance(value, str) or not (kind or name == "id" or name in _DIGESTS):
        return value
    identity = _bytes(value)
    if identity is None:
        return value
    if name in _DIGESTS:
        return identity.hex()
    return f"{kind}:{short(identity)}" if kind else short(identity)


def _bytes(text: str) -> bytes | None:
    """The id that a text holds, or None."""
    if len(text) != -(-_ID // 3) * 4 or not text.endswith("="):
        return None
    try:
        found = b64decode(text, validate=True)
    except ValueError:
        return None
    return found if len(found) == _ID else None

"""Where documents lie that a workspace has read: it keeps their texts, and not the files.

A note of this machine alone, beside the database: paths say much about a person and nothing to
another machine, so they are in no row, export or merge. A lost note costs a ``--document``.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from proofstone.engines.ingest import readable_name
from proofstone.errors import BadUsage, NotFound
from proofstone.records import Source
from proofstone.wiring.folders import MARK

__all__ = ["find_document", "note_documents"]

_NAME = "documents.json"
_CHUNK = 2**20


def note_documents(folder: Path, found: Mapping[bytes, Path]) -> None:
    """Notes where files with these digests lie. A note that cannot be written is left out."""
    known = _notes(folder)
    fresh = {content.hex(): os.path.abspath(path) for content, path in found.items()}  # noqa: PTH100
    if not fresh.items() - known.items():
        return
    target = folder / MARK / _NAME
    part = target.with_name(f".{_NAME}.{secrets.token_hex(4)}")
    try:
        part.write_text(json.dumps({**known, **fresh}, indent=0), encoding="utf-8")
        part.replace(target)
    except OSError:
        part.unlink(missing_ok=True)


def find_document(folder: Path, source: Source, named: Path | None = None) -> Path:
    """The file that a source was read from: the one that is ``named``, in a folder that is, or
    where it was read.

    Raises BadUsage where the file that is named holds another document, NotFound where there is
    none.
    """
    if named is not None and not named.is_dir():
        if not named.is_file():
            raise NotFound(f"There is no file {named}.")
        if _digest(named) != source.content:
            raise BadUsage(
                f"{named} is not the file that {source.title} was read from: its bytes differ",
                hint="another edition is a source of its own: ingest it",
            )
        return named
    noted = _notes(folder).get(source.content.hex())
    places = [Path(noted)] if noted and named is None else []
    if named is not None:
        places = sorted(
            path
            for path in named.rglob("*")
            if readable_name(path.name) == source.origin and path.is_file()
        )
    for path in places:
        if path.is_file() and _digest(path) == source.content:
            return path
    where = f"in {named}" if named is not None else "where it was read"
    raise NotFound(
        f"{source.origin}, from which {source.title} was read, is not {where}",
        hint="say where it is: --document FILE, or a folder",
    )


def _notes(folder: Path) -> dict[str, str]:
    try:
        notes = json.loads((folder / MARK / _NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(notes, dict):
        return {}
    return {str(content): str(path) for content, path in notes.items()}


def _digest(path: Path) -> bytes:
    state = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.digest()

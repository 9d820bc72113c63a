"""Pages of wikis that are kept as files in a workspace's folder, found by their content."""

from __future__ import annotations

from hashlib import file_digest
from pathlib import Path

from proofstone.session.folders import MARK
from proofstone.store.lookup import Found
from proofstone.store.store import Store


def pages_folder(folder: Path) -> Path:
    """Where a workspace keeps the pages that it fetched, by host."""
    return folder / MARK / "wiki"


def pages_of(folder: Path, store: Store, source: Found) -> tuple[str, ...]:
    """The kept files that a source was read from, relative to the workspace; mostly none."""
    known = store.knowledge.sources([source.id]).get(source.id)
    if known is None:
        return ()
    return tuple(
        file.relative_to(folder).as_posix()
        for file in sorted(pages_folder(folder).glob("*/*"))
        if file.is_file() and _digest(file) == known.content
    )


def _digest(file: Path) -> bytes:
    with file.open("rb") as stream:
        return file_digest(stream, "sha256").digest()

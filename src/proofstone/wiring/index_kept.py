"""Where a workspace keeps its index of passages: derived, beside the database, never copied."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from proofstone.wiring.folders import MARK

if TYPE_CHECKING:
    from proofstone.engines.retrieval import PartFiles

__all__ = ["index_files", "parts_of"]


def index_files(folder: Path) -> PartFiles:
    """The files of a workspace's index."""
    from proofstone.engines.retrieval import PartFiles  # noqa: PLC0415

    return PartFiles(folder / MARK / "retrieval")


def parts_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """What is kept of a source, relative to the workspace; none where it was never searched."""
    files = index_files(folder).of_source(source)
    return tuple(file.relative_to(folder).as_posix() for file in files)

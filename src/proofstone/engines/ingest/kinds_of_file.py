"""Which reader a file is for, by its name; a packed one (.gz) by the name within."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from proofstone.engines.ingest.documents import DOCUMENT_SUFFIXES, plain_name

__all__ = ["READABLE_SUFFIXES", "FileKind", "kind_of"]

FileKind = Literal["pdf", "html", "epub", "docx", "text"]

_HTML = (".html", ".htm", ".xhtml")
READABLE_SUFFIXES = (".pdf", *_HTML, ".epub", ".docx", *DOCUMENT_SUFFIXES)


def kind_of(path: Path) -> FileKind | None:
    """The kind of a file; None where its name says nothing that is read here."""
    suffix = Path(plain_name(path)).suffix.lower()
    if suffix == ".pdf":
        return "pdf"
    if suffix in _HTML:
        return "html"
    if suffix == ".epub":
        return "epub"
    if suffix == ".docx":
        return "docx"
    return "text" if suffix in DOCUMENT_SUFFIXES else None

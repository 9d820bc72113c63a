"""Which reader a file is for, by its name; a packed one (.gz) by the name within."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from proofstone.engines.ingest.documents import DOCUMENT_SUFFIXES, plain_name

__all__ = ["IMAGE_SUFFIXES", "READABLE_SUFFIXES", "FileKind", "has_pictures", "kind_of"]

FileKind = Literal["pdf", "html", "epub", "docx", "image", "text"]

_HTML = (".html", ".htm", ".xhtml")
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
READABLE_SUFFIXES = (".pdf", *_HTML, ".epub", ".docx", *IMAGE_SUFFIXES, *DOCUMENT_SUFFIXES)


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
    if suffix in IMAGE_SUFFIXES:
        return "image"
    return "text" if suffix in DOCUMENT_SUFFIXES else None


def has_pictures(path: Path) -> bool:
    """Whether the pages of a file can be seen, and so be read from their pictures."""
    return kind_of(path) in {"pdf", "image"}

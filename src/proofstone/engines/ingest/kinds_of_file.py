"""Which reader a file is for, by its name; a packed one (.gz) by the name within."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from proofstone.engines.ingest.documents import DOCUMENT_SUFFIXES, plain_name

__all__ = ["IMAGE_SUFFIXES", "READABLE_SUFFIXES", "FileKind", "has_pictures", "kind_of"]

FileKind = Literal[
    "pdf", "html", "epub", "docx", "latex", "wikidump", "wikipage", "zim", "image", "text"
]

_LATEX = (".tex", ".ltx", ".zip", ".tar", ".tgz")  # .tar.gz as .tar
_PACKED_DUMP = ".xml.bz2"
_HTML = (".html", ".htm", ".xhtml")
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
_KINDS: dict[str, FileKind] = {
    ".pdf": "pdf", ".epub": "epub", ".docx": "docx", ".xml": "wikidump", ".zim": "zim",
    ".wikipage": "wikipage", **dict.fromkeys(_HTML, "html"), **dict.fromkeys(_LATEX, "latex"),
    **dict.fromkeys(IMAGE_SUFFIXES, "image"), **dict.fromkeys(DOCUMENT_SUFFIXES, "text"),
}  # fmt: skip
READABLE_SUFFIXES = (*_KINDS, _PACKED_DUMP)


def kind_of(path: Path) -> FileKind | None:
    """The kind of a file; None where its name says nothing that is read here."""
    if path.name.lower().endswith(_PACKED_DUMP):
        return "wikidump"
    return _KINDS.get(Path(plain_name(path)).suffix.lower())


def has_pictures(path: Path) -> bool:
    """Whether the pages of a file can be seen, and so be read from their pictures."""
    return kind_of(path) in {"pdf", "image"}

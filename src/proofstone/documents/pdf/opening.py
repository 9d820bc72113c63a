"""Opening a PDF, or saying why it cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from proofstone.errors import BadInput, ExtraMissing

MAX_PAGES = 20_000


_ENCRYPT, _CHUNK = b"/Encrypt", 2**20


def open_pdf(path: Path | bytes, name: str) -> tuple[Any, int]:
    """pdfium's document and how many pages it has.

    Raises ExtraMissing without pypdfium2; BadInput for what is encrypted, damaged, without pages or
    of more than ``MAX_PAGES``.
    """
    try:
        import pypdfium2  # noqa: PLC0415 - in an extra
    except ImportError as missing:
        raise ExtraMissing(
            f"{name} is a PDF, and what reads those is not installed.",
            hint="pip install 'proofstone[pdf]'",
        ) from missing
    try:
        document: Any = pypdfium2.PdfDocument(path)
        n_pages = len(document)
    except pypdfium2.PdfiumError as cause:
        raise _refusal(name, str(cause), path) from cause
    if n_pages == 0:
        raise BadInput(f"{name} has no pages.")
    if n_pages > MAX_PAGES:
        raise BadInput(
            f"{name} says that it has {n_pages:,} pages; at most {MAX_PAGES:,} are read.",
            hint="Split it into volumes.",
        )
    return document, n_pages


def _refusal(name: str, cause: str, content: Path | bytes) -> BadInput:
    if "assword" in cause and _is_encrypted(content):  # said of a file without pages, too
        return BadInput(
            f"{name} is encrypted and opens only with a password.",
            hint="Save it without one, for example by printing it from a viewer into a file.",
        )
    if "ecurity" in cause:
        return BadInput(f"{name} is encrypted in a way that cannot be opened.")
    return BadInput(
        f"{name} is damaged, has no pages, or is no PDF.",
        hint="Open it in a viewer; if it opens, save it anew.",
    )


def _is_encrypted(content: Path | bytes) -> bool:
    """Whether a PDF names a dictionary of encryption; that name is never encrypted itself."""
    if isinstance(content, bytes):
        return _ENCRYPT in content
    before = b""
    with content.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if _ENCRYPT in before + chunk:
                return True
            before = chunk[-len(_ENCRYPT) :]
    return False

"""A DOCX file as pages of blocks, and what it says of itself."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.archive import Archive
from proofstone.engines.ingest.docx.body import Body, Parts
from proofstone.engines.ingest.docx.names import attribute, child, local
from proofstone.engines.ingest.docx.numbering import Numbering, read_numbering
from proofstone.engines.ingest.docx.styles import read_styles, stated_language
from proofstone.engines.ingest.languages import guess_language, said_language
from proofstone.engines.ingest.lines import open_bytes
from proofstone.engines.ingest.written import Written
from proofstone.errors import BadInput

__all__ = ["READER", "read_docx"]

READER = "docx 1"  # a number of its own for every change that can move a text
_OLD_FORMAT = bytes.fromhex("D0CF11E0A1B11AE1")
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_LOOKED_AT = 32 * 2**20
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_AND = re.compile(r"\s*(?:;|、|，)\s*")
_LONGEST = 200


def read_docx(path: Path) -> Written:
    """The pages of a DOCX, packed or not.

    A page ends where its author set a page break, or began a section on a new page; the breaks that
    a word processor only found when it last set the lines are in no agreement with another one's,
    and cut sentences. Deleted text of tracked changes is left out, inserted text is text.

    Raises NotFound, ExtraMissing without lxml, and BadInput for what is too large, damaged,
    encrypted, in the older format (.doc), or has no text.
    """
    _check_format(path)
    parts = _Package(Archive(path, "a DOCX"))
    document = parts.document()
    body = child(document, "body")
    if body is None:
        raise BadInput(f"{path.name} holds no document of a word processor.")
    styles = parts.related("styles")
    numbering = parts.related("numbering")
    reader = Body(
        Parts(
            {} if styles is None else read_styles(styles),
            Numbering({}) if numbering is None else read_numbering(numbering),
            {**_notes(parts, "footnote"), **_notes(parts, "endnote")},
        ),
        path.name,
    )
    reader.read(body)
    blocks = [block for page in reader.pages for block in page]
    if not any(block.text and block.kind not in {"heading", "figure"} for block in blocks):
        raise BadInput(f"{path.name} holds no text that could be a passage.")
    said = _core(parts.core())
    years = _YEAR.search(said.get("created", ""))
    return Written(
        pages=reader.pages,
        title=reader.title[:_LONGEST] or said.get("title", ""),
        authors=tuple(dict.fromkeys(name for name in _AND.split(said.get("creator", "")) if name)),
        year=int(years[1]) if years else None,
        language=_language(
            said.get("language", ""), styles, guess_language(block.text for block in blocks)
        ),
    )


def _check_format(path: Path) -> None:
    with open_bytes(path) as file:
        try:
            head = file.read(len(_OLD_FORMAT))
            rest = file.read(_LOOKED_AT) if head == _OLD_FORMAT else b""
        except (OSError, EOFError) as cause:
            raise BadInput(f"{path.name} is damaged ({cause}).") from cause
    if _ENCRYPTED in rest:
        raise BadInput(f"{path.name} is encrypted and opens only with a password.")
    if head == _OLD_FORMAT:
        raise BadInput(f"{path.name} is in the older format (.doc).", hint="Save it as .docx.")


class _Package:
    """The parts of a DOCX by their relations."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._main = self._target("", "officeDocument") or "word/document.xml"

    def document(self) -> Any:
        """The main part."""
        return self._archive.xml(self._main)

    def related(self, kind: str) -> Any:
        """The part that the document names for styles, numbering, footnotes, ...; None where it
        names none."""
        name = self._target(self._main, kind)
        return self._archive.xml(name) if name in self._archive else None

    def core(self) -> Any:
        """What is said of the document; None where nothing is."""
        name = self._target("", "core-properties")
        return self._archive.xml(name) if name in self._archive else None

    def _target(self, of: str, kind: str) -> str:
        folder, name = posixpath.split(of)
        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations not in self._archive:
            return ""
        for relation in self._archive.xml(relations):
            if attribute(relation, "Type").rpartition("/")[2] == kind:
                target = attribute(relation, "Target")
                return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        return ""


def _notes(parts: _Package, kind: str) -> dict[tuple[str, str], Any]:
    """Notes by their ids, without the lines that stand between them and the text."""
    root = parts.related(f"{kind}s")
    return {
        (kind, attribute(note, "id")): note
        for note in (() if root is None else root)
        if local(note) == kind and attribute(note, "type") in {"", "normal"}
    }


def _core(root: Any) -> dict[str, str]:
    return {
        local(element): " ".join((element.text or "").split())[:_LONGEST]
        for element in (() if root is None else root)
        if local(element)
    }


def _language(stated: str, styles: Any, guessed: str) -> str:
    """The language that the properties name, or the styles where the letters do not tell another:
    most files say English of whatever is written in them."""
    if code := said_language(stated):
        return code
    set_to = "" if styles is None else said_language(stated_language(styles))
    return set_to if guessed == "en" and not set_to.startswith(("en", "zh")) and set_to else guessed

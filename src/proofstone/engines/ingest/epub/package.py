"""What an EPUB's package says: its chapters in reading order, title, authors, year, language."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from proofstone.engines.ingest.archive import Archive
from proofstone.engines.ingest.languages import said_language
from proofstone.errors import BadInput, Problem

__all__ = ["Package", "read_package"]

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_TEXTS = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_LONGEST = 200


@dataclass(frozen=True)
class Package:
    """The names of a book's chapters within its archive, and what it states of itself."""

    chapters: tuple[str, ...]
    title: str
    authors: tuple[str, ...]
    year: int | None
    language: str


def read_package(book: Archive) -> Package:
    """The package of a book. Raises BadInput naming every chapter that is absent or encrypted."""
    inside = [
        element.get("full-path") or ""
        for element in book.xml(_CONTAINER).iter("{*}rootfile")
    ]  # fmt: skip
    if not inside:
        raise BadInput(f"{book.name}: {_CONTAINER} names no package.")
    package = book.xml(inside[0])
    chapters = _chapters(package, posixpath.dirname(inside[0]))
    _check(book, chapters)
    dates = [year[1] for text in _said(package, "date") if (year := _YEAR.search(text))]
    languages = [code for text in _said(package, "language") if (code := said_language(text))]
    return Package(
        chapters=chapters,
        title=next(iter(_said(package, "title")), ""),
        authors=tuple(dict.fromkeys(_said(package, "creator"))),
        year=int(dates[0]) if dates else None,
        language=languages[0] if languages else "",
    )


def _chapters(package: Any, folder: str) -> tuple[str, ...]:
    """The texts of the spine, each once."""
    items = {
        item.get("id"): _inside(folder, item.get("href") or "")
        for item in package.iter("{*}item")
        if item.get("media-type") in _TEXTS
    }
    wanted = [itemref.get("idref") for itemref in package.iter("{*}itemref")]
    return tuple(dict.fromkeys(items[name] for name in wanted if name in items))


def _inside(folder: str, href: str) -> str:
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


def _check(book: Archive, chapters: tuple[str, ...]) -> None:
    if not chapters:
        raise BadInput(f"{book.name} names no chapter in its reading order.")
    secret = _encrypted(book)
    problems = [Problem(name, "is encrypted") for name in chapters if name in secret]
    problems += [Problem(name, "is not in the file") for name in chapters if name not in book]
    if problems:
        raise BadInput(f"{book.name} cannot be read whole; nothing of it was taken.", problems)


def _encrypted(book: Archive) -> set[str]:
    """The files that are encrypted; of most books with such a list, fonts alone."""
    if _ENCRYPTION not in book:
        return set()
    references = book.xml(_ENCRYPTION).iter("{*}CipherReference")
    return {_inside("", reference.get("URI") or "") for reference in references}


def _said(package: Any, name: str) -> list[str]:
    """What the metadata says under a name of Dublin Core, without who is not its author."""
    found = []
    for element in package.iter("{http://purl.org/dc/elements/1.1/}" + name):
        role = element.get("{http://www.idpf.org/2007/opf}role") or "aut"
        text = " ".join("".join(element.itertext()).split())[:_LONGEST]
        if text and role == "aut":
            found.append(text)
    return found

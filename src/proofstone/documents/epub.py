"""Read EPUB files: chapters in reading order, title, authors, year, language."""

from __future__ import annotations

import lzma
import posixpath
import re
import zipfile
import zlib
from html.entities import html5
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from proofstone.documents.html import as_blocks, blocks_in, main_text
from proofstone.documents.passages import Written, bounded, check_text, stated_year
from proofstone.errors import BadInput, Problem, needed
from proofstone.files.csv import read_whole_file
from proofstone.texts.languages import guess_language, said_language

# Files inside a zipped document; sizes are limited before a file is held in memory.

MAX_PART = 32 * 2**20  # maximum bytes of one file inside


_MAX_ALL = 256 * 2**20  # maximum bytes of all of them


_MOST_FILES = 50_000


_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, OSError, ValueError,
    NotImplementedError,
)  # fmt: skip


class Archive:
    """A zipped document, possibly packed again (.gz); ``what`` names the expected format.

    Sizes are counted while unpacking, whatever the archive states. Raises NotFound, and BadInput
    for a file that is not an archive, damaged, encrypted or too large.
    """

    def __init__(self, path: Path, what: str) -> None:
        self.name = path.name
        self._what = what
        self._left = _MAX_ALL
        try:
            self._zip = zipfile.ZipFile(BytesIO(read_whole_file(path)))
        except _DAMAGE as cause:
            raise self._no_such(cause) from cause
        self._names = set(self._zip.namelist())
        if len(self._names) > _MOST_FILES:
            raise BadInput(f"{self.name} holds more than {_MOST_FILES:,} files", hint="split it")

    @property
    def names(self) -> list[str]:
        """Return the names of the files inside, sorted."""
        return sorted(self._names)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def read(self, name: str) -> bytes:
        """Return the bytes of one file inside."""
        if name not in self._names:
            raise BadInput(f"{self.name} is not {self._what}: it lacks {name}")
        info = self._zip.getinfo(name)
        if info.flag_bits & 1:
            raise BadInput(f"{self.name} is encrypted and opens only with a password")
        try:
            with self._zip.open(info) as stream:
                data = stream.read(MAX_PART + 1)
        except _DAMAGE as cause:
            raise self._no_such(cause) from cause
        self._left -= len(data)
        if len(data) > MAX_PART or self._left < 0:
            raise BadInput(
                f"{self.name} unpacks to more than is read: {MAX_PART:,} bytes of one file "
                f"inside ({name}), {_MAX_ALL:,} of all",
                hint="split it",
            )
        return data

    def xml(self, name: str) -> Any:
        """Return the root element of one file inside; no entity is expanded or fetched.

        Raises ExtraMissing without lxml.
        """
        message = f"{self.name} is {self._what}, and its reader is not installed"
        with needed(message, "pip install 'proofstone[html]'"):
            from lxml import etree  # noqa: PLC0415 - in an extra
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        try:
            return etree.fromstring(self.read(name), parser)
        except (etree.LxmlError, ValueError) as cause:
            raise BadInput(f"{self.name}: {name} is not valid XML ({cause})") from cause

    def _no_such(self, cause: BaseException) -> BadInput:
        return BadInput(f"{self.name} is damaged, or not {self._what} ({cause})")


_CONTAINER = "META-INF/container.xml"


_ENCRYPTION = "META-INF/encryption.xml"


_TEXTS = {"application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"}


_LONGEST = 200


def _chapters(package: Any, folder: str) -> tuple[str, ...]:
    """Return the texts of the spine, each once."""
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
        raise BadInput(f"{book.name} names no chapter in its reading order")
    secret = _encrypted(book)
    problems = [Problem(name, "is encrypted") for name in chapters if name in secret]
    problems += [Problem(name, "is not in the file") for name in chapters if name not in book]
    if problems:
        raise BadInput(f"{book.name} has files that cannot be read; nothing was imported", problems)


def _encrypted(book: Archive) -> set[str]:
    """Return the encrypted files; in most books with such a list, only fonts."""
    if _ENCRYPTION not in book:
        return set()
    references = book.xml(_ENCRYPTION).iter("{*}CipherReference")
    return {_inside("", reference.get("URI") or "") for reference in references}


def _said(package: Any, name: str) -> list[str]:
    """Return the metadata of a Dublin Core name, without contributors other than authors."""
    found = []
    for element in package.iter("{http://purl.org/dc/elements/1.1/}" + name):
        role = element.get("{http://www.idpf.org/2007/opf}role") or "aut"
        text = " ".join("".join(element.itertext()).split())[:_LONGEST]
        if text and role == "aut":
            found.append(text)
    return found


# Read an EPUB file as blocks; chapters are read as web pages.

READER = "epub 1"  # change this with every change that can alter a text


_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]*;)")


_OF_XML = {b"amp;", b"lt;", b"gt;", b"quot;", b"apos;"}


def read_epub(path: Path) -> Written:
    """Return the chapters of a book in reading order as one text, packed or not.

    Blocks that are mostly links (a printed table of contents) are left out. Raises NotFound,
    ExtraMissing without lxml, and BadInput for a file that is too large, damaged, encrypted or
    without text.
    """
    book = Archive(path, "an EPUB")
    inside = [
        element.get("full-path") or "" for element in book.xml(_CONTAINER).iter("{*}rootfile")
    ]
    if not inside:
        raise BadInput(f"{book.name}: {_CONTAINER} names no package")
    package = book.xml(inside[0])
    chapters = _chapters(package, posixpath.dirname(inside[0]))
    _check(book, chapters)
    found = (
        block
        for chapter in chapters
        for block in blocks_in(_root(book.read(chapter), f"{path.name}: {chapter}"))
    )
    blocks = as_blocks(main_text(list(bounded(found, path.name)), ""))
    check_text(blocks, path.name)
    languages = (code for text in _said(package, "language") if (code := said_language(text)))
    return Written(
        pages=[blocks],
        title=next(iter(_said(package, "title")), ""),
        authors=tuple(dict.fromkeys(_said(package, "creator"))),
        year=stated_year(_said(package, "date")),
        language=next(languages, "") or guess_language(block.text for block in blocks),
    )


def _root(data: bytes, where: str) -> Any:
    """Return a chapter's root, as XML if it is valid, or else as HTML, which tolerates errors."""
    from lxml import etree, html  # noqa: PLC0415 - in an extra

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(_ENTITY.sub(_numbered, data), parser)
    except (etree.LxmlError, ValueError):
        try:
            return html.document_fromstring(data, parser=html.HTMLParser(no_network=True))
        except (etree.LxmlError, ValueError) as cause:
            raise BadInput(f"{where} is neither XHTML nor HTML ({cause})") from cause
    etree.strip_elements(
        root, etree.Entity, with_tail=False
    )  # only entities that the file itself declares
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return root


def _numbered(entity: re.Match[bytes]) -> bytes:
    """Return an HTML entity as character references, which XML knows without HTML's list."""
    characters = html5.get(entity[1].decode("ascii"), "")
    if entity[1] in _OF_XML or not characters:
        return entity[0]
    return b"".join(b"&#%d;" % ord(character) for character in characters)

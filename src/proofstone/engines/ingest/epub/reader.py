"""An EPUB file as blocks: each chapter's elements are read as those of a web page."""

from __future__ import annotations

import re
from html.entities import html5
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.archive import Archive
from proofstone.engines.ingest.epub.package import read_package
from proofstone.engines.ingest.languages import guess_language
from proofstone.engines.ingest.web.main_text import main_text
from proofstone.engines.ingest.web.reader import MOST_BLOCKS, WebPage, grouped
from proofstone.engines.ingest.web.walking import WebBlock, blocks_in
from proofstone.errors import BadInput

__all__ = ["READER", "read_epub"]

READER = "epub 1"  # a number of its own for every change that can move a text
_ENTITY = re.compile(rb"&([A-Za-z][A-Za-z0-9]*;)")
_OF_XML = {b"amp;", b"lt;", b"gt;", b"quot;", b"apos;"}


def read_epub(path: Path) -> WebPage:
    """The chapters of a book in its reading order as one text, packed or not.

    Blocks that are links for the most part (a printed table of contents) are left out. Raises
    NotFound, ExtraMissing without lxml, and BadInput for what is too large, damaged, encrypted or
    has no text.
    """
    book = Archive(path, "an EPUB")
    package = read_package(book)
    found: list[WebBlock] = []
    for chapter in package.chapters:
        for block in blocks_in(_root(book.read(chapter), f"{path.name}: {chapter}")):
            found.append(block)
            if len(found) > MOST_BLOCKS:
                raise BadInput(
                    f"{path.name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it."
                )
    blocks = grouped(main_text(found, ""))
    if not any(block.kind != "heading" for block in blocks):
        raise BadInput(f"{path.name} holds no text that could be a passage.")
    return WebPage(
        blocks=blocks,
        title=package.title,
        authors=package.authors,
        year=package.year,
        language=package.language or guess_language(block.text for block in blocks),
    )


def _root(data: bytes, where: str) -> Any:
    """A chapter's root: as XML, which it should be, else as HTML that never fails on its form."""
    from lxml import etree, html  # noqa: PLC0415 - in an extra

    try:
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False)
        root = etree.fromstring(_ENTITY.sub(_numbered, data), parser)
    except (etree.LxmlError, ValueError):
        try:
            return html.document_fromstring(data, parser=html.HTMLParser(no_network=True))
        except (etree.LxmlError, ValueError) as cause:
            raise BadInput(f"{where} is neither XHTML nor HTML ({cause}).") from cause
    etree.strip_elements(root, etree.Entity, with_tail=False)  # what only the file itself declares
    for element in root.iter(etree.Element):
        element.tag = etree.QName(element).localname
    return root


def _numbered(entity: re.Match[bytes]) -> bytes:
    """An entity of HTML by its numbers, which XML knows without HTML's own list."""
    characters = html5.get(entity[1].decode("ascii"), "")
    if entity[1] in _OF_XML or not characters:
        return entity[0]
    return b"".join(b"&#%d;" % ord(character) for character in characters)

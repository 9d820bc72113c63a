"""A PDF's title and authors, from what it says of itself and from its first page."""

from __future__ import annotations

import re
from typing import NamedTuple

from proofstone.engines.ingest.pdf.reader import PdfFile, PdfPage

__all__ = ["FrontMatter", "front_matter"]

_TOOLS = re.compile(
    r"^(microsoft word|untitled|slide 1|presentation|document\d*|title)\b"
    r"|\.(docx?|dvi|tex|indd|qxd|ps|pdf|pptx?|xlsx?)$",
    re.IGNORECASE,
)
_AND = re.compile(r"\s*(?:;|,|\band\b|&|、|，)\s*")
_LARGE = 1.3  # of the page's usual size
_LONGEST = 200


class FrontMatter(NamedTuple):
    """Title and authors; empty where nothing says them."""

    title: str
    authors: tuple[str, ...]


def front_matter(pdf: PdfFile) -> FrontMatter:
    """The title that the file names, unless it is a program's or stands on the first page in
    smaller type than another one; then the largest type there."""
    metadata = pdf.metadata
    named = " ".join(metadata.get("Title", "").split())
    authors = tuple(
        part for part in _AND.split(" ".join(metadata.get("Author", "").split())) if part
    )
    page = next(pdf.pages(1, 1))
    printed = _largest(page)
    if not named or _TOOLS.search(named):
        return FrontMatter(printed, authors)
    everything = " ".join(" ".join(block.text.split()) for block in page.blocks).casefold()
    in_print = named.casefold() in everything
    if printed and in_print and named.casefold() not in printed.casefold():
        return FrontMatter(printed, authors)
    return FrontMatter(named, authors)


def _largest(page: PdfPage) -> str:
    """The heading in the largest type of a page, where it is larger than the rest."""
    sizes = [
        (round(max(line.box.bottom - line.box.top for line in block.lines), 1), -place, block)
        for place, block in enumerate(page.blocks)
        if block.kind == "heading" and block.lines
    ]
    if not sizes:
        return ""
    largest, _place, block = max(sizes, key=lambda entry: entry[:2])
    ordinary = [
        line.box.bottom - line.box.top
        for other in page.blocks
        if other is not block
        for line in other.lines
    ]
    if ordinary and largest < _LARGE * sorted(ordinary)[len(ordinary) // 2]:
        return ""
    return " ".join(block.text.split())[:_LONGEST]

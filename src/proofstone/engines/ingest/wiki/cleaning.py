"""The blocks of a wiki's page as HTML: its text without what the wiki puts around and into it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.web.reader import MOST_BLOCKS, grouped
from proofstone.engines.ingest.web.walking import WebBlock, blocks_in
from proofstone.engines.ingest.wiki.sections import without_apparatus
from proofstone.errors import BadInput, ExtraMissing

__all__ = ["article_blocks"]

_GONE = {
    "mw-editsection", "reference", "references", "reflist", "mw-references-wrap", "navbox",
    "vertical-navbox", "sidebar", "metadata", "ambox", "noprint", "hatnote", "toc", "sistersitebox",
    "catlinks", "mw-jump-link", "mw-empty-elt", "printfooter", "mw-cite-backlink", "navigation-box",
    "mw-indicators", "vector-toc", "mw-kartographer-container", "dablink", "rellink", "footer",
}  # fmt: skip
_CONTROLS = bytes({*range(32)} - {9, 10, 13})
_ROOTS = ("mw-parser-output", "mw-content-text", "bodyContent", "content")


def article_blocks(data: bytes, name: str) -> list[Block]:
    """The blocks of a page, references and links around it left out; empty where nothing is left.

    Raises ExtraMissing without lxml, BadInput where it is no HTML or has too many blocks.
    """
    try:
        from lxml import etree, html  # noqa: PLC0415 - in an extra
    except ImportError as missing:
        raise ExtraMissing(
            f"{name} holds HTML, and what reads that is not installed.",
            hint="pip install 'proofstone[wiki]'",
        ) from missing
    data = data.translate(None, _CONTROLS)  # which no tree of XML may hold
    if not data.strip():
        return []
    try:
        parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True)
        root = html.document_fromstring(data, parser=parser)
    except (etree.LxmlError, ValueError) as cause:
        raise BadInput(f"{name} is no HTML ({cause}).") from cause
    root = _content(root)
    for element in list(root.iter(etree.Element)):
        if element is not root and not _GONE.isdisjoint((element.get("class") or "").split()):
            _drop(element)
    found: list[WebBlock] = []
    for block in blocks_in(root):
        found.append(block)
        if len(found) > MOST_BLOCKS:
            raise BadInput(f"{name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it.")
    return list(without_apparatus(_kept(grouped(found))))


def _content(root: Any) -> Any:
    """The element that holds the page's text, where the wiki names one."""
    for name in _ROOTS:
        found = root.find_class(name) or [node for node in root.iter() if node.get("id") == name]
        if found:
            return found[0]
    return root


def _drop(element: Any) -> None:
    """Takes an element out; the text behind it stays."""
    if element.getparent() is not None:
        element.drop_tree()


def _kept(blocks: list[Block]) -> Iterator[Block]:
    return (block for block in blocks if block.text.strip())

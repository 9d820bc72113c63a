"""An HTML file as blocks, and what it says of itself."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.languages import guess_language, said_language
from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.lines import read_whole_file
from proofstone.engines.ingest.web.main_text import main_text
from proofstone.engines.ingest.web.walking import WebBlock, blocks_in
from proofstone.errors import BadInput, ExtraMissing

__all__ = ["MAX_BYTES", "MOST_BLOCKS", "READER", "WebPage", "grouped", "read_web_page"]

READER = "html 1"  # a number of its own for every change that can move a text
MAX_BYTES = 32 * 2**20
MOST_BLOCKS = 200_000
_AUTHORS = ("author", "dc.creator", "dcterms.creator", "citation_author")
_DATES = (
    "date", "dc.date", "dcterms.date", "dcterms.issued", "citation_publication_date",
    "citation_date", "article:published_time",
)  # fmt: skip
_TITLES = ("citation_title", "dc.title", "og:title")
_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")
_AND = re.compile(r"\s*(?:;|、|，)\s*")


@dataclass(frozen=True)
class WebPage:
    """A page's blocks, and its title, authors, year and language as it states them."""

    blocks: list[Block]
    title: str
    authors: tuple[str, ...]
    year: int | None
    language: str


def read_web_page(path: Path) -> WebPage:
    """The main text of an HTML file, packed or not.

    Raises ExtraMissing without trafilatura; BadInput for what is too large, damaged or has no text.
    """
    try:
        import lxml.html  # noqa: PLC0415 - in an extra
        import trafilatura  # noqa: PLC0415 - in an extra
    except ImportError as missing:
        raise ExtraMissing(
            f"{path.name} is HTML, and what reads that is not installed.",
            hint="pip install 'proofstone[html]'",
        ) from missing
    data = _bytes(path)
    try:
        root = lxml.html.document_fromstring(
            data, parser=lxml.html.HTMLParser(encoding=_encoding(data), no_network=True)
        )
    except (lxml.etree.LxmlError, ValueError) as cause:
        raise BadInput(f"{path.name} is no HTML: {cause}.") from cause
    main = _main_element(root)
    found = []
    for block in blocks_in(root if main is None else main):
        found.append(block)
        if len(found) > MOST_BLOCKS:
            raise BadInput(f"{path.name} has more than {MOST_BLOCKS:,} blocks.", hint="Split it.")
    extracted = _extracted(trafilatura, root) if main is None else ""
    blocks = grouped(main_text(found, extracted))
    if not blocks:
        raise BadInput(f"{path.name} holds no text that could be a passage.")
    meta = _meta(root)
    title = _title(root, meta, blocks)
    dates = [text for name in _DATES for text in meta.get(name, ())]
    years = [year[1] for text in dates if (year := _YEAR.search(text))]
    stated = [text for name in _AUTHORS for text in meta.get(name, ())]
    authors = [part for text in stated for part in _AND.split(text)]
    return WebPage(
        blocks=blocks,
        title=title,
        authors=tuple(dict.fromkeys(part for part in authors if part)),
        year=int(years[0]) if years else None,
        language=_language(root, blocks),
    )


def _bytes(path: Path) -> bytes:
    if path.suffix.lower() != ".gz" and (size := path.stat().st_size) > MAX_BYTES:
        raise BadInput(
            f"{path.name} has {size:,} bytes; of HTML {MAX_BYTES:,} are read.", hint="Split it."
        )
    return read_whole_file(path, limit=MAX_BYTES)


def _encoding(data: bytes) -> str | None:
    """UTF-8 where it is that; else what the file declares."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _main_element(root: Any) -> Any:
    """The one element that the page itself calls its main text; None where none or several."""
    for name in ("main", "article"):
        named = root.findall(f".//{name}")
        if len(named) == 1 and "".join(named[0].itertext()).strip():
            return named[0]
    return None


def _extracted(trafilatura: Any, root: Any) -> str:
    """The main text by trafilatura; empty where it finds none, or gives up on what is too deep."""
    from copy import deepcopy  # noqa: PLC0415 - with what needs it

    try:
        text = trafilatura.extract(
            deepcopy(root), favor_recall=True, include_comments=False, include_tables=True,
            deduplicate=False, output_format="txt",
        )  # fmt: skip
    except RecursionError:
        return ""
    return text or ""


def grouped(blocks: list[WebBlock]) -> list[Block]:
    """Items that follow each other as one list."""
    made: list[Block] = []
    for block in blocks:
        if block.kind == "list" and made and made[-1].kind == "list":
            made[-1] = Block("list", f"{made[-1].text}\n{block.text.rstrip()}")
        else:
            made.append(Block(block.kind, block.text.lstrip("\n").rstrip(), level=block.level))
    return made


def _meta(root: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for element in root.iter("meta"):
        name = (element.get("name") or element.get("property") or "").lower()
        content = " ".join((element.get("content") or "").split())
        if name and content:
            found.setdefault(name, []).append(content[:500])
    return found


def _title(root: Any, meta: dict[str, list[str]], blocks: list[Block]) -> str:
    for name in _TITLES:
        if meta.get(name):
            return meta[name][0]
    stated = " ".join((root.findtext(".//title") or "").split())
    first = next((block.text for block in blocks if block.kind == "heading"), "")
    return (stated or first)[:200]


def _language(root: Any, blocks: list[Block]) -> str:
    stated = root.get("lang") or root.get("{http://www.w3.org/XML/1998/namespace}lang") or ""
    return said_language(stated) or guess_language(block.text for block in blocks)

"""Read HTML documents as blocks in order, by the meaning of their elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proofstone.documents.passages import (
    Block,
    Written,
    bounded,
    check_text,
    grouped,
    only_lays_out,
    rows_text,
    set_off,
    stated_year,
)
from proofstone.errors import BadInput, needed
from proofstone.files.csv import read_whole_file
from proofstone.records.pages import MarkKind
from proofstone.texts.languages import guess_language, said_language

_SKIPPED = {
    "script", "style", "noscript", "template", "nav", "form", "button", "select", "svg", "iframe",
    "object", "canvas", "head", "audio", "video", "map", "textarea", "input",
}  # fmt: skip


_HEADINGS = {f"h{level}": level for level in range(1, 7)}


_INLINE = {
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "q", "ruby", "rt", "rp", "s", "samp", "small",
    "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr", "math",
}  # fmt: skip


_KINDS: dict[str, MarkKind] = {
    "li": "list", "dd": "list", "dt": "list", "pre": "code", "listing": "code",
    "figcaption": "caption", "caption": "caption",
}  # fmt: skip


_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")


@dataclass(frozen=True, slots=True)
class WebBlock:
    """A block of an HTML document; ``linked`` is the share of its letters in links."""

    kind: MarkKind
    text: str
    level: int = 0
    linked: float = 0.0


def blocks_in(body: Any) -> Iterator[WebBlock]:
    """Return the blocks of an lxml element, without empty ones.

    Text directly in a container is a paragraph. List items follow a dash, with nested lists
    indented. Tables keep their rows; a layout table is a container.
    """
    walk = _Walk()
    # No recursion: documents may be nested deeply.
    from lxml import etree  # noqa: PLC0415 - in an extra

    events = etree.iterwalk(body, events=("start", "end", "comment", "pi"))
    for event, element in events:
        if not isinstance(element.tag, str):
            if event in {"comment", "pi"}:
                walk.say(element.tail)
            continue
        name = element.tag.rpartition("}")[2].lower()
        if event == "start":
            if name in _SKIPPED or element.get("hidden") is not None:
                events.skip_subtree()
            elif name == "table" and (rows := _table(element)):
                walk.close()
                walk.found.append(WebBlock("table", rows))
                events.skip_subtree()
            elif name == "math":
                walk.say(_formula(element))
                events.skip_subtree()
            else:
                walk.enter(name, element)
        else:
            walk.leave(name, element)
        yield from walk.take()
    walk.close()
    yield from walk.take()


class _Walk:
    def __init__(self) -> None:
        self.found: list[WebBlock] = []
        self._names: list[str] = []
        self._pieces: list[str] = []  # since the last edge of a block
        self._links = self._n_linked = 0

    def take(self) -> list[WebBlock]:
        """Return the blocks found since the last call."""
        found, self.found = self.found, []
        return found

    def say(self, text: str | None) -> None:
        """Add text to the open block."""
        if text:
            self._pieces.append(text)
            if self._links:
                self._n_linked += len(text.split())

    def enter(self, name: str, element: Any) -> None:
        """Begin an element."""
        if name == "br":
            self.say("\n" if "pre" in self._names else " ")
        elif name not in _INLINE:
            self.close()
        self._names.append(name)
        self._links += name == "a"
        if name in {"sup", "sub"} and element.text and not len(element):
            self.say(set_off(name, element.text.strip()))
        else:
            self.say(element.text)

    def leave(self, name: str, element: Any) -> None:
        """End an element."""
        was_entered = bool(self._names) and self._names[-1] == name
        if was_entered:
            if name not in _INLINE and name != "br":
                self.close()
            self._names.pop()
            self._links -= name == "a"
        self.say(element.tail)

    def close(self) -> None:
        """End the open text as a block."""
        raw, n_linked = "".join(self._pieces), self._n_linked
        self._pieces, self._n_linked = [], 0
        kind, level = self._kind()
        text = raw.strip("\n").rstrip() if kind == "code" else _SPACE.sub(" ", raw).strip()
        if not text.strip():
            return
        linked = n_linked / max(1, len(text.split()))
        if kind == "list":
            depth = max(0, sum(name in {"ul", "ol"} for name in self._names) - 1)
            text = "  " * min(depth, 4) + "- " + text
        self.found.append(WebBlock(kind, text, level, min(1.0, linked)))

    def _kind(self) -> tuple[MarkKind, int]:
        for name in reversed(self._names):
            if name in _HEADINGS:
                return "heading", _HEADINGS[name]
            if name in _KINDS:
                return _KINDS[name], 0
        return "text", 0


def _formula(math: Any) -> str:
    """Return a formula as its author's TeX if included, otherwise as characters."""
    text = math.get("alttext") or ""
    if not text:
        notes = [node for node in math.iter() if str(node.tag).endswith("annotation")]
        text = next((node.text or "" for node in notes if "tex" in node.get("encoding", "")), "")
    return text or _SPACE.sub(" ", "".join(math.itertext())).strip()


def _table(table: Any) -> str:
    """Return the rows of a data table; empty for a layout table."""
    rows = [
        [_SPACE.sub(" ", "".join(cell.itertext())).strip() for cell in row.iter("td", "th")]
        for row in table.iter("tr")
    ]
    return "" if table.find(".//table") is not None or only_lays_out(rows) else rows_text(rows)


# Separate a web page's main text from the site's navigation.

_MAIN_TEXT_SPACE = re.compile(r"\s+")


_LINKED = 0.6  # of a block's words: a menu


_LEAST = 25  # characters without spaces that identify a block


_TRUSTED = 0.3  # of the letters outside menus that must be recognized as text


def main_text(blocks: Sequence[WebBlock], extracted: str) -> list[WebBlock]:
    """Return the blocks from the first to the last one in ``extracted``, and the headings before.

    ``extracted`` is the main text by another extraction, which loses headings and code. Menus among
    the blocks are left out. If that extraction found little, returns all blocks except menus.
    """
    text = _MAIN_TEXT_SPACE.sub("", extracted)
    plain = [block for block in blocks if block.linked <= _LINKED or block.kind == "heading"]
    known = [place for place, block in enumerate(plain) if _stands_in(block.text, text)]
    n_known = sum(len(plain[place].text) for place in known)
    if not known or n_known < _TRUSTED * sum(len(block.text) for block in plain):
        return plain
    first, last = known[0], known[-1]
    while first and plain[first - 1].kind == "heading":
        first -= 1
    return plain[first : last + 1]


def _stands_in(text: str, main: str) -> bool:
    """Return True if the main text contains the beginning or the end of a block."""
    plain = _MAIN_TEXT_SPACE.sub("", text.lstrip(" -"))
    if len(plain) < _LEAST:
        return False
    return plain[: 2 * _LEAST] in main or plain[-2 * _LEAST :] in main


# Read an HTML file as blocks, with its metadata.

READER = "html 1"  # change this with every change that can alter a text


MAX_BYTES = 32 * 2**20


_AUTHORS = ("author", "dc.creator", "dcterms.creator", "citation_author")


_DATES = (
    "date", "dc.date", "dcterms.date", "dcterms.issued", "citation_publication_date",
    "citation_date", "article:published_time",
)  # fmt: skip


_TITLES = ("citation_title", "dc.title", "og:title")


_AND = re.compile(r"\s*(?:;|、|，)\s*")


def read_web_page(path: Path) -> Written:
    """Return the main text of an HTML file, packed or not.

    Raises ExtraMissing without trafilatura; BadInput for a file that is too large, damaged or
    without text.
    """
    message = f"{path.name} is HTML, and its reader is not installed"
    with needed(message, "pip install 'proofstone[html]'"):
        import lxml.html  # noqa: PLC0415 - in an extra
        import trafilatura  # noqa: PLC0415 - in an extra
    data = _bytes(path)
    try:
        root = lxml.html.document_fromstring(
            data, parser=lxml.html.HTMLParser(encoding=_encoding(data), no_network=True)
        )
    except (lxml.etree.LxmlError, ValueError) as cause:
        raise BadInput(f"{path.name} is not valid HTML: {cause}") from cause
    main = _main_element(root)
    found = list(bounded(blocks_in(root if main is None else main), path.name))
    extracted = _extracted(trafilatura, root) if main is None else ""
    blocks = as_blocks(main_text(found, extracted))
    check_text(blocks, path.name, without=())
    meta = _meta(root)
    stated = [text for name in _AUTHORS for text in meta.get(name, ())]
    authors = [part for text in stated for part in _AND.split(text)]
    return Written(
        pages=[blocks],
        title=_title(root, meta, blocks),
        authors=tuple(dict.fromkeys(part for part in authors if part)),
        year=stated_year(text for name in _DATES for text in meta.get(name, ())),
        language=_language(root, blocks),
    )


def _bytes(path: Path) -> bytes:
    if path.suffix.lower() != ".gz" and (size := path.stat().st_size) > MAX_BYTES:
        raise BadInput(
            f"{path.name} has {size:,} bytes; the limit for HTML is {MAX_BYTES:,}", hint="split it"
        )
    return read_whole_file(path, limit=MAX_BYTES)


def _encoding(data: bytes) -> str | None:
    """Return UTF-8 if the data are valid, otherwise the declared encoding."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _main_element(root: Any) -> Any:
    """Return the single element marked as the page's main text; None without a single one."""
    for name in ("main", "article"):
        named = root.findall(f".//{name}")
        if len(named) == 1 and "".join(named[0].itertext()).strip():
            return named[0]
    return None


def _extracted(trafilatura: Any, root: Any) -> str:
    """Return the main text by trafilatura; empty if it finds none, or fails on deep nesting."""
    try:
        text = trafilatura.extract(
            deepcopy(root), favor_recall=True, include_comments=False, include_tables=True,
            deduplicate=False, output_format="txt",
        )  # fmt: skip
    except RecursionError:
        return ""
    return text or ""


def as_blocks(found: Iterable[WebBlock]) -> list[Block]:
    """Return HTML blocks as document blocks; consecutive items become one list."""
    made = (
        Block(block.kind, block.text.lstrip("\n").rstrip(), level=block.level) for block in found
    )
    return grouped(made)


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

"""The blocks of a page's wikitext."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.raised import set_off
from proofstone.engines.ingest.wiki.sections import without_apparatus
from proofstone.engines.ingest.wiki.templates import DASHES, TEXT_IN, is_box
from proofstone.errors import BadInput, ExtraMissing
from proofstone.records import MarkKind

__all__ = ["wikitext_blocks"]

_SPACE = re.compile(r"[ \t\u00a0\n]+")
_MAGIC = re.compile(r"__[A-Z]{3,30}__|-\{(?:[a-zA-Z-]*\|)?([^{}|;]{0,200})\}-")
_GONE = {
    "ref", "references", "gallery", "timeline", "score", "graph", "imagemap", "style",
    "templatestyles",
    "mapframe", "maplink", "section", "hr", "indicator", "inputbox", "categorytree",
}  # fmt: skip
_FILES = re.compile(r"\s*(file|image|文件|檔案|图像|datei|fichier|media)\s*:", re.IGNORECASE)
_NO_TEXT = re.compile(
    r"\s*(category|分类|分類|kategorie|catégorie|[a-z]{2,3}(-[a-z]+)?)\s*:\S", re.IGNORECASE
)
_IMAGE_WORD = re.compile(
    r"(thumb(nail)?|frame(d|less)?|border|left|right|center|none|upright(=.*)?|\d*x?\d+px|"
    r"(alt|link|page|class|lang)=.*|缩略图|縮圖|右|左)$", re.IGNORECASE
)  # fmt: skip
_CODE = {"syntaxhighlight", "source", "pre"}
_RAW = {"math", "chem", "ce", "nowiki", "code", "tt", "kbd"} | _CODE
_BLOCKS = {"div", "blockquote", "p", "center", "poem", "li", "ul", "ol", "dl", "section"}
_DEEPEST = 40
_FEWEST = 2  # facts that make a box a table


def wikitext_blocks(text: str) -> list[Block]:
    """The blocks of a page. References, categories and what only a wiki could expand are left out;
    a box of facts is a table, formulas are TeX.

    Raises ExtraMissing without mwparserfromhell, BadInput where a page is nested without end.
    """
    try:
        import mwparserfromhell  # noqa: PLC0415 - in an extra
    except ImportError as missing:
        raise ExtraMissing(
            "This is wikitext, and what reads that is not installed.",
            hint="pip install 'proofstone[wiki]'",
        ) from missing
    plain = _MAGIC.sub(lambda found: found[1] or "", text)
    page = _Page()
    try:
        page.inside(mwparserfromhell.parse(plain, skip_style_tags=False))
    except (RecursionError, mwparserfromhell.parser.ParserError) as cause:
        raise BadInput("The page is nested without end.") from cause
    page.end()
    return list(without_apparatus(page.blocks))


class _Page:
    def __init__(self, depth: int = 0) -> None:
        self.blocks: list[Block] = []
        self._pieces: list[str] = []
        self._mark = ""
        self._depth = depth

    def inside(self, code: Any) -> None:
        """Takes in the nodes of a piece of wikitext."""
        for node in code.nodes:
            _NODES.get(type(node).__name__, _Page.nothing)(self, node)

    def words(self, code: Any) -> str:
        """The text of a piece, on one line."""
        if code is None or self._depth >= _DEEPEST:
            return ""
        inner = _Page(self._depth + 1)
        inner.inside(code)
        inner.end()
        texts = (f"${b.text}$" if b.kind == "equation" else b.text for b in inner.blocks)
        return _SPACE.sub(" ", " ".join(texts)).strip()

    def end(self, kind: MarkKind = "text") -> None:
        """Ends the open paragraph or item."""
        text = _SPACE.sub(" ", "".join(self._pieces)).strip()
        mark, self._mark, self._pieces = self._mark, "", []
        if not text:
            return
        if len(text) > 2 and text.startswith("$") and text.find("$", 1) == len(text) - 1:
            self.blocks.append(Block("equation", text[1:-1]))
        elif not mark:
            self.blocks.append(Block(kind, text))
        elif self.blocks and self.blocks[-1].kind == "list":
            self.blocks[-1] = Block("list", f"{self.blocks[-1].text}\n{mark}{text}")
        else:
            self.blocks.append(Block("list", f"{mark}{text}"))

    def _add(self, block: Block) -> None:
        self.end()
        self.blocks.append(block)

    def nothing(self, _node: Any) -> None:
        """Passes over a node."""
        return

    def text(self, node: Any) -> None:
        """Takes in text; an item of a list ends with its line."""
        lines = str(node).split("\n")
        for place, line in enumerate(lines):
            is_empty = not line.strip() and place < len(lines) - 1
            if place and (self._mark or is_empty):
                self.end()
            self._pieces.append(f"{' ' if place else ''}{line}")

    def entity(self, node: Any) -> None:
        """Takes in a character by its name or number."""
        try:
            self._pieces.append(node.normalize())
        except (ValueError, OverflowError):
            return

    def heading(self, node: Any) -> None:
        """Begins a section."""
        self.end()
        title = self.words(node.title)
        if title:
            self.blocks.append(Block("heading", title, level=node.level))

    def link(self, node: Any) -> None:
        """Takes in what a link shows."""
        title = str(node.title)
        if _FILES.match(title):
            self._image(node)
        elif not _NO_TEXT.match(title):
            shown = node.title if node.text is None else node.text
            self._pieces.append(self.words(shown).lstrip(":"))

    def _image(self, node: Any) -> None:
        """A figure, with its caption; one within a sentence does not end it."""
        parts = "" if node.text is None else str(node.text)
        waiting, mark = self._pieces, self._mark
        self._pieces, self._mark = [], ""
        self.blocks.append(Block("figure", ""))
        last = parts.rpartition("|")[2] if "[[" not in parts and "{{" not in parts else ""
        caption = last if last and not _IMAGE_WORD.match(last.strip()) else ""
        if not caption and node.text is not None:
            shown = self.words(node.text)
            kept = [part for part in shown.split("|") if not _IMAGE_WORD.match(part.strip())]
            caption = kept[-1] if kept else ""
        if caption := _SPACE.sub(" ", re.sub(r"'{2,}", "", caption)).strip():
            self.blocks.append(Block("caption", caption))
        self._pieces, self._mark = waiting, mark

    def address(self, node: Any) -> None:
        """Takes in what a link to elsewhere shows."""
        if node.title is not None:
            self._pieces.append(self.words(node.title))
        elif not node.brackets:
            self._pieces.append(str(node.url))

    def template(self, node: Any) -> None:
        """Takes in what stands for a template."""
        name = " ".join(str(node.name).split()).casefold()
        if is_box(name):
            self._box(node)
        elif name in DASHES:
            self._pieces.append(DASHES[name])
        elif name in TEXT_IN:
            self._pieces.append(self._argument(node, TEXT_IN[name]))
        elif name in {"convert", "cvt"}:
            self._pieces.append(f"{self._argument(node, '1')} {self._argument(node, '2')}")
        elif name in {"frac", "sfrac", "fraction"}:
            parts = [part for key in "123" if (part := self._argument(node, key))]
            self._pieces.append(
                "/".join(parts[-2:]) if len(parts) < 3 else f"{parts[0]} {parts[1]}/{parts[2]}"
            )

    def _argument(self, node: Any, name: str) -> str:
        return self.words(node.get(name).value) if node.has(name) else ""

    def _box(self, node: Any) -> None:
        rows = []
        for param in node.params:
            key, value = str(param.name).strip().replace("_", " "), self.words(param.value)
            if value and not key.isdigit() and not key.startswith(("image", "alt", "caption")):
                rows.append(f"{key} | {value}")
        if len(rows) >= _FEWEST:
            self._add(Block("table", "\n".join(rows)))

    def tag(self, node: Any) -> None:
        """Takes in an element, or markup that stands for one."""
        name = str(node.tag).strip().casefold()
        if node.wiki_markup and name in {"li", "dt", "dd"}:
            self._item(str(node.wiki_markup))
        elif name in _GONE:
            return
        elif name == "table":
            self._table(node)
        elif name in _RAW:
            self._raw(name, str(node.contents))
        elif name == "br":
            self._pieces.append(" ")
        elif name in {"sup", "sub"}:
            self._pieces.append(set_off(name, self.words(node.contents)))
        elif node.contents is not None:
            self._around(name, node.contents)

    def _around(self, name: str, contents: Any) -> None:
        if name in _BLOCKS:
            self.end()
        self.inside(contents)
        if name in _BLOCKS:
            self.end()

    def _raw(self, name: str, text: str) -> None:
        """What is no wikitext: formulas and code."""
        if name in {"math", "chem", "ce"}:
            tex = _SPACE.sub(" ", text).strip()
            self._pieces.append(f"${tex}$" if tex else "")
        elif name in _CODE and "\n" in text:
            self._add(Block("code", text.strip("\n").rstrip()))
        else:
            self._pieces.append(text)

    def _item(self, sign: str) -> None:
        if not self._mark or "".join(self._pieces).strip():
            self.end()
            self._mark = "- "
        else:  # a sign behind a sign: further in
            self._mark = "  " + self._mark

    def _table(self, node: Any) -> None:
        rows, caption = [], ""
        for part in node.contents.nodes:
            name = str(getattr(part, "tag", "")).strip()
            if name == "caption":
                caption = self.words(part.contents)
            cells = _cells(part) if name == "tr" else []
            if texts := [self.words(cell.contents) for cell in cells]:
                rows.append(texts)
        loose = [self.words(cell.contents) for cell in _cells(node)]
        if loose and loose[0].startswith("+"):  # the parser takes a caption for a cell
            caption, loose = loose[0][1:].strip(), loose[1:]
        rows = [loose, *rows] if loose else rows
        if caption:
            self._add(Block("caption", caption))
        text = "\n".join(" | ".join(row).strip() for row in rows if any(row))
        if text and max(map(len, rows)) > 1:
            self._add(Block("table", text))
        elif text:
            for line in text.split("\n"):
                self._add(Block("text", line))


def _cells(row: Any) -> list[Any]:
    return [
        node for node in row.contents.nodes if str(getattr(node, "tag", "")).strip() in {"td", "th"}
    ]


_NODES: dict[str, Callable[[_Page, Any], None]] = {
    "Text": _Page.text,
    "HTMLEntity": _Page.entity,
    "Heading": _Page.heading,
    "Wikilink": _Page.link,
    "ExternalLink": _Page.address,
    "Template": _Page.template,
    "Tag": _Page.tag,
}

"""The blocks of an HTML document in its order, from what its elements mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from proofstone.engines.ingest.raised import set_off
from proofstone.records import MarkKind

__all__ = ["WebBlock", "blocks_in"]

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
_CELL = 400  # characters: longer ones are laid out by a table, not tabulated
_CELLS = " | "


@dataclass(frozen=True, slots=True)
class WebBlock:
    """A block of an HTML document; ``linked`` is the share of its letters that are links."""

    kind: MarkKind
    text: str
    level: int = 0
    linked: float = 0.0


@dataclass
class _Open:
    """The text since the last edge of a block."""

    pieces: list[str] = field(default_factory=list)
    n_linked: int = 0


def blocks_in(body: Any) -> Iterator[WebBlock]:
    """The blocks of an lxml element, none of them empty.

    Text right in a container is a paragraph. Items of a list stand behind a dash, those of a list
    within it further in. Tables keep their rows; one that only lays out its page is a container.
    """
    walk = _Walk()
    # No recursion: a document may be nested as deeply as it likes.
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
            elif name == "table" and (rows := _rows(element)):
                walk.close()
                walk.found.append(WebBlock("table", "\n".join(rows)))
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
    """What is open while the elements come by."""

    def __init__(self) -> None:
        self.found: list[WebBlock] = []
        self._names: list[str] = []
        self._open = _Open()
        self._links = 0

    def take(self) -> list[WebBlock]:
        """The blocks found since the last call."""
        found, self.found = self.found, []
        return found

    def say(self, text: str | None) -> None:
        """Adds text to what is open."""
        if text:
            self._open.pieces.append(text)
            if self._links:
                self._open.n_linked += len(text.split())

    def enter(self, name: str, element: Any) -> None:
        """An element begins."""
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
        """An element ends."""
        was_entered = bool(self._names) and self._names[-1] == name
        if was_entered:
            if name not in _INLINE and name != "br":
                self.close()
            self._names.pop()
            self._links -= name == "a"
        self.say(element.tail)

    def close(self) -> None:
        """Ends the open text as a block."""
        pieces, self._open = self._open, _Open()
        raw = "".join(pieces.pieces)
        kind, level = self._kind()
        text = raw.strip("\n").rstrip() if kind == "code" else _SPACE.sub(" ", raw).strip()
        if not text.strip():
            return
        linked = pieces.n_linked / max(1, len(text.split()))
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
    """A formula as its author's TeX, where that is kept beside it, else its characters."""
    text = math.get("alttext") or ""
    if not text:
        notes = [node for node in math.iter() if str(node.tag).endswith("annotation")]
        text = next((node.text or "" for node in notes if "tex" in node.get("encoding", "")), "")
    return text or _SPACE.sub(" ", "".join(math.itertext())).strip()


def _rows(table: Any) -> list[str]:
    """The rows of a table that tabulates; empty where it only lays out a page."""
    if table.find(".//table") is not None:
        return []
    rows = []
    widest = 0
    for row in table.iter("tr"):
        cells = [_SPACE.sub(" ", "".join(cell.itertext())).strip() for cell in row.iter("td", "th")]
        if any(len(cell) > _CELL for cell in cells):
            return []
        widest = max(widest, len(cells))
        if any(cells):
            rows.append(_CELLS.join(cells).strip())
    return rows if widest > 1 else []

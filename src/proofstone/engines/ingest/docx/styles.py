"""What the styles of a DOCX mean: headings with their level, captions, code, contents."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from proofstone.engines.ingest.docx.names import attribute, child, local, value
from proofstone.records import MarkKind

__all__ = ["PLAIN", "Style", "read_styles", "stated_language"]

_MOST_PARENTS = 20  # a style may name itself among its own
_HEADING = re.compile(r"heading ([1-9])$")
_NAMED: tuple[tuple[re.Pattern[str], MarkKind], ...] = (
    (re.compile(r"caption"), "caption"),
    (re.compile(r"toc( |\d|$)|index \d|table of |bibliography"), "contents"),
    (re.compile(r"(footnote|endnote) text"), "note"),
    (re.compile(r"html preformatted|preformatted|source code|verbatim|code( |$)"), "code"),
)


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph's style: its kind, the level of a heading (else 0), and its list, if any, as
    (numbering, level)."""

    kind: MarkKind = "text"
    level: int = 0
    numbering: tuple[str, int] | None = None
    is_title: bool = False


PLAIN = Style()


def read_styles(root: Any) -> dict[str, Style]:
    """Style by id. What a style does not say is said by the one that it is based on."""
    own = {
        attribute(style, "styleId"): style
        for style in root
        if local(style) == "style" and attribute(style, "type") in {"paragraph", ""}
    }
    return {name: _style(_chain(own, name)) for name in own}


def _chain(own: dict[str, Any], name: str) -> list[Any]:
    """A style and those that it is based on, nearest first."""
    found: list[Any] = []
    while name in own and len(found) < _MOST_PARENTS:
        found.append(own[name])
        name = value(own[name], "basedOn")
    return found


def _style(chain: list[Any]) -> Style:
    names = [value(style, "name").lower() for style in chain]
    level = next((level for style in chain if (level := _stated_level(style))), 0)
    is_title = names[0] == "title"
    if level or is_title:
        return Style("heading", level or 1, is_title=is_title)
    kinds = (kind for name in names for pattern, kind in _NAMED if pattern.match(name))
    return Style(next(kinds, "text"), numbering=_numbering(chain))


def _stated_level(style: Any) -> int:
    """The level of a heading by a style's own name or outline, else 0."""
    named = _HEADING.match(value(style, "name").lower())
    return int(named[1]) if named else _level(value(style, "pPr", "outlineLvl"))


def _level(text: str) -> int:
    """The level from 1 that an outline's level from 0 stands for; 9 is body text."""
    return int(text) + 1 if text.isascii() and text.isdigit() and int(text) < 9 else 0


def _numbering(chain: list[Any]) -> tuple[str, int] | None:
    for style in chain:
        number = value(style, "pPr", "numPr", "numId")
        if number:
            depth = value(style, "pPr", "numPr", "ilvl")
            return (number, int(depth) if depth.isdigit() else 0) if number != "0" else None
    return None


def stated_language(root: Any) -> str:
    """The language that the file sets for what is written in an alphabet; empty where none."""
    return value(child(root, "docDefaults"), "rPrDefault", "rPr", "lang") if len(root) else ""

"""Formulas in a text, and MathML of them for pages.

A formula is LaTeX within ``$...$``, ``$$...$$``, ``\\(...\\)`` or ``\\[...\\]``. Prices are none:
an opening dollar sign precedes a character that is not a space, a closing one follows such a
character and precedes no digit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, NamedTuple
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_CLOSES = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}
_SIGN = re.compile(r"\\.|\$\$|\$", re.DOTALL)
_MOST_CHARACTERS = 2_000  # of a formula that is converted

_DEEPEST = 100  # elements around another

# Commands that define others could make a formula grow without bound.
_DEFINES = re.compile(r"\\(?:re)?newcommand|\\def|\\let|\\gdef|\\providecommand")
_COMMAND = re.compile(r"\\[A-Za-z]")
_TAGS = {
    "math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac",
    "msqrt", "mroot", "munder", "mover", "munderover", "mtable", "mtr", "mtd", "mpadded",
    "mphantom", "menclose", "mstyle", "mmultiscripts", "mprescripts", "none",
}  # fmt: skip
_ATTRIBUTES = {
    "display", "mathvariant", "stretchy", "fence", "separator", "form", "lspace", "rspace",
    "minsize", "maxsize", "movablelimits", "linethickness", "width", "height", "depth",
    "columnalign", "rowspacing", "columnspacing", "notation", "displaystyle", "scriptlevel",
    "accent", "accentunder",
}  # fmt: skip
_PARTS = {
    "mfrac": 2, "msub": 2, "msup": 2, "mroot": 2, "munder": 2, "mover": 2, "msubsup": 3,
    "munderover": 3,
}  # fmt: skip
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


class Piece(NamedTuple):
    """A piece of a text: the LaTeX of a formula within ``opens`` and its close, or prose ("").

    ``stray`` is set for prose that is only a sign that opens a formula without a close.
    """

    text: str
    opens: str = ""
    stray: bool = False

    @property
    def whole(self) -> str:
        """The piece as it is in the text."""
        return f"{self.opens}{self.text}{_CLOSES[self.opens]}" if self.opens else self.text


def pieces(text: str) -> Iterator[Piece]:
    """Yield prose and formulas in order; together they are the text."""
    at = start = 0
    while found := _SIGN.search(text, at):
        at = found.end()
        if found[0] not in _CLOSES:
            continue
        end = _close(text, found[0], at)
        if start < found.start():
            yield Piece(text[start : found.start()])
        if end < 0:
            yield Piece(found[0], stray=True)
        else:
            yield Piece(text[at:end], found[0])
            at = end + len(found[0])
        start = at
    if start < len(text):
        yield Piece(text[start:])


def _close(text: str, sign: str, at: int) -> int:
    """Return where the formula that starts at ``at`` is closed; -1 if nowhere."""
    if sign == "$" and text[at : at + 1].strip() == "":
        return -1
    for found in _SIGN.finditer(text, at):
        end = found.start()
        if "\n\n" in text[at:end]:
            return -1
        if found[0] == _CLOSES[sign]:
            closes = not text[end - 1].isspace() and not text[end + 1 : end + 2].isdigit()
            return end if sign != "$" or closes else -1
        if found[0] == "$$" and sign == "$":
            return -1
    return -1


@lru_cache(maxsize=4096)
def mathml(formula: str, *, display: bool = False) -> str:
    """Return MathML of LaTeX, with the LaTeX as an annotation. Raises ValueError if it is none.

    The result has only elements and attributes of MathML that lay out a formula.
    """
    from latex2mathml.converter import Converter  # noqa: PLC0415 - reads tables of symbols

    if len(formula) > _MOST_CHARACTERS:
        raise ValueError(f"a formula of more than {_MOST_CHARACTERS:,} characters")
    if found := _DEFINES.search(formula):
        raise ValueError(f"{found[0]} defines a command")
    if not formula.strip():
        raise ValueError("an empty formula")
    if not _is_balanced(formula):
        raise ValueError("braces do not match")
    mode = "block" if display else "inline"
    try:
        made = Converter(display=mode).convert_to_element(formula)
    except Exception as failure:  # it has many of its own, and others come of malformed input
        raise ValueError(_told(failure)) from failure
    inside = "".join(map(_written, made))
    source = f'<annotation encoding="application/x-tex">{escape(formula)}</annotation>'
    return f'<math display="{mode}"><semantics>{inside}{source}</semantics></math>'


def _is_balanced(formula: str) -> bool:
    depth = 0
    for sign in _BRACE.findall(formula):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _told(failure: Exception) -> str:
    """Return the name of the converter's error in words: "extra left or missing right"."""
    if type(failure).__module__ != "latex2mathml.exceptions":
        return "it is not LaTeX"
    words = re.findall(r"[A-Z][a-z0-9]*", type(failure).__name__.removesuffix("Error"))
    return " ".join(words).lower()


def _written(element: Element, depth: int = 0) -> str:
    """Return an element as text. The texts of the converter have entities and no markup."""
    if element.tag not in _TAGS:
        raise ValueError(f"{element.tag} is not an element of a formula")
    if len(element) != _PARTS.get(element.tag, len(element)):
        raise ValueError("a fraction, root, index or limit lacks a part")
    attributes = "".join(
        f" {name}={quoteattr(value)}"
        for name, value in element.attrib.items()
        if name in _ATTRIBUTES
    )
    text = unescape(element.text or "")
    if element.tag == "mi" and _COMMAND.match(text):
        raise ValueError(f"{text} is not a known command")
    if depth > _DEEPEST:
        raise ValueError(f"groups within more than {_DEEPEST} others")
    inside = "".join(_written(each, depth + 1) for each in element)
    tail = escape(unescape(element.tail or ""))
    return f"<{element.tag}{attributes}>{escape(text)}{inside}</{element.tag}>{tail}"

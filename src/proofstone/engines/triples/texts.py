"""One text between quotes, as JSON writes it or nearly so: where it ends, and what it says.

Models leave quotes within a text as they are, and forget the one that closes it. So a quote ends a
text only where what follows it could follow a text; and where a line ends, or another key begins,
before such a quote came, the text was never closed, and how far it was meant to go is not guessed.
"""

from __future__ import annotations

import re

from msgspec import Struct

from proofstone.engines.triples.found import Fault, UnreadWhy

__all__ = ["KEY_AHEAD", "QUOTES", "QuotedText", "read_key", "read_text"]

QUOTES = {'"': '"', "'": "'", "“": "”"}
_KEY_LONGEST = 200
# A key with its colon; one that the end of the reply cuts off is one too, and one of ours without.
_KEY = (
    rf"""["'“](?:[^"'”\n]{{0,{_KEY_LONGEST}}}(?:["'”]\s*(?::|\Z)|\Z)"""
    r"""|(?:subject|predicate|object)["'”])"""
)
KEY_AHEAD = re.compile(rf"{_KEY}|[A-Za-z_]\w{{0,40}}\s*:")
_QUOTED_KEY = re.compile(_KEY)
_SPACE = re.compile(r"\s*")
_PLAIN = {close: re.compile(rf"[^{close}\\\n]*") for close in QUOTES.values()}
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.?)", re.DOTALL)
_ESCAPED = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_CONTROL = re.compile(r"[\x00-\x1f]")


class QuotedText(Struct, frozen=True, gc=False):
    """A text that ends before ``end``; where ``why`` is given there is none, and reading goes on at
    ``end``."""

    text: str
    end: int
    faults: tuple[Fault, ...] = ()
    why: UnreadWhy | None = None


def read_key(text: str, at: int) -> QuotedText:
    """The key whose opening quote stands at ``at``: it ends at the next such quote of its line."""
    close = QUOTES[text[at]]
    end = at + 1
    while True:
        end = _plain_end(text, end, close)
        if end >= len(text):
            return QuotedText("", len(text), why="cut off")
        if text[end] == "\n":
            return QuotedText("", end, why="end not clear")
        if text[end] == close:
            return _decoded(text[at + 1 : end], end + 1, set(), text[at])
        end += 2


def read_text(text: str, at: int, *, in_array: bool, is_strict: bool) -> QuotedText:
    """The text whose opening quote stands at ``at``. In JSON that is known to be valid
    (``is_strict``) it ends at the first quote that is not escaped."""
    close, faults = QUOTES[text[at]], set[Fault]()
    end = at + 1
    while True:
        end = _plain_end(text, end, close)
        if end >= len(text):
            return QuotedText("", len(text), why="cut off")
        sign = text[end]
        if sign == "\\":
            end += 2
        elif sign == "\n":
            line = _after_space(text, end)
            if text[line : line + 1] in ("{", "}", "]") or _QUOTED_KEY.match(text, line):
                return QuotedText("", end, why="end not clear")
            end = line
        elif is_strict or _closes(text, end + 1, in_array=in_array):
            return _decoded(text[at + 1 : end], end + 1, faults, text[at])
        elif end > at + 1 and _QUOTED_KEY.match(text, end):
            return QuotedText("", _record_before(text, at + 1, end), why="end not clear")
        elif _is_separator(text, _after_space(text, end + 1)):
            return QuotedText("", end + 1, why="end not clear")
        else:
            faults.add("inner quotes")
            end += 1


def _plain_end(text: str, at: int, close: str) -> int:
    found = _PLAIN[close].match(text, at)
    return len(text) if found is None else found.end()


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return at if found is None else found.end()


def _closes(text: str, after: int, *, in_array: bool) -> bool:
    """Whether what stands behind a quote could stand behind the text that it closes."""
    at = _after_space(text, after)
    sign = text[at : at + 1]
    if sign in ("", "}", "]"):
        return True
    if sign == ",":
        at = _after_space(text, at + 1)
        next_sign = text[at : at + 1]
        return in_array or next_sign in ("", "}", "]", "{") or bool(KEY_AHEAD.match(text, at))
    # A comma or a brace was left out before the next key or record.
    return sign == "{" or (at > after and bool(_QUOTED_KEY.match(text, at)))


def _is_separator(text: str, at: int) -> bool:
    """Whether a quote before this place seems to close a text, though what follows says not."""
    return text[at : at + 1] in (",", ":")


def _record_before(text: str, start: int, key: int) -> int:
    """Where the record of a key begins, if its brace stands right before it, else the key."""
    at = key
    while at > start and text[at - 1].isspace():
        at -= 1
    return at - 1 if at > start and text[at - 1] == "{" else key


def _decoded(raw: str, end: int, faults: set[Fault], quote: str) -> QuotedText:
    if quote != '"':
        faults.add("quotes")
    if _CONTROL.search(raw):
        faults.add("control characters")
    said = raw
    if "\\" in raw:
        said = _ESCAPE.sub(lambda found: _unescaped(found[1], faults), raw)
        try:  # the halves of pairs become one character; a lone half is none
            said = said.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
        except UnicodeDecodeError:
            return QuotedText("", end, why="no text")
    if "\0" in said:
        return QuotedText("", end, why="no text")
    return QuotedText(said, end, tuple(sorted(faults)))


def _unescaped(sign: str, faults: set[Fault]) -> str:
    if len(sign) == 5:
        return chr(int(sign[1:], 16))
    if sign in _ESCAPED:
        return _ESCAPED[sign]
    faults.add("escapes")
    return sign if sign == "'" else f"\\{sign}"

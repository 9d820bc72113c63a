"""Where the passages of a text begin and end: paragraphs, and Markdown's blocks kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Span", "markdown_spans", "paragraph_spans"]

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_INDENTED = re.compile(r" {2,}|\t")


class Span(NamedTuple):
    """Code points [start, end) of a text, no white space at either end, under a heading."""

    start: int
    end: int
    heading: str = ""


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> Iterator[_Line]:
    """The lines of a text; CR, LF and CRLF end one, and no other character does."""
    for found in _LINE.finditer(text):
        if found.end() > found.start():
            yield _Line(found.start(), found.end(), found[0].rstrip("\r\n"))


def _trimmed(text: str, start: int, end: int, heading: str = "") -> Span:
    """The span of lines that are not all blank, without the white space at its ends."""
    body = text[start:end]
    start += len(body) - len(body.lstrip())
    end -= len(body) - len(body.rstrip())
    return Span(start, end, heading)


def paragraph_spans(text: str) -> list[Span]:
    """The runs of lines between blank lines, in order; none in a text of white space."""
    return list(_runs(text, _lines(text)))


def _runs(text: str, lines: Iterable[_Line]) -> Iterator[Span]:
    start = end = -1
    for line in lines:
        if line.is_blank:
            if start >= 0:
                yield _trimmed(text, start, end)
            start = -1
        else:
            start = line.start if start < 0 else start
            end = line.end
    if start >= 0:
        yield _trimmed(text, start, end)


def markdown_spans(text: str) -> tuple[list[Span], str]:
    """The blocks of a Markdown text, each under its path of headings, and the first title.

    A fenced code block and a list (with what is indented under its points) are each one block; a
    paragraph, quotation or table is a run of lines. ``Part > Section`` is a path; the title is
    the first heading of level 1, or empty.
    """
    blocks = _Blocks(text)
    for line in _lines(text):
        blocks.take(line)
    blocks.close()
    return blocks.spans, blocks.title


class _Blocks:
    """One pass over the lines; what is open is a fence, a list, a paragraph or nothing."""

    def __init__(self, text: str) -> None:
        self.spans: list[Span] = []
        self.title = ""
        self._text = text
        self._path: dict[int, str] = {}
        self._kind = ""
        self._start = 0
        self._end = 0
        self._fence = ""
        self._after_blank = False

    def take(self, line: _Line) -> None:
        """Puts one line where it belongs."""
        if self._kind == "fence":
            self._end = line.end
            if self._closes_fence(line.text):
                self.close()
        elif line.is_blank:
            if self._kind == "paragraph":
                self.close()
        elif self._goes_on_in_list(line.text):
            self._end = line.end
        else:
            self._begin(line)
        self._after_blank = line.is_blank

    def _goes_on_in_list(self, text: str) -> bool:
        if self._kind != "list":
            return False
        if _INDENTED.match(text) or _LIST.match(text):
            return True
        # A line right under a point goes on with it; after an empty line it is a new paragraph.
        return not self._after_blank and not _ATX.match(text) and not _FENCE.match(text)

    def _begin(self, line: _Line) -> None:
        fence, heading = _FENCE.match(line.text), _ATX.match(line.text)
        underline = _SETEXT.match(line.text) if self._kind == "paragraph" else None
        if fence:
            self._open("fence", line)
            self._fence = fence[1]
        elif heading:
            self.close()
            self._enter(len(heading[1]), heading[2] or "")
        elif underline:
            title = self._text[self._start : self._end]
            self._kind = ""
            self._enter(1 if underline[1][0] == "=" else 2, " ".join(title.split()))
        elif self._kind == "paragraph":
            self._end = line.end
        else:
            self._open("list" if _LIST.match(line.text) else "paragraph", line)

    def _open(self, kind: str, line: _Line) -> None:
        self.close()
        self._kind, self._start, self._end = kind, line.start, line.end

    def close(self) -> None:
        """Ends the open block, if any, as a span."""
        if self._kind:
            heading = " > ".join(self._path[level] for level in sorted(self._path))
            self.spans.append(_trimmed(self._text, self._start, self._end, heading))
        self._kind = ""

    def _closes_fence(self, text: str) -> bool:
        mark = text.strip()
        return len(mark) >= len(self._fence) and not mark.strip(self._fence[0])

    def _enter(self, level: int, name: str) -> None:
        self._path = {depth: there for depth, there in self._path.items() if depth < level}
        if name.strip():
            self._path[level] = name.strip()
        if level == 1:
            self.title = self.title or name.strip()

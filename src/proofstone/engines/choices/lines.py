"""The last line of a reply: the last that says something, without what generation leaves behind."""

from __future__ import annotations

import re

from msgspec import Struct

__all__ = ["Line", "first_line", "last_line"]

# Of a longer line only this many characters are read.
LONGEST_LINE = 4096
# Nothing is said where more characters than this are markup and white space.
_LONGEST_MARKUP = 16_384

_MARKUP = " \t\r\n\f\v\u3000*_`#~|=+-—>.。,，;；:：!！?？\"'“”’()（）[]【】{}$\\/"
_END_TOKEN = re.compile(r"<\|?/?[A-Za-z_]{1,16}$")


class Line(Struct, frozen=True):
    """A line of a text and the place of its first character."""

    text: str
    start: int
    whole: bool = True


def last_line(text: str) -> Line:
    """The last line with a letter or digit in it; of a very long one the last 4,096 characters."""
    said = _without_end_tokens(text)
    start = text.rfind("\n", 0, said) + 1
    stop = text.find("\n", said)
    stop = len(text) if stop < 0 else stop
    stop = min(stop, said + LONGEST_LINE)
    whole = stop - start <= LONGEST_LINE
    start = start if whole else stop - LONGEST_LINE
    return Line(text[start:stop], start, whole)


def _without_end_tokens(text: str) -> int:
    """Where the text ends without markup, closing tags and end-of-text tokens."""
    said = _said_until(text, len(text))
    for _ in range(4):
        match = _END_TOKEN.search(text, max(0, said - 20), said)
        if match is None or text[said : said + 1] not in {">", "|"}:
            break
        said = _said_until(text, match.start())
    return said


def _said_until(text: str, stop: int) -> int:
    """Where the last character before ``stop`` ends that is not markup."""
    begin = max(0, stop - _LONGEST_MARKUP)
    return begin + len(text[begin:stop].rstrip(_MARKUP))


def first_line(text: str) -> Line:
    """The first line with a letter or digit in it, of a very long one the start."""
    head = text[:_LONGEST_MARKUP]
    start = len(head) - len(head.lstrip(_MARKUP))
    stop = text.find("\n", start, start + LONGEST_LINE)
    begin = text.rfind("\n", 0, start) + 1
    begin = max(begin, start - 16)
    return Line(text[begin : start + LONGEST_LINE if stop < 0 else stop], begin)

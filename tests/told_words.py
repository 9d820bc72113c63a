"""The English words that a Chinese page shows, hears or speaks."""

from __future__ import annotations

import re
from html.parser import HTMLParser

__all__ = ["english_in"]

_READ = {"aria-label", "title", "data-told", "placeholder", "alt", "aria-description"}
_UNREAD = {"script", "style", "code", "pre", "template"}
# Two small letters in a row make a word: not a symbol, a unit or an option letter.
_OPTION = re.compile(r"--[a-z]+(?:-[a-z]+)*")  # as it is typed
_WORD = re.compile(r"[A-Za-z]*[a-z]{2,}[A-Za-z]*")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._unread = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._unread += tag in _UNREAD
        if "aria-roledescription" not in dict(attrs):  # a figure is read whole
            self.texts += [value or "" for name, value in attrs if name in _READ]

    def handle_endtag(self, tag: str) -> None:
        self._unread -= tag in _UNREAD

    def handle_data(self, data: str) -> None:
        if not self._unread:
            self.texts.append(data)


def english_in(page: str, names: set[str]) -> set[str]:
    """The English words of a page that are no part of one of the ``names``; code and options
    of commands are left out."""
    reader = _Reader()
    reader.feed(page)
    text = _OPTION.sub(" ", "\n".join(reader.texts))
    for name in sorted(names, key=len, reverse=True):
        text = text.replace(name, " ")
    return set(_WORD.findall(text))

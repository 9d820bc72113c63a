"""The characters of LaTeX sources as tokens; what a macro or a file stands for is read first."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofstone.errors import BadInput

__all__ = ["BREAK", "Input"]

BREAK = "\n\n"  # the token of an empty line
_TOKEN = re.compile(
    r"%[^\n]*(?:\n[ \t]*|$)"  # a comment takes the end of its line with it
    r"|\\[A-Za-z@]+\*?[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?"
    r"|\\(?:[^A-Za-z@]|$)"
    r"|[ \t]*\n[ \t]*\n\s*"
    r"|\$\$|[{}$&~#\[\]]"
    r"|[^\\%{}$&~#\[\]\n]+|\n",
    re.DOTALL,
)
_SPACES = re.compile(r"(?:[ \t\n]|%[^\n]*(?:\n|$))*")
_WORD = re.compile(r"\\([A-Za-z@]+)(\*?)")
_LONGEST_ARGUMENT = 4 * 2**20
_MOST_PUSHED = 4 * 2**20  # characters that macros may stand for
_MOST_PUSHES = 100_000
_DEEPEST = 400


@dataclass
class _Text:
    text: str
    at: int = 0
    file: str = ""


class Input:
    """The text that is still to be read, the innermost first. ``name`` is the document's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stack: list[_Text] = []
        self._pushed = self._pushes = 0

    def push(self, text: str, file: str = "") -> None:
        """Reads ``text`` before all else. Raises BadInput where macros never come to an end."""
        while self._stack and self._stack[-1].at >= len(self._stack[-1].text):
            self._stack.pop()
        if not file:
            self._pushed += len(text)
        self._pushes += 1
        too_deep = len(self._stack) > _DEEPEST
        if too_deep or self._pushed > _MOST_PUSHED or self._pushes > _MOST_PUSHES:
            raise BadInput(
                f"{self._name}: its macros stand for more than is read; one may stand for itself.",
                hint="Write out what they stand for, or give the PDF that TeX makes of it.",
            )
        self._stack.append(_Text(text, 0, file))

    @property
    def files(self) -> list[str]:
        """The files that are open, the outermost first."""
        return [source.file for source in self._stack if source.file]

    def end_file(self) -> None:
        """Leaves the innermost open file unread."""
        while self._stack and not self._stack.pop().file:
            continue

    def _top(self) -> _Text | None:
        while self._stack:
            top = self._stack[-1]
            if top.at < len(top.text):
                return top
            self._stack.pop()
        return None

    def token(self) -> str | None:
        """The next token, without comments: a command with its backslash, ``BREAK``, a sign that
        means something, or text; None at the end."""
        while (top := self._top()) is not None:
            found = _TOKEN.match(top.text, top.at)
            if found is None:  # nothing that the pattern leaves out can come
                top.at += 1
                continue
            top.at = found.end()
            token = found[0]
            if token[0] == "%":
                if not top.text.startswith("\n", top.at):
                    continue
                token = BREAK  # the line behind a comment is empty
            if token[0] == "\\":
                return token.rstrip(" \t\n") if len(token) > 2 else token
            return BREAK if token.count("\n") > 1 else token
        return None

    def back(self, token: str) -> None:
        """Puts a token back that was read last."""
        top = self._stack[-1] if self._stack else None
        if top is not None and top.text.endswith(token, 0, top.at):
            top.at -= len(token)
        else:
            self._stack.append(_Text(token))

    def _after_spaces(self) -> tuple[_Text, str] | None:
        """The innermost text behind white space and comments, and the character that comes."""
        while (top := self._top()) is not None:
            spaces = _SPACES.match(top.text, top.at)
            there = spaces.end() if spaces else top.at
            if there < len(top.text):
                if top.text.count("\n", top.at, there) > 1 and "%" not in top.text[top.at : there]:
                    return None  # an argument does not come behind an empty line
                top.at = there
                return top, top.text[there]
            if len(self._stack) == 1:
                return None
            self._stack.pop()
        return None

    def argument(self) -> str:
        """The next argument: a group without its braces, a command, or one character."""
        found = self._after_spaces()
        if found is None:
            return ""
        top, sign = found
        if sign == "{":
            return self._closed(top, "{", "}")
        if sign == "}":
            return ""
        word = _WORD.match(top.text, top.at)
        length = len(word[0]) if word else 2 if sign == "\\" else 1
        top.at += length
        return top.text[top.at - length : top.at]

    def has_group(self) -> bool:
        """Whether a group in braces comes next."""
        found = self._after_spaces()
        return found is not None and found[1] == "{"

    def optional(self) -> str | None:
        """The next argument in square brackets; None where there is none."""
        top = self._top()
        if top is None:
            return None
        spaces = re.compile(r"[ \t]*\n?[ \t]*").match(top.text, top.at)
        there = spaces.end() if spaces else top.at
        if top.text[there : there + 1] != "[":
            return None
        before, top.at = top.at, there
        end = _closing(top.text, there, "[", "]")
        if end < 0:
            top.at = before
            return None
        top.at = end
        return top.text[there + 1 : end - 1]

    def takes(self, text: str) -> bool:
        """Whether ``text`` comes next, which is then read."""
        top = self._top()
        if top is None or not top.text.startswith(text, top.at):
            return False
        top.at += len(text)
        return True

    def until(self, end: str) -> str | None:
        """The raw characters before ``end``, which is read too; None where it does not come in the
        text that is read."""
        top = self._top()
        if top is None:
            return None
        stop = top.text.find(end, top.at, top.at + _LONGEST_ARGUMENT)
        if stop < 0:
            return None
        found = top.text[top.at : stop]
        top.at = stop + len(end)
        return found

    def character(self) -> str:
        """The next character as it stands."""
        top = self._top()
        if top is None:
            return ""
        top.at += 1
        return top.text[top.at - 1]

    def dollars(self, end: str) -> str | None:
        """The formula before ``end``, dollars; None where a paragraph ends first."""
        top = self._top()
        if top is None:
            return None
        at = top.at
        for found in re.compile(r"\\.|%[^\n]*|\n[ \t]*\n|\$\$?", re.DOTALL).finditer(top.text, at):
            if found[0].startswith("$"):
                top.at = found.start() + len(end)
                return top.text[at : found.start()]
            if found[0][0] == "\n":
                return None
        return None

    def _closed(self, top: _Text, opening: str, closing: str) -> str:
        end = _closing(top.text, top.at, opening, closing)
        if end < 0:  # a brace that is never closed: TeX would stop here
            top.at += 1
            return ""
        found = top.text[top.at + 1 : end - 1]
        top.at = end
        return found


_SIGNS = re.compile(r"\\.|%[^\n]*|[{}\[\]]", re.DOTALL)


def _closing(text: str, start: int, opening: str, closing: str) -> int:
    """Behind the sign that closes the one at ``start``; -1 where none does."""
    depth = braces = 0
    for found in _SIGNS.finditer(text, start, start + _LONGEST_ARGUMENT):
        sign = found[0]
        if sign == opening and not braces:
            depth += 1
        elif sign == closing and not braces:
            depth -= 1
            if not depth:
                return found.end()
        elif opening == "[" and sign in "{}":
            braces += 1 if sign == "{" else -1
            if braces < 0:
                return -1
    return -1

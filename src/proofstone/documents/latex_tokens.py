"""Split LaTeX sources into tokens, expanding macros and input files first."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from importlib.resources import files

from msgspec import Struct, toml

from proofstone.documents.passages import MOST_BLOCKS, Block, set_off, too_many_blocks
from proofstone.errors import BadInput
from proofstone.records.pages import MarkKind


def _by_name(forms: dict[str, list[str]]) -> dict[str, str]:
    return {name: form for form, names in forms.items() for name in names}


class _Tables(Struct, frozen=True):
    """``latex.toml``: the meaning of LaTeX commands and environments for a text."""

    maths: frozenset[str]
    code: frozenset[str]
    tables: frozenset[str]
    drawn: frozenset[str]
    gone: frozenset[str]
    written: tuple[tuple[str, str], ...]
    sections: dict[str, int]
    arguments: dict[str, list[str]]
    environment_arguments: dict[str, list[str]]
    signs: dict[str, str]
    accents: dict[str, str]
    units: dict[str, str]


LATEX = toml.decode((files("proofstone.documents") / "latex.toml").read_bytes(), type=_Tables)


ARGUMENTS = _by_name(LATEX.arguments)


ENVIRONMENT_ARGUMENTS = _by_name(LATEX.environment_arguments)


_UNIT = re.compile(r"\\([A-Za-z]+)\s*")


def accented(accent: str, letter: str) -> str:
    """Return a letter with an accent, as one character if possible."""
    plain = letter.strip().translate({ord("ı"): "i", ord("ȷ"): "j"})
    return (
        unicodedata.normalize("NFC", plain[:1] + LATEX.accents[accent]) + plain[1:] if plain else ""
    )


def units(text: str) -> str:
    """Return a unit of measurement from the names of its parts: kilometre/second."""
    return (
        _UNIT.sub(lambda found: LATEX.units.get(found[1], found[1]), text).replace("~", " ").strip()
    )


BREAK = "\n\n"  # the token of an empty line


_TOKEN = re.compile(
    r"%[^\n]*(?:\n[ \t]*|$)"  # a comment includes its line end
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


_MOST_PUSHED = 4 * 2**20  # characters that macros may expand to


_MOST_PUSHES = 100_000


_DEEPEST = 400


@dataclass
class _Text:
    text: str
    at: int = 0
    file: str = ""


class Input:
    """The remaining text, the innermost first. ``name`` is the document's."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._stack: list[_Text] = []
        self._pushed = self._pushes = 0

    def push(self, text: str, file: str = "") -> None:
        """Read ``text`` before all else. Raises BadInput for endless macros."""
        while self._stack and self._stack[-1].at >= len(self._stack[-1].text):
            self._stack.pop()
        if not file:
            self._pushed += len(text)
        self._pushes += 1
        too_deep = len(self._stack) > _DEEPEST
        if too_deep or self._pushed > _MOST_PUSHED or self._pushes > _MOST_PUSHES:
            raise BadInput(
                f"{self._name}: its macros expand to more than is read; one may expand to itself",
                hint="replace the macros by their text, or use the PDF that TeX makes of it",
            )
        self._stack.append(_Text(text, 0, file))

    @property
    def files(self) -> list[str]:
        """Return the open files, the outermost first."""
        return [source.file for source in self._stack if source.file]

    def _top(self) -> _Text:
        """Return the innermost text with remaining content; an empty one at the end."""
        while self._stack:
            top = self._stack[-1]
            if top.at < len(top.text):
                return top
            self._stack.pop()
        return _Text("")

    def token(self) -> str | None:
        """Return the next token, without comments; None at the end.

        A token is a command with its backslash, ``BREAK``, a sign with a meaning, or text.
        """
        while (top := self._top()).text:
            found = _TOKEN.match(top.text, top.at)
            if found is None:  # the pattern matches everything that can come
                top.at += 1
                continue
            top.at = found.end()
            token = found[0]
            if token[0] == "%":
                if not top.text.startswith("\n", top.at):
                    continue
                token = BREAK  # the line after a comment is empty
            if token[0] == "\\":
                return token.rstrip(" \t\n") if len(token) > 2 else token
            return BREAK if token.count("\n") > 1 else token
        return None

    def back(self, token: str) -> None:
        """Put back the last token read."""
        top = self._stack[-1] if self._stack else None
        if top is not None and top.text.endswith(token, 0, top.at):
            top.at -= len(token)
        else:
            self._stack.append(_Text(token))

    def _after_spaces(self) -> tuple[_Text, str] | None:
        """Return the innermost text after white space and comments, and its next character."""
        while (top := self._top()).text:
            spaces = _SPACES.match(top.text, top.at)
            there = spaces.end() if spaces else top.at
            if there < len(top.text):
                if top.text.count("\n", top.at, there) > 1 and "%" not in top.text[top.at : there]:
                    return None  # an argument does not follow an empty line
                top.at = there
                return top, top.text[there]
            if len(self._stack) == 1:
                return None
            self._stack.pop()
        return None

    def argument(self) -> str:
        """Return the next argument: a group without its braces, a command, or one character."""
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
        """Return True if a group in braces comes next."""
        found = self._after_spaces()
        return found is not None and found[1] == "{"

    def optional(self) -> str | None:
        """Return the next argument in square brackets; None if there is none."""
        top = self._top()
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

    def take(self, form: str) -> list[str]:
        """Read the arguments of a form: o an optional one, m a group, t a text group; return the
        texts.
        """
        texts = []
        for letter in form:
            if letter == "o":
                self.optional()
            else:
                text = self.argument()
                texts += [text] if letter == "t" else []
        return texts

    def takes(self, text: str) -> bool:
        """Return True, and read it, if ``text`` comes next."""
        top = self._top()
        if not top.text.startswith(text, top.at):
            return False
        top.at += len(text)
        return True

    def until(self, end: str) -> str | None:
        """Return the raw characters before ``end``, which is read too; None without an ``end``."""
        top = self._top()
        stop = top.text.find(end, top.at, top.at + _LONGEST_ARGUMENT)
        if stop < 0:
            return None
        found = top.text[top.at : stop]
        top.at = stop + len(end)
        return found

    def character(self) -> str:
        """Return the next character unchanged."""
        top = self._top()
        top.at += 1
        return top.text[top.at - 1 : top.at]

    def dollars(self, end: str) -> str | None:
        """Return the formula before ``end`` (dollar signs); None if a paragraph ends first."""
        top = self._top()
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
        if end < 0:  # an unclosed brace: TeX would stop here
            top.at += 1
            return ""
        found = top.text[top.at + 1 : end - 1]
        top.at = end
        return found


_SIGNS = re.compile(r"\\.|%[^\n]*|[{}\[\]]", re.DOTALL)


def _closing(text: str, start: int, opening: str, closing: str) -> int:
    """Return the position after the sign that closes the one at ``start``; -1 without one."""
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


# Collect blocks: the open paragraph, list items, and pending notes.

_SPACE = re.compile(r"\s+")


class Flow:
    """Convert text to blocks. ``name`` is the document's."""

    def __init__(self, name: str) -> None:
        self.blocks: list[Block] = []
        self.kind: MarkKind = "text"  # of the paragraphs to come
        self.lists: list[list[str | int]] = []  # of each open list, its name and items so far
        self._name = name
        self._pieces: list[str] = []
        self._mark = ""
        self._notes: list[tuple[int, str]] = []
        self._n_notes = 0

    def say(self, text: str) -> None:
        """Add text as typed, converting dashes and quotation marks as LaTeX does."""
        if "-" in text or "`" in text or "'" in text:
            for typed, shown in LATEX.written:
                text = text.replace(typed, shown)
        self._pieces.append(text)

    def write(self, text: str) -> None:
        """Add text unchanged."""
        self._pieces.append(text)

    @property
    def has_text(self) -> bool:
        """Return True if a paragraph is open."""
        return any(not piece.isspace() for piece in self._pieces)

    def taken(self) -> str:
        """Remove the open paragraph and return its text."""
        text, self._pieces = _SPACE.sub(" ", "".join(self._pieces)).strip(), []
        return text

    def end(self) -> None:
        """End the open paragraph as a block."""
        text = self.taken()
        if not text:
            return
        if self.lists and self.kind == "text":
            mark, self._mark = self._mark or "  " * len(self.lists), ""
            self.add(Block("list", f"{mark}{text}"))
        else:
            self.add(Block(self.kind, text))

    def item(self, label: str | None) -> None:
        """Begin an item of the innermost list, with its explicit mark, if any."""
        self.end()
        depth = max(0, len(self.lists) - 1)
        if not self.lists:
            return
        self.lists[-1][1] = int(self.lists[-1][1]) + 1
        numbered = self.lists[-1][0] == "enumerate"
        mark = label or (f"{self.lists[-1][1]}." if numbered else "-")
        if label and self.lists[-1][0] == "description":
            mark = f"- {label}:"
        self._mark = "  " * min(depth, 4) + mark + " "

    def add(self, block: Block) -> None:
        """End the open paragraph, and add a block after it."""
        if self.has_text:
            self.end()
        if len(self.blocks) >= MOST_BLOCKS:
            raise too_many_blocks(self._name)
        self.blocks.append(block)

    def heading(self, level: int, title: str) -> None:
        """Begin a section; notes of the previous one are placed at its end."""
        self.end()
        self.place_notes()
        if title:
            self.add(Block("heading", title, level=level))

    def note(self, text: str) -> None:
        """Mark a note in the text, and place it at the end of the section."""
        self._n_notes += 1
        while self._pieces and self._pieces[-1].isspace():
            self._pieces.pop()
        self.write(set_off("sup", str(self._n_notes)))
        self._notes.append((self._n_notes, text))

    def place_notes(self) -> None:
        """Place the pending notes."""
        self.end()
        waiting, self._notes = self._notes, []
        for number, text in waiting:
            if text:
                self.add(Block("note", f"{set_off('sup', str(number))} {text}"))


# Macros of a document; simple ones are replaced by their definition.

_PARAMETER = re.compile(r"#([1-9#])")


_ENDS_IN_WORD = re.compile(r"\\[A-Za-z@]+$")


_SIMPLE = re.compile(r"(?:\s*(m|o))*\s*$")


_LONGEST = 20_000


_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Macro:
    """A command's definition, with its number of arguments; the first may have a default.

    A ``final`` one is not expanded further (\\let).
    """

    body: str
    n: int = 0
    default: str | None = None
    final: bool = False


class Macros:
    """Commands, environments, operators and theorems that a document defines."""

    def __init__(self) -> None:
        self._macros: dict[str, Macro] = {}
        self.environments: dict[str, tuple[Macro, str]] = {}
        self.theorems: dict[str, str] = {}
        self.switches: dict[str, bool] = {}
        self.closing: set[str] = set()  # macros in which an environment ends

    def get(self, name: str) -> Macro | None:
        """Return the macro of a name without its backslash."""
        return self._macros.get(name)

    def is_definition(self, name: str) -> bool:
        """Return True if a command defines something; then ``define`` reads it."""
        return name in _DEFINING

    def define(self, name: str, source: Input) -> None:
        """Read a definition. Complex ones are skipped and define nothing."""
        getattr(self, _DEFINING[name])(name, source)

    def arguments(self, macro: Macro, source: Input) -> list[str]:
        """Read the arguments of a macro in the text."""
        given: list[str] = []
        if macro.default is not None:
            first = source.optional()
            given.append(macro.default if first is None else first)
        while len(given) < macro.n:
            given.append(source.argument())
        return given

    def _set(self, name: str, macro: Macro) -> None:
        if len(macro.body) <= _LONGEST and len(self._macros) < _MOST:
            self._macros[name] = macro
            is_closing = "\\end" in macro.body and macro.body.count("\\begin") == 0
            (self.closing.add if is_closing else self.closing.discard)(name)

    def _command(self, kind: str, source: Input) -> None:
        name = source.argument().strip().lstrip("\\")
        n, default = _count(source.optional()), source.optional()
        body = source.argument()
        if name and not (kind.startswith("provide") and name in self._macros):
            self._set(name, Macro(body, n, default))

    def _document_command(self, _kind: str, source: Input) -> None:
        name = source.argument().strip().lstrip("\\")
        form, body = source.argument(), source.argument()
        letters = form.replace(" ", "")
        if _SIMPLE.match(form) and letters.count("o") <= letters.startswith("o"):
            self._set(name, Macro(body, len(letters), "" if letters.startswith("o") else None))

    def _plain(self, _kind: str, source: Input) -> None:
        name = source.argument().strip()
        parameters = source.until("{")
        if parameters is None:
            return
        source.back("{")
        body = source.argument()
        found = _PARAMETER.findall(parameters)
        is_simple = "".join(f"#{k}" for k in found) == parameters.strip()
        if name.startswith("\\") and is_simple:
            self._set(name[1:], Macro(body, len(found)))

    def _let(self, _kind: str, source: Input) -> None:
        name = source.argument().strip()
        source.takes("=")
        other = source.argument().strip()
        if name.startswith("\\") and other.startswith("\\"):
            self._set(name[1:], self._macros.get(other[1:]) or Macro(other + " ", final=True))

    def _operator(self, _kind: str, source: Input) -> None:
        name, text = source.argument().strip().lstrip("\\"), source.argument()
        self._set(name, Macro(f"\\operatorname{{{text}}}", final=True))

    def _environment(self, kind: str, source: Input) -> None:
        name = source.argument().strip()
        if kind.startswith("NewDocument"):
            n, default = len(source.argument().replace(" ", "")), None
        else:
            n, default = _count(source.optional()), source.optional()
        begin, end = source.argument(), source.argument()
        if name and len(begin) + len(end) <= _LONGEST and len(self.environments) < _MOST:
            self.environments[name] = (Macro(begin, n, default), end)

    def _theorem(self, _kind: str, source: Input) -> None:
        name = source.argument().strip()
        source.optional()
        self.theorems[name] = source.argument()
        source.optional()

    def _switch(self, _kind: str, source: Input) -> None:
        self.switches[source.argument().strip().removeprefix("\\if")] = False

    @staticmethod
    def substitute(body: str, given: list[str]) -> str:
        """Return a definition with its arguments; a word and a letter after it stay separate."""
        if "#" not in body:
            return body
        parts: list[str] = []
        at = 0
        for found in _PARAMETER.finditer(body):
            parts.append(body[at : found.start()])
            at = found.end()
            text = "#" if found[1] == "#" else "".join(given[int(found[1]) - 1 : int(found[1])])
            if text[:1].isalpha() and _ENDS_IN_WORD.search(parts[-1][-80:]):
                text = " " + text
            parts.append(text)
        return "".join(parts) + body[at:]


def _count(text: str | None) -> int:
    return int(text) if text and text.strip() in set("123456789") else 0


_DEFINING = {
    **dict.fromkeys(
        ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand",
         "newcommand*", "renewcommand*", "providecommand*", "DeclareRobustCommand*"), "_command"
    ),
    **dict.fromkeys(
        ("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand",
         "DeclareDocumentCommand"), "_document_command"
    ),
    **dict.fromkeys(("def", "gdef", "edef", "xdef"), "_plain"),
    "let": "_let",
    **dict.fromkeys(("DeclareMathOperator", "DeclareMathOperator*"), "_operator"),
    **dict.fromkeys(
        ("newenvironment", "renewenvironment", "NewDocumentEnvironment", "newenvironment*",
         "renewenvironment*"), "_environment"
    ),
    **dict.fromkeys(("newtheorem", "newtheorem*", "spnewtheorem", "spnewtheorem*"), "_theorem"),
    "newif": "_switch",
}  # fmt: skip

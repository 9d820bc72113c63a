"""The macros of a document: simple ones are told by what they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass

from proofstone.engines.ingest.latex.lexing import Input

__all__ = ["Macro", "Macros"]

_PARAMETER = re.compile(r"#([1-9#])")
_ENDS_IN_WORD = re.compile(r"\\[A-Za-z@]+$")
_SIMPLE = re.compile(r"(?:\s*(m|o))*\s*$")
_LONGEST = 20_000
_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Macro:
    """What a command stands for, with its number of arguments; the first may have a value where
    it is not given. A ``final`` one is not looked up again (\\let)."""

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
        """The macro of a name without its backslash."""
        return self._macros.get(name)

    def is_definition(self, name: str) -> bool:
        """Whether a command defines something; then ``define`` reads it."""
        return name in _DEFINING

    def define(self, name: str, source: Input) -> None:
        """Reads a definition. What is not simple is passed over and defines nothing."""
        getattr(self, _DEFINING[name])(name, source)

    def arguments(self, macro: Macro, source: Input) -> list[str]:
        """The arguments of a macro that was met."""
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
        """A body with its arguments; a word and a letter behind it stay apart."""
        if "#" not in body:
            return body
        parts: list[str] = []
        at = 0
        for found in _PARAMETER.finditer(body):
            parts.append(body[at : found.start()])
            at = found.end()
            text = "#" if found[1] == "#" else _nth(given, int(found[1]))
            if text[:1].isalpha() and _ENDS_IN_WORD.search(parts[-1][-80:]):
                text = " " + text
            parts.append(text)
        return "".join(parts) + body[at:]


def _nth(given: list[str], place: int) -> str:
    return given[place - 1] if place <= len(given) else ""


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

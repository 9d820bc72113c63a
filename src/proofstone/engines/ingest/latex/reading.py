"""The reading of a LaTeX document: token by token, until its end."""

from __future__ import annotations

import re

from proofstone.engines.ingest.latex.acting import ACTS
from proofstone.engines.ingest.latex.commands import ARGUMENTS
from proofstone.engines.ingest.latex.conditions import SWITCHES, condition, switch
from proofstone.engines.ingest.latex.environments import begin, end
from proofstone.engines.ingest.latex.files import Sources
from proofstone.engines.ingest.latex.flow import Flow
from proofstone.engines.ingest.latex.formulas import FORMULAS, dollars
from proofstone.engines.ingest.latex.inserted import FILES
from proofstone.engines.ingest.latex.lexing import BREAK, Input
from proofstone.engines.ingest.latex.macros import Macro, Macros
from proofstone.engines.ingest.latex.signs import ACCENTS, SIGNS, accented
from proofstone.engines.ingest.latex.state import State
from proofstone.engines.ingest.layout import Block
from proofstone.errors import BadInput

__all__ = ["TexReader"]

_DEEPEST = 24  # readings within readings: a note in a caption in a cell
_SPACE = re.compile(r"\s+")
_CITE = re.compile(r"[a-zA-Z]{0,6}cite[a-zA-Z]{0,8}")
_REFERENCES = {
    "ref", "eqref", "autoref", "cref", "Cref", "pageref", "vref", "nameref", "fref", "Fref",
}  # fmt: skip
_KEPT_IN_PREAMBLE = {
    "title", "author", "date", "input", "include", "usepackage", "begin", "fi", "else", *SWITCHES,
}  # fmt: skip
_HANDLERS = {**ACTS, **FILES, **FORMULAS, **SWITCHES, "begin": begin}


class TexReader:
    """Reads one document; what it says of itself stands in ``said``.

    Macros that it defines are replaced by what they stand for; other commands fall away and what is
    in their groups stays. Formulas stay TeX, between dollars within a paragraph. Raises BadInput
    where macros or files never come to an end, where a file is outside the root, and naming all
    files that are absent.
    """

    def __init__(self, sources: Sources, *, within: State | None = None) -> None:
        self._state = State(sources, Input(sources.name), Flow(sources.name), self._inline)
        if within is not None:
            self._state.macros = within.macros
            self._state.absent = within.absent
            self._state.depth = within.depth + 1

    @property
    def said(self) -> dict[str, str]:
        """The title, author and date that the document states, where it does."""
        return self._state.said

    def document(self) -> list[Block]:
        """The blocks of the whole document."""
        files = self._state.files
        text = files.read(files.main.rpartition("/")[2])
        if text is None:
            raise BadInput(f"{files.name} cannot be read.")
        self._state.in_preamble = "\\begin{document}" in text or "\\documentclass" in text
        blocks = self._blocks(text, files.main)
        if self._state.absent:
            raise BadInput(
                f"{files.name} cannot be read whole; nothing of it was taken.",
                self._state.absent,
                hint="Put the files where the text inputs them from.",
            )
        return blocks

    def _blocks(self, text: str, file: str = "") -> list[Block]:
        self._state.source.push(text, file)
        self._run()
        self._state.flow.place_notes()
        return self._state.flow.blocks

    def _inline(self, text: str) -> str:
        """The text of an argument, as one line."""
        if self._state.depth >= _DEEPEST:
            return ""
        blocks = TexReader(self._state.files, within=self._state)._blocks(text)  # noqa: SLF001 - of its own kind
        return _SPACE.sub(" ", " ".join(map(_as_words, blocks))).strip()

    def _run(self) -> None:
        while (came := self._state.source.token()) is not None:
            if came[0] == "\\":
                if not self._command(came[1:]):
                    return
            elif self._state.in_preamble or came in "{}":
                continue
            elif came == BREAK:
                self._state.flow.end()
            elif came[0] == "$":
                dollars(self._state, came)
            elif came == "~":
                self._state.flow.write(" ")
            elif came not in "#&":
                self._state.flow.say(came)
        self._state.flow.end()

    def _command(self, word: str) -> bool:
        """Reads one command; whether the document goes on behind it."""
        name = word.rstrip("*") if word[:1].isalpha() or word[:1] == "@" else word
        if self._state.macros.is_definition(word):
            self._state.macros.define(word, self._state.source)
        elif (
            self._state.in_preamble and name not in _KEPT_IN_PREAMBLE and not name.startswith("if")
        ):
            switch(self._state, name)
        elif name in ("end", "enddocument") and (name != "end" or end(self._state)):
            return False
        elif handler := _HANDLERS.get(name):
            handler(self._state, name)
        elif name.startswith("if") or name in {"else", "fi"}:
            condition(self._state, name)
        elif macro := self._state.macros.get(word) or self._state.macros.get(name):
            self._expand(macro)
        else:
            self._known(name)
        return True

    def _expand(self, macro: Macro) -> None:
        given = self._state.macros.arguments(macro, self._state.source)
        if macro.final:
            self._known(macro.body.strip().lstrip("\\"))
        else:
            self._state.source.push(Macros.substitute(macro.body, given))

    def _known(self, name: str) -> None:
        """Signs, accents, and commands of which it is known what is text behind them."""
        if name in ACCENTS and (
            len(name) > 1 or not name.isalpha() or self._state.source.has_group()
        ):
            self._state.flow.write(accented(name, self._inline(self._state.source.argument())))
        elif name in SIGNS:
            self._sign(SIGNS[name])
        elif name in _REFERENCES:
            self._state.source.optional()
            self._state.flow.write(f"[{self._state.source.argument().strip()}]")
        elif _CITE.fullmatch(name):
            self._cite()
        elif name in ARGUMENTS:
            self._arguments(ARGUMENTS[name])
        else:
            switch(self._state, name)
            self._state.source.optional()

    def _sign(self, sign: str) -> None:
        if sign == BREAK:
            self._state.flow.end()
        else:
            self._state.flow.write(sign)
            self._state.source.takes("{}")

    def _arguments(self, form: str) -> None:
        texts = []
        for letter in form:
            if letter == "o":
                self._state.source.optional()
            else:
                text = self._state.source.argument()
                texts += [text] if letter == "t" else []
        if texts:
            self._state.source.push(" ".join(texts))

    def _cite(self) -> None:
        while self._state.source.optional() is not None:
            continue
        keys = [key.strip() for key in self._state.source.argument().split(",")]
        self._state.flow.write(f"[{', '.join(key for key in keys if key)}]")


def _as_words(block: Block) -> str:
    return f"${block.text}$" if block.kind == "equation" else block.text

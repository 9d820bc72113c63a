"""Formulas of a LaTeX document: their TeX, with the document's own macros written out."""

from __future__ import annotations

import re

from proofstone.engines.ingest.latex.lexing import Input
from proofstone.engines.ingest.latex.macros import Macros
from proofstone.engines.ingest.latex.state import Handler, State
from proofstone.engines.ingest.layout import Block

__all__ = ["FORMULAS", "display", "dollars", "formula"]

_LONGEST_FORMULA = 20_000
_NO_PART = re.compile(
    r"\\(?:label|tag\*?)\s*\{[^{}]*\}|\\(?:nonumber|notag|displaystyle|limits|ensuremath)\b"
)
_COMMENT = re.compile(r"(?<!\\)%[^\n]*\n?")
_SPACE = re.compile(r"\s+")
_APART = re.compile(r"(\\[A-Za-z]+) (?=[^A-Za-z])")
_ALIGNED = {"align", "alignat", "flalign", "gather", "multline", "eqnarray", "xalignat",
            "IEEEeqnarray"}  # fmt: skip


def dollars(state: State, sign: str) -> None:
    """Reads a formula behind dollars; those that open none stay as they are."""
    text = state.source.dollars(sign)
    if text is None:
        state.flow.write(sign)
    elif sign == "$$":
        display(state, text)
    else:
        formula(state, text)


def formula(state: State, text: str) -> None:
    """Adds a formula within a paragraph."""
    shown = _tex(state, text)
    if shown:
        state.flow.write(f"${shown}$")


def display(state: State, text: str, environment: str = "") -> None:
    """Adds a formula that stands by itself; ``environment`` is the one that it was in."""
    shown = _tex(state, text)
    if shown and environment in _ALIGNED:
        shown = f"\\begin{{{environment}*}} {shown} \\end{{{environment}*}}"
    if shown:
        state.flow.end()
        state.flow.add(Block("equation", shown))


def _tex(state: State, text: str) -> str:
    """A formula with the document's own macros written out, on one line."""
    source = Input(state.files.name)
    source.push(_COMMENT.sub("", text)[:_LONGEST_FORMULA])
    parts: list[str] = []
    while (token := source.token()) is not None:
        macro = state.macros.get(token[1:]) if token[0] == "\\" else None
        if macro is None:
            parts.append(token if not _is_word(token) else token + " ")
        elif macro.final:
            parts.append(macro.body)
        else:
            given = state.macros.arguments(macro, source)
            source.push(Macros.substitute(macro.body, given))
    shown = _SPACE.sub(" ", _NO_PART.sub("", "".join(parts)))
    return _APART.sub(r"\1", shown).strip()


def _is_word(token: str) -> bool:
    return len(token) > 1 and token[0] == "\\" and token[-1].isalpha()


def _display_brackets(state: State, _name: str) -> None:
    display(state, state.source.until("\\]") or "")


def _formula_brackets(state: State, _name: str) -> None:
    formula(state, state.source.until("\\)") or "")


def _ensured(state: State, _name: str) -> None:
    formula(state, state.source.argument())


FORMULAS: dict[str, Handler] = {
    "[": _display_brackets,
    "(": _formula_brackets,
    "ensuremath": _ensured,
}

"""Find formulas that a Markdown page would not render: unclosed, unbalanced, unknown commands.

Only the structure is checked. Nothing is rendered: the page's own writer makes TeX of tables, and
reads none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

_DELIMITERS = re.compile(r"\\.|\$\$|\$", re.DOTALL)


_CLOSES = {"$": "$", "$$": "$$", r"\(": r"\)", r"\[": r"\]"}


_COMMAND = re.compile(r"\\([A-Za-z]+)")


_SIDE = re.compile(r"\\(left|right)(?![A-Za-z])")


_ENVIRONMENT = re.compile(r"\\(begin|end)\s*\{([^{}]*)\}")


_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)


def formula_problems(text: str, commands: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the formulas of a text, in order; nothing for sound ones."""
    outside: list[str] = []
    at, opened, start = 0, "", 0
    for found in _DELIMITERS.finditer(text):
        sign = found[0]
        if not opened and sign in _CLOSES:
            outside.append(text[at : found.start()])
            opened, start = sign, found.end()
        elif opened and sign == _CLOSES[opened]:
            yield from _inside(text[start : found.start()], commands)
            opened, at = "", found.end()
    if opened:
        yield f"a formula opened by {opened} is not closed"
    else:
        outside.append(text[at:])
    for part in outside:
        for name in dict.fromkeys(_COMMAND.findall(part)):
            yield f"\\{name} is outside of a formula"


def _inside(formula: str, commands: Collection[str]) -> Iterator[str]:
    if not formula.strip():
        yield "a formula is empty"
    if not _is_balanced(formula):
        yield f"braces do not match in {_short(formula)}"
    sides = [found[1] for found in _SIDE.finditer(formula)]
    if sides.count("left") != sides.count("right"):
        yield f"\\left and \\right do not match in {_short(formula)}"
    open_ones: list[str] = []
    for kind, name in _ENVIRONMENT.findall(formula):
        if kind == "begin":
            open_ones.append(name)
        elif not open_ones or open_ones.pop() != name:
            yield f"\\end{{{name}}} closes nothing in {_short(formula)}"
    yield from (f"\\begin{{{name}}} is not closed in {_short(formula)}" for name in open_ones)
    for name in dict.fromkeys(_COMMAND.findall(formula)):
        if name not in commands:
            yield f"\\{name} is not a known command"


def _is_balanced(formula: str) -> bool:
    depth = 0
    for sign in _BRACE.findall(formula):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if depth < 0:
            return False
    return depth == 0


def _short(formula: str) -> str:
    text = " ".join(formula.split())
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


_SHOWN = 40

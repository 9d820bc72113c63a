"""Environments of a LaTeX document: lists, theorems, formulas, tables, code, references."""

from __future__ import annotations

import re

from proofstone.documents.latex.files import Handler, State
from proofstone.documents.latex.tokens import (
    CODE,
    DRAWN,
    ENVIRONMENT_ARGUMENTS,
    GONE,
    MATHS,
    TABLES,
    Flow,
    Input,
    Macros,
)
from proofstone.documents.layout import Block, only_lays_out, rows_text

# Formulas of a LaTeX document: their TeX, with the document's own macros written out.

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
            is_word = len(token) > 1 and token[0] == "\\" and token[-1].isalpha()
            parts.append(f"{token} " if is_word else token)
        elif macro.final:
            parts.append(macro.body)
        else:
            given = state.macros.arguments(macro, source)
            source.push(Macros.substitute(macro.body, given))
    shown = _SPACE.sub(" ", _NO_PART.sub("", "".join(parts)))
    return _APART.sub(r"\1", shown).strip()


FORMULAS: dict[str, Handler] = {
    "[": lambda state, _name: display(state, state.source.until("\\]") or ""),
    "(": lambda state, _name: formula(state, state.source.until("\\)") or ""),
    "ensuremath": lambda state, _name: formula(state, state.source.argument()),
}


# The cells of a LaTeX table, as they were typed.

_EDGE = re.compile(
    r"\\\\(?:\*?\s*\[[^\]\n]{0,40}\])?|\\tabularnewline\b|\\(?:begin|end)\{|\\.|%[^\n]*|[{}&]",
    re.DOTALL,
)


_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot)\b"
    r"(?:\[[^\]]*\])?|\\(?:cline|cmidrule|rowcolor|noalign)(?:\([^)]*\))?(?:\[[^\]]*\])?\{[^{}]*\}"
)


_MOST_CELLS = 200_000


# The brace behind the name of an environment closes at once; of its end it closes the whole.
_DEEPER = {"{": 1, "\\begin{": 2, "\\end{": 0}


def rows_of(body: str) -> list[list[str]]:
    """Rows of cells of the inside of a table; what is in groups and other environments is not cut.

    Rules between rows are left out.
    """
    rows: list[list[str]] = [[]]
    start = depth = n_cells = 0
    text = _RULE.sub(" ", body)
    for found in _EDGE.finditer(text):
        sign = found[0]
        if sign in _DEEPER:
            depth += _DEEPER[sign]
        elif sign == "}":
            depth = max(0, depth - 1)
        elif not depth and (sign == "&" or sign.startswith(("\\\\", "\\tabularnewline"))):
            rows[-1].append(text[start : found.start()])
            start, n_cells = found.end(), n_cells + 1
            if sign != "&":
                rows.append([])
        if n_cells > _MOST_CELLS:
            break
    rows[-1].append(text[start:])
    return [row for row in rows if any(cell.strip() for cell in row)]


_LONGEST = 2**20


_WORD = re.compile(r"\\([A-Za-z@]+)")


_LISTS = {"itemize", "enumerate", "description", "list", "compactitem", "compactenum"}


def begin(state: State, _name: str) -> None:
    """Enters an environment, or reads it whole."""
    environment = state.source.argument().strip()
    plain = environment.rstrip("*")
    if environment == "document":
        state.in_preamble, state.flow = False, Flow(state.files.name)
        return
    if state.in_preamble:
        return
    if own := state.macros.environments.get(environment):
        given = state.macros.arguments(own[0], state.source)
        state.ends.append((environment, Macros.substitute(own[1], given)))
        state.source.push(Macros.substitute(own[0].body, given) + " ")
    else:
        _enter_known(state, environment, plain)


def _enter_known(state: State, environment: str, plain: str) -> None:
    if plain == "math":
        formula(state, _raw(state, environment))
    elif plain in MATHS:
        if plain in {"alignat", "xalignat", "IEEEeqnarray"}:
            state.source.optional()
            state.source.argument()
        display(state, _raw(state, environment), plain)
    elif plain in CODE:
        _code(state, environment)
    elif plain in GONE or plain in DRAWN:
        _raw(state, environment)
        if plain in DRAWN:
            state.flow.add(Block("figure", ""))
    elif plain in TABLES:
        _table(state, environment)
    else:
        _enter(state, plain)


def _raw(state: State, environment: str) -> str:
    """The inside of an environment as it was typed. Its end may stand in a macro (\\ee)."""
    ending = f"\\end{{{environment}}}"
    text = state.source.until(ending)
    if text is not None:
        if not any(word in state.macros.closing for word in _WORD.findall(text)):
            return text
        state.source.push(text + ending)
    return _until_end(state, environment)


def _until_end(state: State, environment: str) -> str:
    parts: list[str] = []
    size = 0
    while (came := state.source.token()) is not None and size < _LONGEST:
        name = came[1:] if came[0] == "\\" else ""
        macro = state.macros.get(name) if name in state.macros.closing else None
        if macro is not None:
            given = state.macros.arguments(macro, state.source)
            state.source.push(Macros.substitute(macro.body, given))
            continue
        if name == "end":
            ended = state.source.argument()
            if ended.strip() == environment:
                break
            came = f"\\end{{{ended}}}"
        parts.append(f"{came} " if name.isalpha() and name != "end" else came)
        size += len(parts[-1])
    return "".join(parts)


def _code(state: State, environment: str) -> None:
    if environment in {"lstlisting", "Verbatim", "minted", "alltt"}:
        state.source.optional()
    if environment == "minted":
        state.source.argument()
    text = _raw(state, environment).strip("\n").rstrip()
    if text.strip():
        state.flow.end()
        state.flow.add(Block("code", text))


def _enter(state: State, name: str) -> None:
    state.flow.end()
    theorem = state.macros.theorems.get(name)
    if name in _LISTS:
        state.source.optional()
        state.flow.lists.append([name, 0])
    elif theorem is not None or name == "proof":
        about = state.source.optional()
        named = state.inline(theorem or "Proof")
        state.flow.write(f"{named} ({state.inline(about)}). " if about else f"{named}. ")
    elif name == "abstract":
        state.flow.heading(3, "Abstract")
    elif name == "thebibliography":
        state.source.argument()
        _references(state)
    else:
        for letter in ENVIRONMENT_ARGUMENTS.get(name, "o"):
            state.source.optional() if letter == "o" else state.source.argument()


def end(state: State) -> bool:
    """Leaves an environment; whether it was the document."""
    environment = state.source.argument().strip()
    if environment == "document":
        return True
    if state.ends and state.ends[-1][0] == environment:
        state.source.push(state.ends.pop()[1] + "\n\n")
        return False
    state.flow.end()
    if environment in _LISTS:
        if state.flow.lists:
            state.flow.lists.pop()
    elif environment == "thebibliography":
        state.flow.kind = "text"
    return False


def _references(state: State) -> None:
    state.flow.heading(3, "References")
    state.flow.kind = "contents"
    state.cited = 0


def _table(state: State, environment: str) -> None:
    """A table's rows; what a table only lays out is read as if it stood in none."""
    if environment.rstrip("*") in {"tabularx", "tabulary"} or environment.endswith("r*"):
        state.source.argument()
    state.source.optional()
    state.source.argument()
    rows = rows_of(_nested(state, environment))
    shown = [[state.inline(cell) for cell in row] for row in rows]
    if state.depth:
        state.flow.write("; ".join(" | ".join(row) for row in shown if any(row)))
    elif only_lays_out(shown):
        state.source.push("\n\n".join(cell for row in rows for cell in row))
    elif text := rows_text(shown):
        state.flow.end()
        state.flow.add(Block("table", text))


def _nested(state: State, environment: str) -> str:
    """The inside of an environment that may hold others of its name."""
    begin, end = f"\\begin{{{environment}}}", f"\\end{{{environment}}}"
    text = state.source.until(end)
    while text is not None and text.count(begin) > text.count(end) and len(text) < 2**20:
        more = state.source.until(end)
        if more is None:
            break
        text += end + more
    return text or ""

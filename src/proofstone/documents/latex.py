"""Read LaTeX documents as blocks, with their metadata."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from proofstone.documents.folders import Sources, open_sources
from proofstone.documents.latex_tokens import (
    ARGUMENTS,
    BREAK,
    ENVIRONMENT_ARGUMENTS,
    LATEX,
    Flow,
    Input,
    Macros,
    accented,
    units,
)
from proofstone.documents.passages import (
    Block,
    Written,
    check_text,
    grouped,
    only_lays_out,
    rows_text,
    set_off,
    stated_year,
)
from proofstone.errors import BadInput, Problem
from proofstone.texts.languages import guess_language

# State of the reading of a LaTeX document.


@dataclass
class State:
    """The remaining text, the blocks so far, and the document's definitions.

    ``said`` is its title, author and date. ``absent`` are missing input files. ``ends`` are the end
    definitions of its open custom environments. ``depth`` counts nested readings.
    """

    files: Sources
    macros: Macros = field(default_factory=Macros)
    absent: list[Problem] = field(default_factory=list)
    depth: int = 0
    said: dict[str, str] = field(default_factory=dict)
    ends: list[tuple[str, str]] = field(default_factory=list)
    in_preamble: bool = False
    cited: int = 0
    source: Input = field(init=False)
    flow: Flow = field(init=False)

    def __post_init__(self) -> None:
        self.source, self.flow = Input(self.files.name), Flow(self.files.name)

    def blocks(self, text: str, file: str = "") -> list[Block]:
        """Return the blocks of a text, read now."""
        self.source.push(text, file)
        _run(self)
        self.flow.place_notes()
        return grouped(self.flow.blocks)

    def inline(self, text: str) -> str:
        """Return the text of an argument, as one line."""
        if self.depth >= _DEEPEST:
            return ""
        blocks = State(self.files, self.macros, self.absent, self.depth + 1).blocks(text)
        words = (f"${b.text}$" if b.kind == "equation" else b.text for b in blocks)
        return _SPACE.sub(" ", " ".join(words)).strip()


Handler = Callable[[State, str], None]


# Formulas of a LaTeX document: their TeX, with the document's own macros expanded.

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
    """Read a formula after dollar signs; dollar signs without a formula stay."""
    text = state.source.dollars(sign)
    if text is None:
        state.flow.write(sign)
    elif sign == "$$":
        display(state, text)
    else:
        formula(state, text)


def formula(state: State, text: str) -> None:
    """Add a formula within a paragraph."""
    shown = _tex(state, text)
    if shown:
        state.flow.write(f"${shown}$")


def display(state: State, text: str, environment: str = "") -> None:
    """Add a displayed formula from this ``environment``."""
    shown = _tex(state, text)
    if shown and environment in _ALIGNED:
        shown = f"\\begin{{{environment}*}} {shown} \\end{{{environment}*}}"
    if shown:
        state.flow.add(Block("equation", shown))


def _tex(state: State, text: str) -> str:
    """Return a formula with the document's own macros expanded, on one line."""
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


# The cells of a LaTeX table, as typed.

_EDGE = re.compile(
    r"\\\\(?:\*?\s*\[[^\]\n]{0,40}\])?|\\tabularnewline\b|\\(?:begin|end)\{|\\.|%[^\n]*|[{}&]",
    re.DOTALL,
)


_RULE = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot)\b"
    r"(?:\[[^\]]*\])?|\\(?:cline|cmidrule|rowcolor|noalign)(?:\([^)]*\))?(?:\[[^\]]*\])?\{[^{}]*\}"
)


_MOST_CELLS = 200_000


# The brace after an environment's name closes immediately; at its end it closes the whole.
_DEEPER = {"{": 1, "\\begin{": 2, "\\end{": 0}


def rows_of(body: str) -> list[list[str]]:
    """Return the rows of cells inside a table, without splitting groups and other environments.

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


_LONGEST_RAW = 2**20


_WORD = re.compile(r"\\([A-Za-z@]+)")


_LISTS = {"itemize", "enumerate", "description", "list", "compactitem", "compactenum"}


def begin(state: State, _name: str) -> None:
    """Enter an environment, or read it whole."""
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
    elif plain == "math":
        formula(state, _raw(state, environment))
    elif plain in LATEX.maths:
        state.source.take(ENVIRONMENT_ARGUMENTS.get(plain, ""))
        display(state, _raw(state, environment), plain)
    elif plain in LATEX.code:
        _code(state, environment)
    elif plain in LATEX.gone or plain in LATEX.drawn:
        _raw(state, environment)
        if plain in LATEX.drawn:
            state.flow.add(Block("figure", ""))
    elif plain in LATEX.tables:
        _table(state, environment)
    else:
        _enter(state, plain)


def _raw(state: State, environment: str) -> str:
    """Return the inside of an environment as typed. Its end may be inside a macro (\\ee)."""
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
    while (came := state.source.token()) is not None and size < _LONGEST_RAW:
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
    state.source.take(ENVIRONMENT_ARGUMENTS.get(environment, ""))
    text = _raw(state, environment).strip("\n").rstrip()
    if text.strip():
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
        state.flow.heading(3, "References")
        state.flow.kind = "contents"
        state.cited = 0
    else:
        state.source.take(ENVIRONMENT_ARGUMENTS.get(name, "o"))


def end(state: State) -> bool:
    """Leave an environment; return True if it was the document."""
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


def _table(state: State, environment: str) -> None:
    """Add a table's rows; a layout table is read as normal text."""
    if environment.rstrip("*") in {"tabularx", "tabulary"} or environment.endswith("r*"):
        state.source.argument()
    state.source.take("om")
    rows = rows_of(_nested(state, environment))
    shown = [[state.inline(cell) for cell in row] for row in rows]
    if state.depth:
        state.flow.write("; ".join(" | ".join(row) for row in shown if any(row)))
    elif only_lays_out(shown):
        state.source.push("\n\n".join(cell for row in rows for cell in row))
    elif text := rows_text(shown):
        state.flow.add(Block("table", text))


def _nested(state: State, environment: str) -> str:
    """Return the inside of an environment that may hold others of its name."""
    begin, end = f"\\begin{{{environment}}}", f"\\end{{{environment}}}"
    text = state.source.until(end)
    while text is not None and text.count(begin) > text.count(end) and len(text) < 2**20:
        more = state.source.until(end)
        if more is None:
            break
        text += end + more
    return text or ""


# LaTeX commands with more effect than a sign: sections, items, notes, captions.


def _section(state: State, name: str) -> None:
    state.source.optional()
    state.flow.heading(LATEX.sections[name], state.inline(state.source.argument()))


def _item(state: State, _name: str) -> None:
    label = state.source.optional()
    state.flow.item(None if label is None else state.inline(label))


def _bibitem(state: State, _name: str) -> None:
    state.flow.end()
    state.source.take("om")
    state.cited += 1
    state.flow.write(f"[{state.cited}] ")


def _note(state: State, _name: str) -> None:
    state.source.optional()
    state.flow.note(state.inline(state.source.argument()))


def _caption(state: State, name: str) -> None:
    if name == "captionof":
        state.source.argument()
    state.source.optional()
    text = state.inline(state.source.argument())
    state.flow.end()
    if text:
        state.flow.add(Block("caption", text))


def _image(state: State, _name: str) -> None:
    while state.source.optional() is not None:
        continue
    state.source.argument()
    state.flow.add(Block("figure", ""))


def _verb(state: State, _name: str) -> None:
    state.source.optional()
    mark = state.source.character()
    text = state.source.until("}" if mark == "{" else mark) if mark else ""
    state.flow.write(text or "")


def _code_in_line(state: State, _name: str) -> None:
    state.source.take("om")
    _verb(state, "verb")


def _script(state: State, name: str) -> None:
    place = "sub" if "sub" in name else "sup"
    state.flow.write(set_off(place, state.inline(state.source.argument())))


def _address(state: State, _name: str) -> None:
    address = state.source.until("}") if state.source.takes("{") else state.source.argument()
    state.flow.write((address or "").replace("\\", "").strip())


def _quantity(state: State, name: str) -> None:
    state.source.optional()
    number = "" if name in {"si", "unit"} else state.inline(state.source.argument())
    state.source.optional()
    unit = "°" if name == "ang" else ""
    if name not in {"num", "ang"}:
        unit = units(state.source.argument())
    state.flow.write(f"{number}{' ' if number and unit and name != 'ang' else ''}{unit}")


def _front(state: State, name: str) -> None:
    state.source.optional()
    given = state.source.argument()
    if name == "author":  # of each the first line; addresses follow
        given = " \\and ".join(part.partition("\\\\")[0] for part in given.split("\\and"))
    text = state.inline(given.replace("\\\\", " "))
    before = state.said.get(name, "") if name == "author" else ""
    state.said[name] = f"{before}; {text}" if before else text


def _line_break(state: State, _name: str) -> None:
    state.source.optional()
    state.flow.write(" ")


ACTS: dict[str, Handler] = {
    **dict.fromkeys(LATEX.sections, _section),
    **dict.fromkeys(("footnote", "footnotetext", "endnote", "sidenote"), _note),
    **dict.fromkeys(("caption", "captionof"), _caption),
    **dict.fromkeys(("includegraphics", "epsfig", "psfig", "epsfbox"), _image),
    **dict.fromkeys(("verb", "lstinline", "Verb"), _verb),
    **dict.fromkeys(("textsuperscript", "textsubscript"), _script),
    **dict.fromkeys(("url", "path", "nolinkurl"), _address),
    **dict.fromkeys(("SI", "si", "qty", "unit", "num", "ang"), _quantity),
    **dict.fromkeys(("title", "author", "date"), _front),
    "item": _item,
    "bibitem": _bibitem,
    "mintinline": _code_in_line,
    "\\": _line_break,
}


# Conditionals in a LaTeX document: the branch that applies, as far as known without running TeX.
# Unknown conditions count as false.

_BOOLEAN = re.compile(r"(\\not\s*)?\\(?:boolean|toggle)\s*\{\s*([^{}]*?)\s*\}")


_NO_CONDITION = {"iff", "ifthenelse", "iftoggle"}


def condition(state: State, name: str) -> None:
    """Read a conditional: one with its parts in groups (\\ifthenelse), or up to its \\fi."""
    if name == "else":
        _skip(state, stop_at_else=False)
    elif name not in {"fi", "iff"} and state.source.has_group():
        _choose(state, name)
    elif name.startswith("if") and not (
        name == "iftrue" or state.macros.switches.get(name[2:], False)
    ):
        _skip(state, stop_at_else=True)


def _choose(state: State, name: str) -> None:
    groups: list[str] = []
    while len(groups) < 4 and state.source.has_group():
        groups.append(state.source.argument())
        if len(groups) == 3 and name in _NO_CONDITION:
            break
    if len(groups) < 3:
        return
    found = _BOOLEAN.search(groups[0])
    toggle = found[2] if found else groups[0].strip()
    holds = state.macros.switches.get(toggle, False) != bool(found and found[1])
    state.source.push(groups[-2] if holds else groups[-1])


def _skip(state: State, *, stop_at_else: bool) -> None:
    depth = 0
    while (came := state.source.token()) is not None:
        word = came[1:] if came[0] == "\\" else ""
        if word == "fi":
            if not depth:
                return
            depth -= 1
        elif word == "else" and not depth and stop_at_else:
            return
        elif word.startswith("if") and word not in _NO_CONDITION:
            depth += 1


def switch(state: State, name: str) -> None:
    """Set a switch if a command does that: \\drafttrue."""
    for ending, holds in (("true", True), ("false", False)):
        if name.endswith(ending) and name.removesuffix(ending) in state.macros.switches:
            state.macros.switches[name.removesuffix(ending)] = holds


def _new(state: State, _name: str) -> None:
    state.macros.switches[state.source.argument().strip()] = False


def _set(state: State, name: str) -> None:
    switch_name = state.source.argument().strip()
    if name in {"toggletrue", "togglefalse"}:
        state.macros.switches[switch_name] = name == "toggletrue"
    else:
        state.macros.switches[switch_name] = state.source.argument().strip() == "true"


SWITCHES: dict[str, Handler] = {
    **dict.fromkeys(("newboolean", "provideboolean", "newtoggle", "providetoggle"), _new),
    **dict.fromkeys(("setboolean", "settoggle", "setbool", "toggletrue", "togglefalse"), _set),
}


# Other files of a LaTeX document: inputs, its own packages, its references.

_FILES_DEEP = 30


def _file(state: State, name: str) -> None:
    file = state.source.argument() if state.source.has_group() else ""
    if not file:
        word = (state.source.token() or "").split()
        file = word[0] if word and name == "input" else ""
    file = file.strip().strip('"')
    if file and "\\" not in file and "#" not in file:
        is_needed = not state.in_preamble and name != "InputIfFileExists"
        _open(state, file, is_needed=is_needed)


def _import(state: State, _name: str) -> None:
    folder, file = state.source.argument().strip(), state.source.argument().strip()
    _open(state, f"{folder.rstrip('/')}/{file}", is_needed=True)


def _open(state: State, file: str, *, is_needed: bool) -> None:
    names = (
        [file] if file.lower().endswith((".tex", ".ltx", ".sty", ".bbl")) else [file + ".tex", file]
    )
    open_now = state.source.files
    if len(open_now) > _FILES_DEEP or any(name in open_now for name in names):
        raise BadInput(f"{state.files.name}: {file} inputs itself ({' > '.join(open_now)})")
    for name in names:
        text = state.files.read(name)
        if text is not None:
            begun = text.find("\\begin{document}")
            if begun >= 0:  # a part that could also be a separate document
                text = text[begun + 16 :].partition("\\end{document}")[0]
            state.source.push(text + "\n", name)
            return
    if is_needed:
        state.absent.append(Problem(file, "is input but missing"))


def _package(state: State, _name: str) -> None:
    """Read the definitions in one of the document's own packages."""
    state.source.optional()
    for package in state.source.argument().split(","):
        text = state.files.read(f"{package.strip()}.sty") if package.strip() else None
        if text is not None:
            source = Input(state.files.name)
            source.push(text)
            while (token := source.token()) is not None:
                if token[0] == "\\" and state.macros.is_definition(token[1:]):
                    state.macros.define(token[1:], source)


def _bibliography(state: State, name: str) -> None:
    """Read the references that BibTeX made, if they are next to the source."""
    state.source.optional()
    file = "" if name == "printbibliography" else state.source.argument()
    stem = state.files.main.rpartition("/")[2].rpartition(".")[0]
    for candidate in (f"{stem}.bbl", *(f"{part.strip()}.bbl" for part in file.split(","))):
        text = state.files.read(candidate) if candidate != ".bbl" else None
        if text is not None and "\\bibitem" in text:
            state.source.push(text, candidate)
            return


FILES: dict[str, Handler] = {
    **dict.fromkeys(("input", "include", "subfile", "subfileinclude", "InputIfFileExists"), _file),
    **dict.fromkeys(("bibliography", "printbibliography"), _bibliography),
    **dict.fromkeys(("import", "subimport"), _import),
    "usepackage": _package,
}


# Read a LaTeX document token by token.

_DEEPEST = 24  # nested readings: a note in a caption in a cell


_CITE = re.compile(r"[a-zA-Z]{0,6}cite[a-zA-Z]{0,8}")


_REFERENCES = {
    "ref", "eqref", "autoref", "cref", "Cref", "pageref", "vref", "nameref", "fref", "Fref",
}  # fmt: skip


_KEPT_IN_PREAMBLE = {
    "title", "author", "date", "input", "include", "usepackage", "begin", "fi", "else", *SWITCHES,
}  # fmt: skip


_HANDLERS = {**ACTS, **FILES, **FORMULAS, **SWITCHES, "begin": begin}


def _run(state: State) -> None:
    while (came := state.source.token()) is not None:
        if came[0] == "\\":
            if not _command(state, came[1:]):
                return
        elif state.in_preamble or came in "{}":
            continue
        elif came == BREAK:
            state.flow.end()
        elif came[0] == "$":
            dollars(state, came)
        elif came == "~":
            state.flow.write(" ")
        elif came not in "#&":
            state.flow.say(came)
    state.flow.end()


def _command(state: State, word: str) -> bool:
    """Read one command; return True if the document continues after it."""
    name = word.rstrip("*") if word[:1].isalpha() or word[:1] == "@" else word
    if state.macros.is_definition(word):
        state.macros.define(word, state.source)
    elif state.in_preamble and name not in _KEPT_IN_PREAMBLE and not name.startswith("if"):
        switch(state, name)
    elif name in ("end", "enddocument") and (name != "end" or end(state)):
        return False
    elif handler := _HANDLERS.get(name):
        handler(state, name)
    elif name.startswith("if") or name in {"else", "fi"}:
        condition(state, name)
    elif macro := state.macros.get(word) or state.macros.get(name):
        given = state.macros.arguments(macro, state.source)
        if macro.final:
            _known(state, macro.body.strip().lstrip("\\"))
        else:
            state.source.push(Macros.substitute(macro.body, given))
    else:
        _known(state, name)
    return True


def _known(state: State, name: str) -> None:
    """Read signs, accents, and commands with known text arguments."""
    source, flow = state.source, state.flow
    if name in LATEX.accents and (len(name) > 1 or not name.isalpha() or source.has_group()):
        flow.write(accented(name, state.inline(source.argument())))
    elif LATEX.signs.get(name) == BREAK:
        flow.end()
    elif name in LATEX.signs:
        flow.write(LATEX.signs[name])
        source.takes("{}")
    elif name in _REFERENCES:
        source.optional()
        flow.write(f"[{source.argument().strip()}]")
    elif _CITE.fullmatch(name):
        while source.optional() is not None:
            continue
        keys = [key.strip() for key in source.argument().split(",")]
        flow.write(f"[{', '.join(key for key in keys if key)}]")
    elif name in ARGUMENTS:
        if texts := source.take(ARGUMENTS[name]):
            source.push(" ".join(texts))
    else:
        switch(state, name)
        source.optional()


READER = "latex 1"  # change this with every change that can alter a text


_AND = re.compile(r"\s*;\s*|,\s*and\s+|\s+and\s+")


_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹*†‡]+.*$")


_LONGEST, _LONGEST_NAME = 300, 60


def read_latex(path: Path, root: Path | None = None) -> Iterator[Written]:
    """Yield each document of a .tex file or of an archive (.zip, .tar, .tar.gz, .tgz).

    Input files are read from ``root`` (default: the text's own folder). Comments and the preamble
    are left out. Macros that a document defines are expanded. Other commands are removed, and the
    text in their groups stays. Formulas stay TeX, between dollar signs within a paragraph.

    Raises NotFound, and BadInput for a file that is damaged, too large or without text, for endless
    macros or inputs, for a file outside the root, and naming all missing files.
    """
    for sources in open_sources(path, root):
        yield _written(sources)


def _written(files: Sources) -> Written:
    state = State(files)
    text = files.read(files.main.rpartition("/")[2])
    if text is None:
        raise BadInput(f"{files.name} cannot be read")
    state.in_preamble = "\\begin{document}" in text or "\\documentclass" in text
    blocks = _levelled(state.blocks(text, files.main))
    if state.absent:
        raise BadInput(
            f"{files.name} has files that are missing or cannot be read; nothing was imported",
            state.absent,
            hint="put the files where the text inputs them from",
        )
    check_text(blocks, files.name, without=("heading", "figure", "contents"))
    names = [_NOTE.sub("", name).strip(" ,") for name in _AND.split(state.said.get("author", ""))]
    return Written(
        pages=[blocks],
        title=state.said.get("title", "")[:_LONGEST],
        authors=tuple(dict.fromkeys(name for name in names if 0 < len(name) <= _LONGEST_NAME)),
        year=stated_year([state.said.get("date", "")]),
        language=guess_language(block.text for block in blocks if block.kind != "equation"),
        content=files.content,
    )


def _levelled(blocks: list[Block]) -> list[Block]:
    """Return the blocks with the outermost headings at level 1."""
    highest = min((block.level for block in blocks if block.kind == "heading"), default=1)
    return [
        replace(block, level=block.level - highest + 1) if block.kind == "heading" else block
        for block in blocks
    ]

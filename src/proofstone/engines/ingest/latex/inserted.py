"""The other files of a LaTeX document: what it inputs, its own packages, its references."""

from __future__ import annotations

from proofstone.engines.ingest.latex.lexing import Input
from proofstone.engines.ingest.latex.state import Handler, State
from proofstone.errors import BadInput, Problem

__all__ = ["FILES"]

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
        raise BadInput(f"{state.files.name}: {file} inputs itself ({' > '.join(open_now)}).")
    for name in names:
        text = state.files.read(name)
        if text is not None:
            begun = text.find("\\begin{document}")
            if begun >= 0:  # a part that could also stand by itself
                text = text[begun + 16 :].partition("\\end{document}")[0]
            state.source.push(text + "\n", name)
            return
    if is_needed:
        state.absent.append(Problem(file, "is input and is not there"))


def _package(state: State, _name: str) -> None:
    """Takes from a package of the document's own what it defines."""
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
    """The references that BibTeX has made, where they lie beside the source."""
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

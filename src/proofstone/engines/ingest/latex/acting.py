"""Commands of LaTeX that do more than stand for a sign: sections, items, notes, captions."""

from __future__ import annotations

from proofstone.engines.ingest.latex.commands import SECTIONS
from proofstone.engines.ingest.latex.signs import units
from proofstone.engines.ingest.latex.state import Handler, State
from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.raised import set_off

__all__ = ["ACTS"]


def _section(state: State, name: str) -> None:
    state.source.optional()
    state.flow.heading(SECTIONS[name], state.inline(state.source.argument()))


def _item(state: State, _name: str) -> None:
    label = state.source.optional()
    state.flow.item(None if label is None else state.inline(label))


def _bibitem(state: State, _name: str) -> None:
    state.flow.end()
    state.source.optional()
    state.source.argument()
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
    state.source.optional()
    state.source.argument()
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
    if name == "author":  # of each the first line: below are addresses
        given = " \\and ".join(part.partition("\\\\")[0] for part in given.split("\\and"))
    text = state.inline(given.replace("\\\\", " "))
    before = state.said.get(name, "") if name == "author" else ""
    state.said[name] = f"{before}; {text}" if before else text


def _line_break(state: State, _name: str) -> None:
    state.source.optional()
    state.flow.write(" ")


ACTS: dict[str, Handler] = {
    **dict.fromkeys(SECTIONS, _section),
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

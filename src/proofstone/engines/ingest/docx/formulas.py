"""Formulas of a word processor (OMML) as TeX.

Signs stay the characters that they are (∑, α); what stands above, below or beside is written in
TeX.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from proofstone.engines.ingest.docx.names import child, is_on, local, value

__all__ = ["as_tex"]

_SPACE = re.compile(r"\s+")
_NEXT = r" \\ "  # row
_ACCENTS = {
    "\u0302": "hat", "\u0303": "tilde", "\u0304": "bar", "\u0305": "bar", "\u0307": "dot",
    "\u0308": "ddot", "\u20d7": "vec", "\u0301": "acute", "\u0300": "grave", "\u030c": "check",
}  # fmt: skip
_FUNCTIONS = {
    "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan",
    "log", "ln", "lim", "max", "min", "sup", "inf", "exp", "det", "dim", "ker", "arg", "deg", "gcd",
}  # fmt: skip


def as_tex(math: Any) -> str:
    """A formula in TeX, on one line."""
    return _SPACE.sub(" ", _inside(math)).strip()


def _inside(element: Any) -> str:
    """The parts of an element one after the other; what is unknown as its own parts."""
    if element is None:
        return ""
    parts = []
    for part in element:
        name = local(part)
        if name in _FORMS:
            parts.append(_FORMS[name](part))
        elif name == "t":
            parts.append(part.text or "")
        elif not name.endswith("Pr") and name not in {"del", "moveFrom"}:
            parts.append(_inside(part))
    return "".join(parts)


def _of(element: Any, name: str) -> str:
    return _SPACE.sub(" ", _inside(child(element, name))).strip()


def _braced(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _fraction(element: Any) -> str:
    over, under = _of(element, "num"), _of(element, "den")
    if value(element, "fPr", "type") == "lin":
        return f"{over}/{under}"
    if value(element, "fPr", "type") == "noBar":
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"
    return f"\\frac{{{over}}}{{{under}}}"


def _script(element: Any) -> str:
    below, above = _of(element, "sub"), _of(element, "sup")
    text = _braced(_of(element, "e"))
    return text + (f"_{_braced(below)}" if below else "") + (f"^{_braced(above)}" if above else "")


def _before(element: Any) -> str:
    below, above = _of(element, "sub"), _of(element, "sup")
    return f"{{}}_{_braced(below)}^{_braced(above)}{_of(element, 'e')}"


def _root(element: Any) -> str:
    degree = "" if is_on(element, "radPr", "degHide") else _of(element, "deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_of(element, 'e')}}}"


def _sum(element: Any) -> str:
    sign = value(element, "naryPr", "chr") or "∫"
    below, above = _of(element, "sub"), _of(element, "sup")
    limits = (f"_{_braced(below)}" if below else "") + (f"^{_braced(above)}" if above else "")
    return f"{sign}{limits} {_of(element, 'e')}"


def _fenced(element: Any) -> str:
    settings = child(element, "dPr")
    given = {local(part): value(settings, local(part)) for part in settings or ()}
    between = given.get("sepChr", "|")
    inner = [_inside(part).strip() for part in element if local(part) == "e"]
    return given.get("begChr", "(") + between.join(inner) + given.get("endChr", ")")


def _function(element: Any) -> str:
    name = _of(element, "fName")
    known = "\\" if name in _FUNCTIONS else ""
    return f"{known}{name} {_of(element, 'e')}"


def _accent(element: Any) -> str:
    name = _ACCENTS.get(value(element, "accPr", "chr") or "\u0302")
    return f"\\{name}{{{_of(element, 'e')}}}" if name else _of(element, "e")


def _bar(element: Any) -> str:
    name = "overline" if value(element, "barPr", "pos") == "top" else "underline"
    return f"\\{name}{{{_of(element, 'e')}}}"


def _rows(element: Any) -> str:
    rows = [
        " & ".join(_inside(cell).strip() for cell in row if local(cell) == "e")
        for row in element
        if local(row) == "mr"
    ]
    return f"\\begin{{matrix}} {_NEXT.join(rows)} \\end{{matrix}}" if rows else ""


def _lines(element: Any) -> str:
    return _NEXT.join(_inside(line).strip() for line in element if local(line) == "e")


def _limit(sign: str) -> Callable[[Any], str]:
    return lambda element: f"{_of(element, 'e')}{sign}{_braced(_of(element, 'lim'))}"


_FORMS: dict[str, Callable[[Any], str]] = {
    "f": _fraction, "sSup": _script, "sSub": _script, "sSubSup": _script, "sPre": _before,
    "rad": _root, "nary": _sum, "d": _fenced, "func": _function, "acc": _accent, "bar": _bar,
    "m": _rows, "eqArr": _lines, "limLow": _limit("_"), "limUpp": _limit("^"),
}  # fmt: skip

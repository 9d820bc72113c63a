"""Tables as self-contained LaTeX: booktabs rules, a caption, notes below.

No package is required: without booktabs, plain rules are used. A table too wide or too long for a
page is split into parts, each with the columns that name its rows.
"""

from __future__ import annotations

import re
import textwrap
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from importlib import resources
from itertools import groupby

from msgspec import Struct

from proofstone.page.section import (
    MISSING,
    Cell,
    Column,
    PageTable,
    Table,
    estimates_in,
    shown_cell,
    told_making,
)
from proofstone.records.runs import FLAGS, Estimate
from proofstone.wording.messages import paragraph, say, word

_RANGE = re.compile(r"(?<=\d)-(?=\d)")


_RULES = r"""\providecommand{\toprule}{\hline}
\providecommand{\midrule}{\hline}
\providecommand{\bottomrule}{\hline}
"""


_MOST_WIDE = 78  # characters per line of an article, in footnotesize


_MOST_SMALL = 92  # the same in scriptsize, for a table that then fits


_GAP = 1.5  # space between two columns, in characters


_MOST_LONG = 42  # rows per page


_LONGEST = 40  # characters of a cell that is not wrapped


_FLOATS = 8  # consecutive floats before a \clearpage


class _Shown(Struct, frozen=True):
    """A printed column: header and cells as plain text, whether they are numbers, maximum width."""

    head: str
    cells: tuple[str, ...]
    is_number: bool
    width: int
    bold: tuple[int, ...] = ()


def tex_table(page: PageTable, *, about: str, how: Sequence[str] = ()) -> str:
    """Return the file of a table.

    ``about`` describes the numbers in the caption. ``how`` precedes the table's notes: seed,
    software.
    """
    first = _first_estimates(page.table)
    columns = [
        _shown(
            column,
            [row[place] for row in page.table.rows],
            page.best if place == first else (),
        )
        for place, column in enumerate(page.table.columns)
    ]
    parts = [
        (across, rows) for rows in _chunks(len(page.table.rows)) for across in _panels(columns)
    ]
    notes = tex_text(paragraph(*_notes(page, how)))
    blocks = [
        _part(page, about, [columns[place] for place in across], rows, notes, number, len(parts))
        for number, (across, rows) in enumerate(parts, start=1)
    ]
    body = "\n".join(blocks)
    head = PREAMBLE if r"\proofstone" in body else ""
    return f"{head}{_RULES}{body}\n"


def _first_estimates(table: Table) -> int:
    """Return the index of the first column of estimates; -1 if there is none."""
    places = range(len(table.columns))
    return next((p for p in places if any(isinstance(r[p], Estimate) for r in table.rows)), -1)


def _part(
    page: PageTable,
    about: str,
    columns: Sequence[_Shown],
    rows: range,
    notes: str,
    number: int,
    n_parts: int,
) -> str:
    size = "footnotesize" if _width(columns) <= _MOST_WIDE else "scriptsize"
    title = page.table.title
    if n_parts > 1:
        title = say("{title} (part {k} of {n})", title=title, k=number, n=n_parts)
    label = f"tab:{page.name}" + (f":{number}" if number > 1 else "")
    lines = [
        r"\begin{table}[htbp]",
        rf"\centering\{size}\setlength{{\tabcolsep}}{{3pt}}",
        rf"\caption{{{tex_text(say('{title}: {about}.', title=title, about=about))}}}",
        rf"\label{{{label}}}",
        rf"\begin{{tabular}}{{{''.join('r' if each.is_number else 'l' for each in columns)}}}",
        r"\toprule",
        _row([_head(each) for each in columns]),
        r"\midrule",
        *(_row([_cell(each, place) for each in columns]) for place in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if notes and number == n_parts:
        broken = textwrap.wrap(notes, 98, break_long_words=False, break_on_hyphens=False)
        lines += [r"\par\smallskip", r"\parbox{\linewidth}{\raggedright", *broken, "}"]
    lines.append(r"\end{table}")
    if number % _FLOATS == 0 and number < n_parts:
        lines.append(r"\clearpage")
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return " & ".join(cells) + r" \\"


def _head(column: _Shown) -> str:
    return _boxed(column.head) if len(column.head) > _LONGEST else tex_text(column.head)


def _cell(column: _Shown, place: int) -> str:
    text = column.cells[place]
    if column.is_number:
        number = _number(text)
        return rf"\textbf{{{number}}}" if place in column.bold else number
    return _boxed(text) if len(text) > _LONGEST else tex_text(text)


def _number(text: str) -> str:
    """Return a number, an interval or a rank range with its dash or minus."""
    text = _RANGE.sub("\u2013", text)
    return tex_text(text.replace("-", "\u2212"))


def _boxed(text: str) -> str:
    """Return a long text in lines; names may be wrapped after slashes and underscores."""
    broken = tex_text(text).replace("/", r"/\allowbreak{}").replace(r"\_", r"\_\allowbreak{}")
    return rf"\parbox[t]{{{_LONGEST / 2:g}em}}{{\raggedright {broken}\strut}}"


def _shown(column: Column, cells: Sequence[Cell], bold: tuple[int, ...] = ()) -> _Shown:
    shown = [shown_cell(cell, column) for cell in cells]
    texts = tuple(each.text for each in shown)
    is_number = bool(shown) and all(each.is_number for each in shown)
    is_number &= any(text != MISSING for text in texts)
    longest = max(map(len, (column.name, *texts)))
    return _Shown(column.name, texts, is_number, min(longest, _LONGEST), bold)


def _panels(columns: Sequence[_Shown]) -> Iterator[list[int]]:
    """Yield the columns of each part: those that name rows, then as many as fit."""
    if _width(columns) <= _MOST_SMALL:
        yield list(range(len(columns)))
        return
    named = _naming(columns)
    base = _width([columns[place] for place in named])
    part, width = list(named), base
    for place in range(len(columns)):
        if place in named:
            continue
        wider = columns[place].width + _GAP
        if width + wider > _MOST_WIDE and len(part) > len(named):
            yield part
            part, width = list(named), base
        part.append(place)
        width += wider
    yield part


def _width(columns: Sequence[_Shown]) -> float:
    return sum(each.width + _GAP for each in columns)


def _naming(columns: Sequence[_Shown]) -> list[int]:
    """Return the columns that name a row: the first adjacent texts, with ranks before them.

    Only the first column, if that would be all columns or more than half of the width.
    """
    first = next((place for place, each in enumerate(columns) if not each.is_number), 0)
    last = first
    while last + 1 < len(columns) and not columns[last + 1].is_number:
        last += 1
    is_all = last + 1 == len(columns)
    if is_all or first > 1 or sum(each.width for each in columns[: last + 1]) > _MOST_WIDE / 2:
        return [0]
    return list(range(last + 1))


def _chunks(n_rows: int) -> list[range]:
    return [range(at, min(at + _MOST_LONG, n_rows)) for at in range(0, max(n_rows, 1), _MOST_LONG)]


def _notes(page: PageTable, how: Sequence[str]) -> Iterator[str]:
    """Yield the population and method of intervals, then the table's notes."""
    yield from _intervals(page.table)
    yield from filter(None, (page.table.note, *page.notes))
    yield from how


def _intervals(table: Table) -> Iterator[str]:
    """Yield one sentence per kind of interval, with the n behind it."""
    kinds: dict[tuple[float, str, str, str], list[Estimate]] = {}
    for each in estimates_in(table):
        if each.n and each.low == each.low:
            key = (each.level, each.population, each.made_by, each.resampled)
            kinds.setdefault(key, []).append(each)
    for (level, population, made_by, resampled), found in kinds.items():
        low, high = min(each.n for each in found), max(each.n for each in found)
        n = f"{low:,}" if low == high else say("{low:,} to {high:,}", low=low, high=high)
        yield say(
            "{level:g}% intervals for {population} ({made_by}; resampled unit: {resampled}), "
            "n = {n}.",
            level=100 * level,
            population=word(population),
            made_by=told_making(made_by),
            resampled=word(resampled),
            n=n,
        )
    used = {flag for each in estimates_in(table) for flag in each.flags}
    for flag, text in FLAGS.items():
        if flag in used:
            yield say("For some intervals, {flag}.", flag=word(text))


# #1: the first code point, hexadecimal; #2: all of them as text; #3: the characters. Only XeTeX
# and LuaTeX can be asked for a glyph; pdfTeX prints Chinese where CJK or CJKutf8 is loaded.
PREAMBLE = r"""\ifdefined\proofstonetext\else
\DeclareRobustCommand{\proofstonetext}[3]{%
  \ifdefined\XeTeXversion \iffontchar\font"#1 #3\else #2\fi
  \else\ifdefined\directlua \iffontchar\font"#1 #3\else #2\fi
  \else #2\fi\fi}
\DeclareRobustCommand{\proofstonecjk}[3]{%
  \ifdefined\CJKfamily
    \ifdefined\XeTeXversion #3\else\ifdefined\directlua #3%
    \else\begin{CJK*}{UTF8}{gbsn}#3\end{CJK*}\fi\fi
  \else\proofstonetext{#1}{#2}{#3}\fi}
\fi
"""


_FILE = resources.files(__package__) / "tex.toml"


_SIGNS: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


_ACCENTS = _SIGNS["accents"]


_GREEK = {
    chr(code): rf"\{unicodedata.name(chr(code)).rpartition(' ')[2].lower()}"
    for code in range(0x03B1, 0x03CA)
    if code not in (0x03BB, 0x03BF, 0x03C2)
}


# NUL marks a broken ligature.
_COMMANDS = {"\0": "{}", **_SIGNS["commands"]} | {
    sign: rf"\ensuremath{{{maths}}}" for sign, maths in (_SIGNS["maths"] | _GREEK).items()
}


# Characters that form ligatures when repeated, such as two hyphens.
_LIGATURE = re.compile(r"([-',])(?=\1)|([!?])(?=`)")


_CJK = re.compile(
    "[\u2e80-\u303f\u3040-\u30ff\u3100-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
    "\U00020000-\U0003ffff]"
)


_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})


_MOST_IN_A_RUN = 8  # characters that no line is broken between


def tex_text(text: str) -> str:
    """Return ``text`` as LaTeX on one line.

    Line breaks become spaces; control and direction characters become code points. Braces are
    balanced, and no character is active.
    """
    text = unicodedata.normalize("NFC", text.replace("\0", "\ufffd"))
    text = _LIGATURE.sub(lambda sign: f"{sign[0]}\0", text)
    return "".join(_run(kind, "".join(run)) for kind, run in groupby(text, _kind))


def tex_paragraphs(paragraphs: Sequence[str]) -> str:
    """Return paragraphs as LaTeX with their preamble."""
    body = "\n\n".join(
        textwrap.fill(tex_text(each), 98, break_long_words=False, break_on_hyphens=False)
        for each in paragraphs
    )
    return (PREAMBLE if r"\proofstone" in body else "") + body


def _kind(character: str) -> str:
    return "cjk" if _CJK.match(character) else "other"


def _run(kind: str, run: str) -> str:
    if kind == "cjk":
        parts = (run[at : at + _MOST_IN_A_RUN] for at in range(0, len(run), _MOST_IN_A_RUN))
        return r"\allowbreak{}".join(_handed("proofstonecjk", part) for part in parts)
    return "".join(map(_character, run))


def _character(character: str) -> str:
    if character in _COMMANDS:
        return _COMMANDS[character]
    category = unicodedata.category(character)
    if character.isspace() or category in {"Zs", "Zl", "Zp"}:
        return " "
    if category in _HIDDEN:
        return rf"\textless{{}}{_code(character)}\textgreater{{}}"
    if character.isascii():
        return character
    return _accented(character) or _handed("proofstonetext", character)


def _accented(character: str) -> str:
    """Return a Latin letter with one accent as its command, otherwise ""."""
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return ""


def _handed(macro: str, run: str) -> str:
    codes = " ".join(map(_code, run))
    return rf"\{macro}{{{ord(run[0]):04X}}}{{{codes}}}{{{run}}}"


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"


# A document of all tables.

_HEAD = r"""% All tables of the page; any other file here can be \input into a paper.
% Chinese, Japanese and Korean need XeLaTeX with xeCJK, or pdfLaTeX with CJKutf8; without them
% such texts are printed as code points.
\documentclass{article}
\usepackage[margin=2cm]{geometry}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{}
\ifdefined\XeTeXversion\else\ifdefined\directlua\else
  \IfFileExists{c70gbsn.fd}{\IfFileExists{CJKutf8.sty}{\usepackage{CJKutf8}}{}}{}
\fi\fi
\begin{document}
"""


def tex_document(files: Sequence[str]) -> str:
    """Return the document; floats are flushed before LaTeX's limit."""
    lines = [_HEAD.rstrip()]
    for file in files:
        lines += [rf"\input{{{file.removesuffix('.tex')}}}", r"\clearpage"]
    return "\n".join([*lines, r"\end{document}"]) + "\n"

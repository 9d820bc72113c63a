"""Read the body of a DOCX as blocks, page by page."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofstone.documents.epub import Archive
from proofstone.documents.passages import (
    MOST_BLOCKS,
    Block,
    Written,
    check_text,
    grouped,
    only_lays_out,
    rows_text,
    set_off,
    stated_year,
    too_many_blocks,
)
from proofstone.errors import BadInput
from proofstone.files.csv import open_bytes
from proofstone.records.pages import MarkKind
from proofstone.texts.languages import guess_language, said_language

# OOXML elements and attributes are matched by local names: its two dialects differ in namespaces.


def by_local_names(root: Any) -> Any:
    """Return the same tree with all names without their namespaces, and without comments."""
    from lxml import etree  # noqa: PLC0415 - in an extra

    etree.strip_elements(root, etree.Comment, etree.PI, etree.Entity, with_tail=False)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in [key for key in element.attrib if key[0] == "{"]:
            text, name = element.attrib.pop(key), key.rpartition("}")[2]
            element.set(name, element.get(name, text))
    return root


def value(element: Any, path: str) -> str:
    """Return the ``val`` of the element at a path of names; empty if there is none."""
    found = None if element is None else element.find(path)
    return "" if found is None else str(found.get("val", ""))


def is_on(element: Any, path: str) -> bool:
    """Return True if the switch at a path of names exists and is not off."""
    found = None if element is None else element.find(path)
    return found is not None and found.get("val") not in {"0", "false", "off"}


# Numbers that a word processor adds before list items.

_DEEPEST = 9


_PLACE = re.compile(r"%([1-9])")


_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"),
          (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))  # fmt: skip


_MOST = 3999  # numbers that are converted to letters and Roman numerals


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class _List:
    """A list: the list whose levels it counts by, its levels, and where it restarts."""

    form: str
    levels: dict[int, _Level]
    anew: dict[int, int]


class Numbering:
    """Number list items as they come.

    Lists of one form continue, unless they state a start number.
    """

    def __init__(self, lists: dict[str, _List]) -> None:
        self._lists = lists
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def mark(self, number: str, depth: int) -> str:
        """Return the mark of the next item of list ``number`` at a depth from 0."""
        found = self._lists.get(number)
        level = found.levels.get(depth) if found else None
        if found is None or level is None or not _PLACE.search(level.text):
            return "-"
        counts = self._counts.setdefault(found.form, {})
        if number not in self._begun:
            self._begun.add(number)
            counts |= {place: start - 1 for place, start in found.anew.items()}
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]

        def shown(place: re.Match[str]) -> str:
            there = found.levels.get(int(place[1]) - 1, level)
            return _written(counts.get(int(place[1]) - 1, there.start), there.form)

        return _PLACE.sub(shown, level.text).strip() or "-"


def read_numbering(root: Any) -> Numbering:
    """Return the lists that a numbering part defines."""
    forms = {
        form.get("abstractNumId", ""): {
            depth: _Level(
                value(level, "numFmt"), value(level, "lvlText")[:40], 1 if start is None else start
            )
            for depth, level, start in _by_depth(form.findall("lvl"), "start")
        }
        for form in root.iter("abstractNum")
    }
    lists = {}
    for entry in root.iter("num"):
        form = value(entry, "abstractNumId")
        begun = _by_depth(entry, "startOverride")
        anew = {depth: start for depth, _level, start in begun if start is not None}
        lists[entry.get("numId", "")] = _List(form, forms.get(form, {}), anew)
    return Numbering(lists)


def _by_depth(entries: Any, start: str) -> Iterator[tuple[int, Any, int | None]]:
    """Yield the levels of a list with their definitions and start numbers."""
    for entry in entries:
        depth, first = entry.get("ilvl", ""), value(entry, start)
        if depth.isdigit() and int(depth) < _DEEPEST:
            yield int(depth), entry, int(first) if first.isdigit() and len(first) < 9 else None


def _written(number: int, form: str) -> str:
    if not 0 < number <= _MOST:
        return str(number)
    text, left = "", number
    if form.endswith("Letter"):
        text = chr(ord("a") + (number - 1) % 26) * ((number - 1) // 26 + 1)
    elif form.endswith("Roman"):
        for worth, sign in _ROMAN:
            text += sign * (left // worth)
            left %= worth
    return (text.upper() if form.startswith("upper") else text) or str(number)


# Meanings of DOCX styles: headings with their level, captions, code, contents.

_MOST_PARENTS = 20  # a style may name itself among its parents


_HEADING = re.compile(r"heading ([1-9])$")


_NAMED: tuple[tuple[re.Pattern[str], MarkKind], ...] = (
    (re.compile(r"caption"), "caption"),
    (re.compile(r"toc( |\d|$)|index \d|table of |bibliography"), "contents"),
    (re.compile(r"(footnote|endnote) text"), "note"),
    (re.compile(r"html preformatted|preformatted|source code|verbatim|code( |$)"), "code"),
)


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph's style: its kind, heading level (or 0), and its list as (numbering, level)."""

    kind: MarkKind = "text"
    level: int = 0
    numbering: tuple[str, int] | None = None
    is_title: bool = False


PLAIN = Style()


def read_styles(root: Any) -> dict[str, Style]:
    """Return styles by id, with missing properties inherited from their base styles."""
    own = {
        style.get("styleId", ""): style
        for style in root.findall("style")
        if style.get("type", "") in {"paragraph", ""}
    }
    return {name: _style(_chain(own, name)) for name in own}


def _chain(own: dict[str, Any], name: str) -> list[Any]:
    """Return a style and its base styles, nearest first."""
    found: list[Any] = []
    while name in own and len(found) < _MOST_PARENTS:
        found.append(own[name])
        name = value(own[name], "basedOn")
    return found


def _style(chain: list[Any]) -> Style:
    names = [value(style, "name").lower() for style in chain]
    level = next((level for style in chain if (level := _stated_level(style))), 0)
    is_title = names[0] == "title"
    if level or is_title:
        return Style("heading", level or 1, is_title=is_title)
    kinds = (kind for name in names for pattern, kind in _NAMED if pattern.match(name))
    return Style(next(kinds, "text"), numbering=_numbering(chain))


def _stated_level(style: Any) -> int:
    """Return the heading level from a style's own name or outline, or 0."""
    named = _HEADING.match(value(style, "name").lower())
    return int(named[1]) if named else _level(value(style, "pPr/outlineLvl"))


def _level(text: str) -> int:
    """Convert an outline level from 0 to a heading level from 1; 9 is body text."""
    return int(text) + 1 if text.isascii() and text.isdigit() and int(text) < 9 else 0


_NUMBER = "pPr/numPr/numId"


def _numbering(chain: list[Any]) -> tuple[str, int] | None:
    """Return the list, and the level in it, of a paragraph or its nearest style with one."""
    for style in chain:
        number = value(style, _NUMBER)
        if number:
            depth = value(style, "pPr/numPr/ilvl")
            return (number, int(depth) if depth.isdigit() else 0) if number != "0" else None
    return None


def stated_language(root: Any) -> str:
    """Return the file's language for alphabetic text; empty if not set."""
    return value(root, "docDefaults/rPrDefault/rPr/lang")


# Convert a word processor's formulas (OMML) to TeX.
#
# Signs stay characters (∑, α); positions above, below or next to a sign become TeX.

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
    """Return a formula in TeX, on one line."""
    return _SPACE.sub(" ", _inside(math)).strip()


def _inside(element: Any) -> str:
    """Return the concatenated parts of an element; an unknown element is replaced by its parts."""
    if element is None:
        return ""
    parts = []
    for part in element:
        name = part.tag
        if name in _FORMS:
            parts.append(_FORMS[name](part))
        elif name == "t":
            parts.append(part.text or "")
        elif not name.endswith("Pr") and name not in {"del", "moveFrom"}:
            parts.append(_inside(part))
    return "".join(parts)


def _of(element: Any, name: str) -> str:
    return _SPACE.sub(" ", _inside(element.find(name))).strip()


def _braced(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _fraction(element: Any) -> str:
    over, under = _of(element, "num"), _of(element, "den")
    if value(element, "fPr/type") == "lin":
        return f"{over}/{under}"
    if value(element, "fPr/type") == "noBar":
        return f"\\genfrac{{}}{{}}{{0pt}}{{}}{{{over}}}{{{under}}}"
    return f"\\frac{{{over}}}{{{under}}}"


def _limits(element: Any) -> str:
    below, above = _of(element, "sub"), _of(element, "sup")
    return (f"_{_braced(below)}" if below else "") + (f"^{_braced(above)}" if above else "")


def _script(element: Any) -> str:
    return _braced(_of(element, "e")) + _limits(element)


def _before(element: Any) -> str:
    below, above = _of(element, "sub"), _of(element, "sup")
    return f"{{}}_{_braced(below)}^{_braced(above)}{_of(element, 'e')}"


def _root(element: Any) -> str:
    degree = "" if is_on(element, "radPr/degHide") else _of(element, "deg")
    return f"\\sqrt{f'[{degree}]' if degree else ''}{{{_of(element, 'e')}}}"


def _sum(element: Any) -> str:
    sign = value(element, "naryPr/chr") or "∫"
    return f"{sign}{_limits(element)} {_of(element, 'e')}"


def _fenced(element: Any) -> str:
    settings = element.find("dPr")
    given = {part.tag: part.get("val", "") for part in (() if settings is None else settings)}
    between = given.get("sepChr", "|")
    inner = [_inside(part).strip() for part in element.findall("e")]
    return str(given.get("begChr", "(") + between.join(inner) + given.get("endChr", ")"))


def _function(element: Any) -> str:
    name = _of(element, "fName")
    known = "\\" if name in _FUNCTIONS else ""
    return f"{known}{name} {_of(element, 'e')}"


def _accent(element: Any) -> str:
    name = _ACCENTS.get(value(element, "accPr/chr") or "\u0302")
    return f"\\{name}{{{_of(element, 'e')}}}" if name else _of(element, "e")


def _bar(element: Any) -> str:
    name = "overline" if value(element, "barPr/pos") == "top" else "underline"
    return f"\\{name}{{{_of(element, 'e')}}}"


def _rows(element: Any) -> str:
    rows = [
        " & ".join(_inside(cell).strip() for cell in row.findall("e"))
        for row in element.findall("mr")
    ]
    return f"\\begin{{matrix}} {_NEXT.join(rows)} \\end{{matrix}}" if rows else ""


def _lines(element: Any) -> str:
    return _NEXT.join(_inside(line).strip() for line in element.findall("e"))


def _limit(sign: str) -> Callable[[Any], str]:
    return lambda element: f"{_of(element, 'e')}{sign}{_braced(_of(element, 'lim'))}"


_FORMS: dict[str, Callable[[Any], str]] = {
    "f": _fraction, "sSup": _script, "sSub": _script, "sSubSup": _script, "sPre": _before,
    "rad": _root, "nary": _sum, "d": _fenced, "func": _function, "acc": _accent, "bar": _bar,
    "m": _rows, "eqArr": _lines, "limLow": _limit("_"), "limUpp": _limit("^"),
}  # fmt: skip


# The text of a paragraph: its runs, without deleted text, hidden text and field codes.

NEW_PAGE = "\f"


_GONE = {
    "del", "moveFrom", "pPr", "rPr", "instrText", "delText", "delInstrText", "Fallback", "rt",
    "commentReference", "annotationRef", "sdtPr", "sdtEndPr",
}  # fmt: skip


_SIGNS = {"tab": "\t", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}


_NOTES = {"footnoteReference": "footnote", "endnoteReference": "endnote"}


@dataclass
class Paragraph:
    """A paragraph's text, with ``NEW_PAGE`` where a page begins in it.

    ``formulas`` are displayed formulas, if ``text`` holds nothing else. ``notes`` are the notes
    that it refers to by (kind, id). ``figures`` are the alternative texts of images, ``boxes`` the
    paragraphs of text boxes. Notes are marked by their ``numbers``, and get the next one if they
    have none.
    """

    numbers: dict[tuple[str, str], int]
    pieces: list[str] = field(default_factory=list)
    formulas: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    figures: list[str] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    _fields: list[bool] = field(
        default_factory=list
    )  # for each open field, whether its code has ended

    @property
    def text(self) -> str:
        """Return the text; empty if there are only displayed formulas."""
        return "" if self.formulas else "".join(self.pieces)

    def inside(self, element: Any) -> None:
        """Add all parts of an element."""
        for part in element:
            name = part.tag
            if name == "r":
                self._run(part)
            elif name == "oMathPara":
                found = [text for formula in part.findall("oMath") if (text := as_tex(formula))]
                if "".join(self.pieces).strip():
                    self._say(" ".join(f"${text}$" for text in found))
                else:
                    self.formulas += found
            elif name == "oMath":
                self._say(f"${as_tex(part)}$")
            elif name and name not in _GONE:
                self.inside(part)

    def _say(self, text: str) -> None:
        if all(self._fields):
            if self.formulas and text.strip():
                self.pieces += [f"${formula}$ " for formula in self.formulas]
                self.formulas = []
            self.pieces.append(text)

    def _run(self, run: Any) -> None:
        if is_on(run, "rPr/vanish"):
            return
        place = {"superscript": "sup", "subscript": "sub"}.get(value(run, "rPr/vertAlign"))
        for part in run:
            name = part.tag
            if name == "t":
                text = part.text or ""
                self._say(set_off(place, text) if place else text)
            elif name in {"drawing", "pict", "object", "AlternateContent"}:
                self._drawn(part)
            elif name not in _GONE:
                self._sign(name, part)

    def _sign(self, name: str, part: Any) -> None:
        if name == "br":
            self._say(NEW_PAGE if part.get("type", "") == "page" else "\n")
        elif name in _SIGNS:
            self._say(_SIGNS[name])
        elif name == "fldChar":
            self._field(part.get("fldCharType", ""))
        elif name in _NOTES:
            self._note(_NOTES[name], part.get("id", ""))
        elif name == "sym":
            self._say(_symbol(part.get("char", "")))
        elif name == "ruby":
            for base in part.findall("rubyBase"):
                self.inside(base)

    def _field(self, edge: str) -> None:
        if edge == "begin":
            self._fields.append(False)
        elif edge == "separate" and self._fields:
            self._fields[-1] = True
        elif edge == "end" and self._fields:
            self._fields.pop()

    def _note(self, kind: str, name: str) -> None:
        number = self.numbers.setdefault((kind, name), len(self.numbers) + 1)
        self.notes.append((kind, name))
        self._say(set_off("sup", str(number)))

    def _drawn(self, drawing: Any) -> None:
        """Add images with their alternative texts, and the paragraphs of text boxes."""
        described = ""
        for part in _walk(drawing):
            name = part.tag
            if name == "docPr":
                described = part.get("descr", "") or part.get("title", "")
            elif name in {"blip", "imagedata", "chart"}:
                self.figures.append(" ".join(described.split())[:500])
            elif name == "txbxContent":
                self.boxes.append(part)


def said_in(paragraph: Any, numbers: dict[tuple[str, str], int]) -> Paragraph:
    """Return a paragraph's content, with notes marked by ``numbers``."""
    said = Paragraph(numbers)
    said.inside(paragraph)
    if "".join(said.pieces).strip():  # a formula within a sentence after all
        said.formulas = []
    return said


def _walk(element: Any) -> Iterator[Any]:
    """Yield the parts of a drawing, without fallbacks and without the content of its text boxes."""
    for part in element:
        yield part
        if part.tag not in {"Fallback", "txbxContent"}:
            yield from _walk(part)


def _symbol(code: str) -> str:
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    is_character = 0x20 <= number < 0xD800 or 0xF900 <= number < 0xFFFE
    return chr(number) if is_character else ""


_JOINED: tuple[MarkKind, ...] = ("list", "code", "contents")


_BODY_SPACE = re.compile(r"[ \t\u00a0\n]+")


_WITHIN = {"sdt", "sdtContent", "smartTag", "customXml", "ins", "moveTo", "AlternateContent",
           "Choice", "body"}  # fmt: skip


_CONTENTS = {"table of contents", "bibliographies"}


@dataclass
class Body:
    """Read paragraphs and tables in order into ``pages`` of blocks.

    A page ends at an author's page break, and at the end of a section if the next one begins on a
    new page. Notes follow the section of text that refers to them.
    """

    name: str
    styles: dict[str, Style]
    numbering: Numbering
    notes: dict[tuple[str, str], Any]  # by (kind, id)
    pages: list[list[Block]] = field(default_factory=lambda: [[]])
    title: str = ""
    _note_numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _waiting: list[tuple[str, str]] = field(default_factory=list)
    _n_blocks: int = 0

    def read(self, body: Any) -> None:
        """Read a whole body."""
        breaks = _section_breaks(body)
        self._read(body, breaks, in_contents=False)
        self._place_notes()
        self.pages = [grouped(page, _JOINED) for page in self.pages if page] or [[]]

    def _read(self, element: Any, breaks: Iterator[bool], *, in_contents: bool) -> None:
        for part in element:
            name = part.tag
            if name == "p":
                self._paragraph(part, in_contents=in_contents)
                if part.find("pPr/sectPr") is not None and next(breaks, False):
                    self._turn()
            elif name == "tbl":
                self._table(part, breaks, in_contents=in_contents)
            elif name in _WITHIN:
                gallery = value(part, "sdtPr/docPartObj/docPartGallery").lower()
                self._read(part, breaks, in_contents=in_contents or gallery in _CONTENTS)

    def _paragraph(self, paragraph: Any, *, in_contents: bool = False) -> None:
        style = self.styles.get(value(paragraph, "pPr/pStyle"), PLAIN)
        if is_on(paragraph, "pPr/pageBreakBefore"):
            self._turn()
        said = said_in(paragraph, self._note_numbers)
        kind, level = (style.kind, style.level)
        own = value(paragraph, "pPr/outlineLvl")
        if own.isdigit() and int(own) < 9 and said.text.strip():
            kind, level = "heading", int(own) + 1
        if in_contents:
            kind, level = "contents", 0
        if kind == "heading" and said.text.strip():
            self._place_notes()
        if style.is_title and not self.title:
            self.title = _plain(said.text.replace(NEW_PAGE, " "))
        self._say(said, kind, level, self._mark(paragraph, style) if kind == "text" else "")
        self._waiting += said.notes
        for box in said.boxes:
            self._read(box, iter(()), in_contents=in_contents)

    def _say(self, said: Paragraph, kind: MarkKind, level: int, mark: str) -> None:
        for place, text in enumerate(said.text.split(NEW_PAGE)):
            if place:
                self._turn()
            shown = text.strip("\n").rstrip() if kind == "code" else _plain(text)
            if shown and mark:
                self._add(Block("list", f"{mark} {shown}" if not place else shown))
            elif shown:
                self._add(Block(kind, shown, level=level))
        for formula in said.formulas:
            self._add(Block("equation", formula))
        for described in said.figures:
            self._add(Block("figure", described))

    def _mark(self, paragraph: Any, style: Style) -> str:
        """Return the mark before a list item, indented for nested lists."""
        listed = _numbering([paragraph]) if value(paragraph, _NUMBER) else style.numbering
        if listed is None:
            return ""
        return "  " * min(listed[1], 4) + self.numbering.mark(*listed)

    def _table(self, table: Any, breaks: Iterator[bool], *, in_contents: bool) -> None:
        """Add a table's rows; a layout table is read as normal text."""
        rows = [_cells(row) for row in _body_rows(table)]
        texts = [[self._cell(cell) for cell in cells] for cells in rows]
        if only_lays_out(texts):
            for cell in (cell for cells in rows for cell in cells):
                self._read(cell, breaks, in_contents=in_contents)
        elif shown := rows_text(texts):
            self._add(Block("contents" if in_contents else "table", shown))

    def _cell(self, cell: Any) -> str:
        if cell.find("tcPr/vMerge") is not None and value(cell, "tcPr/vMerge") != "restart":
            return ""  # continues from the row above
        texts = []
        for paragraph in paragraphs_of(cell):
            said = said_in(paragraph, self._note_numbers)
            self._waiting += said.notes
            texts += [said.text.replace(NEW_PAGE, " "), *(f"${text}$" for text in said.formulas)]
        return _plain(" ".join(texts))

    def _place_notes(self) -> None:
        waiting, self._waiting = list(dict.fromkeys(self._waiting)), []
        for key in waiting:
            note = self.notes.get(key)
            if note is None:
                continue
            said = [said_in(paragraph, self._note_numbers) for paragraph in paragraphs_of(note)]
            text = _plain(" ".join(part.text or " ".join(part.formulas) for part in said))
            if text:
                mark = set_off("sup", str(self._note_numbers[key]))
                self._add(Block("note", f"{mark} {text.replace(NEW_PAGE, ' ')}"))

    def _turn(self) -> None:
        self._place_notes()
        self.pages.append([])

    def _add(self, block: Block) -> None:
        self._n_blocks += 1
        if self._n_blocks > MOST_BLOCKS:
            raise too_many_blocks(self.name)
        self.pages[-1].append(block)


def paragraphs_of(element: Any) -> Iterator[Any]:
    """Yield all paragraphs within, in order, including those in tables."""
    for part in element:
        if part.tag == "p":
            yield part
        elif part.tag in _WITHIN or part.tag in {"tbl", "tr", "tc"}:
            yield from paragraphs_of(part)


def _body_rows(table: Any) -> Iterator[Any]:
    for part in table:
        if part.tag == "tr":
            if part.find("trPr/del") is None:
                yield part
        elif part.tag in _WITHIN:
            yield from _body_rows(part)


def _cells(row: Any) -> list[Any]:
    found = []
    for part in row:
        if part.tag == "tc":
            found.append(part)
        elif part.tag in _WITHIN:
            found += _cells(part)
    return found


def _section_breaks(body: Any) -> Iterator[bool]:
    """Yield for each section but the last whether the next one begins on a new page."""
    sections = [
        part
        for part in body.iter()
        if part.tag == "sectPr" and part.getparent().tag != "sectPrChange"
    ]
    kinds = [value(section, "type") for section in sections]
    return iter([kind not in {"continuous", "nextColumn"} for kind in kinds[1:]])


def _plain(text: str) -> str:
    return _BODY_SPACE.sub(" ", text).strip()


# Read a DOCX file as pages of blocks, with its metadata.

READER = "docx 1"  # change this with every change that can alter a text


_OLD_FORMAT = bytes.fromhex("D0CF11E0A1B11AE1")


_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")


_LOOKED_AT = 32 * 2**20


_AND = re.compile(r"\s*(?:;|、|，)\s*")


_LONGEST = 200


def read_docx(path: Path) -> Written:
    """Return the pages of a DOCX, packed or not.

    A page ends at an author's page break, or where a section begins on a new page. Automatic breaks
    are ignored: they differ between word processors, and split sentences. Deleted text of tracked
    changes is left out; inserted text is included.

    Raises NotFound, ExtraMissing without lxml, and BadInput for a file that is too large, damaged,
    encrypted, in the older format (.doc), or without text.
    """
    _check_format(path)
    parts = _Package(Archive(path, "a DOCX"))
    document = parts.document()
    body = document.find("body")
    if body is None:
        raise BadInput(f"{path.name} holds no word-processor document")
    styles = parts.related("styles")
    reader = Body(
        path.name,
        read_styles(styles),
        read_numbering(parts.related("numbering")),
        {**_notes(parts, "footnote"), **_notes(parts, "endnote")},
    )
    reader.read(body)
    blocks = [block for page in reader.pages for block in page]
    check_text(blocks, path.name)
    core = parts.related("core-properties")
    said = {each.tag: " ".join((each.text or "").split())[:_LONGEST] for each in core}
    return Written(
        pages=reader.pages,
        title=reader.title[:_LONGEST] or said.get("title", ""),
        authors=tuple(dict.fromkeys(name for name in _AND.split(said.get("creator", "")) if name)),
        year=stated_year([said.get("created", "")]),
        language=_language(
            said.get("language", ""), styles, guess_language(block.text for block in blocks)
        ),
    )


def _check_format(path: Path) -> None:
    with open_bytes(path) as file:
        try:
            head = file.read(len(_OLD_FORMAT))
            rest = file.read(_LOOKED_AT) if head == _OLD_FORMAT else b""
        except (OSError, EOFError) as cause:
            raise BadInput(f"{path.name} is damaged ({cause})") from cause
    if _ENCRYPTED in rest:
        raise BadInput(f"{path.name} is encrypted and opens only with a password")
    if head == _OLD_FORMAT:
        raise BadInput(f"{path.name} is in the older format (.doc)", hint="save it as .docx")


class _Package:
    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self._main = self._target("", "officeDocument") or "word/document.xml"

    def document(self) -> Any:
        """Return the main part."""
        return by_local_names(self._archive.xml(self._main))

    def related(self, kind: str) -> Any:
        """Return the part that the document names for styles, numbering, footnotes, ....

        Empty if it names none. ``core-properties`` is the document's metadata.
        """
        name = self._target("" if kind == "core-properties" else self._main, kind)
        if name in self._archive:
            return by_local_names(self._archive.xml(name))
        from lxml import etree  # noqa: PLC0415 - in an extra

        return etree.Element("none")

    def _target(self, of: str, kind: str) -> str:
        folder, name = posixpath.split(of)
        relations = posixpath.join(folder, "_rels", f"{name}.rels")
        if relations not in self._archive:
            return ""
        for relation in by_local_names(self._archive.xml(relations)):
            if relation.get("Type", "").rpartition("/")[2] == kind:
                target = relation.get("Target", "")
                return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        return ""


def _notes(parts: _Package, kind: str) -> dict[tuple[str, str], Any]:
    """Return notes by their ids, without separator lines."""
    return {
        (kind, note.get("id", "")): note
        for note in parts.related(f"{kind}s").findall(kind)
        if note.get("type", "") in {"", "normal"}
    }


def _language(stated: str, styles: Any, guessed: str) -> str:
    """Return the language of the properties, or of the styles if the letters suggest no other.

    Most files are marked as English whatever their language.
    """
    if code := said_language(stated):
        return code
    set_to = said_language(stated_language(styles))
    return set_to if guessed == "en" and not set_to.startswith(("en", "zh")) and set_to else guessed

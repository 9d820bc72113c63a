"""What a line of print is, by itself and beside its neighbours."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from proofstone.engines.ingest.pdf.lines import Line

__all__ = [
    "Frame",
    "Style",
    "frame_of",
    "is_caption",
    "is_contents",
    "is_item",
    "is_note",
    "line_kinds",
    "style_of",
]

_CAPTION = re.compile(
    r"(?:(?:Figure|Fig\.|Table|Tab\.|Abbildung|Abb\.|Tabelle|Tableau|Figura|Tabla|Listing)\s*"
    r"[\dIVXA-Z][\w.\-–]*\s*[:.|–—]?\s|(?:图|圖|表)\s*[\d一二三四五六七八九十])",
)
_LEADERS = re.compile(r"(?:\. ?){4,}.{0,12}$|(?:·\s?){4,}|…{2,}")
_INDEXED = re.compile(r",\s*[\dxvi]+(?:[-–]\d+)?(?:,\s*[\dxvi]+(?:[-–]\d+)?)*[.,]?$")
_ITEM = re.compile(
    r"(?:[•‣◦▪●○■–—∗*·]|[-+]|\(?[a-zA-Z\divx]{1,4}\)|\d{1,2}\.|[a-z]\.)\s+\S"
    r"|（[一二三四五六七八九十\d]+）"
)
_ALIGNED = 3.0  # points
_NOTE = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]+\s?\S|[*†‡§]\s?\w")
_NUMBERED = re.compile(r"\(?[A-Z]?\d+(?:[.\-]\d+)*[a-z]?\)$")
_WORD = re.compile(r"[^\W\d_]{3,}")
_FUNCTIONS = {"sin", "cos", "tan", "log", "exp", "lim", "max", "min", "arg", "det", "mod", "sup",
              "inf", "for", "and", "var", "cov", "sinh", "cosh", "arctan", "where"}  # fmt: skip
_SIGNS = re.compile(r"[=<>≤≥≈≡∝±×÷∑∏∫∂∇√∞∈∉⊂⊆∪∩→↔⇒⇔∀∃∼≠+−·∗|^_]")
_INDEX_ENDS = frozenset("0123456789xvi.,")
_IDEOGRAPH = re.compile(r"[\u4e00-\u9fff]")


class Style(NamedTuple):
    """How a document is set: the size of its text, larger sizes from the largest on, and whether
    its headings are known from an outline. Bold type says nothing where it is not rare."""

    body: float
    headings: tuple[float, ...] = ()
    has_outline: bool = False
    is_bold_rare: bool = True


def style_of(letters: Counter[float], *, has_outline: bool, is_bold_rare: bool) -> Style:
    """The style of a document whose type has so many ``letters`` of each size."""
    if not letters:
        return Style(10.0, (), has_outline, is_bold_rare)
    body = letters.most_common(1)[0][0]
    larger = sorted((size for size in letters if size >= 1.13 * body), reverse=True)
    ranks: list[float] = []
    for size in larger:
        if not ranks or size < 0.96 * ranks[-1]:
            ranks.append(size)
    return Style(body, tuple(ranks[:5]), has_outline, is_bold_rare)


class Frame(NamedTuple):
    """The edges of a column, the usual distance of its baselines in ems, and its usual size."""

    left: float
    right: float
    leading: float
    size: float

    @property
    def width(self) -> float:
        """From edge to edge."""
        return self.right - self.left


def frame_of(lines: Sequence[Line]) -> Frame:
    """The frame of a column: the edges that its longer lines share."""
    long = sorted(lines, key=lambda line: line.left - line.right)[: max(1, len(lines) // 2)]
    lefts, rights = sorted(line.left for line in long), sorted(line.right for line in long)
    steps = sorted(
        (b.baseline - a.baseline) / b.size
        for a, b in pairwise(lines)
        if 0.5 * b.size < b.baseline - a.baseline < 3 * b.size
    )
    leading = steps[len(steps) // 3] if steps else 1.2
    sizes = sorted(line.size for line in long)
    left, right = lefts[len(lefts) // 4], rights[3 * len(rights) // 4]
    return Frame(left, right, leading, sizes[len(sizes) // 2])


def line_kinds(lines: Sequence[Line], frame: Frame) -> list[str]:
    """``equation``, ``code``, ``contents``, ``table`` or ``text`` for each line of a column."""
    kinds = [_own_kind(line, frame) for line in lines]
    _spread_equations(lines, kinds)
    leaders = kinds.count("contents")
    for k, line in enumerate(lines):
        if leaders >= 4 and kinds[k] in {"text", "table"} and line.cells[-1][1].isdigit():
            kinds[k] = "contents"
    _keep_tables(lines, kinds, frame)
    _end_paragraphs(lines, kinds, frame)
    return kinds


def _own_kind(line: Line, frame: Frame) -> str:
    if is_contents(line.text):
        return "contents"
    if _is_equation(line, frame):
        return "equation"
    if line.share("is_mono") >= 0.8 and line.n_letters > 1:
        return "code"
    return "table" if len(line.cells) > 1 else "text"


def _n_words(line: Line) -> int:
    words = (
        word.lower()
        for segment in line.segments
        if not segment.font.is_math
        for word in _WORD.findall(segment.text)
    )
    return sum(word not in _FUNCTIONS for word in words)


def _is_equation(line: Line, frame: Frame) -> bool:
    """A line of signs that is indented on the left, or has a number at its right edge."""
    if _IDEOGRAPH.search(line.text) or line.share("is_mono") > 0.5:
        return False
    signs = len(_SIGNS.findall(line.text))
    math = line.share("is_math") + signs / max(1, line.n_letters)
    indented = line.left > frame.left + 1.2 * line.size
    numbered = len(line.cells) > 1 and bool(_NUMBERED.match(line.cells[-1][1]))
    n_words = _n_words(line)
    if numbered and line.right > frame.right - 2 * line.size:
        return n_words <= 4 and math > 0.05
    goes_on = line.text[:1] in "=≤≥≈≡" and math >= 0.3
    return (indented or goes_on) and math >= 0.2 and n_words <= max(1, line.n_letters // 25)


def _spread_equations(lines: Sequence[Line], kinds: list[str]) -> None:
    """Bits without a word beside an equation (limits, numerators) belong to it."""
    for order in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        before: int | None = None
        for k in order:
            line = lines[k]
            near = (
                before is not None
                and kinds[before] == "equation"
                and abs(lines[before].baseline - line.baseline) < 2.2 * line.size
            )
            if near and kinds[k] in {"text", "table"} and _n_words(line) == 0:
                kinds[k] = "equation" if line.n_letters < 40 else kinds[k]
            before = k


def _end_paragraphs(lines: Sequence[Line], kinds: list[str], frame: Frame) -> None:
    """A line of code alone that ends a paragraph is a word of its last sentence."""
    for k in range(1, len(lines)):
        line, above = lines[k], lines[k - 1]
        follows = kinds[k - 1] == "text" and above.right > frame.right - 0.12 * frame.width
        near = line.baseline - above.baseline < (frame.leading + 0.15) * line.size
        is_flush = abs(line.left - above.left) < 0.3 * line.size
        is_last = k + 1 == len(lines) or kinds[k + 1] != "code"
        if kinds[k] == "code" and follows and near and is_flush and is_last:
            kinds[k] = "text"


def _keep_tables(lines: Sequence[Line], kinds: list[str], frame: Frame) -> None:
    """A table has three rows of cells or more, with at most one line of text between two."""
    k = 0
    while k < len(lines):
        if kinds[k] != "table":
            k += 1
            continue
        end, rows = k, 0
        j = k
        while j < len(lines) and j - end <= 2 and _same_table(lines, kinds, j, end):
            if kinds[j] == "table":
                end, rows = j, rows + 1
            j += 1
        while end + 1 < len(lines) and _wraps(lines, kinds, end + 1, k):
            end += 1
        starts = [x for line in lines[k : end + 1] for x, _text in line.cells[1:]]
        for place in range(k, end + 1):
            is_cell_line = lines[place].right < frame.left + 0.6 * frame.width or _aligned(
                lines[place], starts
            )
            is_row = kinds[place] == "table" or is_cell_line
            kinds[place] = "table" if rows >= 3 and is_row else "text"
        k = end + 1


def _aligned(line: Line, starts: Sequence[float]) -> bool:
    """Whether a line begins where a later column of the table does: its cell goes on."""
    return any(abs(line.left - start) <= _ALIGNED for start in starts)


def _wraps(lines: Sequence[Line], kinds: Sequence[str], j: int, first: int) -> bool:
    """Whether a line below a table's last row goes on with one of its cells."""
    starts = [x for line in lines[first:j] for x, _text in line.cells[1:]]
    near = lines[j].baseline - lines[j - 1].baseline < 1.6 * lines[j].size
    return kinds[j] == "text" and near and _aligned(lines[j], starts)


def _same_table(lines: Sequence[Line], kinds: Sequence[str], j: int, end: int) -> bool:
    if kinds[j] not in {"table", "text"}:
        return False
    return j == end or lines[j].baseline - lines[end].baseline < 4.5 * lines[j].size


def is_contents(text: str) -> bool:
    """Whether a line leads to a page: dots before a number at its end."""
    has_leaders = ". ." in text or "..." in text or "\u2026" in text or "\u00b7" in text
    return has_leaders and bool(_LEADERS.search(text))


def is_indexed(text: str) -> bool:
    """Whether a line ends in page numbers, as those of an index do."""
    return "," in text and text[-1:] in _INDEX_ENDS and bool(_INDEXED.search(text))


def is_caption(text: str) -> bool:
    """Whether a text begins as the caption of a figure or table does."""
    return bool(_CAPTION.match(text))


def is_note(text: str) -> bool:
    """Whether a line begins with a raised number, as a footnote does."""
    return bool(_NOTE.match(text))


def is_item(text: str) -> bool:
    """Whether a line begins a point of a list."""
    return bool(_ITEM.match(text))

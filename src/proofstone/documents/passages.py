"""Define blocks in reading order, pages and passages, the output of every document reader.

A page's text is its blocks with an empty line between. Each line of print keeps its position in
that text and its box on the page, so that any span of the text can be shown on the page's image.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, NamedTuple, TypeVar

from msgspec import Struct

from proofstone.errors import BadInput
from proofstone.records.pages import Box, Mark, MarkKind, PageLayout, PlacedLine

BETWEEN = "\n\n"


MOST_BLOCKS = 200_000  # of one document


CELLS = " | "  # between the cells of a table's row


_LONGEST_CELL = 400  # characters: longer cells indicate a layout table


_YEAR = re.compile(r"\b(1[5-9]\d\d|20\d\d)\b")


@dataclass(frozen=True, slots=True)
class BlockLine:
    """A line of print from ``start`` on in a block's text, its box, and its reading confidence."""

    start: int
    box: Box
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list, table, equation, caption, note, code or figure.

    ``level`` of a heading counts from 1. A figure may have no text; ``box`` is then its position.
    """

    kind: MarkKind
    text: str
    lines: tuple[BlockLine, ...] = ()
    level: int = 0
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A page's text and layout, its blocks, and the start of each in the text."""

    text: str
    layout: PageLayout
    blocks: Sequence[Block]
    starts: tuple[int, ...]


def lay_out(blocks: Sequence[Block]) -> LaidOut:
    """Return the page of these blocks; empty text if no block has any."""
    texts: list[str] = []
    lines: list[PlacedLine] = []
    marks: list[Mark] = []
    starts: list[int] = []
    at = 0
    for block in blocks:
        starts.append(at)
        end = at + len(block.text)
        ends = [*(line.start for line in block.lines[1:]), len(block.text)][: len(block.lines)]
        lines += [
            PlacedLine(at + line.start, at + stop, line.box, line.confidence)
            for line, stop in zip(block.lines, ends, strict=True)
        ]
        box = block.box or box_around(line.box for line in block.lines)
        if block.kind != "text":
            marks.append(Mark(block.kind, at, end, box))
        if block.text:
            texts.append(block.text)
            at = end + len(BETWEEN)
    layout = PageLayout(tuple(lines), tuple(marks))
    return LaidOut(BETWEEN.join(texts), layout, blocks, tuple(starts))


def box_around(boxes: Iterable[Box]) -> Box | None:
    """Return the smallest box around these; None if there are none."""
    edges = list(zip(*((box.left, box.top, box.right, box.bottom) for box in boxes), strict=True))
    return Box(min(edges[0]), min(edges[1]), max(edges[2]), max(edges[3])) if edges else None


_Each = TypeVar("_Each")


def bounded(blocks: Iterable[_Each], name: str) -> Iterator[_Each]:
    """Yield the blocks of the document ``name``. Raises BadInput beyond ``MOST_BLOCKS``."""
    for place, block in enumerate(blocks):
        if place >= MOST_BLOCKS:
            raise too_many_blocks(name)
        yield block


def too_many_blocks(name: str) -> BadInput:
    """Return the error for a document with more than ``MOST_BLOCKS`` blocks."""
    return BadInput(f"{name} has more than {MOST_BLOCKS:,} blocks", hint="split it")


_LISTS: tuple[MarkKind, ...] = ("list",)


def grouped(blocks: Iterable[Block], kinds: Collection[MarkKind] = _LISTS) -> list[Block]:
    """Merge consecutive blocks of the same kind, for these kinds."""
    made: list[Block] = []
    for kind, same in groupby(blocks, key=lambda block: block.kind):
        if kind in kinds:
            made.append(Block(kind, "\n".join(block.text for block in same)))
        else:
            made += same
    return made


def rows_text(rows: Iterable[Sequence[str]]) -> str:
    """Return the nonempty rows of a table, one per line."""
    return "\n".join(CELLS.join(row).strip() for row in rows if any(row))


def only_lays_out(rows: Sequence[Sequence[str]]) -> bool:
    """Return True for a layout table, whose cells are parts of a page rather than short texts."""
    is_long = any(len(cell) > _LONGEST_CELL for row in rows for cell in row)
    return is_long or max(map(len, rows), default=0) < 2


def check_text(
    blocks: Iterable[Block], name: str, without: Collection[MarkKind] = ("heading", "figure")
) -> None:
    """Raise BadInput if no block has text, other than those of the kinds ``without``."""
    if not any(block.text and block.kind not in without for block in blocks):
        raise BadInput(f"{name} holds no text for a passage")


def stated_year(texts: Iterable[str]) -> int | None:
    """Return the first year from 1500 to 2099 in the texts; None without one."""
    found = (year for text in texts if (year := _YEAR.search(text)))
    return next((int(year[1]) for year in found), None)


# Superscripts and subscripts in plain text: as Unicode characters, or else after ``^`` and ``_``.

_MARKS = {"sup": "^", "sub": "_"}


_SIGNS = {
    "sup": dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True)),
    "sub": dict(zip("0123456789+-−=()", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎", strict=True)),
}


def set_off(place: str, text: str) -> str:
    """Return text as superscript (``sup``) or subscript characters, or else after ^ or _."""
    table = _SIGNS[place]
    if not text or all(character in table for character in text):
        return "".join(table[character] for character in text)
    if text.isalpha() and place == "sup" and len(text) <= 2:
        return text  # 1st
    return f"{_MARKS[place]}{text}" if len(text) == 1 else f"{_MARKS[place]}{{{text}}}"


# A document's metadata, and the output of readers of reflowable formats.


class Said(Struct, frozen=True, kw_only=True):
    """Metadata of a document; empty fields are unknown."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    license: str = ""
    language: str = ""


class Written(Said, frozen=True, kw_only=True):
    """A document of one page, which then has no number, or of several, counted from 1.

    ``content`` is a digest of all its files, if there are several. ``origin`` is its address and
    ``detail`` its revision, if known.
    """

    pages: Sequence[list[Block]]
    content: bytes = b""
    origin: str = ""
    detail: str = ""

    @property
    def blocks(self) -> list[Block]:
        """Return the blocks of all pages."""
        return [block for page in self.pages for block in page]


# Split a text into passages: paragraphs, and whole Markdown blocks.

# Find sentence ends in English and Chinese.

_SENTENCE = re.compile(
    r"(?<![A-Z]\.)(?<!\b(?:Dr|Mr|Ms|cf|vs|No|pp|eq|Eq|al))"
    r"(?:[.!?…][\"”’)\]]*(?=\s+[^a-z\s])|[。！？；][”’」』）]*)\s*"
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences of a text as [start, end) in code points, white space trimmed."""
    start = 0
    for found in _SENTENCE.finditer(text):
        yield from trimmed(text, start, found.end())
        start = found.end()
    yield from trimmed(text, start, len(text))


def trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield [start, end) without the white space at its ends; nothing for white space alone."""
    body = text[start:end]
    first, last = start + len(body) - len(body.lstrip()), start + len(body.rstrip())
    if first < last:
        yield first, last


# Make passages from the blocks of a page, of a size to ask questions about.
#
# Sizes are estimated tokens: four characters of an alphabetic script, or one Chinese character.

MIN_TOKENS, AIM_TOKENS, MAX_TOKENS = 60, 220, 400


BETWEEN_TITLES = " > "


_LONGEST_TITLE = 200


_MOST_TITLES = 8


_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")


_LEFT_OUT = {"contents", "figure"}


_FRAGMENT = 25  # characters: a shorter passage must be a sentence


_PROSE = 200  # characters: a paragraph of this length is kept on a contents page


_CONTENTS = re.compile(
    r"(?:table of )?contents|list of (?:figures|tables)|目录|目錄|目次|图目录|表目录|"
    r"inhalt(?:sverzeichnis)?|sommaire|table des matières|(?:í|i)ndice|sumário|оглавление|"
    r"содержание|목차|inhoud(?:sopgave)?",
    re.IGNORECASE,
)


_TO_PAGE = re.compile(r"[\s|.…·](?:\d{1,4}|[ivxlcdm]{1,8})$")


_CUTTING_SENTENCE = re.compile(
    r"[\"“‘(\[]?[A-Z\d][^\s]*(?:\s+\S+){2,}[.!?][\"”’)\]]?"
    r"|.*[\u3040-\u9fff\uac00-\ud7af].{6,}[。！？.]",
    re.DOTALL,
)


_STACKED = {"table", "code", "equation"}


# Headings from the outermost in, each with its level.
HeadingPath = tuple[tuple[int, str], ...]


class Cut(NamedTuple):
    """Code points [start, end) of a page's text under a path of headings."""

    start: int
    end: int
    path: HeadingPath


class _Piece(NamedTuple):
    """A cut before short ones are merged into their neighbors."""

    cut: Cut
    text: str
    tokens: int
    is_note: bool


def about_tokens(text: str) -> int:
    """Estimate the tokens of a text."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide + 3) // 4


def follow(before: HeadingPath, path: HeadingPath) -> HeadingPath:
    """Return the full heading path when ``before`` was in force as ``path`` began.

    Headings above its first one are kept.
    """
    if not path:
        return before
    return (*(entry for entry in before if entry[0] < path[0][0]), *path)[-_MOST_TITLES:]


@dataclass
class Cutter:
    """Split page after page into passages; ``path`` holds the current headings."""

    path: HeadingPath = ()
    _open: list[tuple[int, int, int, Block]] = field(default_factory=list)

    def cut(self, blocks: Sequence[Block], starts: Sequence[int]) -> Iterator[Cut]:
        """Yield the passages of a page whose blocks begin at ``starts``; none crosses a page.

        Paragraphs under one heading are joined up to a size; a longer one is split between
        sentences. A table with its caption and notes is a separate passage. Contents and figure
        labels are in no passage. Remainders under 25 characters join a neighbor under the same
        heading. Without one, they are a passage only as a sentence, or alone on their page.
        """
        yield from (piece.cut for piece in _without_fragments(list(self._pieces(blocks, starts))))

    def _pieces(self, blocks: Sequence[Block], starts: Sequence[int]) -> Iterator[_Piece]:
        is_contents = _is_contents_page(blocks)
        for block, start in zip(blocks, starts, strict=True):
            if block.kind == "heading":
                yield from self._close()
                self._enter(block)
            elif (
                block.kind in _LEFT_OUT
                or not block.text.strip()
                or (is_contents and len(block.text) < _PROSE)
                or self._leads_to_pages(block)
            ):
                continue
            else:
                if self._is_full(block):
                    yield from self._close()
                tokens = about_tokens(block.text)
                self._open.append((start, start + len(block.text), tokens, block))
        yield from self._close()

    def _leads_to_pages(self, block: Block) -> bool:
        """Return True if a block under a contents heading belongs to the table of contents.

        That is the case if most of its lines end in a page number.
        """
        if not self.path or not _CONTENTS.fullmatch(self.path[-1][1].strip()):
            return False
        lines = [line.rstrip() for line in block.text.splitlines() if line.strip()]
        return 2 * sum(bool(_TO_PAGE.search(line)) for line in lines) > len(lines)

    def _enter(self, block: Block) -> None:
        title = " ".join(block.text.split())[:_LONGEST_TITLE]
        self.path = follow(self.path, ((max(1, block.level), title),))

    def _is_full(self, block: Block) -> bool:
        """Return True if the open passage ends before this block."""
        if not self._open:
            return False
        last = self._open[-1][3]
        kinds = {entry[3].kind for entry in self._open}
        if "table" in (block.kind, *kinds):
            return {block.kind, *kinds} > {"table"} and not (
                kinds == {"caption"} or (block.kind == "caption" and kinds == {"table"})
            )
        if (block.kind == "note") != (last.kind == "note"):
            return True
        if block.kind == "equation" or block.text[:1].islower():
            return False  # the sentence continues
        size = sum(entry[2] for entry in self._open)
        more = about_tokens(block.text)
        return size >= AIM_TOKENS or (size >= MIN_TOKENS and size + more > MAX_TOKENS)

    def _close(self) -> Iterator[_Piece]:
        entries, self._open = self._open, []
        if not entries:
            return
        is_note = entries[0][3].kind == "note"

        def piece(start: int, end: int, tokens: int) -> _Piece:
            inside = (
                block.text[max(0, start - first) : end - first]
                for first, last, _n, block in entries
                if first < end and start < last
            )
            return _Piece(Cut(start, end, self.path), "\n\n".join(inside), tokens, is_note)

        whole = sum(entry[2] for entry in entries)
        if whole <= MAX_TOKENS:
            yield piece(entries[0][0], entries[-1][1], whole)
            return
        start, size, end = entries[0][0], 0, entries[0][0]
        for piece_start, piece_end, tokens in _pieces(entries):
            if size and size + tokens > MAX_TOKENS:
                yield piece(start, end, size)
                start, size = piece_start, 0
            size, end = size + tokens, piece_end
        yield piece(start, end, size)


def _is_contents_page(blocks: Sequence[Block]) -> bool:
    """Return True if most of a page's text refers to other pages."""
    sizes = [(block.kind == "contents", len(block.text)) for block in blocks]
    return 2 * sum(n for is_contents, n in sizes if is_contents) > sum(n for _is, n in sizes)


def _without_fragments(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Merge short pieces of a page into the previous or next one with the same headings and room.

    Others are left out, except sentences and a page's only piece.
    """
    kept: list[_Piece] = []
    waiting: list[_Piece] = []
    for each in pieces:
        piece = each
        if waiting and _fits(waiting[-1], each):
            piece = _joined(waiting.pop(), each)
        kept += waiting
        waiting = []
        if len(piece.text) >= _FRAGMENT:
            kept.append(piece)
        elif kept and _fits(kept[-1], piece):
            kept[-1] = _joined(kept[-1], piece)
        else:
            waiting = [piece]
    kept += waiting
    if len(kept) < 2:
        return kept
    return [
        piece
        for piece in kept
        if len(piece.text) >= _FRAGMENT
        or (not piece.is_note and _CUTTING_SENTENCE.fullmatch(piece.text))
    ]


def _fits(first: _Piece, second: _Piece) -> bool:
    return (
        first.cut.path == second.cut.path
        and first.is_note == second.is_note
        and first.tokens + second.tokens <= MAX_TOKENS
    )


def _joined(first: _Piece, second: _Piece) -> _Piece:
    return _Piece(
        Cut(first.cut.start, second.cut.end, first.cut.path), f"{first.text}\n\n{second.text}",
        first.tokens + second.tokens, first.is_note,
    )  # fmt: skip


def _pieces(entries: Iterable[tuple[int, int, int, Block]]) -> Iterator[tuple[int, int, int]]:
    """Yield sentences of paragraphs and rows of other blocks, splitting overlong ones at spaces."""
    for start, _end, _tokens, block in entries:
        stacked = block.kind in _STACKED or (block.kind == "list" and "\n" in block.text)
        for first, last in _rows(block.text) if stacked else sentence_spans(block.text):
            for a, b in _bounded(block.text, first, last):
                yield start + a, start + b, about_tokens(block.text[a:b])


def _rows(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for row in text.splitlines(keepends=True):
        yield from trimmed(text, start, start + len(row))
        start += len(row)


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield parts of [start, end) of at most ``MAX_TOKENS``, split at white space if possible."""
    # Too long in any script: such a span is not counted again and again.
    while end - start > 4 * MAX_TOKENS or about_tokens(text[start:end]) > MAX_TOKENS:
        reach = start + (
            MAX_TOKENS if _WIDE.search(text, start, start + 64) else 4 * MAX_TOKENS - 8
        )
        space = text.rfind(" ", start + 1, reach)
        stop = space if space > start else reach
        yield start, stop
        start = stop + (1 if space > start else 0)
    if start < end:
        yield start, end


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")


_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")


_SETEXT = re.compile(r" {0,3}(=+|-+)[ \t]*$")


_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")


_INDENTED = re.compile(r" {2,}|\t")


class Span(NamedTuple):
    """Code points [start, end) of a text, without surrounding white space, under a heading."""

    start: int
    end: int
    heading: str = ""


class _Line(NamedTuple):
    start: int
    end: int
    text: str

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def _lines(text: str) -> Iterator[_Line]:
    """Yield the lines of a text; only CR, LF and CRLF end a line."""
    for found in _LINE.finditer(text):
        if found.end() > found.start():
            yield _Line(found.start(), found.end(), found[0].rstrip("\r\n"))


def _trimmed(text: str, start: int, end: int, heading: str = "") -> Span:
    """Return the span of lines that are not all blank, without surrounding white space."""
    ((first, last),) = trimmed(text, start, end)
    return Span(first, last, heading)


def paragraph_spans(text: str) -> list[Span]:
    """Return the runs of lines between blank lines, in order; none for white space."""
    return list(_runs(text, _lines(text)))


def _runs(text: str, lines: Iterable[_Line]) -> Iterator[Span]:
    start = end = -1
    for line in lines:
        if line.is_blank:
            if start >= 0:
                yield _trimmed(text, start, end)
            start = -1
        else:
            start = line.start if start < 0 else start
            end = line.end
    if start >= 0:
        yield _trimmed(text, start, end)


def markdown_spans(text: str) -> tuple[list[Span], str]:
    """Return the blocks of a Markdown text, each under its path of headings, and the title.

    A fenced code block and a list (with its indented content) are each one block; a paragraph,
    quotation or table is a run of lines. ``Part > Section`` is a path. The title is the first
    heading of level 1, or empty.
    """
    blocks = _Blocks(text)
    for line in _lines(text):
        blocks.take(line)
    blocks.close()
    return blocks.spans, blocks.title


class _Blocks:
    """Parse the lines in one pass; the open block is a fence, a list, a paragraph or none."""

    def __init__(self, text: str) -> None:
        self.spans: list[Span] = []
        self.title = ""
        self._text = text
        self._path: dict[int, str] = {}
        self._kind = ""
        self._start = 0
        self._end = 0
        self._fence = ""
        self._after_blank = False

    def take(self, line: _Line) -> None:
        """Add one line to its block."""
        if self._kind == "fence":
            self._end = line.end
            if self._closes_fence(line.text):
                self.close()
        elif line.is_blank:
            if self._kind == "paragraph":
                self.close()
        elif self._goes_on_in_list(line.text):
            self._end = line.end
        else:
            self._begin(line)
        self._after_blank = line.is_blank

    def _goes_on_in_list(self, text: str) -> bool:
        if self._kind != "list":
            return False
        if _INDENTED.match(text) or _LIST.match(text):
            return True
        # A line directly after a list item continues it; after an empty line it is a new paragraph.
        return not self._after_blank and not _ATX.match(text) and not _FENCE.match(text)

    def _begin(self, line: _Line) -> None:
        fence, heading = _FENCE.match(line.text), _ATX.match(line.text)
        underline = _SETEXT.match(line.text) if self._kind == "paragraph" else None
        if fence:
            self._open("fence", line)
            self._fence = fence[1]
        elif heading:
            self.close()
            self._enter(len(heading[1]), heading[2] or "")
        elif underline:
            title = self._text[self._start : self._end]
            self._kind = ""
            self._enter(1 if underline[1][0] == "=" else 2, " ".join(title.split()))
        elif self._kind == "paragraph":
            self._end = line.end
        else:
            self._open("list" if _LIST.match(line.text) else "paragraph", line)

    def _open(self, kind: str, line: _Line) -> None:
        self.close()
        self._kind, self._start, self._end = kind, line.start, line.end

    def close(self) -> None:
        """Close the open block, if any, as a span."""
        if self._kind:
            heading = " > ".join(self._path[level] for level in sorted(self._path))
            self.spans.append(_trimmed(self._text, self._start, self._end, heading))
        self._kind = ""

    def _closes_fence(self, text: str) -> bool:
        mark = text.strip()
        return len(mark) >= len(self._fence) and not mark.strip(self._fence[0])

    def _enter(self, level: int, name: str) -> None:
        self._path = {depth: there for depth, there in self._path.items() if depth < level}
        if name.strip():
            self._path[level] = name.strip()
        if level == 1:
            self.title = self.title or name.strip()


# The topic of a text: its longer words, its numbers, and pairs of Chinese characters.

_LATIN = re.compile(r"[A-Za-z]+|[0-9]+(?:[.,][0-9]+)*")


_HAN = re.compile(r"[\u3400-\u9fff]+")


_SHORT_WORD = 3  # the, and, of: they occur everywhere


def terms(text: str) -> frozenset[str]:
    """Return words of more than three letters in lower case, numbers, and Chinese pairs."""
    latin = (word.lower() for word in _LATIN.findall(text))
    words = {word for word in latin if len(word) > _SHORT_WORD or word[0].isdigit()}
    pairs = {run[at : at + 2] for run in _HAN.findall(text) for at in range(len(run) - 1)}
    return frozenset(words | pairs)


# Detect pages whose characters are not words.
#
# A PDF without a map from its glyphs to characters gives the glyphs' numbers or another alphabet's
# letters. A scanned one gives nothing, or poorly recognized lines.

_LEAST = 40  # characters: with fewer, nothing is decided


_STRANGE_SHARE = 0.12


# Controls, dingbats, private-use areas and unassigned characters.
_STRANGE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u2700-\u27bf\ue000-\uf8ff\ufffd-\uffff\U000e0000-\U0010ffff]"
)


_WORD = re.compile(r"[^\W\d_]+")


_LEGIBLE_WIDE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)


_LONG = 30  # letters in a run: words of alphabetic scripts are shorter on average


_VOWELS = set("aeiouyàáâãäåæèéêëìíîïòóôõöøœùúûüýαεηιουωάέήίόύώаеёиоуыэюяії")


Garbled = Literal["", "strange characters", "no word boundaries", "no words"]


def garbled(text: str, n_unmapped: int = 0) -> Garbled:
    """Return what is wrong with a page's text; empty if nothing is, or if it is too short.

    ``n_unmapped`` counts characters without a code point in the file.
    """
    n_marks = sum(map(len, text.split()))
    if n_marks < _LEAST:
        return ""
    if n_unmapped + len(_STRANGE.findall(text)) > _STRANGE_SHARE * n_marks:
        return "strange characters"
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    if letters < 0.3 * n_marks or len(_LEGIBLE_WIDE.findall(text)) > 0.2 * letters:
        return ""  # figures and formulas, or a script without spaces
    if letters / len(words) > _LONG:
        return "no word boundaries"
    return "" if _reads_as_words(words) else "no words"


def _reads_as_words(words: list[str]) -> bool:
    """Return True if enough longer words have a vowel, in scripts that write vowels."""
    longer = [w.lower() for w in words if len(w) >= 4 and w[0].lower() <= "\u04ff"]
    if len(longer) < 10:
        return True
    return sum(not _VOWELS.isdisjoint(word) for word in longer) >= 0.5 * len(longer)

"""Passages from the blocks of a page: of a size that can be read and asked about at once.

Sizes are in tokens as they are guessed here: four characters of an alphabetic script, or one
Chinese character.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.sentences import sentence_spans, trimmed

__all__ = ["BETWEEN_TITLES", "MAX_TOKENS", "Cut", "Cutter", "HeadingPath", "about_tokens", "follow"]

MIN_TOKENS, AIM_TOKENS, MAX_TOKENS = 60, 220, 400
BETWEEN_TITLES = " > "
_LONGEST_TITLE = 200
_MOST_TITLES = 8
_WIDE = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]")
_LEFT_OUT = {"contents", "figure"}
_FRAGMENT = 25  # characters: what is shorter says something only as a sentence
_PROSE = 200  # characters: a paragraph as long stands for itself on a page of contents, too
_CONTENTS = re.compile(
    r"(?:table of )?contents|list of (?:figures|tables)|目录|目錄|目次|图目录|表目录|"
    r"inhalt(?:sverzeichnis)?|sommaire|table des matières|(?:í|i)ndice|sumário|оглавление|"
    r"содержание|목차|inhoud(?:sopgave)?",
    re.IGNORECASE,
)
_TO_PAGE = re.compile(r"[\s|.…·](?:\d{1,4}|[ivxlcdm]{1,8})$")
_SENTENCE = re.compile(
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
    """A cut before short ones have gone to their neighbours."""

    cut: Cut
    text: str
    tokens: int
    is_note: bool


def about_tokens(text: str) -> int:
    """About how many tokens a text has."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide + 3) // 4


def follow(before: HeadingPath, path: HeadingPath) -> HeadingPath:
    """The whole path where ``before`` was in force when ``path`` began: what is above its first
    heading stays."""
    if not path:
        return before
    return (*(entry for entry in before if entry[0] < path[0][0]), *path)[-_MOST_TITLES:]


@dataclass
class Cutter:
    """Cuts page after page; ``path`` holds the headings in force."""

    path: HeadingPath = ()
    _open: list[tuple[int, int, int, Block]] = field(default_factory=list)

    def cut(self, blocks: Sequence[Block], starts: Sequence[int]) -> Iterator[Cut]:
        """The passages of a page whose blocks begin at ``starts``. Never crosses a page.

        Paragraphs under one heading are put together up to a size; a longer one is cut between
        sentences. A table with its caption and notes stand by themselves; contents and labels of
        figures are in no passage. What is left of under 25 characters goes to a neighbour under the
        same heading; without one it is a passage only as a sentence, or alone on its page.
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
        """Whether a block under the heading of a table of contents is a part of that: most of its
        lines end in the number of a page."""
        if not self.path or not _CONTENTS.fullmatch(self.path[-1][1].strip()):
            return False
        lines = [line.rstrip() for line in block.text.splitlines() if line.strip()]
        return 2 * sum(bool(_TO_PAGE.search(line)) for line in lines) > len(lines)

    def _enter(self, block: Block) -> None:
        title = " ".join(block.text.split())[:_LONGEST_TITLE]
        self.path = follow(self.path, ((max(1, block.level), title),))

    def _is_full(self, block: Block) -> bool:
        """Whether the open passage ends before this block."""
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
            return False  # the sentence goes on
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
    """Whether most of what a page says leads to other pages."""
    sizes = [(block.kind == "contents", len(block.text)) for block in blocks]
    return 2 * sum(n for is_contents, n in sizes if is_contents) > sum(n for _is, n in sizes)


def _without_fragments(pieces: Sequence[_Piece]) -> list[_Piece]:
    """The pieces of a page, short ones put to the one before or behind that has the same headings
    and room; those that find none are left out, but for sentences and a page's only piece."""
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
        if len(piece.text) >= _FRAGMENT or (not piece.is_note and _SENTENCE.fullmatch(piece.text))
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
    """Sentences of paragraphs, rows of what is stacked; an endless one at its spaces."""
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
    """[start, end) in parts of no more than ``MAX_TOKENS``, at white space where there is some."""
    # So long a stretch is too much whatever its script: nothing endless is counted again and again.
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

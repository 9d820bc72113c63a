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
_STACKED = {"table", "code", "equation"}

# Headings from the outermost in, each with its level.
HeadingPath = tuple[tuple[int, str], ...]


class Cut(NamedTuple):
    """Code points [start, end) of a page's text under a path of headings."""

    start: int
    end: int
    path: HeadingPath


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
        figures are in no passage.
        """
        for block, start in zip(blocks, starts, strict=True):
            if block.kind == "heading":
                yield from self._close()
                self._enter(block)
            elif block.kind in _LEFT_OUT or not block.text.strip():
                continue
            else:
                if self._is_full(block):
                    yield from self._close()
                tokens = about_tokens(block.text)
                self._open.append((start, start + len(block.text), tokens, block))
        yield from self._close()

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

    def _close(self) -> Iterator[Cut]:
        entries, self._open = self._open, []
        if not entries:
            return
        if sum(entry[2] for entry in entries) <= MAX_TOKENS:
            yield Cut(entries[0][0], entries[-1][1], self.path)
            return
        start, size, end = entries[0][0], 0, entries[0][0]
        for piece_start, piece_end, tokens in _pieces(entries):
            if size and size + tokens > MAX_TOKENS:
                yield Cut(start, end, self.path)
                start, size = piece_start, 0
            size, end = size + tokens, piece_end
        yield Cut(start, end, self.path)


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

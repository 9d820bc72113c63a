"""Where the sentences of a text end, in English and Chinese."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["sentence_spans", "trimmed"]

_SENTENCE = re.compile(
    r"(?<![A-Z]\.)(?<!\b(?:Dr|Mr|Ms|cf|vs|No|pp|eq|Eq|al))"
    r"(?:[.!?…][\"”’)\]]*(?=\s+[^a-z\s])|[。！？；][”’」』）]*)\s*"
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the sentences of a text stand, [start, end) in code points, without the white space
    between."""
    start = 0
    for found in _SENTENCE.finditer(text):
        yield from trimmed(text, start, found.end())
        start = found.end()
    yield from trimmed(text, start, len(text))


def trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """[start, end) without the white space at its ends; nothing where there is nothing else."""
    body = text[start:end]
    first, last = start + len(body) - len(body.lstrip()), start + len(body.rstrip())
    if first < last:
        yield first, last

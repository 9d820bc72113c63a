"""Find quotes in the pages of a document: verbatim, or as printed with other typography.

A PDF's text has ligatures, hyphens at line ends and other quotation marks than a copy of its words.
A quote may also run over a page break. What is found is always given as spans of the pages' own
texts.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from proofstone.records.knowledge import Span

__all__ = ["PageTexts", "QuoteFound"]

# Typography that copies of the same words differ in.
_SAME = str.maketrans({
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "“": '"', "”": '"', "„": '"', "«": '"', "»": '"',
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "−": "-",
})  # fmt: skip

# Removed: soft hyphens and other invisible characters.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200d\u2060\ufeff]")

# A hyphen at the end of a line may belong to the word or not: words are compared without any.
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-‐‑](?:[ \t]*\n\s*)?(?=[^\W\d_])")

# Between the cells of a table as pages are read; the document has none there.
_CELLS = re.compile(r"(?<!\S)\|(?!\S)")

# A word broken at the end of a page.
_BROKEN = re.compile(r"[^\W\d_][-‐‑]\s*$")

# Left out by the one who quotes. The parts are found one by one, in this order.
_ELISION = re.compile(r"\s*(?:\[\s*)?(?:…|\.\s?\.\s?\.)(?:\s*\])?\s*")

_LEAST_PART = 12  # characters of a part: a shorter one could be anywhere

_COMPARED = 100  # stretches with as many words in common, whose order is then compared

_NEAREST = 0.5  # share of its words that the nearest text must have in common


class QuoteFound(Struct, frozen=True):
    """Where a quote is: one span, or more over a page break or an elision; none if it is nowhere.

    ``nearest`` is then the text most like it, empty if none is similar. ``is_verbatim``: character
    by character, and in one piece.
    """

    spans: tuple[Span, ...]
    is_verbatim: bool = False
    nearest: str = ""


class PageTexts:
    """The texts of a document's pages, in order, to be searched for quotes."""

    def __init__(self, pages: Mapping[int | None, str]) -> None:
        self._pages = pages

    def find(self, quote: str) -> QuoteFound:
        """Return where a quote is: verbatim, up to typography and white space, or in parts around
        its elisions ("...")."""
        wanted = quote.strip()
        for page, text in self._pages.items():
            if wanted and (start := text.find(wanted)) >= 0:
                return QuoteFound(
                    (Span(page, start, start + len(wanted), wanted),), is_verbatim=True
                )
        found = self._alike(wanted, 0)
        if found is not None:
            return QuoteFound(self._spans(*found))
        parts = [part for part in _ELISION.split(wanted) if part.strip()]
        spans: list[Span] = []
        at = 0
        for part in parts if len(parts) > 1 else ():
            found = self._alike(part, at) if len(part) >= _LEAST_PART else None
            if found is None:
                spans = []
                break
            spans += self._spans(*found)
            at = found[1]
        return QuoteFound(tuple(spans), nearest="" if spans else self._nearest(wanted))

    @cached_property
    def _plain(self) -> tuple[str, list[tuple[int | None, int]]]:
        """All pages in one plain text, and the page and position of each of its characters."""
        texts: list[str] = []
        places: list[tuple[int | None, int]] = []
        for page, text in self._pages.items():
            for character, position in _plain_characters(text):
                if character == " " and (not texts or texts[-1] == " "):
                    continue
                texts.append(character)
                places.append((page, position))
            if texts and _BROKEN.search(text):
                while texts[-1] in " -":
                    texts.pop()
                    places.pop()
            elif texts and texts[-1] != " ":
                texts.append(" ")
                places.append((page, max(len(text) - 1, 0)))
        return "".join(texts), places

    def _alike(self, quote: str, since: int) -> tuple[int, int] | None:
        """Return where a quote is in the plain text, at ``since`` or later."""
        wanted = _plain_quote(quote)
        if not wanted:
            return None
        start = self._plain[0].find(wanted, since)
        return None if start < 0 else (start, start + len(wanted))

    def _spans(self, start: int, end: int) -> tuple[Span, ...]:
        places = self._plain[1][start:end]
        pages = dict.fromkeys(page for page, _position in places)
        return tuple(self._trimmed(page, [at for on, at in places if on == page]) for page in pages)

    def _trimmed(self, page: int | None, positions: Sequence[int]) -> Span:
        text = self._pages[page]
        start, end = positions[0], positions[-1] + 1
        inside = text[start:end].strip()
        start = text.index(inside, start)
        return Span(page, start, start + len(inside), inside)

    def _nearest(self, quote: str) -> str:
        """Return the stretch of text that shares most words with the quote."""
        words = _plain_quote(quote).casefold().split()
        plain = self._plain[0]
        spans = [found.span() for found in re.finditer(r"\S+", plain)]
        if not words or not spans:
            return ""
        folded = [plain[start:end].casefold() for start, end in spans]
        wanted, width = set(words), len(words)
        hits = [word in wanted for word in folded]
        inside = sum(hits[:width])
        shared = {0: inside}
        for at in range(1, len(hits) - width + 1):
            inside += hits[at + width - 1] - hits[at - 1]
            shared[at] = inside
        most = max(shared.values())
        likely = [at for at, n in shared.items() if n == most][:_COMPARED]
        alike = {at: _alikeness(words, folded[at : at + width]) for at in likely}
        best = max(alike, key=alike.__getitem__)
        if alike[best] < _NEAREST:
            return ""
        return plain[spans[best][0] : spans[min(best + width, len(spans)) - 1][1]]


def _alikeness(words: Sequence[str], others: Sequence[str]) -> float:
    return difflib.SequenceMatcher(None, words, others, autojunk=False).ratio()


def _plain_quote(text: str) -> str:
    return re.sub(" +", " ", "".join(each for each, _at in _plain_characters(text))).strip()


def _plain_characters(text: str) -> Iterator[tuple[str, int]]:
    """Yield the characters of a text without typography, each with its position in the text.

    Ligatures become letters (Unicode's compatibility form), white space becomes a space, a word
    with a hyphen, also at the end of a line, is joined, and bars between cells are left out.
    """
    omitted = {at for found in _HYPHEN.finditer(text) for at in range(*found.span())}
    omitted.update(found.start() for found in _CELLS.finditer(text))
    for at, character in enumerate(text):
        if at in omitted or _INVISIBLE.match(character):
            continue
        for plain in unicodedata.normalize("NFKC", character).translate(_SAME):
            yield (" " if plain.isspace() else plain), at

"""A PDF read page by page; no more than a window of pages is held at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.legible import garbled
from proofstone.engines.ingest.pdf.furniture import WINDOW, EdgeRow, furniture
from proofstone.engines.ingest.pdf.glyphs import TooManyCharacters
from proofstone.engines.ingest.pdf.kinds import Style, style_of
from proofstone.engines.ingest.pdf.mending import Mender
from proofstone.engines.ingest.pdf.opening import open_pdf
from proofstone.engines.ingest.pdf.outline import outline_of
from proofstone.engines.ingest.pdf.page import PrintedPage, blocks_on, read_printed
from proofstone.records import Unread

__all__ = ["READER", "PdfFile", "PdfPage"]

READER = "pdf 1"  # a number of its own for every change that can move a text
_SURVEYED = 16
_LEAST_LETTERS = 40  # on a page that an image covers, fewer are a stamp on a scan
_COVERED = 0.5
_RARE = 0.4  # of the letters
_YEAR = re.compile(r"D:(\d{4})")


@dataclass(frozen=True)
class PdfPage:
    """A page as it was read: its blocks, or why it has none."""

    number: int
    label: str
    width: float
    height: float
    blocks: list[Block] = field(default_factory=list)
    reason: Unread = ""
    detail: str = ""


@dataclass
class _Window:
    """The pages around the one that is being laid out."""

    printed: dict[int, PrintedPage | PdfPage] = field(default_factory=dict)
    edges: dict[int, list[EdgeRow]] = field(default_factory=dict)


class PdfFile:
    """An open PDF. Close it; or use it as a context manager."""

    def __init__(
        self,
        path: Path | bytes,
        name: str,
        *,
        tell: Callable[[int], None] | None = None,
        skip: Collection[int] = (),
    ) -> None:
        """``tell`` hears the number of each page before it is touched; those to ``skip`` are not.
        Raises as ``open_pdf`` does."""
        self._document, self.n_pages = open_pdf(path, name)
        from pypdfium2 import PdfiumError  # noqa: PLC0415 - in an extra

        self._error = PdfiumError
        self.skip = frozenset(skip)
        self._tell = tell or (lambda _number: None)
        self._titles = outline_of(self._document)
        self._known = Mender()
        self._style, self.sample = self._survey()

    def __enter__(self) -> PdfFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the file back."""
        self._document.close()

    @property
    def metadata(self) -> dict[str, str]:
        """What the file says of itself: Title, Author, CreationDate."""
        try:
            return dict(self._document.get_metadata_dict(skip_empty=True))
        except self._error:
            return {}

    @property
    def year(self) -> int | None:
        """The year in which the file was made, as it says."""
        found = _YEAR.match(self.metadata.get("CreationDate", ""))
        return int(found[1]) if found and 1900 < int(found[1]) < 2100 else None

    def pages(self, first: int = 1, last: int | None = None) -> Iterator[PdfPage]:
        """The pages from ``first`` to ``last`` (numbers from 1) in order."""
        start, stop = first - 1, min(last or self.n_pages, self.n_pages)
        window, ahead = _Window(), max(0, start - WINDOW)
        # Anew for each stretch, so that its text does not hang on what was read before.
        self._mender = self._known.copy()
        for index in range(start, stop):
            while ahead < min(index + WINDOW + 1, self.n_pages):
                self._read_ahead(window, ahead)
                ahead += 1
            window.edges.pop(index - WINDOW - 1, None)
            for old in [k for k in window.printed if k < index]:
                del window.printed[old]
            yield self._laid_out(window, index)

    def _read_ahead(self, window: _Window, index: int) -> None:
        printed = self._printed(index)
        window.printed[index] = printed
        if isinstance(printed, PrintedPage):
            window.edges[index] = printed.edges
            self._mender.learn(segment.text for segment in printed.segments)
        else:
            window.edges[index] = []

    def _printed(self, index: int) -> PrintedPage | PdfPage:
        number, label = index + 1, self._label(index)
        if number in self.skip:
            return PdfPage(number, label, 0, 0, [], "broken", "skipped")
        self._tell(number)
        try:
            return read_printed(self._document, index)
        except self._error as cause:
            return PdfPage(number, label, 0, 0, [], "broken", str(cause))
        except TooManyCharacters as cause:
            detail = f"{cause.args[0]:,} characters"
            return PdfPage(number, label, 0, 0, [], "too large", detail)

    def _label(self, index: int) -> str:
        try:
            label = self._document.get_page_label(index) or ""
        except (self._error, UnicodeDecodeError):
            return ""
        return "" if label == str(index + 1) else str(label)[:20]

    def _laid_out(self, window: _Window, index: int) -> PdfPage:
        printed = window.printed[index]
        if isinstance(printed, PdfPage):
            return printed
        number, label = index + 1, self._label(index)
        self._tell(number)
        left_out = furniture(index, window.edges, len(printed.segments))
        blocks = blocks_on(
            printed, left_out, self._style, self._titles.get(index, {}), self._mender
        )
        reason, detail = _unread(printed, blocks)
        width, height = printed.width, printed.height
        return PdfPage(number, label, width, height, [] if reason else blocks, reason, detail)

    def _survey(self) -> tuple[Style, str]:
        """The document's style from pages all over it, and a sample of its text."""
        letters: Counter[float] = Counter()
        n_bold = 0
        sample = []
        step = max(1, self.n_pages // _SURVEYED)
        for index in range(step // 2, self.n_pages, step)[:_SURVEYED]:
            printed = self._printed(index)
            if isinstance(printed, PrintedPage):
                for segment in printed.segments:
                    letters[round(segment.size, 1)] += len(segment.text)
                    n_bold += len(segment.text) if segment.font.is_bold else 0
                self._known.learn(segment.text for segment in printed.segments)
                sample.append(" ".join(segment.text for segment in printed.segments)[:2000])
        is_bold_rare = n_bold < _RARE * letters.total()
        style = style_of(letters, has_outline=self._has_outline(), is_bold_rare=is_bold_rare)
        return style, "\n".join(sample)

    def _has_outline(self) -> bool:
        n = sum(map(len, self._titles.values()))
        return n >= max(4, self.n_pages // 30)


def _unread(page: PrintedPage, blocks: list[Block]) -> tuple[Unread, str]:
    text = "\n".join(block.text for block in blocks)
    n_letters = sum(map(len, text.split()))
    if page.image_share >= _COVERED and n_letters < _LEAST_LETTERS:
        return "image only", ""
    wrong = garbled(text, page.n_unmapped)
    return ("garbled", wrong) if wrong else ("", "")

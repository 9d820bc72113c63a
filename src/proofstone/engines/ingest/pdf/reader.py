"""A PDF read page by page; no more than a window of pages is held at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proofstone.engines.ingest.layout import Block
from proofstone.engines.ingest.legible import garbled
from proofstone.engines.ingest.pdf.furniture import WINDOW, EdgeRow, furniture
from proofstone.engines.ingest.pdf.glyphs import TooManyCharacters
from proofstone.engines.ingest.pdf.kinds import Style
from proofstone.engines.ingest.pdf.mending import Mender
from proofstone.engines.ingest.pdf.outline import outline_of
from proofstone.engines.ingest.pdf.page import PrintedPage, blocks_on, read_printed
from proofstone.errors import BadInput, ExtraMissing
from proofstone.records import Unread

__all__ = ["MAX_PAGES", "READER", "PdfFile", "PdfPage"]

READER = "pdf 1"  # a number of its own for every change that can move a text
MAX_PAGES = 20_000
_SURVEYED = 16
_LEAST_LETTERS = 40  # on a page that an image covers, fewer are a stamp on a scan
_COVERED = 0.5
_RARE = 0.4  # of the letters
_ENCRYPT, _CHUNK = b"/Encrypt", 2**20
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

        Raises ExtraMissing without pypdfium2; BadInput for what is encrypted, damaged, without
        pages or of more than ``MAX_PAGES``."""
        try:
            import pypdfium2  # noqa: PLC0415 - in an extra
        except ImportError as missing:
            raise ExtraMissing(
                f"{name} is a PDF, and what reads those is not installed.",
                hint="pip install 'proofstone[pdf]'",
            ) from missing
        self._error = pypdfium2.PdfiumError
        try:
            self._document: Any = pypdfium2.PdfDocument(path)
            self.n_pages = len(self._document)
        except pypdfium2.PdfiumError as cause:
            raise _refusal(name, str(cause), path) from cause
        if self.n_pages == 0:
            raise BadInput(f"{name} has no pages.")
        if self.n_pages > MAX_PAGES:
            raise BadInput(
                f"{name} says that it has {self.n_pages:,} pages; at most {MAX_PAGES:,} are read.",
                hint="Split it into volumes.",
            )
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
        style = _style(letters, has_outline=self._has_outline(), is_bold_rare=is_bold_rare)
        return style, "\n".join(sample)

    def _has_outline(self) -> bool:
        n = sum(map(len, self._titles.values()))
        return n >= max(4, self.n_pages // 30)


def _style(letters: Counter[float], *, has_outline: bool, is_bold_rare: bool) -> Style:
    if not letters:
        return Style(10.0, (), has_outline, is_bold_rare)
    body = letters.most_common(1)[0][0]
    larger = sorted((size for size in letters if size >= 1.13 * body), reverse=True)
    ranks: list[float] = []
    for size in larger:
        if not ranks or size < 0.96 * ranks[-1]:
            ranks.append(size)
    return Style(body, tuple(ranks[:5]), has_outline, is_bold_rare)


def _unread(page: PrintedPage, blocks: list[Block]) -> tuple[Unread, str]:
    text = "\n".join(block.text for block in blocks)
    n_letters = sum(map(len, text.split()))
    if page.image_share >= _COVERED and n_letters < _LEAST_LETTERS:
        return "image only", ""
    wrong = garbled(text, page.n_unmapped)
    return ("garbled", wrong) if wrong else ("", "")


def _refusal(name: str, cause: str, content: Path | bytes) -> BadInput:
    if "assword" in cause and _is_encrypted(content):  # said of a file without pages, too
        return BadInput(
            f"{name} is encrypted and opens only with a password.",
            hint="Save it without one, for example by printing it from a viewer into a file.",
        )
    if "ecurity" in cause:
        return BadInput(f"{name} is encrypted in a way that cannot be opened.")
    return BadInput(
        f"{name} is damaged, has no pages, or is no PDF.",
        hint="Open it in a viewer; if it opens, save it anew.",
    )


def _is_encrypted(content: Path | bytes) -> bool:
    """Whether a PDF names a dictionary of encryption; that name is never encrypted itself."""
    if isinstance(content, bytes):
        return _ENCRYPT in content
    before = b""
    with content.open("rb") as file:
        while chunk := file.read(_CHUNK):
            if _ENCRYPT in before + chunk:
                return True
            before = chunk[-len(_ENCRYPT) :]
    return False

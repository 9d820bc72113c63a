"""A PDF read page by page; no more than a window of pages is held at once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from proofstone.documents.layout import Block
from proofstone.documents.passages import garbled
from proofstone.documents.pdf.blocks import Mender
from proofstone.documents.pdf.headings import WINDOW, EdgeRow, furniture, plain_title
from proofstone.documents.pdf.lines import Style, TooManyCharacters, style_of
from proofstone.documents.pdf.page import PrintedPage, blocks_on, read_printed
from proofstone.errors import BadInput, needed
from proofstone.records.pages import Unread

# Opening a PDF, or saying why it cannot be.

MAX_PAGES = 20_000


_ENCRYPT, _CHUNK = b"/Encrypt", 2**20


def open_pdf(path: Path | bytes, name: str) -> tuple[Any, int]:
    """pdfium's document and how many pages it has.

    Raises ExtraMissing without pypdfium2; BadInput for what is encrypted, damaged, without pages or
    of more than ``MAX_PAGES``.
    """
    message = f"{name} is a PDF, and what reads those is not installed."
    with needed(message, "pip install 'proofstone[pdf]'"):
        import pypdfium2  # noqa: PLC0415 - in an extra
    try:
        document: Any = pypdfium2.PdfDocument(path)
        n_pages = len(document)
    except pypdfium2.PdfiumError as cause:
        raise _refusal(name, str(cause), path) from cause
    if n_pages == 0:
        raise BadInput(f"{name} has no pages.")
    if n_pages > MAX_PAGES:
        raise BadInput(
            f"{name} says that it has {n_pages:,} pages; at most {MAX_PAGES:,} are read.",
            hint="Split it into volumes.",
        )
    return document, n_pages


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


# A PDF's outline: which headings it has on which page, and their levels.

_MOST_ENTRIES = 50_000


_MOST_LEVELS = 12


_LEVELS = 6


_LONGEST = 400


def outline_of(document: Any) -> dict[int, dict[str, int]]:
    """The titles by page (from 0), as ``plain_title`` gives them, each with its level from 1.

    Empty where there is no outline, or only one entry.
    """
    pages: dict[int, dict[str, int]] = {}
    n = 0
    for entry in islice(document.get_toc(max_depth=_MOST_LEVELS), _MOST_ENTRIES):
        target = entry.get_dest()
        page = target.get_index() if target else None
        title = plain_title((entry.get_title() or "")[:_LONGEST])
        if page is None or page < 0 or not title:
            continue
        n += 1
        pages.setdefault(page, {}).setdefault(title, min(_LEVELS, entry.level + 1))
    return pages if n > 1 else {}


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


# A PDF's title and authors, from what it says of itself and from its first page.

_TOOLS = re.compile(
    r"^(microsoft word|untitled|slide 1|presentation|document\d*|title)\b"
    r"|\.(docx?|dvi|tex|indd|qxd|ps|pdf|pptx?|xlsx?)$",
    re.IGNORECASE,
)


_AND = re.compile(r"\s*(?:;|,|\band\b|&|、|，)\s*")


_LARGE = 1.3  # of the page's usual size


_FRONT_LONGEST = 200


class FrontMatter(NamedTuple):
    """Title and authors; empty where nothing says them."""

    title: str
    authors: tuple[str, ...]


def front_matter(pdf: PdfFile) -> FrontMatter:
    """The title that the file names, unless it is a program's or stands on the first page in
    smaller type than another one; then the largest type there."""
    metadata = pdf.metadata
    named = " ".join(metadata.get("Title", "").split())
    authors = tuple(
        part for part in _AND.split(" ".join(metadata.get("Author", "").split())) if part
    )
    page = next(pdf.pages(1, 1))
    printed = _largest(page)
    if not named or _TOOLS.search(named):
        return FrontMatter(printed, authors)
    everything = " ".join(" ".join(block.text.split()) for block in page.blocks).casefold()
    in_print = named.casefold() in everything
    if printed and in_print and named.casefold() not in printed.casefold():
        return FrontMatter(printed, authors)
    return FrontMatter(named, authors)


def _largest(page: PdfPage) -> str:
    """The heading in the largest type of a page, where it is larger than the rest."""
    sizes = [
        (round(max(line.box.bottom - line.box.top for line in block.lines), 1), -place, block)
        for place, block in enumerate(page.blocks)
        if block.kind == "heading" and block.lines
    ]
    if not sizes:
        return ""
    largest, _place, block = max(sizes, key=lambda entry: entry[:2])
    ordinary = [
        line.box.bottom - line.box.top
        for other in page.blocks
        if other is not block
        for line in other.lines
    ]
    if ordinary and largest < _LARGE * sorted(ordinary)[len(ordinary) // 2]:
        return ""
    return " ".join(block.text.split())[:_FRONT_LONGEST]

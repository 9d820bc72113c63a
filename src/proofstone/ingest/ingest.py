"""Import documents: read files, store pages and passages, and report what was not read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, cast

from msgspec import Struct, structs

from proofstone.documents.folders import FoundFile, find_files
from proofstone.documents.passages import BETWEEN_TITLES
from proofstone.documents.reader import (
    INSTALL_OCR,
    OCR_LIMITS,
    OCR_READER,
    GuardedReader,
    Job,
    Opened,
    PageRead,
    ReadEvent,
    Refused,
    is_ocr_installed,
)
from proofstone.documents.sources import Stated, content_of, has_pictures, merged, readable_name
from proofstone.errors import BadInput, ExtraMissing, Problem, SourcePurged
from proofstone.files.tables import document_advice, formats_hint
from proofstone.records.calls import Clock
from proofstone.records.knowledge import Passage, Source, passage_id, permits_publication, source_id
from proofstone.records.pages import Page, Unread, model_that_read, page_id
from proofstone.store.knowledge import ReadPage
from proofstone.store.store import Store
from proofstone.texts.languages import guess_language

# Passages by language: folders may mix languages, and a build may use one.


# A page with a lower mean OCR confidence is reported for review.
SURE = 0.9


OcrUse = Literal["auto", "never", "always"]


class PageNotRead(Struct, frozen=True):
    """A page that OCR should have read and did not, and why."""

    page: int
    why: str


class Ingested(Struct, frozen=True, kw_only=True):
    """An imported document: its source, and its numbers of pages and passages.

    ``unread`` holds pages by reason. ``doubtful`` were read with a confidence below ``SURE``.
    ``not_scanned`` are pages that a model failed to read. ``is_new`` is False if the same document
    was imported before. ``stated_before``: its source keeps the metadata stated then.
    """

    id: bytes
    title: str
    file: str
    language: str
    license: str
    n_pages: int = 0
    n_passages: int = 0
    unread: dict[str, list[int]] = {}
    doubtful: list[int] = []
    n_scanned: int = 0
    not_scanned: tuple[PageNotRead, ...] = ()
    is_new: bool = True
    stated_before: bool = False

    @property
    def is_public(self) -> bool:
        """Return True if the stated license permits publication."""
        return permits_publication(self.license)


class NotRead(Struct, frozen=True, kw_only=True):
    """A file that was not imported: cause, error code, remedy, and all problems by place."""

    file: str
    why: str
    code: str
    hint: str = ""
    problems: tuple[Problem, ...] = ()


class IngestReport(Struct, frozen=True, kw_only=True):
    """The result for all files.

    ``others`` counts files in folders that are not documents, by suffix; ``advice`` says how to
    convert them. ``unused`` are rows of the metadata table without a file. ``needs`` says what to
    install to read page images. ``copies`` are files with the same document as one of ``taken``.
    """

    taken: tuple[Ingested, ...]
    not_read: tuple[NotRead, ...] = ()
    others: dict[str, int] = {}
    advice: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    needs: str = ""
    copies: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["all", "some", "none"]:
        """Return "all" if all files and requested pages were read, otherwise "some" or "none"."""
        if not self.taken:
            return "none"
        is_all = not self.not_read and not any(entry.not_scanned for entry in self.taken)
        return "all" if is_all else "some"


class Watch(Protocol):
    """Receive progress: the file, its number among all, its pages, and the current step."""

    def __call__(
        self, file: str, number: int, n_files: int, pages: int, n_pages: int, *, doing: str = ""
    ) -> None:
        """Report progress after each page."""


# Pages that wait for OCR, and their results.

PageSize = tuple[float, float]


class ScanPart(Struct, frozen=True, kw_only=True):
    """Some pages of one file: the ``job`` for local OCR, and all page ``sizes`` in points.

    ``names`` (title, book) and ``license`` are those of its source; they decide where pages may be
    sent.
    """

    job: Job
    names: tuple[str, ...]
    license: str
    sizes: Mapping[int, PageSize]


class NotScanned(Struct, frozen=True, kw_only=True):
    """A page that stays unread: ``what`` for users, ``detail`` for the record."""

    number: int
    what: str
    detail: str = ""


# A Refused gives up the part that it answers.
ScanEvent = PageRead | NotScanned | Refused


TakeScanned = Callable[[int, ScanEvent], None]


# Import one file: its documents, their pages, and pages that wait for OCR.

_BATCH = 64  # pages per commit


_FOR_OCR = {"image only", "garbled"}


_TELLING = 40  # letters for detecting a document's language


_UNTOLD = "en"  # language of a document without letters


@dataclass(eq=False)
class Taking:
    """Import one file.

    With ``keeps_sources`` an imported document keeps its source, whatever metadata is stated,
    unless the license differs. A document without letters has no language until OCR reads a page;
    its pages wait until then.
    """

    store: Store
    file: FoundFile
    stated: Stated
    clock: Clock
    scans_all: bool = False
    keeps_sources: bool = False
    taken: list[Ingested] = field(default_factory=list)
    refused: NotRead | None = None
    contents: set[bytes] = field(default_factory=set)
    n_read: int = 0
    n_pages: int = 0
    _content: bytes = b""
    _of_file: bytes = b""
    _opened: Opened | None = None
    _source: Source | None = None
    _entry: Ingested | None = None
    _waiting: list[PageRead] = field(default_factory=list)
    _wanted: dict[int, PageRead] = field(default_factory=dict)
    _not_scanned: list[PageNotRead] = field(default_factory=list)
    _n_new: int = 0
    _n_scanned: int = 0

    def __post_init__(self) -> None:
        self.scans_all = self.scans_all and has_pictures(self.file.path)

    @property
    def job(self) -> Job:
        """Return the request for the reader."""
        stated = self.stated
        return Job(
            path=str(self.file.path),
            root=str(self.file.root),
            title=stated.title,
            language=stated.language,
            license=stated.license,
        )

    def to_scan(self, reader: str) -> tuple[int, ...]:
        """Return the pages for OCR, without those that ``reader`` has read before.

        Pages read by a model are left to models.
        """
        if not self._wanted or self.refused is not None:
            return ()
        done = self._readers()
        by_model = bool(model_that_read(reader))
        return tuple(
            number
            for number in self._wanted
            if (last := done.get(number, "")) != reader and (by_model or not model_that_read(last))
        )

    def part(self, numbers: Sequence[int]) -> ScanPart:
        """Return these of the pages for OCR."""
        stated, opened = self.stated, self._opened
        title = stated.title or ("" if opened is None else opened.title)
        license = stated.license if opened is None else opened.license or stated.license
        names = [title, stated.stratum.book]
        if self._source is not None:  # possibly as stated before
            names += [self._source.title, self._source.stratum.book]
        return ScanPart(
            job=Job(path=self.job.path, language=self.job.language, scan=tuple(numbers)),
            names=tuple(dict.fromkeys(name for name in names if name)),
            license=license,
            sizes={n: (self._wanted[n].width, self._wanted[n].height) for n in numbers},
        )

    def take(self, event: ReadEvent) -> None:
        """Process one answer of the reader."""
        if isinstance(event, Refused):
            self._refuse(event)
        elif self.refused is not None:
            return
        elif isinstance(event, Opened):
            self.close()
            self._open(event)
        elif isinstance(event, PageRead):
            self._add(event)

    def take_scanned(self, event: ScanEvent) -> None:
        """Store a page read by OCR immediately, since it took seconds.

        A page that cannot be read replaces no earlier reading.
        """
        if isinstance(event, Refused):
            self.refused = self._not_read(event)
            return
        if isinstance(event, NotScanned):
            self._not_scanned.append(PageNotRead(event.number, event.what))
            read = structs.replace(self._wanted[event.number], detail=event.detail)
        else:
            self._n_scanned += 1
            read = event
        is_unread = isinstance(event, NotScanned) or bool(event.reason)
        if is_unread and (not read.reason or read.number in self._readers()):
            return
        self._waiting.append(read)
        if self._source is None and sum(map(str.isalpha, read.text)) >= _TELLING:
            self._make_source(guess_language([read.text]))
        self.pause()

    def close(self) -> None:
        """Store what waits, and report the open document as imported."""
        if self._opened is not None and self._source is None:
            self._make_source(_UNTOLD)
        self.pause()
        if self._entry is not None:
            self.taken.append(self._counted(self._entry))
        self._opened, self._entry, self._source = None, None, None
        self._wanted, self._not_scanned = {}, []

    def _refuse(self, refused: Refused) -> None:
        self._waiting, self._entry, self._source, self._opened = [], None, None, None
        self.refused = self._not_read(refused)

    def _not_read(self, refused: Refused) -> NotRead:
        return NotRead(
            file=self.file.inside,
            why=refused.message,
            code=refused.code,
            hint=refused.hint,
            problems=tuple(Problem(where, what) for where, what in refused.problems),
        )

    def _open(self, opened: Opened) -> None:
        self._of_file = self._of_file or content_of(self.file.path)
        self._content = opened.content or self._of_file
        self._n_new, self.n_read, self.n_pages = 0, 0, opened.n_pages
        self._opened, self._n_scanned = opened, 0
        self._wanted, self._not_scanned = {}, []
        language = self.stated.language or opened.language
        if not language and (here := self.store.pages.sources_of(self._content)):
            language = here[0].language
        if language:
            self._make_source(language)

    def _readers(self) -> dict[int, str]:
        return {} if self._source is None else self.store.pages.readers(self._source.id)

    def _make_source(self, language: str) -> None:
        opened, stated = self._opened, self.stated
        if opened is None:
            return
        source = Source(
            kind=opened.kind,
            title=stated.title or opened.title,
            content=self._content,
            language=language,
            license=opened.license or stated.license,
            authors=stated.authors or opened.authors,
            year=opened.year if stated.year is None else stated.year,
            origin=opened.origin or readable_name(self.file.path.name),
            stratum=stated.stratum,
        )
        made = structs.replace(source, id=source_id(source))
        self._source = source = self._kept(made) if self.keeps_sources else made
        self._entry = Ingested(
            id=source.id,
            title=source.title,
            file=self.file.inside,
            language=source.language,
            license=source.license,
            unread={},
            stated_before=source.id != made.id,
        )

    def _kept(self, made: Source) -> Source:
        """Return this document's existing source: the same one, or the newest."""
        here = [
            source
            for source in self.store.pages.sources_of(self._content)
            if source.kind == made.kind and made.license in ("", source.license)
        ]
        return made if made in here or not here else here[-1]

    def _add(self, read: PageRead) -> None:
        self._waiting.append(read)
        self.n_read += 1
        if read.number is not None and (self.scans_all or read.reason in _FOR_OCR):
            self._wanted[read.number] = structs.replace(read, text="", layout=b"", cuts=(), path=())
        if len(self._waiting) >= _BATCH:
            self.pause()

    def pause(self) -> None:
        """Store what waits, if possible: other files are read before this one continues."""
        if not self._waiting or self._source is None:
            return
        source = self._source
        pages = [
            ReadPage(_page(source, read), tuple(_passages(source, read))) for read in self._waiting
        ]
        if self._entry is not None and self._entry.stated_before:
            # They were split for another stated language, so perhaps into other passages.
            known = self.store.pages.stored(each.page.id for each in pages)
            pages = [each for each in pages if each.page.id not in known]
        try:
            self.contents.add(self._content)
            self._n_new += self.store.pages.add(self._source, pages, self.clock.now())
        except SourcePurged as error:
            places = tuple((problem.where, problem.what) for problem in error.problems)
            self._refuse(
                Refused(message=error.message, hint=error.hint, code=error.code, problems=places)
            )
        self._waiting = []

    def _counted(self, entry: Ingested) -> Ingested:
        count = self.store.pages.count(entry.id)
        sure = self.store.pages.confidences(entry.id) if self._wanted else {}
        return structs.replace(
            entry,
            n_pages=count.pages,
            n_passages=count.passages,
            unread={reason: list(numbers) for reason, numbers in count.unread.items()},
            doubtful=[number for number, sureness in sure.items() if sureness < SURE],
            n_scanned=self._n_scanned,
            not_scanned=tuple(self._not_scanned),
            is_new=self._n_new > 0,
        )


def _page(source: Source, read: PageRead) -> Page:
    page = Page(
        source=source.id,
        number=read.number,
        text=read.text,
        label=read.label,
        width=read.width,
        height=read.height,
        reader=read.reader,
        state="unread" if read.reason else "read",
        reason=cast("Unread", read.reason),
        detail=read.detail,
        layout=read.layout,
    )
    return structs.replace(page, id=page_id(page))


def _passages(source: Source, read: PageRead) -> Iterable[Passage]:
    for start, end, path, language in read.cuts:
        passage = Passage(
            source=source.id,
            page=read.number,
            start=start,
            end=end,
            text=read.text[start:end],
            language=language,
            heading=BETWEEN_TITLES.join(title for _level, title in path),
        )
        yield structs.replace(passage, id=passage_id(passage))


# OCR of pages, after all documents were read without it.

_PART = 16  # pages that one process reads before another one may continue


class Scanner(Protocol):
    """Read pages from their images.

    ``reader`` is its name on those pages; ``needs`` what must be installed first, if anything.
    """

    reader: str
    needs: str

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Pass each page of each part to ``take``, with the part's index, in order."""


class OcrScanner:
    """Read pages by OCR, in separate processes."""

    reader = OCR_READER

    def __init__(self) -> None:
        self.needs = "" if is_ocr_installed() else INSTALL_OCR

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Read the pages, each with its detected language unless one is stated."""
        with GuardedReader(OCR_LIMITS) as reader:
            for place, event in reader.read([part.job for part in parts]):
                if isinstance(event, PageRead | Refused):
                    take(place, event)


def scan_pages(taking: Sequence[Taking], scanner: Scanner, watch: Watch | None = None) -> None:
    """Read the pages that files have for OCR, and store each immediately.

    An interrupted command therefore continues after the last stored page.
    """
    parts: list[ScanPart] = []
    owners: list[Taking] = []
    for each in taking:
        wanted = each.to_scan(scanner.reader)
        for at in range(0, len(wanted), _PART):
            parts.append(each.part(wanted[at : at + _PART]))
            owners.append(each)
    n_pages = sum(len(part.job.scan) for part in parts)
    n_done = 0

    def take(place: int, event: ScanEvent) -> None:
        nonlocal n_done
        owners[place].take_scanned(event)
        n_done += isinstance(event, PageRead | NotScanned)
        if watch is not None:
            file = owners[place].file.inside
            watch(file, place + 1, len(parts), n_done, n_pages, doing="read from its image")

    scanner.scan(parts, take)


class WikiChoice(Struct, frozen=True):
    """Which pages of a wiki dump are read.

    These are the first ``limit`` (0: all) with ``titles`` (empty: any) in ``namespaces`` (empty:
    articles).
    """

    titles: tuple[str, ...] = ()
    namespaces: tuple[int, ...] = ()
    limit: int = 0


EVERY_ARTICLE = WikiChoice()


def ingest_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    clock: Clock,
    stated: Stated | None = None,
    stated_for: Mapping[str, Stated] | None = None,
    ocr: OcrUse = "auto",
    watch: Watch | None = None,
    choice: WikiChoice = EVERY_ARTICLE,
    open_reader: Callable[[], GuardedReader] = GuardedReader,
    scanner: Scanner | None = None,
    located: Callable[[Mapping[bytes, Path]], None] | None = None,
    keeps_sources: bool = False,
) -> IngestReport:
    """Read the documents of files and folders and store them, page by page.

    A file that cannot be read is reported, and the others are read. A page that cannot be read is
    stored with the reason. Then ``scanner`` (default: OCR) reads pages that are images, or whose
    characters are not words; with ``ocr`` "always" all pages with images, with "never" none.
    ``stated`` applies to all files, ``stated_for`` to named ones, ``choice`` to wiki dumps.
    ``located`` receives the paths of sources, by digest. Repeating it changes nothing. With
    ``keeps_sources`` an imported document keeps its source, whatever metadata is stated, unless the
    license differs.

    Raises BadInput if there is no document, ExtraMissing if OCR was requested and is not installed.
    """
    scanner = scanner or OcrScanner()
    if ocr == "always" and scanner.needs:
        raise ExtraMissing("OCR of page images is not installed", hint=scanner.needs)
    found = find_files(paths, figures=ocr == "always")
    if not found.files:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in found.others.items())
        raise BadInput(
            "there is no document to read" + (f" (found: {kinds})" if kinds else ""),
            hint=formats_hint(found.others),
        )
    about = [_stated(file, stated or Stated(), stated_for or {}) for file in found.files]
    taking = [
        Taking(store, file, each, clock, scans_all=ocr == "always", keeps_sources=keeps_sources)
        for file, each in zip(found.files, about, strict=True)
    ]
    with open_reader() as reader:
        now = taking[0]
        jobs = [
            structs.replace(
                each.job, titles=choice.titles, namespaces=choice.namespaces, limit=choice.limit
            )
            for each in taking
        ]
        for place, event in reader.read(jobs):
            if taking[place] is not now:
                now.pause()
                now = taking[place]
            now.take(event)
            if watch is not None:
                watch(now.file.inside, place + 1, len(taking), now.n_read, now.n_pages)
        now.pause()
    wanting = [each for each in taking if each.to_scan(scanner.reader)]
    if ocr != "never" and not scanner.needs and wanting:
        scan_pages(wanting, scanner, watch)
    for each in taking:
        each.close()
    if located is not None:
        located({content: each.file.path for each in taking for content in each.contents})
    named = {name for file in found.files for name in (file.inside, file.path.name)}
    return IngestReport(
        taken=tuple(entry for each in taking for entry in each.taken),
        not_read=tuple(each.refused for each in taking if each.refused is not None),
        others=found.others,
        advice=tuple(document_advice(found.others)),
        unused=tuple(name for name in stated_for or {} if name not in named),
        needs=scanner.needs if wanting and ocr != "never" else "",
    )


def _stated(file: FoundFile, of_all: Stated, by_file: Mapping[str, Stated]) -> Stated:
    own = by_file.get(file.inside) or by_file.get(file.path.name)
    return merged(own, of_all) if own else of_all

"""What came of ingesting: documents taken, files not read, pages to be scanned."""

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

# Passages by their language: folders may mix them, and what is built may be of some alone.


# A page whose characters were read with less confidence on average is told, to be looked at.
SURE = 0.9


OcrUse = Literal["auto", "never", "always"]


class PageNotRead(Struct, frozen=True):
    """A page that was to be read from its image and was not, and why."""

    page: int
    why: str


class Ingested(Struct, frozen=True, kw_only=True):
    """A document that was read: its source, and how many pages and passages it has.

    ``unread`` holds pages by why they were not read, ``doubtful`` those that were read from images
    with less than ``SURE``, ``not_scanned`` those that a model was asked for in vain. ``is_new`` is
    False where the very same was here before; ``stated_before``: the document was, and its source
    stays with what was stated of it then.
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
        """Whether the license that is stated permits publication."""
        return permits_publication(self.license)


class NotRead(Struct, frozen=True, kw_only=True):
    """A file that was not taken: why, with the error's code, what to do, and each place that is
    wrong."""

    file: str
    why: str
    code: str
    hint: str = ""
    problems: tuple[Problem, ...] = ()


class IngestReport(Struct, frozen=True, kw_only=True):
    """What came of all files. ``others`` counts files of folders that are no documents, by their
    suffix, and ``advice`` says how such files become readable; ``unused`` are rows of the table of
    sources that name no file. ``needs`` says what to install so that unread pages can be read from
    their images. ``copies`` are files that are the same document as one of ``taken``, where these
    are counted once."""

    taken: tuple[Ingested, ...]
    not_read: tuple[NotRead, ...] = ()
    others: dict[str, int] = {}
    advice: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    needs: str = ""
    copies: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["all", "some", "none"]:
        """Whether all files were read, and of these all pages that were asked of a model; some, or
        none."""
        if not self.taken:
            return "none"
        is_all = not self.not_read and not any(entry.not_scanned for entry in self.taken)
        return "all" if is_all else "some"


class Watch(Protocol):
    """Hears which file is read, as the how-manieth of how many, and how many pages of it are; and
    what is being done with them, where that is not the first reading."""

    def __call__(
        self, file: str, number: int, n_files: int, pages: int, n_pages: int, *, doing: str = ""
    ) -> None:
        """Is told after each page."""


# Pages that wait to be read from their pictures, and what becomes of one.

PageSize = tuple[float, float]


class ScanPart(Struct, frozen=True, kw_only=True):
    """Some pages of one file: the ``job`` of who reads them here, and the ``sizes`` in points of
    all of them by number. ``names`` (its title, its book) and ``license`` are those of its source:
    they decide where its pages may be sent."""

    job: Job
    names: tuple[str, ...]
    license: str
    sizes: Mapping[int, PageSize]


class NotScanned(Struct, frozen=True, kw_only=True):
    """A page that stays as it was, and why: ``what`` for people, ``detail`` for the record."""

    number: int
    what: str
    detail: str = ""


# A Refused gives up the part that it answers.
ScanEvent = PageRead | NotScanned | Refused


TakeScanned = Callable[[int, ScanEvent], None]


# One file on its way into the store: its documents, their pages, and what waits to be scanned.

_BATCH = 64  # pages that are committed at once


_FOR_OCR = {"image only", "garbled"}


_TELLING = 40  # letters that tell the language of a document


_UNTOLD = "en"  # what a document without a letter is said to be in


@dataclass(eq=False)
class Taking:
    """One file on its way into the store; with ``keeps_sources`` a document that is here stays the
    source that it is, whatever was stated of it, unless another licence is stated now.

    A document without letters has no language until a page of it was scanned; so long its pages,
    which hold no text, wait here.
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
        """What the reader is asked for."""
        stated = self.stated
        return Job(
            path=str(self.file.path),
            root=str(self.file.root),
            title=stated.title,
            language=stated.language,
            license=stated.license,
        )

    def to_scan(self, reader: str) -> tuple[int, ...]:
        """The pages that are to be read from their pictures, without those that ``reader`` has read
        before; what a model has read is left to models."""
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
        """These of the pages that are to be read from their pictures."""
        stated, opened = self.stated, self._opened
        title = stated.title or ("" if opened is None else opened.title)
        license = stated.license if opened is None else opened.license or stated.license
        names = [title, stated.stratum.book]
        if self._source is not None:  # as it was stated before, perhaps
            names += [self._source.title, self._source.stratum.book]
        return ScanPart(
            job=Job(path=self.job.path, language=self.job.language, scan=tuple(numbers)),
            names=tuple(dict.fromkeys(name for name in names if name)),
            license=license,
            sizes={n: (self._wanted[n].width, self._wanted[n].height) for n in numbers},
        )

    def take(self, event: ReadEvent) -> None:
        """Takes one answer of the reader."""
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
        """Takes a page that was read from its picture, and stores it: it took seconds. One that
        could not be read takes the place of no reading."""
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
        """Stores what waits, and notes the document that was open as taken."""
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
        """The source that this document is here already: the very one, else the newest."""
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
        """Stores what waits, as far as it can be: other files are read before this one goes on."""
        if not self._waiting or self._source is None:
            return
        source = self._source
        pages = [
            ReadPage(_page(source, read), tuple(_passages(source, read))) for read in self._waiting
        ]
        if self._entry is not None and self._entry.stated_before:
            # They were cut under another statement of the language, so in other passages perhaps.
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


# Pages that are read from their pictures, after the documents were read as they are.

_PART = 16  # pages that one process reads before another one may go on


class Scanner(Protocol):
    """Reads pages from their pictures. ``reader`` is its name on the pages that it read; ``needs``
    what must be installed first, if anything."""

    reader: str
    needs: str

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """Hands each page of each part to ``take``, with the part's place, in order."""


class OcrScanner:
    """Reads by OCR, in processes of their own."""

    reader = OCR_READER

    def __init__(self) -> None:
        self.needs = "" if is_ocr_installed() else INSTALL_OCR

    def scan(self, parts: Sequence[ScanPart], take: TakeScanned) -> None:
        """The pages, each in the language of its letters where none is stated."""
        with GuardedReader(OCR_LIMITS) as reader:
            for place, event in reader.read([part.job for part in parts]):
                if isinstance(event, PageRead | Refused):
                    take(place, event)


def scan_pages(taking: Sequence[Taking], scanner: Scanner, watch: Watch | None = None) -> None:
    """Reads the pages that each file wants read; each is stored as soon as it is read, so that what
    is stopped goes on behind it."""
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
    """Which pages of a wiki's dump are read: those with ``titles`` (all where none) in
    ``namespaces`` (the articles where none), the first ``limit`` of them (0: all)."""

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
    """Reads the documents of files and folders and stores them, page by page.

    A file that cannot be read stands in the report and keeps no other from being read; a page that
    cannot is stored as unread, with the reason. Then the pages that are images, or whose characters
    are no words, are read by ``scanner`` (by OCR, where there is none): with ``ocr`` "always" all
    pages that can be seen, with "never" none. ``stated`` holds for all files, ``stated_for`` for
    those that it names, ``choice`` for dumps of wikis; ``located`` hears where the files of sources
    lie, by digest. The same files again change nothing. With ``keeps_sources`` a document that is
    here stays the source that it is, whatever was stated of it, unless it has another licence.
    Raises BadInput where there is no document at all, ExtraMissing where OCR was asked for and is
    not installed.
    """
    scanner = scanner or OcrScanner()
    if ocr == "always" and scanner.needs:
        raise ExtraMissing("What reads images of pages is not installed.", hint=scanner.needs)
    found = find_files(paths, figures=ocr == "always")
    if not found.files:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in found.others.items())
        raise BadInput(
            "There is no document to read." + (f" Found: {kinds}." if kinds else ""),
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

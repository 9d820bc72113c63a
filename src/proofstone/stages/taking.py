"""One file on its way into the store: its documents, their pages, and what waits to be scanned."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import cast

from msgspec import structs

from proofstone.engines.ingest import (
    BETWEEN_TITLES,
    FoundFile,
    Job,
    Opened,
    PageRead,
    ReadEvent,
    Refused,
    Stated,
    guess_language,
    has_pictures,
    readable_name,
)
from proofstone.engines.store import ReadPage, Store
from proofstone.errors import Problem, SourcePurged
from proofstone.ports import Clock
from proofstone.records import (
    Page,
    Passage,
    Source,
    Unread,
    model_that_read,
    page_id,
    passage_id,
    source_id,
)
from proofstone.stages.ingest_report import SURE, Ingested, NotRead, PageNotRead
from proofstone.stages.scan_parts import NotScanned, ScanEvent, ScanPart

__all__ = ["Taking"]

_BATCH = 64  # pages that are committed at once
_CHUNK = 2**20
_FOR_OCR = {"image only", "garbled"}
_TELLING = 40  # letters that tell the language of a document
_UNTOLD = "en"  # what a document without a letter is said to be in


class Taking:
    """One file on its way into the store; with ``keeps_sources`` a document that is here stays the
    source that it is, whatever was stated of it, unless another licence is stated now.

    A document without letters has no language until a page of it was scanned; so long its pages,
    which hold no text, wait here.
    """

    def __init__(
        self,
        store: Store,
        file: FoundFile,
        stated: Stated,
        clock: Clock,
        *,
        scans_all: bool = False,
        keeps_sources: bool = False,
    ) -> None:
        self.file = file
        self.taken: list[Ingested] = []
        self.refused: NotRead | None = None
        self.contents: set[bytes] = set()
        self.n_read = self.n_pages = 0
        self._store = store
        self._stated = stated
        self._clock = clock
        self._keeps_sources = keeps_sources
        self._scans_all = scans_all and has_pictures(file.path)
        self._content = self._of_file = b""
        self._opened: Opened | None = None
        self._source: Source | None = None
        self._entry: Ingested | None = None
        self._waiting: list[PageRead] = []
        self._wanted: dict[int, PageRead] = {}
        self._not_scanned: list[PageNotRead] = []
        self._n_new = self._n_scanned = 0

    @property
    def job(self) -> Job:
        """What the reader is asked for."""
        stated = self._stated
        return Job(
            path=str(self.file.path),
            root=str(self.file.root),
            title=stated.title,
            language=stated.language,
            licence=stated.licence,
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
        stated, opened = self._stated, self._opened
        title = stated.title or ("" if opened is None else opened.title)
        licence = stated.licence if opened is None else opened.licence or stated.licence
        names = [title, stated.stratum.book]
        if self._source is not None:  # as it was stated before, perhaps
            names += [self._source.title, self._source.stratum.book]
        return ScanPart(
            job=Job(path=self.job.path, language=self.job.language, scan=tuple(numbers)),
            names=tuple(dict.fromkeys(name for name in names if name)),
            licence=licence,
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
        self._tell_language(read.text)
        self._flush()

    def pause(self) -> None:
        """Stores what waits, as far as it can be: other files are read before this one goes on."""
        self._flush()

    def close(self) -> None:
        """Stores what waits, and notes the document that was open as taken."""
        if self._opened is not None and self._source is None:
            self._make_source(_UNTOLD)
        self._flush()
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
        self._of_file = self._of_file or _digest(self.file.path)
        self._content = opened.content or self._of_file
        self._n_new, self.n_read, self.n_pages = 0, 0, opened.n_pages
        self._opened, self._n_scanned = opened, 0
        self._wanted, self._not_scanned = {}, []
        language = self._stated.language or opened.language
        if not language and (here := self._store.pages.sources_of(self._content)):
            language = here[0].language
        if language:
            self._make_source(language)

    def _readers(self) -> dict[int, str]:
        """What read each page that is read, by its number."""
        return {} if self._source is None else self._store.pages.readers(self._source.id)

    def _tell_language(self, text: str) -> None:
        if self._source is None and sum(map(str.isalpha, text)) >= _TELLING:
            self._make_source(guess_language([text]))

    def _make_source(self, language: str) -> None:
        opened, stated = self._opened, self._stated
        if opened is None:
            return
        source = Source(
            kind=opened.kind,
            title=stated.title or opened.title,
            content=self._content,
            language=language,
            licence=opened.licence or stated.licence,
            authors=stated.authors or opened.authors,
            year=opened.year if stated.year is None else stated.year,
            origin=opened.origin or readable_name(self.file.path.name),
            stratum=stated.stratum,
        )
        made = structs.replace(source, id=source_id(source))
        self._source = source = self._kept(made) if self._keeps_sources else made
        self._entry = Ingested(
            id=source.id,
            title=source.title,
            file=self.file.inside,
            language=source.language,
            licence=source.licence,
            unread={},
            stated_before=source.id != made.id,
        )

    def _kept(self, made: Source) -> Source:
        """The source that this document is here already: the very one, else the newest."""
        here = [
            source
            for source in self._store.pages.sources_of(self._content)
            if source.kind == made.kind and made.licence in ("", source.licence)
        ]
        return made if made in here or not here else here[-1]

    def _add(self, read: PageRead) -> None:
        self._waiting.append(read)
        self.n_read += 1
        if read.number is not None and (self._scans_all or read.reason in _FOR_OCR):
            self._wanted[read.number] = structs.replace(read, text="", layout=b"", cuts=(), path=())
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting or self._source is None:
            return
        pages = [_read_page(self._source, read) for read in self._waiting]
        if self._entry is not None and self._entry.stated_before:
            # They were cut under another statement of the language, so in other passages perhaps.
            known = self._store.pages.stored(each.page.id for each in pages)
            pages = [each for each in pages if each.page.id not in known]
        try:
            self.contents.add(self._content)
            self._n_new += self._store.pages.add(self._source, pages, self._clock.now())
        except SourcePurged as error:
            places = tuple((problem.where, problem.what) for problem in error.problems)
            self._refuse(
                Refused(message=error.message, hint=error.hint, code=error.code, problems=places)
            )
        self._waiting = []

    def _counted(self, entry: Ingested) -> Ingested:
        """The entry with what the store now holds of its document."""
        count = self._store.pages.count(entry.id)
        sure = self._store.pages.confidences(entry.id) if self._wanted else {}
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


def _read_page(source: Source, read: PageRead) -> ReadPage:
    return ReadPage(_page(source, read), tuple(_passages(source, read)))


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


def _digest(path: Path) -> bytes:
    state = sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            state.update(chunk)
    return state.digest()

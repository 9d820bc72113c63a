"""Ingesting: documents into sources, pages and passages, whatever single files do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal, Protocol, cast

from msgspec import Struct, structs

from proofstone.engines.ingest import (
    BETWEEN_TITLES,
    FoundFile,
    GuardedReader,
    Job,
    Opened,
    PageRead,
    ReadEvent,
    Refused,
    Stated,
    find_files,
    merged,
)
from proofstone.engines.store import ReadPage, Store
from proofstone.errors import BadInput, Problem, SourcePurged
from proofstone.ports import Clock
from proofstone.records import Page, Passage, Source, Unread, page_id, passage_id, source_id

__all__ = ["IngestReport", "Ingested", "NotRead", "ingest_paths"]

_BATCH = 64  # pages that are committed at once
_CHUNK = 2**20


class Ingested(Struct, frozen=True, kw_only=True):
    """A document that was read: its source, and how many pages and passages it has.

    ``unread`` holds pages by why they were not read. ``is_new`` is False where the very same was
    here before.
    """

    id: bytes
    title: str
    file: str
    language: str
    licence: str
    n_pages: int = 0
    n_passages: int = 0
    unread: dict[str, list[int]] = {}
    is_new: bool = True


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
    suffix; ``unused`` are rows of the table of sources that name no file."""

    taken: tuple[Ingested, ...]
    not_read: tuple[NotRead, ...] = ()
    others: dict[str, int] = {}
    unused: tuple[str, ...] = ()

    @property
    def state(self) -> Literal["all", "some", "none"]:
        """Whether all files were read, some, or none."""
        if not self.taken:
            return "none"
        return "some" if self.not_read else "all"


class Watch(Protocol):
    """Hears which file is read, as the how-manieth of how many, and how many pages of it are."""

    def __call__(self, file: str, number: int, n_files: int, pages: int, n_pages: int) -> None: ...


def ingest_paths(
    store: Store,
    paths: Sequence[Path],
    *,
    clock: Clock,
    stated: Stated | None = None,
    stated_for: Mapping[str, Stated] | None = None,
    watch: Watch | None = None,
    open_reader: Callable[[], GuardedReader] = GuardedReader,
) -> IngestReport:
    """Reads the documents of files and folders and stores them, page by page.

    A file that cannot be read stands in the report and keeps no other from being read; a page that
    cannot is stored as unread, with the reason. ``stated`` holds for all files, ``stated_for`` for
    those that it names. The same files again change nothing. Raises BadInput where there is no
    document at all.
    """
    found = find_files(paths)
    if not found.files:
        kinds = ", ".join(f"{n} {suffix}" for suffix, n in found.others.items())
        raise BadInput(
            "There is no document to read." + (f" Found: {kinds}." if kinds else ""),
            hint="PDF, HTML, EPUB, DOCX, text, Markdown and JSONL are read, also packed (.gz).",
        )
    about = [_stated(file, stated or Stated(), stated_for or {}) for file in found.files]
    taking = [
        _Taking(store, file, each, clock) for file, each in zip(found.files, about, strict=True)
    ]
    with open_reader() as reader:
        now = taking[0]
        for place, event in reader.read([each.job for each in taking]):
            if taking[place] is not now:
                now.close()
                now = taking[place]
            now.take(event)
            if watch is not None:
                watch(now.file.inside, place + 1, len(taking), now.n_read, now.n_pages)
        now.close()
    named = {name for file in found.files for name in (file.inside, file.path.name)}
    return IngestReport(
        taken=tuple(entry for each in taking for entry in each.taken),
        not_read=tuple(each.refused for each in taking if each.refused is not None),
        others=found.others,
        unused=tuple(name for name in stated_for or {} if name not in named),
    )


def _stated(file: FoundFile, of_all: Stated, by_file: Mapping[str, Stated]) -> Stated:
    own = by_file.get(file.inside) or by_file.get(file.path.name)
    return merged(own, of_all) if own else of_all


class _Taking:
    """One file on its way into the store."""

    def __init__(self, store: Store, file: FoundFile, stated: Stated, clock: Clock) -> None:
        self.file = file
        self.taken: list[Ingested] = []
        self.refused: NotRead | None = None
        self.n_read = self.n_pages = 0
        self._store = store
        self._stated = stated
        self._clock = clock
        self._content = b""
        self._source: Source | None = None
        self._entry: Ingested | None = None
        self._waiting: list[ReadPage] = []
        self._n_new = 0

    @property
    def job(self) -> Job:
        """What the reader is asked for."""
        stated = self._stated
        return Job(
            path=str(self.file.path),
            title=stated.title,
            language=stated.language,
            licence=stated.licence,
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
        else:
            self._add(event)

    def close(self) -> None:
        """Stores what waits, and notes the document that was open as taken."""
        self._flush()
        if self._entry is not None:
            self.taken.append(structs.replace(self._entry, is_new=self._n_new > 0))
        self._entry, self._source = None, None

    def _refuse(self, refused: Refused) -> None:
        self._waiting, self._entry, self._source = [], None, None
        self.refused = NotRead(
            file=self.file.inside,
            why=refused.message,
            code=refused.code,
            hint=refused.hint,
            problems=tuple(Problem(where, what) for where, what in refused.problems),
        )

    def _open(self, opened: Opened) -> None:
        self._content = self._content or _digest(self.file.path)
        stated = self._stated
        source = Source(
            kind="document",
            title=stated.title or opened.title,
            content=opened.content or self._content,
            language=stated.language or opened.language,
            licence=opened.licence or stated.licence,
            authors=stated.authors or opened.authors,
            year=opened.year if stated.year is None else stated.year,
            origin=self.file.path.name,
            stratum=stated.stratum,
        )
        self._source = structs.replace(source, id=source_id(source))
        self._n_new, self.n_read, self.n_pages = 0, 0, opened.n_pages
        self._entry = Ingested(
            id=self._source.id,
            title=source.title,
            file=self.file.inside,
            language=source.language,
            licence=source.licence,
            unread={},
        )

    def _add(self, read: PageRead) -> None:
        if self._source is None or self._entry is None:
            return
        page = _page(self._source, read)
        passages = tuple(_passages(self._source, read))
        self._waiting.append(ReadPage(page, passages))
        self.n_read += 1
        if page.state == "unread":
            self._entry.unread.setdefault(page.reason, []).append(page.number or 0)
        self._entry = structs.replace(
            self._entry,
            n_pages=self._entry.n_pages + (page.number is not None),
            n_passages=self._entry.n_passages + len(passages),
        )
        if len(self._waiting) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        if not self._waiting or self._source is None:
            return
        try:
            self._n_new += self._store.pages.add(self._source, self._waiting, self._clock.now())
        except SourcePurged as error:
            places = tuple((problem.where, problem.what) for problem in error.problems)
            self._refuse(
                Refused(message=error.message, hint=error.hint, code=error.code, problems=places)
            )
        self._waiting = []


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

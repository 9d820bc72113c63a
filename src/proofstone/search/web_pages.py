"""Pages of the web as sources: fetched once, read in a process of its own, cut into passages, kept.

A page becomes a source of the kind ``web``: its title, its bytes' SHA-256, its address; its text
with the time of reading; its passages. So whatever a prompt shows of it can be traced like any
passage. A workspace's own searches leave these sources out: they belong to the search that found
them. Beside the database lies a note an address, with what came of it.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct, structs

from proofstone.documents.folders import FoundFile
from proofstone.documents.reader import GuardedReader, Opened, ReadEvent
from proofstone.documents.sources import Stated
from proofstone.errors import ExtraMissing
from proofstone.ingest.ingest import Taking
from proofstone.models.config import ModelConfig
from proofstone.records.calls import Clock
from proofstone.records.ids import content_id
from proofstone.search.http import FetchedPage, fetch_page, read_note, write_note
from proofstone.search.sources import WEB
from proofstone.session.folders import MARK
from proofstone.session.permits import SentBeside, SentLog
from proofstone.store.store import Store

_FOLDER = "webpages"


_AT_ONCE = 8


_SUFFIXES = {"text/plain": ".txt"}


# What no other day would change much; all else is tried again.
_FINAL = frozenset({"", "not_found", "too_large", "not_text", "no_text"})


class KeptPage(Struct, frozen=True, kw_only=True):
    """What came of an address: when (seconds since the epoch), where the page lay in the end, the
    SHA-256 of its bytes, and the id of its source (hex); or the ``problem`` that it was."""

    url: str
    found_at: str
    fetched_at: float
    content: str = ""
    n_bytes: int = 0
    media_type: str = ""
    source: str = ""
    problem: str = ""
    detail: str = ""


class WebPages:
    """The pages of one workspace. ``local`` lets it fetch from this machine, which the web must not
    name otherwise."""

    def __init__(
        self,
        store: Store,
        folder: Path,
        config: ModelConfig,
        clock: Clock,
        *,
        log: SentLog | None = None,
        local: bool = False,
    ) -> None:
        self._store, self._config, self._clock, self._log = store, config, clock, log
        self._folder = folder / MARK / _FOLDER
        self._local = local

    async def take(self, urls: Sequence[str]) -> dict[str, KeptPage]:
        """What came of each address, now or before. Raises ExtraMissing without what reads HTML."""
        wanted = list(dict.fromkeys(urls))
        found = {url: kept for url in wanted if (kept := self._known(url)) is not None}
        left = [url for url in wanted if url not in found]
        if not left:
            return found
        slots = asyncio.Semaphore(_AT_ONCE)

        async def fetched(url: str) -> FetchedPage:
            async with slots:
                return await fetch_page(url, self._config, local=self._local, found=True)

        pages = dict(zip(left, await asyncio.gather(*map(fetched, left)), strict=True))
        self._note(pages)
        return {**found, **await asyncio.to_thread(self._stored, pages)}

    def kept(self, urls: Sequence[str]) -> dict[str, KeptPage] | None:
        """What came of all of these addresses before; None where one would be fetched."""
        found = {url: self._known(url) for url in urls}
        known = {url: page for url, page in found.items() if page is not None}
        return known if len(known) == len(found) else None

    def noted(self, urls: Sequence[str]) -> dict[str, KeptPage] | None:
        """What came last of all of these addresses, also of those that would be tried again; None
        where one was never asked for."""
        found = {url: self._noted(url) for url in urls}
        known = {url: page for url, page in found.items() if page is not None}
        return known if len(known) == len(found) else None

    def _known(self, url: str) -> KeptPage | None:
        kept = self._noted(url)
        return kept if kept is not None and kept.problem in _FINAL else None

    def _noted(self, url: str) -> KeptPage | None:
        kept = read_note(self._file(url), KeptPage)
        if kept is None:
            return None
        if kept.source and not self._store.indexed.sources([bytes.fromhex(kept.source)]):
            return None  # of another database, or purged since
        return kept

    def _stored(self, pages: dict[str, FetchedPage]) -> dict[str, KeptPage]:
        """The pages read, stored and noted."""
        whole = {url: page for url, page in pages.items() if not page.problem}
        takings: dict[str, Taking] = {}
        with tempfile.TemporaryDirectory(prefix="proofstone-web-") as name:
            for number, (url, page) in enumerate(whole.items()):
                file = Path(name) / f"{number}{_SUFFIXES.get(page.media_type, '.html')}"
                file.write_bytes(page.body)
                takings[url] = Taking(
                    self._store, FoundFile(file, file.name), Stated(), self._clock
                )
            if takings:
                self._read(takings, whole)
            return {url: self._kept(url, page, takings.get(url)) for url, page in pages.items()}

    def _read(self, takings: dict[str, Taking], pages: dict[str, FetchedPage]) -> None:
        urls = list(takings)
        with GuardedReader() as reader:
            for place, event in reader.read([takings[url].job for url in urls]):
                takings[urls[place]].take(_of_the_web(event, pages[urls[place]]))
        for taking in takings.values():
            taking.close()

    def _kept(self, url: str, page: FetchedPage, taking: Taking | None) -> KeptPage:
        kept = KeptPage(
            url=url, found_at=page.url, fetched_at=self._clock.now(),
            content=sha256(page.body).hexdigest() if page.body else "", n_bytes=len(page.body),
            media_type=page.media_type, problem=page.problem, detail=page.detail,
        )  # fmt: skip
        if taking is not None:
            refused = taking.refused
            if refused is not None and refused.code == ExtraMissing.code:
                raise ExtraMissing(refused.why, hint=refused.hint)
            held = [entry for entry in taking.taken if entry.n_passages]
            if refused is not None:
                kept = structs.replace(kept, problem="no_text", detail=refused.why)
            elif held:
                kept = structs.replace(kept, source=held[0].id.hex())
            else:
                kept = structs.replace(kept, problem="no_text", detail="it holds no passage")
        write_note(self._file(url), kept)
        return kept

    def _note(self, pages: dict[str, FetchedPage]) -> None:
        """In the log: to which hosts how many addresses went; not those that were refused."""
        if self._log is None:
            return
        sent = Counter(_origin(url) for url, page in pages.items() if page.problem != "refused")
        now = self._clock.now()
        self._log.add(
            [
                SentBeside(at=now, endpoint=to, what="fetched", by="pages", requests=n)
                for to, n in sorted(sent.items())
            ]
        )

    def _file(self, url: str) -> Path:
        return self._folder / f"{content_id('web-page', url).hex()}.json"


def pages_from(folder: Path, source: bytes) -> tuple[str, ...]:
    """The notes of pages that became this source, relative to the workspace."""
    files = sorted((folder / MARK / _FOLDER).glob("*.json"))
    return tuple(
        file.relative_to(folder).as_posix()
        for file in files
        if (kept := read_note(file, KeptPage)) is None or kept.source == source.hex()
    )


def _of_the_web(event: ReadEvent, page: FetchedPage) -> ReadEvent:
    if not isinstance(event, Opened):
        return event
    title = event.title
    if title.isdigit():  # the name of the file that it was read from
        title = urlsplit(page.url).netloc + urlsplit(page.url).path.rstrip("/")
    return structs.replace(event, kind=WEB, origin=page.url, title=title)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"

"""Store web pages as sources: fetched once, parsed in a separate process, split into passages.

A page becomes a source of the kind ``web`` with its title, address, the SHA-256 of its bytes, its
text with the access time, and its passages. What a prompt shows of it can be traced like any
passage. Searches of the workspace leave these sources out. A record per address, with the result,
is stored next to the database.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from msgspec import Struct, structs

from proofstone.documents.folders import FoundFile
from proofstone.documents.passages import sentence_spans
from proofstone.documents.reader import GuardedReader, Opened, ReadEvent
from proofstone.documents.sources import Stated
from proofstone.errors import BadUsage, BudgetReached, CallFailed, EgressRefused, ExtraMissing
from proofstone.ingest.ingest import Taking
from proofstone.models.check import Online, Step, StepName
from proofstone.models.config import ModelConfig
from proofstone.models.names import destination_of
from proofstone.models.tokens import load_cl100k
from proofstone.records.calls import Clock, FoundText
from proofstone.records.ids import content_id
from proofstone.records.items import SearchMethod
from proofstone.records.knowledge import Source
from proofstone.records.models import WEB_SEARCHES
from proofstone.search.http import FetchedPage, fetch_page, read_note, write_note
from proofstone.search.sources import (
    WEB,
    RetrievedChunk,
    SearchSource,
    SourceIndex,
    found_texts,
    read_search_source,
)
from proofstone.search.web import (
    KeptSearch,
    WebFailure,
    WebSearcher,
    WebSearchError,
    set_searches,
    told_failure,
)
from proofstone.session.folders import MARK
from proofstone.session.permits import AskEgress, Leaving, SentBeside
from proofstone.session.progress import Background
from proofstone.session.session import Session
from proofstone.store.store import Store

_FOLDER = "webpages"


_FETCHES = 8


_SUFFIXES = {"text/plain": ".txt"}


# Problems that another day would hardly change; all others are retried.
_FINAL = frozenset({"", "not_found", "too_large", "not_text", "no_text"})


class KeptPage(Struct, frozen=True, kw_only=True):
    """The result for an address: time (seconds since the epoch) and final address.

    Also holds the SHA-256 of its bytes, and the id of its source (hex) or the ``problem``.
    """

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
    """The web pages of one workspace.

    It fetches from this machine only if its session does, since pages of the web must not lead
    there.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._store = session, session.store
        self._folder = session.folder / MARK / _FOLDER

    async def take(self, urls: Sequence[str]) -> dict[str, KeptPage]:
        """Return the result for each address, new or stored. Raises ExtraMissing without an HTML
        parser.
        """
        wanted = list(dict.fromkeys(urls))
        found = {url: kept for url in wanted if (kept := self._known(url)) is not None}
        left = [url for url in wanted if url not in found]
        if not left:
            return found
        slots = asyncio.Semaphore(_FETCHES)

        async def fetched(url: str) -> FetchedPage:
            async with slots:
                return await fetch_page(
                    url, self._session.config, local=self._session.fetches_local, found=True
                )

        pages = dict(zip(left, await asyncio.gather(*map(fetched, left)), strict=True))
        self._note(pages)
        return {**found, **await asyncio.to_thread(self._stored, pages)}

    def kept(self, urls: Sequence[str]) -> dict[str, KeptPage] | None:
        """Return the stored results for all of these addresses; None if one would be fetched."""
        return _whole({url: self._known(url) for url in urls})

    def noted(self, urls: Sequence[str]) -> dict[str, KeptPage] | None:
        """Return the last results for these addresses, including those that would be retried.

        None if one was never requested.
        """
        return _whole({url: self._noted(url) for url in urls})

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
        whole = {url: page for url, page in pages.items() if not page.problem}
        takings: dict[str, Taking] = {}
        with tempfile.TemporaryDirectory(prefix="proofstone-web-") as name:
            for number, (url, page) in enumerate(whole.items()):
                file = Path(name) / f"{number}{_SUFFIXES.get(page.media_type, '.html')}"
                file.write_bytes(page.body)
                takings[url] = Taking(
                    self._store, FoundFile(file, file.name), Stated(), self._session.clock
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
            url=url, found_at=page.url, fetched_at=self._session.clock.now(),
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
        """Log how many addresses were requested from which hosts, without refused ones."""
        sent = Counter(_origin(url) for url, page in pages.items() if page.problem != "refused")
        now = self._session.clock.now()
        self._session.sent_log.add(
            [
                SentBeside(at=now, endpoint=to, what="fetched", by="pages", requests=n)
                for to, n in sorted(sent.items())
            ]
        )

    def _file(self, url: str) -> Path:
        return self._folder / f"{content_id('web-page', url).hex()}.json"


def _whole(found: Mapping[str, KeptPage | None]) -> dict[str, KeptPage] | None:
    known = {url: page for url, page in found.items() if page is not None}
    return known if len(known) == len(found) else None


def pages_from(folder: Path, source: bytes) -> tuple[str, ...]:
    """Return the records of pages that became this source, relative to the workspace."""
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
    if title.isdigit():  # name of the file that it was parsed from
        title = urlsplit(page.url).netloc + urlsplit(page.url).path.rstrip("/")
    return structs.replace(event, kind=WEB, origin=page.url, title=title)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


# Search the web for a query: read and store the first pages, and return the best chunks.

HITS = 10  # requested for each query


PAGES = 5  # hits that are read, from the first


_AT_ONCE = 4  # searches: most are billed or limited per second


_LOT = 160  # pages that are read together; earlier results are stored


_VERSION = 1  # increase when the same responses would give other chunks


class WebQuery(Struct, frozen=True):
    """A search query, and the sources whose text it uses."""

    text: str
    made_from: tuple[Source, ...] = ()


class WebFinding(Struct, frozen=True, kw_only=True):
    """The result of a query: the search's response, the first pages, and their best chunks.

    ``failed`` says why the search failed; the result is then unknown.
    """

    query: str
    search: KeptSearch | None = None
    pages: tuple[KeptPage, ...] = ()
    chunks: tuple[RetrievedChunk, ...] = ()
    failed: str = ""


@dataclass(eq=False)
class WebFinder:
    """A ``Searcher`` of the web; each query's pages form an index, searched by ``search_method``.

    ``open_index`` returns the index of some sources. ``hits`` are requested per query, and the
    first ``n_pages`` of them are read. With ``page_tokens``, results are the beginnings of the most
    relevant of these pages. ``variant`` names how pages are split. As a ``Searcher`` it asks a
    policy about each query, or about none if that was settled before (``sends`` is "cleared").
    With "nothing" it sends nothing and uses stored results. ``asked`` are the queries of such
    calls, ``failed`` why the search failed for some.
    """

    store: Store
    searcher: WebSearcher
    pages: WebPages
    open_index: Callable[[set[bytes]], SourceIndex]
    search_method: SearchMethod = "bm25"
    hits: int = HITS
    n_pages: int = PAGES
    page_tokens: int | None = None
    variant: str = ""
    sends: Literal["by policy", "cleared", "nothing"] = "by policy"
    asked: dict[str, None] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    _waiting: list[tuple[WebQuery, int, asyncio.Future[WebFinding]]] = field(default_factory=list)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def __post_init__(self) -> None:
        self.name = self.searcher.name

    @property
    def key(self) -> bytes:
        """Return a key that changes if the same responses of the search would give other chunks."""
        made_by = [self.name, self.search_method, self.hits, self.n_pages, _VERSION]
        more = [self.page_tokens, self.variant] if self.page_tokens or self.variant else []
        return content_id("web-finder", [*made_by, *more])

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """Search (see ``Searcher``); calls during a search are answered together.

        Raises CallFailed if the search failed, EndpointUnusable if it answers no query (a wrong
        key, no credit). Raises EgressRefused, also if a source of the query is unknown.
        """
        sources = self.store.knowledge.sources(made_from)
        if len(sources) < len(set(made_from)):
            raise EgressRefused(
                "a query uses a source that is not in this workspace, so no policy applies to "
                "it; nothing was sent"
            )
        if self.sends == "nothing":
            kept = self.kept(query, n)
            if kept is None:
                raise CallFailed("not_sent", "the query is not sent")
            return found_texts(kept.chunks)
        asked = WebQuery(query, tuple(sources.values()))
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((asked, n, answer))
        async with self._turn:
            if not answer.done():
                await self._answer_waiting()
        found = await answer
        if found.failed:
            raise CallFailed("search_failed", found.failed)
        return found_texts(found.chunks[:n])

    async def _answer_waiting(self) -> None:
        size = max(1, _LOT // self.n_pages)
        lot, self._waiting = self._waiting[:size], self._waiting[size:]
        queries = [query for query, _n, _answer in lot]
        self.asked.update((query.text, None) for query in queries)
        try:
            found, _failures = await self._found_together(
                queries, max(n for _query, n, _answer in lot), is_cleared=self.sends == "cleared"
            )
            for (query, _n, answer), each in zip(lot, found, strict=True):
                if each.failed:
                    self.failed[query.text] = each.failed
                if not answer.done():
                    answer.set_result(each)
        except Exception as error:
            for _query, _n, answer in lot:
                if not answer.done():
                    answer.set_exception(error)
                    answer.exception()  # mark as retrieved: its waiters raise it as well
            raise
        finally:
            for _query, _n, answer in lot:
                answer.cancel()  # among those that are not done: this one was cancelled

    def lacking(self, queries: Sequence[str]) -> list[str]:
        """Return those of the queries that would be sent."""
        return [query for query in queries if self.searcher.kept(query, self.hits) is None]

    def kept(self, query: str, k: int) -> WebFinding | None:
        """Return the stored result of a query with its pages; None if anything would be sent."""
        return self._known(query, self.pages.kept, k)

    def noted(self, query: str) -> WebFinding | None:
        """Return the stored result of a query and the last result of each page, without chunks.

        Includes pages that could not be read. None if one of them was never requested.
        """
        return self._known(query, self.pages.noted, 0)

    def _known(
        self, query: str, find: Callable[[list[str]], dict[str, KeptPage] | None], k: int
    ) -> WebFinding | None:
        search = self.searcher.kept(query, self.hits)
        pages = None if search is None else find(self._urls(search))
        return None if search is None or pages is None else self._finding(query, search, pages, k)

    async def find(
        self, queries: Sequence[WebQuery], k: int, *, is_cleared: bool = False
    ) -> list[WebFinding]:
        """Return the result of each query, at most ``k`` chunks each (0: only its pages).

        ``is_cleared`` is as for ``seek``. Raises EgressRefused, ExtraMissing without an HTML
        parser, and BudgetReached if it does not cover another search (earlier responses are
        stored). Raises EndpointUnusable if no query would be answered, or none of the first was.
        """
        found: list[WebFinding] = []
        for lot in self._lots(queries):
            part, failures = await self._found_together(lot, k, is_cleared=is_cleared)
            if failures and len(failures) == len(lot) and not any(e.search for e in found):
                raise told_failure(self.name, failures[0])
            found += part
        return found

    async def _found_together(
        self, lot: Sequence[WebQuery], k: int, *, is_cleared: bool
    ) -> tuple[list[WebFinding], list[WebSearchError]]:
        """Return the result of each query, and the failures among them."""
        searches = await self._searched(lot, is_cleared=is_cleared)
        urls = [
            url for each in searches if isinstance(each, KeptSearch) for url in self._urls(each)
        ]
        pages = await self.pages.take(urls)
        found = [
            WebFinding(query=query.text, failed=str(search))
            if isinstance(search, WebSearchError)
            else self._finding(query.text, search, pages, k)
            for query, search in zip(lot, searches, strict=True)
        ]
        return found, [each for each in searches if isinstance(each, WebSearchError)]

    async def _searched(
        self, queries: Sequence[WebQuery], *, is_cleared: bool
    ) -> list[KeptSearch | WebSearchError]:
        slots = asyncio.Semaphore(_AT_ONCE)
        hopeless: list[WebSearchError] = []
        reached: list[BudgetReached] = []

        async def one(query: WebQuery) -> KeptSearch | WebSearchError | BudgetReached:
            async with slots:
                if hopeless:
                    return hopeless[0]
                if reached:
                    return reached[0]
                try:
                    return await self.searcher.seek(
                        query.text, self.hits, made_from=query.made_from, is_cleared=is_cleared
                    )
                except WebSearchError as error:
                    if error.kind in ("bad_key", "no_credit"):
                        hopeless.append(error)
                    return error
                except BudgetReached as error:  # the others end first, and are stored
                    reached.append(error)
                    return error

        once = _each_once(queries)
        found = dict(zip(once, await asyncio.gather(*map(one, once.values())), strict=True))
        if hopeless:
            raise told_failure(self.name, hopeless[0])
        if reached:
            raise reached[0]
        return [
            each for query in queries if not isinstance(each := found[query.text], BudgetReached)
        ]

    def _lots(self, queries: Sequence[WebQuery]) -> Iterator[Sequence[WebQuery]]:
        size = max(1, _LOT // self.n_pages)
        for start in range(0, len(queries), size):
            yield queries[start : start + size]

    def _urls(self, search: KeptSearch) -> list[str]:
        """Return the addresses of the first pages, each once."""
        return list(dict.fromkeys(hit.url for hit in search.hits))[: self.n_pages]

    def _finding(
        self, query: str, search: KeptSearch, pages: dict[str, KeptPage], k: int
    ) -> WebFinding:
        own = tuple(pages[url] for url in self._urls(search))
        sources = {bytes.fromhex(page.source) for page in own if page.source}
        chunks: list[RetrievedChunk] = []
        if sources and k:
            index = self.open_index(sources)
            n = k if self.page_tokens is None else index.n_chunks
            (chunks,) = index.search([query], n, self.search_method)
            if self.page_tokens is not None:
                chunks = list(self._beginnings(chunks, k, self.page_tokens))
        return WebFinding(query=query, search=search, pages=own, chunks=tuple(chunks))

    def _beginnings(
        self, chunks: Sequence[RetrievedChunk], k: int, most_tokens: int
    ) -> Iterator[RetrievedChunk]:
        """Yield the first tokens of the ``k`` most relevant pages, as parts of their passages.

        Pages are in the order of their best chunks; one that no chunk was found on is left out. A
        page ends with the last whole sentence within ``most_tokens``.
        """
        best: dict[bytes, RetrievedChunk] = {}
        for chunk in chunks:
            best.setdefault(chunk.source.id, chunk)
        count = load_cl100k()
        for found in list(best.values())[:k]:
            left = most_tokens
            for passage in self.store.knowledge.passages_of(found.source.id):
                ends = [end for _start, end in sentence_spans(passage.text)]
                while ends and count(passage.text[: ends[-1]].rstrip()) > left:
                    ends.pop()
                shown = passage.text[: ends[-1]].rstrip() if ends else ""
                if shown:
                    yield structs.replace(found, passage=passage, start=0, end=len(shown))
                left -= count(shown)
                if len(shown) < len(passage.text.rstrip()):
                    break


def _each_once(queries: Sequence[WebQuery]) -> dict[str, WebQuery]:
    """Return the queries by their text, each with the sources of all equal ones."""
    found: dict[str, WebQuery] = {}
    for query in queries:
        known = found.get(query.text, query)
        made_from = {source.id: source for source in (*known.made_from, *query.made_from)}
        found[query.text] = WebQuery(query.text, tuple(made_from.values()))
    return found


# Check whether the configured web searches answer: one short fixed query each.

_STEPS: tuple[StepName, ...] = ("settings", "policy", "connection", "key", "model")


_ENDS_AT: Mapping[WebFailure, StepName] = {
    "server_error": "connection",
    "unreadable": "connection",
    "bad_key": "key",
    "no_credit": "key",
    "rate_limited": "key",
    "bad_request": "model",
}


def is_search(name: str) -> bool:
    """Return True if this names a web search rather than a model."""
    return "/" not in name and name.partition(":")[0] in WEB_SEARCHES


def look_at_searches(
    names: Sequence[str] | None, config: ModelConfig, clock: Clock, ask: AskEgress | None
) -> list[Online]:
    """Send one query to each of these searches (None: all configured ones).

    It holds no workspace data. Raises BadUsage for an unknown search.
    """
    if names is None:
        sources = [SearchSource(web) for web in set_searches(config.environment)]
    else:
        sources = [read_search_source(name) for name in names]
    return [_looked(source, config, clock, ask) for source in sources]


def _looked(
    source: SearchSource, config: ModelConfig, clock: Clock, ask: AskEgress | None
) -> Online:
    found: dict[StepName, str] = {"settings": "its variables are set"}
    if source.web is None:
        raise BadUsage(f"{source.name} is not a web search")
    try:
        searcher = WebSearcher(source.web, Path(), config, clock, engines=source.engines)
    except BadUsage as error:
        return Online(source.name, "", _until("settings", found, error.message, error.hint))
    address = searcher.address
    to = destination_of(address)
    if to is None:
        said = "not an http or https address"
        return Online(source.name, address, _until("settings", found, said, ""))
    found["policy"] = f"{to} is this machine" if to.is_local else f"{to} may be asked"
    try:
        config.gate.check_policies(to)
        if not to.is_local:
            if ask is not None:
                ask(Leaving(to=str(to), models=(source.name,), state="probe"))
            config.gate.permit(to)
        started = clock.monotonic()
        n_hits = Background(lambda _stop: searcher.probe()).wait()
    except EgressRefused as error:
        return Online(source.name, address, _until("policy", found, error.message, error.hint))
    except WebSearchError as error:
        told = told_failure(source.name, error)
        found["connection"] = str(to)
        steps = _until(_ENDS_AT[error.kind], found, f"{error.kind}: {error.detail}", told.hint)
        return Online(source.name, address, steps)
    found |= {
        "connection": str(to),
        "key": "accepted",
        "model": f"searched, {n_hits} hit{'' if n_hits == 1 else 's'}",
    }
    return Online(source.name, address, _until(None, found), clock.monotonic() - started)


def _until(
    failed: StepName | None, found: Mapping[StepName, str], said: str = "", remedy: str = ""
) -> tuple[Step, ...]:
    """Return the steps: ok before ``failed``, that one as failed, the rest open."""
    if failed is None:
        return tuple(Step(name, "ok", found.get(name, "")) for name in _STEPS)
    place = _STEPS.index(failed)
    return (
        *(Step(name, "ok", found.get(name, "")) for name in _STEPS[:place]),
        Step(failed, "failed", said, remedy),
        *(Step(name, "open") for name in _STEPS[place + 1 :]),
    )

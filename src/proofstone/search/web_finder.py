"""What the web says near a query: searched, its first pages read and kept, the best chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

from proofstone.errors import BadUsage, BudgetReached, CallFailed, EgressRefused
from proofstone.models.availability import Online, Step, StepName
from proofstone.models.config import ModelConfig
from proofstone.models.names import destination_of
from proofstone.records.calls import Clock, FoundText
from proofstone.records.ids import content_id
from proofstone.records.items import SearchWay
from proofstone.records.knowledge import Source
from proofstone.records.models import WEB_SEARCHES
from proofstone.search.sources import (
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
from proofstone.search.web_pages import KeptPage, WebPages
from proofstone.session.background import Background
from proofstone.session.permits import AskEgress, Leaving
from proofstone.store.store import Store

HITS = 10  # asked for of each query


PAGES = 5  # of the hits, the first that are read


_AT_ONCE = 4  # searches: most are billed or bounded by the second


_LOT = 160  # pages that are read together; what was found before is kept


_VERSION = 1  # raised where the same answers would give other chunks


class WebQuery(Struct, frozen=True):
    """What is searched for, and the sources whose text stands behind it."""

    text: str
    made_from: tuple[Source, ...] = ()


class WebFinding(Struct, frozen=True, kw_only=True):
    """What came of a query: the search's answer, what became of the first pages, the best chunks of
    them; or why the search ``failed``, of which nothing can be told."""

    query: str
    search: KeptSearch | None = None
    pages: tuple[KeptPage, ...] = ()
    chunks: tuple[RetrievedChunk, ...] = ()
    failed: str = ""


class WebFinder:
    """A ``Searcher`` of the web: each query's pages are an index of their own, searched by ``way``.
    ``open_index`` gives the index of some sources. Of each query ``hits`` are asked for, and the
    first ``n_pages`` of them are read.

    As a ``Searcher`` it asks a policy about each query, or about none where that was settled before
    (``sends`` is "cleared"), or sends "nothing" and knows only what is kept. ``asked`` are the
    queries of such calls, ``failed`` why the search failed for some.
    """

    def __init__(
        self,
        store: Store,
        searcher: WebSearcher,
        pages: WebPages,
        open_index: Callable[[set[bytes]], SourceIndex],
        way: SearchWay = "bm25",
        *,
        hits: int = HITS,
        n_pages: int = PAGES,
    ) -> None:
        self._hits, self._n_pages = hits, n_pages
        self.name = searcher.name
        self.searcher = searcher
        self._store, self._pages, self._open, self._way = store, pages, open_index, way
        self.sends: Literal["by policy", "cleared", "nothing"] = "by policy"
        self.asked: dict[str, None] = {}
        self.failed: dict[str, str] = {}
        self._waiting: list[tuple[WebQuery, int, asyncio.Future[WebFinding]]] = []
        self._turn = asyncio.Lock()

    @property
    def key(self) -> bytes:
        """Another one where the same answers of the search would give other chunks."""
        return content_id("web-finder", [self.name, self._way, self._hits, self._n_pages, _VERSION])

    async def __call__(
        self, query: str, n: int, *, made_from: Sequence[bytes] = ()
    ) -> Sequence[FoundText]:
        """``Searcher``: calls that come while others are answered are answered together.

        Raises CallFailed where the search failed, EndpointUnusable where it answers no query (a
        wrong key, no credit), and EgressRefused, also where nothing is known of a source that the
        query is made from.
        """
        sources = self._store.knowledge.sources(made_from)
        if len(sources) < len(set(made_from)):
            raise EgressRefused(
                "a query is made from a source that is not in this workspace, so that no policy "
                "speaks of it; nothing was sent"
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
        size = max(1, _LOT // self._n_pages)
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
                    answer.exception()  # seen: who waits for it raises it as well
            raise
        finally:
            for _query, _n, answer in lot:
                answer.cancel()  # of those that are not done: this one was cancelled

    def lacking(self, queries: Sequence[str]) -> list[str]:
        """Those of the queries that would be sent."""
        return [query for query in queries if self.searcher.kept(query, self._hits) is None]

    def kept(self, query: str, k: int) -> WebFinding | None:
        """What came of a query before, its pages included; None where something would be sent."""
        search = self.searcher.kept(query, self._hits)
        pages = None if search is None else self._pages.kept(self._urls(search))
        if search is None or pages is None:
            return None
        return self._finding(query, search, pages, k)

    def noted(self, query: str) -> WebFinding | None:
        """What came of a query before, and last of each of its pages, those that could not be read
        among them; None where one of them was never asked for. No chunks."""
        search = self.searcher.kept(query, self._hits)
        pages = None if search is None else self._pages.noted(self._urls(search))
        if search is None or pages is None:
            return None
        return self._finding(query, search, pages, 0)

    async def find(
        self, queries: Sequence[WebQuery], k: int, *, is_cleared: bool = False
    ) -> list[WebFinding]:
        """What came of each query, at most ``k`` chunks each (0: only its pages); ``is_cleared`` as
        for ``seek``.

        Raises EgressRefused, ExtraMissing without what reads HTML, BudgetReached where it does not
        cover another search (the answers so far are kept), and EndpointUnusable where no query
        would be answered, or none of the first was.
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
        """What came of each query, and the failures among it."""
        searches = await self._searched(lot, is_cleared=is_cleared)
        urls = [
            url for each in searches if isinstance(each, KeptSearch) for url in self._urls(each)
        ]
        pages = await self._pages.take(urls)
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
                        query.text, self._hits, made_from=query.made_from, is_cleared=is_cleared
                    )
                except WebSearchError as error:
                    if error.kind in ("bad_key", "no_credit"):
                        hopeless.append(error)
                    return error
                except BudgetReached as error:  # the others end first, and are kept
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
        size = max(1, _LOT // self._n_pages)
        for start in range(0, len(queries), size):
            yield queries[start : start + size]

    def _urls(self, search: KeptSearch) -> list[str]:
        """The addresses of the first pages, each once."""
        return list(dict.fromkeys(hit.url for hit in search.hits))[: self._n_pages]

    def _finding(
        self, query: str, search: KeptSearch, pages: dict[str, KeptPage], k: int
    ) -> WebFinding:
        own = tuple(pages[url] for url in self._urls(search))
        sources = {bytes.fromhex(page.source) for page in own if page.source}
        chunks: list[RetrievedChunk] = []
        if sources and k:
            (chunks,) = self._open(sources).search([query], k, self._way)
        return WebFinding(query=query, search=search, pages=own, chunks=tuple(chunks))


def _each_once(queries: Sequence[WebQuery]) -> dict[str, WebQuery]:
    """The queries by their text, each made from the sources of all that are alike."""
    found: dict[str, WebQuery] = {}
    for query in queries:
        known = found.get(query.text, query)
        made_from = {source.id: source for source in (*known.made_from, *query.made_from)}
        found[query.text] = WebQuery(query.text, tuple(made_from.values()))
    return found


# Whether the searches of the web that are set up here answer: one short fixed query each.

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
    """Whether this names a search of the web rather than a model."""
    return "/" not in name and name.partition(":")[0] in WEB_SEARCHES


def look_at_searches(
    names: Sequence[str] | None, config: ModelConfig, clock: Clock, ask: AskEgress | None
) -> list[Online]:
    """One query to each of these searches (None: to all that are set up); it holds nothing of a
    workspace. Raises BadUsage for an unknown one."""
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
        raise BadUsage(f"{source.name} is no search of the web")
    try:
        searcher = WebSearcher(source.web, Path(), config, clock, engines=source.engines)
    except BadUsage as error:
        return Online(source.name, "", _until("settings", found, error.message, error.hint))
    address = searcher.address
    to = destination_of(address)
    if to is None:
        said = "no address of http or https"
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
    """The steps before ``failed`` as ok, that one as failed, the rest open."""
    if failed is None:
        return tuple(Step(name, "ok", found.get(name, "")) for name in _STEPS)
    place = _STEPS.index(failed)
    return (
        *(Step(name, "ok", found.get(name, "")) for name in _STEPS[:place]),
        Step(failed, "failed", said, remedy),
        *(Step(name, "open") for name in _STEPS[place + 1 :]),
    )

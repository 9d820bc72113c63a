"""Searching a workspace's own sources and the web, and what that would send elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.models.budget import Spending
from proofstone.models.config import ModelConfig
from proofstone.models.names import destination_of
from proofstone.models.registry import leaves_to
from proofstone.records.calls import EmbeddingModel, Searcher
from proofstone.records.items import SearchMethod
from proofstone.records.models import LOCAL
from proofstone.search.embedding import EndpointEmbeddingModel, ToEmbed
from proofstone.search.index import SentenceEncoder, index_files
from proofstone.search.sources import (
    OF_THE_WEB,
    WEB,
    Indexing,
    LocalSearcher,
    RetrievedChunk,
    SourceIndex,
    open_index,
    read_search_source,
)
from proofstone.search.web import WebSearcher
from proofstone.search.web_finder import HITS, PAGES, WebFinder, WebFinding, WebPages, WebQuery
from proofstone.session.egress import Load, Loads, let_out, questions_would_leave
from proofstone.session.permits import Outgoing
from proofstone.session.progress import Background
from proofstone.session.session import Session, Target, find_target
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

# What searching would send to another machine: texts to embed, queries to a search of the web.

_OF_A_REQUEST = 96


def chunk_loads(
    store: Store, embedding_model: EmbeddingModel, config: ModelConfig, asked: ToEmbed
) -> Loads:
    """The chunks of sources, in their own words; the embedder's log names them from now on."""
    if not isinstance(embedding_model, EndpointEmbeddingModel):
        return {}
    known = store.knowledge.sources(asked.sources).values()
    named = {(OF_THE_WEB, "") if s.kind == WEB else (s.title, s.license) for s in known}
    origins = sorted(named)
    embedding_model.sources = tuple(dict.fromkeys(title for title, _license in origins))
    outgoing = Outgoing(
        items=asked.chunks,
        noun="chunk",
        requests=-(-asked.chunks // _OF_A_REQUEST),
        characters=asked.characters,
        origins=tuple(Origin(title, license, 0, (title,)) for title, license in origins),
        passages=asked.chunks,
    )
    return _loads(embedding_model, config, outgoing)


def query_loads(embedding_model: EmbeddingModel, config: ModelConfig, query: str) -> Loads:
    """A query that a person wrote: of no source."""
    return _loads(embedding_model, config, _one_query(query))


def _one_query(query: str) -> Outgoing:
    return Outgoing(items=1, noun="query", requests=1, characters=len(query))


def question_loads(
    store: Store, embedding_model: EmbeddingModel, config: ModelConfig, item_sets: Sequence[bytes]
) -> Loads:
    """The questions of item sets, to be searched for by their meaning."""
    loads: Loads = {}
    for item_set in dict.fromkeys(item_sets):
        for to, load in _loads(
            embedding_model, config, questions_would_leave(store, item_set)
        ).items():
            known = loads.get(to, type(load)())
            loads[to] = known.with_run(load.models[0], item_set, load.outgoing)
    return loads


def web_loads(
    searcher: WebSearcher,
    *,
    query: str = "",
    store: Store | None = None,
    item_sets: Mapping[bytes, int] | None = None,
    rows: Outgoing | None = None,
) -> Loads:
    """What a search of the web would be sent: a ``query`` that a person wrote, one for each of so
    many questions of item sets, or one for each of the ``rows`` of a build, made of their text."""
    to = destination_of(searcher.address)
    if to is None:
        raise BadUsage(f"{searcher.address} is no address of a search")
    if to.is_local:
        return {}
    load = Load()
    if query:
        load = load.with_run(searcher.name, b"", _one_query(query))
    if rows is not None:
        queries = structs.replace(rows, noun="query", characters=0)
        load = load.with_run(searcher.name, b"", queries)
    for item_set, n_queries in (item_sets or {}).items():
        if store is None:
            break
        out = structs.replace(questions_would_leave(store, item_set), requests=n_queries)
        load = load.with_run(searcher.name, item_set, out)
    return {to: load} if load.models else {}


def _loads(embedding_model: EmbeddingModel, config: ModelConfig, outgoing: Outgoing) -> Loads:
    if not isinstance(embedding_model, EndpointEmbeddingModel):
        return {}
    to = leaves_to(embedding_model.model, config)
    if to is None or to.is_local:
        return {}
    return {to: Load().with_run(embedding_model.model, b"", outgoing)}


# Searching a workspace's own sources: the part that makes and keeps their index.


def open_embedding_model(
    session: Session, name: str = "", spending: Spending | None = None
) -> EmbeddingModel:
    """The carried encoder, or a model of the configuration behind ``/embeddings``, charged to
    ``spending``. Raises what ``resolve`` raises, and NoPrice."""
    if name:
        return EndpointEmbeddingModel(
            name, session.config, session.clock, session.sent_log, spending
        )
    return SentenceEncoder()


def _opened(
    session: Session, embedding_model: EmbeddingModel | str, spending: Spending | None = None
) -> EmbeddingModel:
    return (
        open_embedding_model(session, embedding_model, spending)
        if isinstance(embedding_model, str)
        else embedding_model
    )


def source_index(
    session: Session,
    sources: Sequence[Target] = (),
    *,
    indexing: Indexing | None = None,
    embedding_model: EmbeddingModel | str | None = None,
    tell: Callable[[str], None] | None = None,
) -> SourceIndex:
    """The index of these sources, by default of all in their newest edition; what is kept of it
    is made anew only where a source changed. With an ``embedding_model``, one or a model's name
    ("": the carried encoder), it is searched by meaning too. ``tell`` hears the title of each
    source that is read.

    Chunks go to an embedder of another machine only where their sources may. Raises
    EgressRefused.
    """
    only = {find_target(session.store, source, ("source",)).id for source in sources}
    return _index(session, only or None, indexing, embedding_model, tell)


def _index(
    session: Session,
    only: set[bytes] | None,
    indexing: Indexing | None = None,
    embedding_model: EmbeddingModel | str | None = None,
    tell: Callable[[str], None] | None = None,
) -> SourceIndex:
    made = None if embedding_model is None else _opened(session, embedding_model)

    def admit(asked: ToEmbed) -> None:
        if made is not None:
            let_out(session, chunk_loads(session.store, made, session.config, asked))

    return open_index(
        session.store, index_files(session.folder), indexing or Indexing(), embedding_model=made,
        only=only, tell=tell, admit=admit,
    )  # fmt: skip


def index_for(
    session: Session,
    search_method: SearchMethod,
    embedding_model: str = "",
    spending: Spending | None = None,
) -> SourceIndex:
    """The index of all sources for a way of searching, with vectors where it needs any; making
    them and searching by them is charged to ``spending``."""
    return source_index(
        session,
        embedding_model=None
        if search_method == "bm25"
        else _opened(session, embedding_model, spending),
    )


def search_passages(
    session: Session,
    query: str,
    k: int = 5,
    *,
    search_method: SearchMethod = "bm25",
    sources: Sequence[Target] = (),
    embedding_model: EmbeddingModel | str | None = None,
) -> list[RetrievedChunk]:
    """The ``k`` chunks that fit a query best, best first: by their words ("bm25"), by meaning
    ("dense") or by both ("hybrid"), with the carried encoder unless another is handed in or
    named. The query goes to a named one's host, once that is allowed."""
    if search_method == "bm25":
        return source_index(session, sources).search([query], k, search_method)[0]
    made = _opened(session, embedding_model or "")
    index = source_index(session, sources, embedding_model=made)
    let_out(session, query_loads(made, session.config, query))
    return index.search([query], k, search_method)[0]


def web_finder(
    session: Session,
    source: str,
    *,
    search_method: SearchMethod = "bm25",
    embedding_model: EmbeddingModel | str = "",
    tell: Callable[[str], None] | None = None,
    n_pages: int = 0,
    spending: Spending | None = None,
) -> WebFinder:
    """What searches the web by a search of this name (``brave``, ``searxng:bing+baidu``); its
    pages are searched as sources are. ``n_pages`` are asked for of each query and read, where
    that is more than usual. What it takes is charged to ``spending``. Raises BadUsage for no
    such search, or one that is not set up, and NoPrice."""
    asked, log = read_search_source(source), session.sent_log
    if asked.web is None:
        raise BadUsage(f"{source} is no search of the web")
    searcher = WebSearcher(
        asked.web, session.folder, session.config, session.clock, engines=asked.engines, log=log,
        tell=tell, spending=spending,
    )  # fmt: skip
    made = None if search_method == "bm25" else _opened(session, embedding_model, spending)
    return WebFinder(
        session.store, searcher, WebPages(session),
        lambda only: _index(session, only, embedding_model=made), search_method,
        hits=n_pages or HITS, n_pages=n_pages or PAGES,
    )  # fmt: skip


def search_web(
    session: Session,
    query: str,
    k: int = 5,
    *,
    source: str,
    search_method: SearchMethod = "bm25",
    embedding_model: EmbeddingModel | str = "",
) -> WebFinding:
    """What a search of the web finds for a query that a person wrote: it is sent, and the first
    pages are fetched, read and kept as sources. Raises as ``WebFinder.find``."""
    made = embedding_model if search_method == "bm25" else _opened(session, embedding_model)
    finder = web_finder(session, source, search_method=search_method, embedding_model=made)
    if not isinstance(made, str):
        let_out(session, query_loads(made, session.config, query))
    if finder.lacking([query]):
        let_out(session, web_loads(finder.searcher, query=query))
    asked = [WebQuery(query)]
    (found,) = Background(lambda _stop: finder.find(asked, k, is_cleared=True)).wait()
    return found


def searcher(
    session: Session,
    source: str = "local",
    *,
    search_method: SearchMethod = "bm25",
    embedding_model: EmbeddingModel | str = "",
) -> Searcher:
    """What searches the workspace's own sources or the web, behind one protocol: for steps of
    builds, and for methods. What it sends leaves only where a policy lists the search."""
    if source == LOCAL:
        index = source_index(
            session, embedding_model=None if search_method == "bm25" else embedding_model
        )
        return LocalSearcher(index, search_method)
    return web_finder(session, source, search_method=search_method, embedding_model=embedding_model)

"""Search a workspace's sources and the web, and list what that would send."""

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

# Outbound data of searches: texts to embed, and web search queries.

_OF_A_REQUEST = 96


def chunk_loads(
    store: Store, embedding_model: EmbeddingModel, config: ModelConfig, asked: ToEmbed
) -> Loads:
    """Return the chunks of sources as outbound data; the embedding log names them from now on."""
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
    """Return a user's query as outbound data, which has no source."""
    return _loads(embedding_model, config, _one_query(query))


def _one_query(query: str) -> Outgoing:
    return Outgoing(items=1, noun="query", requests=1, characters=len(query))


def question_loads(
    store: Store, embedding_model: EmbeddingModel, config: ModelConfig, item_sets: Sequence[bytes]
) -> Loads:
    """Return the questions of item sets as outbound data, to be embedded for a search."""
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
    """Return the outbound data of a web search.

    This is a ``query`` by a user, one query per question of item sets, or one per row of a build,
    made from its text.
    """
    to = destination_of(searcher.address)
    if to is None:
        raise BadUsage(f"{searcher.address} is not a valid search address")
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


# Search a workspace's own sources: make and store their index.


def open_embedding_model(
    session: Session, name: str = "", spending: Spending | None = None
) -> EmbeddingModel:
    """Return the bundled encoder, or a configured model behind ``/embeddings``.

    Use is charged to ``spending``. Raises what ``resolve`` raises, and NoPrice.
    """
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
    """Return the index of these sources (default: all, in their newest edition).

    Only changed sources are indexed again. With an ``embedding_model``, an object or a model's name
    ("": the bundled encoder), it is also searched by meaning. ``tell`` receives the title of each
    source that is read. Chunks are sent to a remote embedding model only if their sources permit
    it. Raises EgressRefused.
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
    indexing: Indexing | None = None,
    only: frozenset[bytes] | None = None,
    spending: Spending | None = None,
) -> SourceIndex:
    """Return the index of all sources, or of some, with vectors if the search method needs them.

    Making them and searching by them is charged to ``spending``.
    """
    made = None if search_method == "bm25" else _opened(session, embedding_model, spending)
    return _index(session, None if only is None else set(only), indexing, made)


def search_passages(
    session: Session,
    query: str,
    k: int = 5,
    *,
    search_method: SearchMethod = "bm25",
    sources: Sequence[Target] = (),
    embedding_model: EmbeddingModel | str | None = None,
) -> list[RetrievedChunk]:
    """Return the ``k`` best chunks for a query, best first.

    ``search_method`` is by terms ("bm25"), by meaning ("dense") or by both ("hybrid"). The bundled
    encoder is used unless another is given. The query is sent to a named model's host once that is
    allowed.
    """
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
    indexing: Indexing | None = None,
    n_pages: int = 0,
    page_tokens: int | None = None,
    spending: Spending | None = None,
) -> WebFinder:
    """Return the web searcher with this name (``brave``, ``searxng:bing+baidu``).

    Its pages are searched like sources, split by ``indexing``. ``n_pages`` results per query are
    read, if that is more than the default. With ``page_tokens`` it returns the beginnings of pages.
    Costs are charged to ``spending``. Raises BadUsage for an unknown search or one that is not
    configured, and NoPrice.
    """
    asked, log = read_search_source(source), session.sent_log
    if asked.web is None:
        raise BadUsage(f"{source} is not a web search")
    searcher = WebSearcher(
        asked.web, session.folder, session.config, session.clock, engines=asked.engines, log=log,
        tell=tell, spending=spending,
    )  # fmt: skip
    made = None if search_method == "bm25" else _opened(session, embedding_model, spending)
    return WebFinder(
        session.store, searcher, WebPages(session),
        lambda only: _index(session, only, indexing, embedding_model=made), search_method,
        hits=n_pages or HITS, n_pages=n_pages or PAGES, page_tokens=page_tokens,
        variant="" if indexing is None else indexing.variant,
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
    """Return the web search results for a user's query.

    The query is sent, and the first pages are fetched, read and stored as sources. Raises as
    ``WebFinder.find``.
    """
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
    """Return a searcher of the workspace's sources or the web, for build steps and methods.

    Data is sent only if a policy lists the search.
    """
    if source == LOCAL:
        index = source_index(
            session, embedding_model=None if search_method == "bm25" else embedding_model
        )
        return LocalSearcher(index, search_method)
    return web_finder(session, source, search_method=search_method, embedding_model=embedding_model)

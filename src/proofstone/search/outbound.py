"""What searching would send to another machine: texts to embed, queries to a search of the web."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.models.config import ModelConfig
from proofstone.models.names import destination_of
from proofstone.models.registry import leaves_to
from proofstone.records.calls import Embedder
from proofstone.search.embedding import EndpointEmbedder, ToEmbed
from proofstone.search.sources import OF_THE_WEB, WEB
from proofstone.search.web import WebSearcher
from proofstone.session.egress import Load, Loads, questions_would_leave
from proofstone.session.permits import Outgoing
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_OF_A_REQUEST = 96


def chunk_loads(store: Store, embedder: Embedder, config: ModelConfig, asked: ToEmbed) -> Loads:
    """The chunks of sources, in their own words; the embedder's log names them from now on."""
    if not isinstance(embedder, EndpointEmbedder):
        return {}
    known = store.knowledge.sources(asked.sources).values()
    origins = sorted(
        {
            (OF_THE_WEB, "") if source.kind == WEB else (source.title, source.licence)
            for source in known
        }
    )
    embedder.sources = tuple(dict.fromkeys(title for title, _licence in origins))
    outgoing = Outgoing(
        items=asked.chunks,
        noun="chunk",
        requests=-(-asked.chunks // _OF_A_REQUEST),
        characters=asked.characters,
        origins=tuple(Origin(title, licence, 0, (title,)) for title, licence in origins),
        passages=asked.chunks,
    )
    return _loads(embedder, config, outgoing)


def query_loads(embedder: Embedder, config: ModelConfig, query: str) -> Loads:
    """A query that a person wrote: of no source."""
    return _loads(
        embedder, config, Outgoing(items=1, noun="query", requests=1, characters=len(query))
    )


def question_loads(
    store: Store, embedder: Embedder, config: ModelConfig, item_sets: Sequence[bytes]
) -> Loads:
    """The questions of item sets, to be searched for by their meaning."""
    loads: Loads = {}
    for item_set in dict.fromkeys(item_sets):
        for to, load in _loads(embedder, config, questions_would_leave(store, item_set)).items():
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
        out = Outgoing(items=1, noun="query", requests=1, characters=len(query))
        load = load.with_run(searcher.name, b"", out)
    if rows is not None:
        queries = structs.replace(rows, noun="query", characters=0)
        load = load.with_run(searcher.name, b"", queries)
    for item_set, n_queries in (item_sets or {}).items():
        if store is None:
            break
        out = structs.replace(questions_would_leave(store, item_set), requests=n_queries)
        load = load.with_run(searcher.name, item_set, out)
    return {to: load} if load.models else {}


def _loads(embedder: Embedder, config: ModelConfig, outgoing: Outgoing) -> Loads:
    if not isinstance(embedder, EndpointEmbedder):
        return {}
    to = leaves_to(embedder.model, config)
    if to is None or to.is_local:
        return {}
    return {to: Load().with_run(embedder.model, b"", outgoing)}

"""What a build would send, and where: told, and let out once it is allowed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from msgspec import structs

from proofstone.build.plan import PlannedBuild, entering_rows
from proofstone.models.config import ModelConfig
from proofstone.models.registry import leaves_to
from proofstone.search.retrieval import web_loads
from proofstone.search.sources import OF_THE_WEB, WEB
from proofstone.search.web_finder import WebFinder
from proofstone.session.egress import Load, Loads, let_out
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.session import Session
from proofstone.store.builds import EnteringRow
from proofstone.store.provenance import Origin
from proofstone.store.store import Store


def clear_build(
    session: Session, planned: PlannedBuild, rows: Sequence[EnteringRow] | None = None
) -> None:
    """Lets out what a build (or a pilot of these ``rows``) sends, once it is allowed."""
    loads = build_loads(session.store, planned, session.config, rows)
    if loads:
        let_out(session, loads)
    for finder in web_finders(planned):
        queries = rows_would_leave(session.store, planned, rows)
        let_out(session, web_loads(finder.searcher, rows=queries))
        finder.sends = "cleared"


def web_finders(planned: PlannedBuild) -> list[WebFinder]:
    """The searches of the web that steps of a build read."""
    return [each for each in planned.reads.searches.values() if isinstance(each, WebFinder)]


def build_loads(
    store: Store,
    planned: PlannedBuild,
    config: ModelConfig,
    rows: Sequence[EnteringRow] | None = None,
) -> Loads:
    """What a build would send to each host that is not this machine: as much as all its rows (or as
    these ``rows``), once for each step that asks."""
    loads: Loads = {}
    outgoing: Outgoing | None = None
    for step in planned.pipeline.steps:
        for role in step.asks:
            model = planned.build.models[role]
            to = leaves_to(model, config)
            if to is None or to.is_local:
                continue
            if outgoing is None:
                outgoing = rows_would_leave(store, planned, rows)
            known = loads.get(to, Load())
            sources = planned.reads.searches_sources(step.reads)
            web = planned.reads.searches_web(step.reads)
            sent = searched_would_leave(store, outgoing, sources=sources, web=web)
            loads[to] = known.with_run(model, planned.build.inputs, sent)
    return loads


def rows_would_leave(
    store: Store, planned: PlannedBuild, rows: Iterable[EnteringRow] | None = None
) -> Outgoing:
    """What one step of a build sends if it asks once for each row that enters (or for these
    ``rows``); rows of no source, and of the web, are known by the names of the inputs: these say
    what was searched for."""
    builder, spec = planned.builder, planned.spec
    characters, by_source = 0, Counter[bytes | None]()
    if rows is None:
        rows = entering_rows(store, builder, spec, planned.build.params)
    for entering in rows:
        characters += len(entering.row.payload.decode())
        by_source[entering.source] += 1
    known = store.knowledge.sources([each for each in by_source if each is not None])
    origins = [
        Origin(source.title, source.licence, by_source[identity], (source.title,))
        for identity, source in known.items()
        if source.kind != WEB
    ]
    n_others = by_source.total() - sum(origin.n_items for origin in origins)
    if n_others:
        origins += [Origin(name, "", n_others, (name,)) for name in map(_file_name, spec.inputs)]
    n_rows = by_source.total()
    return Outgoing(
        items=n_rows,
        noun="row",
        requests=n_rows,
        characters=characters,
        origins=joined_origins(origins, max),
    )


def searched_would_leave(
    store: Store, outgoing: Outgoing, *, sources: bool = True, web: bool = False
) -> Outgoing:
    """``outgoing`` of a step that shows what a search of all ``sources`` finds, texts of each of
    which may go along, or a search of the ``web``."""
    found = [Origin(OF_THE_WEB, "", 0, (OF_THE_WEB,))] if web else []
    if sources:
        known = store.knowledge.sources(each.id for each in store.indexed.sources()).values()
        found += [Origin(each.title, each.licence, 0, (each.title,)) for each in known]
    return structs.replace(outgoing, origins=joined_origins([*outgoing.origins, *found], max))


def _file_name(text: str) -> str:
    return PurePath(text).name or text

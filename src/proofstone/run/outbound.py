"""Count what a run would send: requests, text, and the sources behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct, structs

from proofstone.errors import BadUsage
from proofstone.method import Method, find_method
from proofstone.models.budget import Spending
from proofstone.models.config import ModelConfig
from proofstone.models.registry import leaves_to, open_endpoint
from proofstone.records.ids import content_id, short
from proofstone.records.items import ItemSet, LoadedItem, Retrieved
from proofstone.records.runs import Spent
from proofstone.run.asked_items import spread_items
from proofstone.run.evidence import passages_behind
from proofstone.run.item_documents import documents_shown
from proofstone.run.pilot import Pilot
from proofstone.run.plan import PlannedRun, RunSpec, plan_run
from proofstone.run.prompts import known_prompts
from proofstone.run.retrieved_context import retrieved_origins
from proofstone.run.retriever import RetrievalAsked, Retriever, within
from proofstone.search.bm25 import TERMS_VERSION
from proofstone.search.chunks import CHUNKS_VERSION
from proofstone.search.retrieval import (
    index_for,
    open_embedding_model,
    question_loads,
    web_finder,
    web_loads,
)
from proofstone.search.web_finder import HITS, WebFinder, WebFinding, WebQuery
from proofstone.session.egress import Load, Loads, let_out
from proofstone.session.permits import Outgoing, joined_origins
from proofstone.session.session import Session
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_AT_ONCE = 500  # positions in one statement


_RENDERED = 24  # questions whose prompts are rendered to estimate the length of all


def what_would_leave(store: Store, method: Method, planned: PlannedRun) -> Outgoing:
    """Return what is left of a run to send; nothing for a finished run. Sends nothing."""
    try:
        key, run = store.runs.run(planned.run.id)
    except KeyError:
        left = planned.total
    else:
        limited = planned.n_items < planned.item_set.n_items
        first = planned.n_items if limited else None
        left = planned.total - store.runs.count_done(key, run.last_step, first)
    if left <= 0:
        return Outgoing()
    items = list(
        spread_items(store, planned.prompt_method, planned.item_set, planned.n_items, _RENDERED)
    )
    prompts = [
        prompt for item in items for prompt in known_prompts(method, item, planned.prompt_method)
    ]
    characters = sum(len(each.content) for prompt in prompts for each in prompt)
    length = characters / max(1, len(prompts))
    left = round(left * len(prompts) / max(1, len(items)))
    return _outgoing(store, planned, _of_questions(store, planned), planned.n_asked, left, length)


def cells_would_leave(
    store: Store, planned: PlannedRun, cells: Sequence[tuple[int, int]], length: float
) -> Outgoing:
    """Return what asking a few (position, sample) of a run sends.

    Each prompt is assumed to have ``length`` characters.
    """
    positions = sorted({position for position, _sample in cells})
    origins = store.origins.of_positions(planned.item_set.id, positions)
    return _outgoing(store, planned, origins, len(positions), len(cells), length)


def _outgoing(
    store: Store,
    planned: PlannedRun,
    questions: Sequence[Origin],
    n_items: int,
    n_requests: int,
    length: float,
) -> Outgoing:
    """Return so many requests for questions of these origins, with what accompanies them."""
    passages: list[Origin] = []  # a fact may name another source than its passage does
    evidence = planned.prompt_method.evidence
    if planned.prompt_method.retrieved is not None:
        passages = retrieved_origins(store, planned.prompt_method)
    if evidence is not None and evidence.shows == "document":
        passages += documents_shown(store, planned.item_set.id)
    elif evidence is not None:
        passages += store.origins.of_passages(passages_behind(store, planned.item_set.id))
    # Few-shot examples are sent as well, and may come from other sources than the questions.
    facts = {fact.id for shot in planned.prompt_method.shots for fact in shot.facts}
    shots = store.origins.of_facts(sorted(facts), planned.item_set.name) if facts else []
    # Accompanying texts do not add questions.
    beside = [structs.replace(origin, n_items=0) for origin in (*shots, *passages)]
    return Outgoing(
        items=n_items,
        requests=n_requests,
        characters=round(n_requests * length),
        origins=joined_origins([*questions, *beside], max),
        passages=sum(origin.n_items for origin in passages),
    )


def _of_questions(store: Store, planned: PlannedRun) -> tuple[Origin, ...]:
    """Return the origins of the questions that a run asks."""
    item_set, evidence = planned.item_set.id, planned.prompt_method.evidence
    if evidence is None or not evidence.left_out:
        return tuple(store.origins.of_set(item_set, planned.n_items))
    asked = [place for place in range(planned.n_items) if place not in evidence.left_out]
    parts = (asked[start : start + _AT_ONCE] for start in range(0, len(asked), _AT_ONCE))
    found = [origin for part in parts for origin in store.origins.of_positions(item_set, part)]
    return joined_origins(found, lambda a, b: a + b)


def plan_loads(
    session: Session, specs: Sequence[RunSpec], retriever: Retriever | None = None
) -> Loads:
    """Return what ``specs`` would send to each remote host; nothing for finished runs.

    Raises what ``open_model`` and ``plan_run`` raise.
    """
    loads: Loads = {}
    store, config = session.store, session.config
    for spec in specs:
        to = leaves_to(spec.model, config)
        model = open_endpoint(spec.model, config, clock=session.clock)
        if to is None or to.is_local or model is None:
            continue
        method = find_method(store.items.item_set(spec.item_set).method)
        planned = plan_run(store, method, spec, model, retriever)
        outgoing = what_would_leave(store, method, planned)
        if outgoing.requests:
            known = loads.get(to, Load())
            loads[to] = known.with_run(spec.model, spec.item_set, outgoing)
    return loads


def pilot_loads(store: Store, pilots: Sequence[Pilot], config: ModelConfig) -> Loads:
    """Return what pilots would send to each remote host: the sampled questions not in the cache."""
    loads: Loads = {}
    for pilot in pilots:
        model = pilot.group.run.respondent
        to = leaves_to(model, config)
        if to is None or to.is_local:
            continue
        for place, survey in enumerate(pilot.group.surveys):
            cells = [cell for at, cell in pilot.sample if at == place and cell not in survey.cached]
            if cells:
                length = survey.characters / survey.to_ask
                outgoing = cells_would_leave(store, survey.planned, cells, length)
                known = loads.get(to, Load())
                loads[to] = known.with_run(model, survey.planned.item_set.id, outgoing)
    return loads


# Searches are made before runs are planned, since planning sends nothing.


class WebTask(Struct, frozen=True):
    """A web search for the first ``n_items`` of a set, with one ``query`` per item."""

    item_set: ItemSet
    asked: RetrievalAsked
    n_items: int
    finder: WebFinder
    query: Callable[[LoadedItem], str]


def make_retriever(session: Session, spending: Spending | None = None) -> Retriever:
    """Return the retriever of chunks; it opens the sources' index on first use.

    What an embedding model takes for it is charged to ``spending``.
    """
    return Retriever(session.store, partial(index_for, session, spending=spending))


def remembered_retriever(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Retriever:
    """Return a retriever that uses stored web results and counts missing ones. Sends nothing."""
    retriever = make_retriever(session, spending)
    for task in _web_tasks(session, specs):
        queries = [(item, task.query(item)) for item in _items(session, task)]
        found = [(i, task.finder.kept(query, task.asked.chunks)) for i, query in queries]
        _hand_in(session, task, found, retriever)
    return retriever


def clear_searches(
    session: Session,
    specs: Sequence[RunSpec],
    retriever: Retriever,
    spending: Spending | None = None,
) -> list[WebTask]:
    """Ask permission for the web searches of ``specs``, and open the indexes that they need.

    Returns what is left to search on the web, charged to ``spending``. Raises EgressRefused, and
    BadUsage and NoPrice as ``web_finder``.
    """
    for spec in specs:
        asked = spec.retrieval
        if asked is not None and asked.embedding_model:
            embedding_model = open_embedding_model(session, asked.embedding_model)
            let_out(
                session,
                question_loads(session.store, embedding_model, session.config, [spec.item_set]),
            )
            if asked.source == "local":
                retriever.open(session.store.items.item_set(spec.item_set), asked)
    tasks = list(_web_tasks(session, specs, spending))
    for task in tasks:
        queries = [task.query(item) for item in _items(session, task)]
        lacking = {task.item_set.id: len(task.finder.lacking(queries))}
        if any(lacking.values()):
            loads = web_loads(task.finder.searcher, store=session.store, item_sets=lacking)
            let_out(session, loads)
    return tasks


def forecast_searches(session: Session, specs: Sequence[RunSpec]) -> dict[str, Spent]:
    """Return what web searches for these runs take, by search. Sends nothing.

    One request per question that was not searched for yet.
    """
    lacking: dict[str, dict[str, None]] = {}
    for task in _web_tasks(session, specs):
        queries = task.finder.lacking([task.query(item) for item in _items(session, task)])
        lacking.setdefault(task.finder.searcher.search, {}).update(dict.fromkeys(queries))
    found = {}
    for search, asked in lacking.items():
        price, n = session.config.searches.get(search), len(asked)
        cost = 0.0 if price is None else n * price.per_1000 / 1000
        found[search] = Spent(calls=n, cost_usd=cost, unpriced=0 if price else n)
    return {search: spent for search, spent in found.items() if spent.calls}


async def do_search(session: Session, tasks: Sequence[WebTask], retriever: Retriever) -> None:
    """Search the web for all items of the tasks. Raises as ``WebFinder.find``."""
    for task in tasks:
        items = list(_items(session, task))
        queries = [_web_query(session, task, item) for item in items]
        found = await task.finder.find(queries, task.asked.chunks, is_cleared=True)
        _hand_in(session, task, list(zip(items, found, strict=True)), retriever)


def _web_tasks(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Iterator[WebTask]:
    """Yield one task per set and search method, for the run that asks the most of it."""
    most: dict[tuple[bytes, RetrievalAsked], int] = {}
    for spec in specs:
        asked = spec.retrieval
        if asked is None or asked.source == "local":
            continue
        key = (spec.item_set, structs.replace(asked, index=""))
        n_items = session.store.items.item_set(spec.item_set).n_items
        wanted = n_items if spec.limit is None else min(n_items, spec.limit)
        most[key] = max(most.get(key, 0), wanted)
    for (identity, asked), n_items in most.items():
        item_set = session.store.items.item_set(identity)
        search_method, embedding_model = asked.search, asked.embedding_model
        finder = web_finder(
            session,
            asked.source,
            search_method=search_method,
            embedding_model=embedding_model,
            indexing=asked.indexing,
            n_pages=0 if asked.page_tokens is None else HITS,
            page_tokens=asked.page_tokens,
            spending=spending,
        )
        method = find_method(item_set.method)
        query = method.web_query or method.query
        if query is None:
            raise BadUsage(
                f"{method.title} defines no search query for its questions",
                hint="--context none or evidence",
            )
        yield WebTask(item_set, asked, n_items, finder, query)


def _items(session: Session, task: WebTask) -> Iterator[LoadedItem]:
    left = task.n_items
    for page in session.store.items.pages(task.item_set.id):
        for stored in page[:left]:
            yield stored.loaded
        left -= len(page)
        if left <= 0:
            return


def _web_query(session: Session, task: WebTask, item: LoadedItem) -> WebQuery:
    """Return the search query of an item, and the sources of its facts."""
    knowledge = session.store.knowledge
    passages = knowledge.passages({fact.passage for fact in item.facts if fact.passage})
    named = {fact.source for fact in item.facts if fact.source}
    named |= {passage.source for passage in passages.values()}
    return WebQuery(task.query(item), tuple(knowledge.sources(named).values()))


def _hand_in(
    session: Session,
    task: WebTask,
    found: Sequence[tuple[LoadedItem, WebFinding | None]],
    retriever: Retriever,
) -> None:
    asked = task.asked
    fit = partial(within, most_tokens=asked.most_tokens)
    versions = [task.finder.key, asked.embedding_model, CHUNKS_VERSION, TERMS_VERSION]
    retrieved = Retrieved(
        by_item={
            item.item.id: tuple(fit(each.chunks))
            for item, each in found
            if each is not None and not each.failed
        },
        chunks=asked.chunks,
        most_tokens=asked.most_tokens,
        search=asked.search,
        index=short(content_id("retrieved-from-the-web", versions), 16),
        source=asked.source,
        embedding_model=asked.embedding_model,
        chunk_tokens=asked.chunk_tokens,
        page_tokens=asked.page_tokens,
        failed={item.item.id: each.failed for item, each in found if each and each.failed},
        n_unsearched=sum(each is None for _item, each in found),
    )
    retriever.know(task.item_set.id, asked, retrieved)

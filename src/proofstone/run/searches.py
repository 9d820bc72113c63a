"""What runs are asked with: searched for before they are planned, since planning sends nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import structs

from proofstone.errors import BadUsage
from proofstone.method import Method, find_method
from proofstone.models.budget_account import Spending
from proofstone.records.ids import content_id, short
from proofstone.records.items import ItemSet, LoadedItem, Retrieved
from proofstone.records.knowledge import Source
from proofstone.records.runs import Spent
from proofstone.run.evidence import RetrievalAsked, Retriever, within
from proofstone.run.plan import RunSpec
from proofstone.search.bm25 import TERMS_VERSION
from proofstone.search.chunks import CHUNKS_VERSION
from proofstone.search.retrieval import (
    index_for,
    open_embedder,
    question_loads,
    web_finder,
    web_loads,
)
from proofstone.search.web_finder import WebFinder, WebFinding, WebQuery
from proofstone.session.egress import let_out
from proofstone.session.session import Session


class WebTask:
    """What the web is searched for: the first ``n_items`` of a set, in one way."""

    def __init__(
        self, item_set: ItemSet, method: Method, asked: RetrievalAsked, n_items: int,
        finder: WebFinder,
    ) -> None:  # fmt: skip
        self.item_set, self.asked, self.n_items, self.finder = item_set, asked, n_items, finder
        if method.query is None:
            raise BadUsage(
                f"{method.title} does not say what to search for of its questions",
                hint="--context none or evidence",
            )
        self.query = method.query


def make_retriever(session: Session, spending: Spending | None = None) -> Retriever:
    """What finds chunks of the workspace's sources; it opens their index where it is asked.
    What an embedder takes for it is charged to ``spending``."""
    return Retriever(session.store, partial(index_for, session, spending=spending))


def remembered_retriever(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Retriever:
    """A retriever that knows of the web what was found before, and counts what was not: for
    what is told of runs without sending anything."""
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
    """Lets out what ``specs`` would have searched for, once that is allowed, and opens the
    indexes that need it; what is left is to be searched for on the web, charged to
    ``spending``.

    Raises EgressRefused, and BadUsage and NoPrice as ``web_finder``.
    """
    for spec in specs:
        asked = spec.retrieval
        if asked is not None and asked.embedder:
            embedder = open_embedder(session, asked.embedder)
            let_out(
                session, question_loads(session.store, embedder, session.config, [spec.item_set])
            )
            if asked.source == "local":
                retriever.index(asked.search, asked.embedder)
    tasks = list(_web_tasks(session, specs, spending))
    for task in tasks:
        queries = [task.query(item) for item in _items(session, task)]
        lacking = {task.item_set.id: len(task.finder.lacking(queries))}
        if any(lacking.values()):
            loads = web_loads(task.finder.searcher, store=session.store, item_sets=lacking)
            let_out(session, loads)
    return tasks


def forecast_searches(session: Session, specs: Sequence[RunSpec]) -> dict[str, Spent]:
    """What searching the web for these runs takes, by search: one request for each question
    that was not searched for yet. Sends nothing."""
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
    """Searches the web for all items of the tasks. Raises as ``WebFinder.find``."""
    for task in tasks:
        items = list(_items(session, task))
        queries = [_web_query(session, task, item) for item in items]
        found = await task.finder.find(queries, task.asked.chunks, is_cleared=True)
        _hand_in(session, task, list(zip(items, found, strict=True)), retriever)


def _web_tasks(
    session: Session, specs: Sequence[RunSpec], spending: Spending | None = None
) -> Iterator[WebTask]:
    """One a set and way of searching, as far as the run that asks most of it."""
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
        way, embedder = asked.search, asked.embedder
        finder = web_finder(session, asked.source, way=way, embedder=embedder, spending=spending)
        yield WebTask(item_set, find_method(item_set.method), asked, n_items, finder)


def _items(session: Session, task: WebTask) -> Iterator[LoadedItem]:
    left = task.n_items
    for page in session.store.items.pages(task.item_set.id):
        for stored in page[:left]:
            yield stored.loaded
        left -= len(page)
        if left <= 0:
            return


def _web_query(session: Session, task: WebTask, item: LoadedItem) -> WebQuery:
    return WebQuery(task.query(item), tuple(_behind(session, item)))


def _behind(session: Session, item: LoadedItem) -> Iterator[Source]:
    """The sources of an item's facts."""
    knowledge = session.store.knowledge
    passages = knowledge.passages({fact.passage for fact in item.facts if fact.passage})
    named = {fact.source for fact in item.facts if fact.source}
    yield from knowledge.sources(named | {p.source for p in passages.values()}).values()


def _hand_in(
    session: Session,
    task: WebTask,
    found: Sequence[tuple[LoadedItem, WebFinding | None]],
    retriever: Retriever,
) -> None:
    asked = task.asked
    fit = partial(within, most_tokens=asked.most_tokens)
    versions = [task.finder.key, asked.embedder, CHUNKS_VERSION, TERMS_VERSION]
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
        embedder=asked.embedder,
        failed={item.item.id: each.failed for item, each in found if each and each.failed},
        n_unsearched=sum(each is None for _item, each in found),
    )
    retriever.know(task.item_set.id, asked, retrieved)

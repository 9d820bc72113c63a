"""Gathering what rows of a build rest on from a live wiki and the web, before its steps begin.

Whatever is gathered is kept: the next reading, and the same command again, send nothing for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from time import monotonic

from msgspec import structs

from proofstone.build.forms import read_parameters
from proofstone.build.plan import BuildSpec, builder_for
from proofstone.errors import BadUsage, EndpointUnusable
from proofstone.models.budget_account import Spending
from proofstone.models.names import Destination, destination_of
from proofstone.records.builds import OnlineWanted, WebText, WikiText
from proofstone.records.steps import Maker
from proofstone.search.retrieval import web_finder
from proofstone.search.web_finder import WebFinder, WebQuery
from proofstone.search.wiki import LiveWiki
from proofstone.session.background import Background
from proofstone.session.egress import Load, let_out
from proofstone.session.permits import Outgoing, SentBeside
from proofstone.session.session import Session
from proofstone.store.provenance import Origin
from proofstone.store.store import Store

_LOT = 8  # queries that are searched for, and whose pages are read, between two signs of life


_NAMED = 5


_EVERY_S = 15.0


class Gathered:
    """``OnlineTexts``: what is kept of what was wanted. Reads files and the store alone."""

    def __init__(
        self, wanted: OnlineWanted, wiki: LiveWiki | None, finder: WebFinder | None, store: Store
    ) -> None:
        self._wanted, self._wiki, self._finder, self._store = wanted, wiki, finder, store

    def title(self, names: Sequence[str]) -> str:
        """The title that the first name leads to that leads anywhere."""
        led = None if self._wiki is None else self._wiki.led(names)
        return "" if led is None else led.title

    def article(self, names: Sequence[str]) -> WikiText | None:
        """The article of that title."""
        led = None if self._wiki is None else self._wiki.led(names)
        return None if led is None or self._wiki is None else self._wiki.text(led)

    def drawn(self) -> Iterator[WikiText]:
        """The articles that the wiki drew, without those that are gone since."""
        if self._wiki is None:
            return
        for title in self._wiki.titles(self._wanted.n_drawn, self._wanted.seed):
            if (found := self.article([title])) is not None:
                yield found

    def pages(self, query: str) -> Sequence[WebText]:
        """The pages that were found for a query."""
        found = None if self._finder is None else self._finder.noted(query)
        if found is None or found.search is None:
            return ()
        hits = {hit.url: hit for hit in reversed(found.search.hits)}
        made = []
        for page in found.pages:
            hit = hits[page.url]
            text = WebText(
                url=page.found_at, title=hit.title, shown=f"{hit.title}\n{hit.text}",
                date=_day(page.fetched_at), content=page.content, problem=page.problem,
                detail=page.detail,
            )  # fmt: skip
            made.append(self._read(text, bytes.fromhex(page.source)) if page.source else text)
        return made

    def _read(self, page: WebText, source: bytes) -> WebText:
        known = self._store.knowledge.sources([source])[source]
        texts = (each.text for each in self._store.pages.pages(source))
        return structs.replace(
            page, title=known.title or page.title, text="\n\n".join(filter(None, texts)),
            language=known.language, source=source,
        )  # fmt: skip


def gather_inputs(
    session: Session, method: Maker, spec: BuildSpec, spending: Spending | None = None
) -> BuildSpec:
    """The spec with what is gathered for it, where its kind and what it names ask for such;
    searches are charged to ``spending``.

    Raises EgressRefused where it may not be asked for, BadUsage for a search that is not set
    up, NoPrice where its price is not known, and BudgetReached or EndpointUnusable where the
    wiki or the search did not answer everything: what it did is kept, and the same command
    again asks for the rest.
    """
    builder = builder_for(method, spec.kind, spec.inputs)
    if builder.online is None:
        return spec
    params = read_parameters(builder.parameters, spec.params)
    wanted = builder.online.wants(spec.inputs, params, spec.per_input, spec.seed)
    if wanted is None:
        return spec
    names = [PurePath(name).name or name for name in spec.inputs]
    wiki = _open_wiki(session, wanted, names) if wanted.wiki else None
    finder = _open_search(session, wanted, names, spending) if wanted.search else None
    if wiki is not None:
        _from_wiki(session, wiki, wanted, names)
    if finder is not None:
        _from_web(session, finder, wanted)
    texts, rows = Gathered(wanted, wiki, finder, session.store), builder.online.rows
    return structs.replace(
        spec, gathered=lambda: rows(spec.inputs, params, spec.per_input, spec.seed, texts)
    )


def _open_wiki(session: Session, wanted: OnlineWanted, inputs: Sequence[str]) -> LiveWiki:
    """The wiki, once what is to be sent there, and to where its statements are, may go."""

    wiki = LiveWiki(wanted.wiki, session.folder, session.config, session.clock)
    lacking = wiki.lacking(wanted.names)
    n_open = wanted.n_drawn - len(wiki.titles(wanted.n_drawn, wanted.seed))
    if lacking:
        _let_out(session, wiki.to, "the wiki", "name", lacking, inputs)
    if n_open:
        _let_out(session, wiki.to, "the wiki", "random page", [""] * n_open, ())
    if wanted.statements and (lacking or n_open or wiki.uncounted(_names(wiki, wanted))):
        to = destination_of(Background(lambda _stop: wiki.repository()).wait())
        if to is not None and to != wiki.to:
            n_names = len(wanted.names) + wanted.n_drawn
            _let_out(session, to, "its statements", "number", [""] * n_names, inputs)
    return wiki


def _from_wiki(
    session: Session, wiki: LiveWiki, wanted: OnlineWanted, inputs: Sequence[str]
) -> None:
    shown = _Shown(f"articles of {wiki.host}", len(wanted.names) + wanted.n_drawn)

    async def work(_stop: object) -> str:
        async with wiki.client:
            await wiki.draw(wanted.n_drawn, wanted.seed)
            names = _names(wiki, wanted)
            await wiki.look_up(names, shown.reached)
        return await wiki.count_statements(names) if wanted.statements else ""

    try:
        said = Background(work).wait(lambda: shown.tell(session))
    finally:
        _note_sent(session, wiki, inputs if wanted.names else ())
    if said:
        tell_step(session, f"note: {said}")
    names = _names(wiki, wanted)
    n_found = sum(wiki.led(each) is not None for each in names)
    tell_step(session, f"{n_found:,} of {shown.total:,} {shown.what} are here")
    _tell_led(session, wiki, wanted.names)


def _note_sent(session: Session, wiki: LiveWiki, inputs: Sequence[str]) -> None:
    now = session.clock.now()
    session.sent_log.add(
        [
            SentBeside(
                at=now, endpoint=api, what="fetched", by="wiki", requests=n,
                sources=tuple(inputs),
            )
            for api, n in wiki.sent.items()
            if n
        ]
    )  # fmt: skip


def _names(wiki: LiveWiki, wanted: OnlineWanted) -> list[tuple[str, ...]]:
    """The names of all articles that are wanted, those that were drawn so far among them."""
    drawn = wiki.titles(wanted.n_drawn, wanted.seed)
    return [*wanted.names, *((title,) for title in drawn)]


def _tell_led(session: Session, wiki: LiveWiki, names: Sequence[Sequence[str]]) -> None:
    """Which names led to an article of another name."""
    found = [each for each in map(wiki.led, names) if each is not None]
    led = [each for each in found if _plain(each.name) != _plain(each.title)]
    if led:
        told = ", ".join(f"{each.name} -> {each.title}" for each in led[:_NAMED])
        more = f" and {len(led) - _NAMED:,} more" if len(led) > _NAMED else ""
        tell_step(session, f"redirected: {told}{more}")


def _open_search(
    session: Session, wanted: OnlineWanted, inputs: Sequence[str], spending: Spending | None
) -> WebFinder:
    """The search, once the queries may go there."""

    finder = web_finder(session, wanted.search, n_pages=wanted.n_pages, spending=spending)
    if lacking := finder.lacking(list(dict.fromkeys(wanted.queries))):
        to = destination_of(finder.searcher.address)
        _let_out(session, to, finder.name, "query", lacking, inputs)
    return finder


def _from_web(session: Session, finder: WebFinder, wanted: OnlineWanted) -> None:

    queries = list(dict.fromkeys(wanted.queries))
    left = [query for query in queries if finder.noted(query) is None]
    shown = _Shown(f"queries of {finder.name}", len(queries), len(queries) - len(left))
    failed: dict[str, str] = {}

    async def work(_stop: object) -> None:
        for start in range(0, len(left), _LOT):
            lot = [WebQuery(query) for query in left[start : start + _LOT]]
            found = await finder.find(lot, 0, is_cleared=True)
            failed.update({each.query: each.failed for each in found if each.failed})
            shown.reached(shown.done + len(lot))

    Background(work).wait(lambda: shown.tell(session))
    if failed:
        query, why = next(iter(failed.items()))
        raise EndpointUnusable(
            f"{finder.name} did not answer {len(failed):,} of {len(queries):,} queries; to "
            f'"{query}": {why}',
            hint="the same command again asks these again; the others are kept",
        )
    tell_unread_pages(session, finder, queries)


def tell_unread_pages(session: Session, finder: WebFinder, queries: Sequence[str]) -> None:
    """What became of the pages, in a line."""
    found = [each for each in map(finder.noted, queries) if each is not None]
    problems = Counter(page.problem for each in found for page in each.pages)
    n_read = problems.pop("", 0)
    told = ", ".join(f"{n:,} {problem}" for problem, n in sorted(problems.items()))
    left_out = f"; left out: {told}" if told else ""
    tell_step(
        session, f"{n_read:,} of {n_read + problems.total():,} pages of the web read{left_out}"
    )


def _let_out(
    session: Session,
    to: Destination | None,
    whom: str,
    noun: str,
    sent: Sequence[str],
    inputs: Sequence[str],
) -> None:
    """Lets out what is sent to a wiki or a search, made of the inputs, once that is allowed."""
    if to is None:
        raise BadUsage(f"{whom} has no address of the web")
    if to.is_local:
        return
    origins = tuple(Origin(name, "", len(sent), (name,)) for name in inputs)
    out = Outgoing(
        items=len(sent), noun=noun, requests=len(sent), characters=sum(map(len, sent)),
        origins=origins,
    )  # fmt: skip
    let_out(session, {to: Load().with_run(whom, b"", out)})


def tell_step(session: Session, text: str) -> None:
    """Tells whoever listens to ``session`` how far something is."""
    if session.tell is not None:
        session.tell(text)


class _Shown:
    """How far gathering is: a line when it begins to take long, then now and again."""

    def __init__(self, what: str, total: int, done: int = 0) -> None:
        self.what, self.total, self.done = what, total, done
        self._due = monotonic() + _EVERY_S

    def reached(self, done: int) -> None:
        """So many are through."""
        self.done = done

    def tell(self, session: Session) -> None:
        """Says it, where it is time to."""
        if monotonic() >= self._due and session.tell is not None:
            self._due = monotonic() + _EVERY_S
            session.tell(f"{self.done:,} of {self.total:,} {self.what}")


def _plain(title: str) -> str:
    return " ".join(title.replace("_", " ").casefold().split())


def _day(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).date().isoformat()

"""What enters a build: sources and books at their places, rows of files and lists, and what is
gathered for them from a live wiki and the web before its steps begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from heapq import nsmallest
from itertools import islice
from operator import itemgetter
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

from msgspec import Struct, structs

from proofstone.build.flow import make_row
from proofstone.documents.passages import BETWEEN_TITLES
from proofstone.errors import BadInput, BadUsage, EndpointUnusable, NotFound, Problem
from proofstone.ingest.bank_files import export_bank, export_items
from proofstone.method import find_method
from proofstone.models.budget import Spending
from proofstone.models.names import Destination, destination_of
from proofstone.records.builds import Maker, OnlineWanted, StepBuilder, WebText, WikiText
from proofstone.records.ids import Draws, short
from proofstone.records.knowledge import (
    DocumentPart,
    Passage,
    SampledSource,
    Source,
    SourcedPassage,
    WholeDocument,
)
from proofstone.records.options import Parameter
from proofstone.records.pages import PageRegion
from proofstone.search.retrieval import web_finder
from proofstone.search.web_finder import WebFinder, WebQuery
from proofstone.search.wiki import LiveWiki
from proofstone.session.egress import Load, let_out
from proofstone.session.permits import Outgoing, SentBeside
from proofstone.session.progress import Background
from proofstone.session.session import Session, find_target
from proofstone.store.builds import EnteringRow
from proofstone.store.provenance import Origin
from proofstone.store.store import Store
from proofstone.texts.languages import in_languages

_HEADINGS = 24


_EXCERPTS = 5


_EXCERPT = 500  # characters of each


def placed_source(store: Store, identity: bytes) -> Source:
    """Return a source with its valid stratum: that of its newest label if it has one, otherwise the
    stated one."""
    source = store.knowledge.sources([identity])[identity]
    taxonomy_label = store.taxonomy_labels.in_force([identity]).get(identity)
    return (
        source
        if taxonomy_label is None
        else structs.replace(source, stratum=taxonomy_label.stratum)
    )


def sources_of_book(store: Store, book: str) -> list[bytes]:
    """Return the sources with this book in their newest label or as stated, in import order; empty
    if there are none."""
    once = [source.id for source in store.knowledge.sources_of_book(book)]
    return [each for each in once if placed_source(store, each).stratum.book == book]


def sampled_source(store: Store, identity: bytes) -> SampledSource:
    """A source as it was taken in (a row must not change with its placement), with its first
    headings and the beginnings of passages spread evenly from the first to the last."""
    source = store.knowledge.sources([identity])[identity]
    passages = list(store.knowledge.passages_of(identity))
    last = len(passages) - 1
    spread = [round(at * last / (_EXCERPTS - 1)) for at in range(_EXCERPTS)]
    if last < _EXCERPTS:
        spread = list(range(len(passages)))
    tops = (passage.heading.split(BETWEEN_TITLES)[0] for passage in passages)
    return SampledSource(
        source=source,
        headings=tuple(dict.fromkeys(filter(None, tops)))[:_HEADINGS],
        excerpts=tuple(passages[place].text[:_EXCERPT] for place in spread),
    )


def whole_document(store: Store, identity: bytes) -> WholeDocument:
    """Return a source with the texts of its pages and the places of its passages."""
    return WholeDocument(
        source=placed_source(store, identity),
        pages=tuple((page.number, page.text) for page in store.pages.pages(identity) if page.text),
        parts=tuple(
            DocumentPart(each.page, each.start, each.end, each.heading)
            for each in store.knowledge.passages_of(identity)
        ),
    )


# What enters a build: a method's own rows, or the passages of sources and of books of sources.

_PASSAGE = "passage"


class BuildSpec(Struct, frozen=True, kw_only=True):
    """Specify a build: a kind of facts from inputs, with models by slot and settings over those of
    roles.

    A slot is a role, numbered if several models hold it. ``per_input`` rows of each input are
    sampled with the seed; ``limit`` keeps only the first rows overall. ``languages`` restricts
    passages. ``regions`` are the rows of a build from pictures of pages. ``gathered`` returns
    online rows, each with the id of its source (empty for none).
    """

    kind: str
    inputs: tuple[str, ...]
    name: str
    params: dict[str, Any] = {}
    models: dict[str, str] = {}
    settings: dict[str, Any] = {}
    seed: int = 0
    limit: int | None = None
    per_input: int | None = None
    languages: tuple[str, ...] = ()
    regions: tuple[PageRegion, ...] | None = None
    gathered: Callable[[], Iterable[tuple[Struct, bytes]]] | None = None


def entering_rows(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Iterator[EnteringRow]:
    """Return the rows that enter a build, in order, read again each time. Rows named by several
    inputs enter once.

    Raises NotFound for an input that is neither a source nor the book of one, BadUsage for
    languages of rows that have none.
    """
    if spec.regions is not None:
        return iter([EnteringRow(make_row(each), each.source.id) for each in spec.regions])
    if spec.gathered is not None:
        rows = (EnteringRow(make_row(row), source or None) for row, source in spec.gathered())
        return islice(rows, spec.limit)
    read = _reader(store, builder, spec, params)
    n, seed = spec.per_input, spec.seed
    if n is None:
        return islice(read(spec.inputs), spec.limit)
    if builder.drawn is not None:
        drawn = builder.drawn
        values = (value for name in spec.inputs for value in drawn(name, params, n, seed))
        return islice((EnteringRow(make_row(value)) for value in values), spec.limit)
    entering: Iterator[EnteringRow] = (
        each for name in spec.inputs for each in _drawn(read([name]), n, seed)
    )
    if builder.rows is None:  # what several inputs name
        entering = iter({each.row.id: each for each in entering}.values())
    return islice(entering, spec.limit)


def _reader(
    store: Store, builder: StepBuilder, spec: BuildSpec, params: Mapping[str, Any]
) -> Callable[[Sequence[str]], Iterator[EnteringRow]]:
    """What reads the rows of inputs by their names."""
    if builder.rows is None and builder.enters == "passages":
        return partial(_passages, store, languages=spec.languages)
    if spec.languages:
        raise BadUsage(
            f"{spec.kind} are not built of passages, and languages choose among these",
            hint="leave --languages out",
        )
    is_whole = builder.enters == "documents"
    if builder.rows is not None:
        own = builder.rows
        return lambda names: (EnteringRow(make_row(each)) for each in own(tuple(names), params))
    return partial(_of_sources, store, whole_document if is_whole else sampled_source)


def _drawn(rows: Iterator[EnteringRow], n: int, seed: int) -> list[EnteringRow]:
    """Sample ``n`` rows and keep their order.

    The sampling rank of a row depends only on the row. So with a larger ``n`` or more rows, earlier
    sampled rows that still fit stay, with the results of their steps.
    """

    def drawn_at(placed: tuple[int, EnteringRow]) -> tuple[float, int]:
        place, entering = placed
        number = int.from_bytes(entering.row.id[:8], "big")
        return Draws(seed, number, "enters a build").uniform(), place

    drawn = sorted(nsmallest(n, enumerate(rows), key=drawn_at), key=itemgetter(0))
    return [entering for _place, entering in drawn]


def _passages(
    store: Store, names: Sequence[str], *, languages: Collection[str]
) -> Iterator[EnteringRow]:
    """The passages that are named, and those of sources and books, in these languages."""
    sources: dict[bytes, Source] = {}
    for passage in _named_passages(store, names):
        if not in_languages(passage.language, languages):
            continue
        if passage.source not in sources:
            sources[passage.source] = placed_source(store, passage.source)
        row = make_row(SourcedPassage(passage, sources[passage.source]))
        yield EnteringRow(row, passage.source)


def _named_passages(store: Store, names: Sequence[str]) -> Iterator[Passage]:
    """Yield each passage once, even if it is named and its source or book is also named."""
    single = {name: _passage(store, name) for name in names if name.startswith(f"{_PASSAGE}:")}
    alone = {passage.id for passage in single.values()}
    entered: set[bytes] = set()  # sources, and of passages those alone: sources may have many
    for name in names:
        for passage in _passages_of(store, name, single, entered):
            if passage.id not in entered:
                entered |= alone & {passage.id}
                yield passage


def _passages_of(
    store: Store, name: str, single: Mapping[str, Passage], entered: set[bytes]
) -> Iterator[Passage]:
    if name in single:
        yield single[name]
        return
    for source in named_sources(store, name):
        if source not in entered:
            entered.add(source)
            yield from store.knowledge.passages_of(source)


def _passage(store: Store, name: str) -> Passage:
    """A single passage. Raises BadInput where its text was purged."""
    found = store.lookup.find(name, (_PASSAGE,))
    passage = store.knowledge.passages([found.id])[found.id]
    if not passage.text:
        raise BadInput(f"the text of {name} was purged")
    return passage


def _of_sources(
    store: Store, row_of: Callable[[Store, bytes], Struct], names: Sequence[str]
) -> Iterator[EnteringRow]:
    for identity in dict.fromkeys(each for name in names for each in named_sources(store, name)):
        yield EnteringRow(make_row(row_of(store, identity)), identity)


def entering_sources(store: Store, names: Sequence[str]) -> set[bytes]:
    """The sources whose passages enter by these names. Raises as ``entering_rows``."""
    found: set[bytes] = set()
    for name in names:
        if name.startswith(f"{_PASSAGE}:"):
            found.add(_passage(store, name).source)
        else:
            found.update(named_sources(store, name))
    return found


def named_sources(store: Store, name: str) -> list[bytes]:
    """Return all sources of the book of this name, otherwise the source of this name.

    The book has precedence: its title page often has the same title, and can be named by its
    digits. Raises NotFound.
    """
    return sources_of_book(store, name) or [store.lookup.find(name, ("source",)).id]


def builder_of(method: Maker, kind: str) -> StepBuilder:
    """How a method builds this kind in steps. Raises BadUsage where it does not."""
    if kind not in method.pipelines:
        known = ", ".join(method.pipelines) or "nothing"
        raise BadUsage(f"{method.name} does not build {kind!r} in steps; it builds {known}")
    return method.pipelines[kind]


def builder_for(method: Maker, kind: str, inputs: Sequence[str]) -> StepBuilder:
    """How a method builds this kind from these inputs: by files of rows where all of them are
    files and it takes such. Raises BadUsage where it does not build it, and for files among
    sources."""
    builder = builder_of(method, kind)
    files = [name for name in inputs if Path(name).suffix and Path(name).is_file()]
    if builder.files is None or not files:
        return builder
    if len(files) < len(inputs):
        others = ", ".join(name for name in inputs if name not in files)
        raise BadUsage(
            f"{', '.join(files)} is a file of rows, and {others} is not",
            hint=f"build {kind} of either",
        )
    return structs.replace(builder, make=builder.files.make, rows=builder.files.rows)


def read_parameters(parameters: Sequence[Parameter], given: Mapping[str, Any]) -> dict[str, Any]:
    """All parameters with their defaults, checked. Raises BadInput with every problem."""
    known = {parameter.name: parameter for parameter in parameters}
    problems = [
        Problem(name, f"no such parameter; there is: {', '.join(known)}")
        for name in given
        if name not in known
    ]
    values = {}
    for parameter in parameters:
        value = given.get(parameter.name, parameter.default)
        if parameter.choices and value not in parameter.choices:
            allowed = ", ".join(parameter.choices)
            problems.append(Problem(parameter.name, f"expected one of {allowed}, not {value!r}"))
        values[parameter.name] = value
    if problems:
        raise BadInput("these parameters cannot be used", problems)
    return values


# Lists of a workspace as files: a build reads its inputs as often as it likes.


class ListFiles:
    """Files of the lists and banks that inputs name, until ``close``. A list has the same file each
    time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._folder: TemporaryDirectory[str] | None = None

    def inputs(
        self, named: Sequence[str], method: str, online: Collection[str] = ()
    ) -> tuple[str, ...]:
        """The inputs, with a file in place of each that names a list or bank of ``method``; names
        that mean something ``online`` stay, where no list is called so.

        Raises NotFound for a plain name that is neither a file nor a list, BadUsage for a list of
        another method.
        """
        return tuple(self._file(each, method, online) for each in named)

    def close(self) -> None:
        """Removes the files."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _file(self, named: str, method: str, online: Collection[str]) -> str:
        if Path(named).exists():
            return named
        try:
            found = find_target(self._store, named, ("form", "bank"))
        except NotFound:
            if named in online or ":" in named or Path(named).suffix:
                return named  # of another kind, such as dump:FILE; who reads it says what is wrong
            raise
        is_form = found.kind == "form"
        owner = self._store.items.item_set if is_form else self._store.knowledge.bank
        own = owner(found.id).method
        if own != method:
            raise BadUsage(f"{found.name} is of {own}, not of {method}")
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="proofstone-lists-")
        folder = Path(self._folder.name) / short(found.id)
        path = folder / f"{Path(found.name).name}.jsonl"
        if not path.exists():
            folder.mkdir(exist_ok=True)
            write = export_items if is_form else export_bank
            write(self._store, find_method(own), found.id, path)
        return str(path)


def list_files(session: Session) -> ListFiles:
    """Lists of this workspace as files, for builds that read such; gone when it is closed."""
    return session.held(ListFiles, lambda: ListFiles(session.store))


# What rows of a build rest on, gathered from a live wiki and the web before its steps begin. It is
# kept: the next reading, and the same command again, send nothing for it.

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
    """Report in one line how many pages were read, and why others were left out."""
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
    """Report progress to the listener of ``session``."""
    if session.tell is not None:
        session.tell(text)


class _Shown:
    """Report the progress of gathering: first when it takes long, then at intervals."""

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

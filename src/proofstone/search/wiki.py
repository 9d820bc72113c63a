"""Look up or sample articles of a live wiki, and store them as they were.

The folder of its pages holds a record per name, with the page that it led to, and a record per
sample. Recorded requests are not repeated: a build continues with the same articles, also without a
network.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct, structs

from proofstone.documents.wiki import WikiArticle
from proofstone.documents.wiki_api import (
    AT_ONCE,
    PAGE_READER,
    WikiAddress,
    WikiFound,
    WikiPage,
    fetched_article,
)
from proofstone.ingest.wiki import WikiClient, file_of_page, folder_of_wiki, keep_page, pages_folder
from proofstone.models.config import ModelConfig
from proofstone.models.names import Destination, destination_of
from proofstone.records.builds import WikiText
from proofstone.records.calls import Clock
from proofstone.records.ids import content_id
from proofstone.search.http import read_note, write_note

_ILLEGAL = frozenset("#<>[]{}|\x00\x1f")  # no title holds one of these


_LONGEST = 255  # bytes of a title


_IDLE_DRAWS = 3  # rounds without a new title, after which the wiki is exhausted


class NotedName(Struct, frozen=True, kw_only=True):
    """Hold the page of a name, and the time of the query (seconds since 1970).

    It is a page in a revision, or none (0). ``is_counted``: the number of its statements was also
    queried.
    """

    name: str
    title: str = ""
    revision: int = 0
    timestamp: str = ""
    page_id: int = 0
    address: str = ""
    wikidata: str = ""
    is_meanings: bool = False
    is_counted: bool = False
    statements: int | None = None
    asked_at: float = 0.0


class _Draw(Struct, frozen=True):
    """Titles in the order in which a wiki sampled them."""

    titles: tuple[str, ...] = ()


class _Where(Struct, frozen=True):
    """The API with the statements about a wiki's pages; empty for none."""

    api: str = ""


class LiveWiki:
    """A wiki behind its API, with its stored pages in a workspace's ``folder``."""

    def __init__(self, api: str, folder: Path, config: ModelConfig, clock: Clock) -> None:
        self.api = api
        self.client = WikiClient(api, config, clock)
        self.host = self.client.host
        self.to: Destination | None = destination_of(api)
        self._config, self._clock = config, clock
        self._sent: Counter[str] = Counter()
        self._pages = pages_folder(folder)
        self._folder = folder_of_wiki(self._pages, self.host)

    # ---------------------------------------------------------------- stored pages

    def noted(self, name: str) -> NotedName | None:
        """Return the recorded page of a name; None if it was not looked up yet."""
        return (
            NotedName(name=name) if not _is_title(name) else read_note(self._note(name), NotedName)
        )

    def led(self, names: Sequence[str]) -> NotedName | None:
        """Return the page of the first name that leads to one; None if none does."""
        found = (self.noted(name) for name in names)
        return next((each for each in found if each is not None and each.revision), None)

    def lacking(self, names: Sequence[Sequence[str]]) -> list[str]:
        """Return the names to look up next.

        These are the first unknown name of each list, unless an earlier one led to a page.
        """
        return list(self._waiting(names))

    def _waiting(self, names: Sequence[Sequence[str]]) -> dict[str, list[Sequence[str]]]:
        waiting: dict[str, list[Sequence[str]]] = {}
        for each in names:
            if (name := self._next(each)) is not None:
                waiting.setdefault(name, []).append(each)
        return waiting

    def _next(self, names: Sequence[str]) -> str | None:
        for name in names:
            noted = self.noted(name)
            if noted is None:
                return name
            if noted.revision:
                return None
        return None

    def titles(self, n: int, seed: int) -> tuple[str, ...]:
        """Return the first ``n`` titles sampled so far."""
        return (read_note(self._drawn(seed), _Draw) or _Draw()).titles[:n]

    def text(self, noted: NotedName) -> WikiText:
        """Return the article that a name led to."""
        article = self._article(noted.revision)
        return WikiText(
            asked=noted.name, title=noted.title, text=article.text,
            page_id=str(noted.page_id or ""), url=noted.address or article.url,
            date=noted.timestamp[:10], content=article.content, language=article.language,
            wikidata=noted.wikidata,
            statements=noted.statements,
            is_meanings=noted.is_meanings or article.is_meanings, trouble=article.trouble,
        )  # fmt: skip

    def _article(self, revision: int) -> WikiArticle:
        """Return the text of a page, cached.

        Reading it takes a tenth of a second, and rows of a build are read several times.
        """
        file = self._folder / "texts" / f"{revision}.{PAGE_READER.replace(' ', '-')}.json"
        known = read_note(file, WikiArticle)
        if known is None:
            known = fetched_article(file_of_page(self._pages, self.host, revision))
            write_note(file, known)
        return known

    @property
    def sent(self) -> dict[str, int]:
        """Return the number of requests to each API."""
        return dict(self._sent + Counter({self.api: self.client.n_requests}))

    # ---------------------------------------------------------------- requests

    async def draw(self, n: int, seed: int) -> tuple[str, ...]:
        """Return ``n`` titles sampled by the wiki, fewer if it has no more.

        A larger ``n`` begins with those sampled before.
        """
        titles, idle = list(self.titles(n, seed)), 0
        while len(titles) < n and idle < _IDLE_DRAWS:
            found = await self.client.random(n - len(titles))
            new = [title for title in dict.fromkeys(found) if title not in titles]
            titles += new[: n - len(titles)]
            idle = 0 if new else idle + 1
            write_note(self._drawn(seed), _Draw(tuple(titles)))
        return tuple(titles)

    async def look_up(
        self, names: Sequence[Sequence[str]], watch: Callable[[int], None] = lambda _n: None
    ) -> None:
        """Record where names lead, name by name of each list until one leads to a page.

        Stores the articles. ``watch`` receives the number of finished lists.
        """
        n_through = sum(self._next(each) is None for each in names)
        while waiting := self._waiting(names):
            lacking = list(waiting)
            for start in range(0, len(lacking), AT_ONCE):
                part = lacking[start : start + AT_ONCE]
                found = await self.client.find([WikiAddress(self.api, name) for name in part])
                for address, page, wiki in found:
                    await self._keep(address.title, page, wiki)
                asked = (each for name in part for each in waiting[name])
                n_through += sum(self._next(each) is None for each in asked)
                watch(n_through)

    def uncounted(self, names: Sequence[Sequence[str]]) -> list[NotedName]:
        """Return the articles whose number of statements was not asked yet."""
        led = [each for each in map(self.led, names) if each is not None]
        return [each for each in led if each.wikidata and not each.is_counted]

    async def count_statements(self, names: Sequence[Sequence[str]]) -> str:
        """Record the number of statements about the articles of names; return any error."""
        if not (open_ones := self.uncounted(names)):
            return ""
        if not (api := await self.repository()):
            return f"{self.host} does not name the store of statements about its pages"
        numbers = list(dict.fromkeys(each.wikidata for each in open_ones))
        async with WikiClient(api, self._config, self._clock) as client:
            counts = await client.statements(numbers)
            self._sent[api] += client.n_requests
        for each in open_ones:
            found = counts.get(each.wikidata)
            self._write(structs.replace(each, is_counted=True, statements=found))
        return ""

    async def repository(self) -> str:
        """Return the store of statements about its pages, as the wiki names it.

        Empty if it names none, or if that is this machine and the wiki is not.
        """
        file = self._folder / "repository.json"
        known = read_note(file, _Where)
        if known is None:
            async with WikiClient(self.api, self._config, self._clock) as client:
                known = _Where(await client.repository())
                self._sent[self.api] += client.n_requests
            to = destination_of(known.api)
            if to is None or (to.is_local and not (self.to is not None and self.to.is_local)):
                known = _Where()
            write_note(file, known)
        return known.api

    async def _keep(self, name: str, page: WikiPage, found: WikiFound) -> None:
        if not page.revision or page.namespace:
            self._write(NotedName(name=name, asked_at=self._clock.now()))
            return
        file = file_of_page(self._pages, self.host, page.revision)
        if not file.exists():
            keep_page(file, await self.client.page(page, found))
        self._write(
            NotedName(
                name=name, title=page.title, revision=page.revision, timestamp=page.timestamp,
                page_id=page.page_id, address=page.address, wikidata=page.wikidata,
                is_meanings=page.is_meanings, asked_at=self._clock.now(),
            )
        )  # fmt: skip

    def _write(self, noted: NotedName) -> None:
        write_note(self._note(noted.name), noted)

    def _note(self, name: str) -> Path:
        return self._folder / "names" / f"{content_id('wiki-name', [self.api, name]).hex()}.json"

    def _drawn(self, seed: int) -> Path:
        return self._folder / "drawn" / f"{content_id('wiki-draw', [self.api, seed]).hex()}.json"


def _is_title(name: str) -> bool:
    """Return True if a page may have this name; for others a wiki answers about another page."""
    return bool(name.strip()) and not _ILLEGAL & set(name) and len(name.encode()) <= _LONGEST

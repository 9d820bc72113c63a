"""Fetch pages through a wiki's web API, one request at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec
from msgspec import Struct, structs

from proofstone import __version__
from proofstone.documents.sources import content_of
from proofstone.documents.wiki_api import (
    AT_ONCE,
    COMMON,
    WIKI_SUFFIX,
    Answer,
    WikiAddress,
    WikiError,
    WikiFile,
    WikiFound,
    WikiPage,
    read_address,
    read_answer,
    read_found,
)
from proofstone.errors import BadInput, EndpointUnusable, Problem
from proofstone.models.config import ModelConfig
from proofstone.models.connections import choose_route
from proofstone.models.credentials import Secret
from proofstone.models.entries import Entry
from proofstone.models.http_session import open_session
from proofstone.models.names import destination_of
from proofstone.models.retries import read_retry_after
from proofstone.records.calls import Clock
from proofstone.session.folders import MARK
from proofstone.session.session import Session
from proofstone.store.lookup import Found
from proofstone.store.store import Store

if TYPE_CHECKING:
    import aiohttp

_TRIES = 6


_LONGEST_WAIT_S = 120.0


_TIMEOUT_S, _CONNECT_S = 60.0, 20.0


_HINT = "give the address of its API: --wiki-api URL of ingest, wiki:URL of a corpus"


_DRAWN_AT_ONCE = 500  # titles that a wiki samples at a time


_MOST_BYTES = 64 * 2**20


_BUSY = {429, 500, 502, 503, 504}


_BUSY_CODES = {"maxlag", "ratelimited", "readonly"}


_CONTACT = "PROOFSTONE_CONTACT"  # contact for complaints about too many requests


class _Answered(NamedTuple):
    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b""


class WikiClient:
    """The API of one wiki, open within ``async with``.

    It identifies itself (``proofstone/VERSION``, with the contact in PROOFSTONE_CONTACT), waits if
    asked to (Retry-After, maxlag), and sends one request at a time. All methods raise
    EndpointUnusable if the wiki cannot be asked; entering raises EgressRefused if a policy names
    another host.
    """

    def __init__(self, api: str, config: ModelConfig, clock: Clock) -> None:
        to = destination_of(api)
        if to is None:
            raise EndpointUnusable(f"{api} is not the address of a wiki's API")
        self.host = str(to)
        self.n_requests = 0
        self._api, self._config, self._clock, self._to = api, config, clock, to
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> WikiClient:
        gate, environment = self._config.gate, self._config.environment
        gate.check_policies(self._to)
        gate.permit(
            self._to
        )  # a user who names the address permits sending its title, and nothing more
        self._session = open_session(
            self._api,
            choose_route(self._api, Entry(), environment, gate, "the address"),
            headers=[("User-Agent", Secret(_agent(environment)))],
            connect_timeout_s=_CONNECT_S,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def find(
        self, addresses: Sequence[WikiAddress]
    ) -> list[tuple[WikiAddress, WikiPage, WikiFound]]:
        """Return each page with the revision to read, and the wiki's description of itself."""
        by_title: dict[str, tuple[WikiPage, WikiFound]] = {}
        titles = list(dict.fromkeys(address.title for address in addresses))
        asked = self._answers(
            titles, redirects="1", prop="revisions|pageprops|info", rvprop="ids|timestamp",
            ppprop="disambiguation|wikibase_item", inprop="url", meta="siteinfo",
            siprop="general|rightsinfo",
        )  # fmt: skip
        async for part, answer in asked:
            found = read_found(answer, part)
            for page in found.pages:
                known = by_title.get(page.asked)
                whole = page if known is None else _joined(known[0], page)
                by_title[page.asked] = (whole, found)
        made = []
        for address in addresses:
            page, found = by_title.get(
                address.title, (WikiPage(asked=address.title, title=address.title), WikiFound())
            )
            if address.revision and page.revision:
                other = address.revision != page.revision
                page = structs.replace(
                    page, revision=address.revision, timestamp="" if other else page.timestamp
                )
            made.append((address, page, found))
        return made

    async def page(self, page: WikiPage, found: WikiFound) -> WikiFile:
        """Return the text of a revision, with its templates expanded."""
        answer = await self._asked(
            "parse", oldid=str(page.revision), prop="text|revid", disableeditsection="1",
            disabletoc="1", disablelimitreport="1",
        )  # fmt: skip
        base = self._api.removesuffix("/api.php")
        return WikiFile(
            title=page.title, revision=page.revision, timestamp=page.timestamp,
            address=f"{base}/index.php?oldid={page.revision}", site=found.site,
            language=found.language, license=found.license, html=answer.parse.text,
        )  # fmt: skip

    async def random(self, n: int) -> list[str]:
        """Return the titles of at most ``n`` articles sampled by the wiki, without redirects."""
        answer = await self._asked(
            "query", list="random", rnnamespace="0", rnfilterredir="nonredirects",
            rnlimit=str(max(1, min(n, _DRAWN_AT_ONCE))),
        )  # fmt: skip
        return [page.title for page in answer.query.random if page.title]

    async def repository(self) -> str:
        """Return the API address for statements about its pages; empty for none."""
        url = (await self._asked("query", meta="wikibase", wbprop="url")).query.wikibase.repo.url
        base = f"https:{url.base}" if url.base.startswith("//") else url.base
        return f"{base}{url.scriptpath}/api.php" if base else ""

    async def statements(self, numbers: Sequence[str]) -> dict[str, int]:
        """Return the number of statements stored about each known Q number."""
        counts: dict[str, int] = {}
        async for _part, answer in self._answers(numbers, prop="pageprops", ppprop="wb-claims"):
            counts |= {
                page.title: int(said)
                for page in answer.query.pages
                if (said := page.prop("wb-claims")).isdecimal()
            }
        return counts

    async def _answers(
        self, titles: Sequence[str], **said: str
    ) -> AsyncIterator[tuple[Sequence[str], Answer]]:
        """Yield all responses to a query about pages, each with its titles."""
        for start in range(0, len(titles), AT_ONCE):
            part, going_on = titles[start : start + AT_ONCE], dict[str, str]()
            while True:
                answer = await self._asked("query", titles="|".join(part), **said, **going_on)
                yield part, answer
                if not answer.going_on or answer.going_on == going_on:
                    break
                going_on = answer.going_on

    async def _asked(self, action: Literal["query", "parse"], **said: str) -> Answer:
        """Return the response to a request, after waiting as the wiki asks, within limits."""
        import aiohttp  # noqa: PLC0415 - heavy

        why, answer = "", _Answered()
        for attempt in range(_TRIES):
            try:
                answer = await self._answer({**COMMON, "action": action, **said})
                if answer.status not in _BUSY:
                    return read_answer(answer.body, action)
                why = f"HTTP {answer.status}"
            except WikiError as error:
                if error.code not in _BUSY_CODES:
                    raise EndpointUnusable(f"{self.host} answers: {error}", hint=_HINT) from error
                why = str(error)
            except (aiohttp.ClientError, TimeoutError) as error:
                why, answer = str(error) or "no answer in time", _Answered()
            asked_for = read_retry_after(answer.headers, self._clock.now())
            wait = 2.0**attempt if asked_for is None else asked_for
            if wait > _LONGEST_WAIT_S or attempt == _TRIES - 1:
                break
            await self._clock.sleep(wait)
        raise EndpointUnusable(f"{self.host} cannot be asked now: {why}", hint="try again later")

    async def _answer(self, query: dict[str, str]) -> _Answered:
        import aiohttp  # noqa: PLC0415 - heavy

        if self._session is None:
            raise EndpointUnusable(f"{self.host} is not open")
        self.n_requests += 1
        limit = aiohttp.ClientTimeout(total=_TIMEOUT_S)
        async with self._session.get(
            self._api, params=query, timeout=limit, allow_redirects=False
        ) as response:
            body = await response.content.read(_MOST_BYTES + 1)
            while len(body) <= _MOST_BYTES and (more := await response.content.read(_MOST_BYTES)):
                body += more
            if len(body) > _MOST_BYTES:
                raise EndpointUnusable(
                    f"{self.host} sends more than {_MOST_BYTES:,} bytes per page"
                )
            headers = dict(response.headers)
            if response.status >= 300 and response.status not in _BUSY:
                raise EndpointUnusable(f"{self.host} answers HTTP {response.status}", hint=_HINT)
            return _Answered(response.status, headers, body)


def _joined(one: WikiPage, other: WikiPage) -> WikiPage:
    """Merge two parts of a page."""
    said = {name: getattr(other, name) for name in WikiPage.__struct_fields__}
    return structs.replace(one, **{name: value for name, value in said.items() if value})


def _agent(environment: Mapping[str, str]) -> str:
    contact = " ".join(environment.get(_CONTACT, "").split())
    told = "; ".join(filter(None, (contact, "reads single pages, one at a time")))
    return f"proofstone/{__version__} ({told})"


# Fetch wiki pages by address, once per revision, and store them as files.


def pages_folder(folder: Path) -> Path:
    """Return the folder of a workspace's fetched pages, by host."""
    return folder / MARK / "wiki"


def pages_of(folder: Path, store: Store, source: Found) -> tuple[str, ...]:
    """Return the stored files of a source, relative to the workspace; usually none."""
    known = store.knowledge.sources([source.id]).get(source.id)
    if known is None:
        return ()
    return tuple(
        file.relative_to(folder).as_posix()
        for file in sorted(pages_folder(folder).glob("*/*"))
        if file.is_file() and content_of(file) == known.content
    )


_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")


def fetch_addresses(
    session: Session, urls: Sequence[str], api: str, *, tell: Callable[[str], None]
) -> dict[str, Path]:
    """Return the file of each page by its address, stored in the workspace's folder.

    Raises as ``read_address`` and ``fetch_pages``.
    """
    addresses = {url: read_address(url, api) for url in urls}
    folder = pages_folder(session.folder)
    fetched = asyncio.run(
        fetch_pages(list(addresses.values()), folder, session.config, session.clock, tell)
    )
    return {url: fetched.files[address] for url, address in addresses.items()}


class Fetched(Struct, frozen=True, kw_only=True):
    """The file of each page, the number of pages already stored, and the number of requests."""

    files: dict[WikiAddress, Path]
    n_known: int
    n_requests: int


async def fetch_pages(
    addresses: Sequence[WikiAddress],
    folder: Path,
    config: ModelConfig,
    clock: Clock,
    tell: Callable[[str], None],
) -> Fetched:
    """Fetch pages missing in ``folder``: the newest revision of each, or the named one.

    Requests to a wiki follow each other, with the waits it asks for (Retry-After, maxlag). ``tell``
    receives what is sent before it is. Raises EgressRefused if the policy refuses a host,
    EndpointUnusable if a wiki cannot be asked, and BadInput naming all missing pages.
    """
    files: dict[WikiAddress, Path] = {}
    problems: list[Problem] = []
    n_known = n_requests = 0
    for api in dict.fromkeys(address.api for address in addresses):
        wanted = [address for address in addresses if address.api == api]
        async with WikiClient(api, config, clock) as wiki:
            tell(f"to {wiki.host}: titles of pages ({len(wanted)}), nothing of this workspace")
            for address, page, found in await wiki.find(wanted):
                if not page.revision:
                    problems.append(Problem(address.title, f"not a page of {wiki.host}"))
                    continue
                file = file_of_page(folder, wiki.host, page.revision)
                n_known += file.exists()
                if not file.exists():
                    keep_page(file, await wiki.page(page, found))
                files[address] = file
            n_requests += wiki.n_requests
    if problems:
        raise BadInput("some pages were not found; none was read", problems)
    return Fetched(files=files, n_known=n_known, n_requests=n_requests)


def file_of_page(folder: Path, host: str, revision: int) -> Path:
    """Return the path of a page's revision."""
    return folder_of_wiki(folder, host) / f"{revision}{WIKI_SUFFIX}"


def folder_of_wiki(folder: Path, host: str) -> Path:
    """Return the folder of a wiki."""
    return folder / _UNSAFE.sub("_", host)


def keep_page(file: Path, page: WikiFile) -> None:
    """Write a page atomically."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_suffix(".part")
    begun.write_bytes(msgspec.json.encode(page))
    begun.replace(file)

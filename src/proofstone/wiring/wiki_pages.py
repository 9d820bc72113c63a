"""Pages of wikis by their address: fetched once a revision, through the gate, and kept as files."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import msgspec
from msgspec import Struct

from proofstone.engines.ingest import (
    AT_ONCE,
    WIKI_SUFFIX,
    WikiAddress,
    WikiError,
    WikiFile,
    WikiFound,
    WikiPage,
    page_query,
    parse_query,
    read_address,
    read_found,
    read_html,
)
from proofstone.engines.models.retry_after import read_retry_after
from proofstone.errors import BadInput, EndpointUnusable, Problem
from proofstone.ports import Clock
from proofstone.wiring.wiki_kept import pages_folder

if TYPE_CHECKING:
    import aiohttp

    from proofstone.engines.models import ModelConfig
    from proofstone.wiring.workspace import Workspace

__all__ = ["Fetched", "fetch_addresses", "fetch_pages"]

_TRIES = 6
_LONGEST_WAIT_S = 120.0
_TIMEOUT_S, _CONNECT_S = 60.0, 20.0
_HINT = "Give the address of its API: --wiki-api https://.../api.php"
T = TypeVar("T")
_MOST_BYTES = 64 * 2**20
_BUSY = {429, 500, 502, 503, 504}
_BUSY_CODES = {"maxlag", "ratelimited", "readonly"}
_AGENT = "proofstone (reads single pages, one at a time)"
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]")


def fetch_addresses(
    workspace: Workspace, urls: Sequence[str], api: str, *, tell: Callable[[str], None]
) -> dict[str, Path]:
    """The file of each page by its address, kept in the workspace's folder. Raises as
    ``read_address`` and ``fetch_pages``."""
    import asyncio  # noqa: PLC0415 - heavy

    addresses = {url: read_address(url, api) for url in urls}
    folder = pages_folder(workspace.folder)
    fetched = asyncio.run(
        fetch_pages(list(addresses.values()), folder, workspace.config, workspace.clock, tell)
    )
    return {url: fetched.files[address] for url, address in addresses.items()}


class Fetched(Struct, frozen=True, kw_only=True):
    """The file of each page, how many of them were here before, and how many requests were
    made."""

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
    """Fetches what is not yet in ``folder``: the newest revision of each page, or the one named.

    One request at a time to each wiki, which says how long to wait where it is busy (Retry-After,
    maxlag). ``tell`` hears what is sent where, before it is. Raises EgressRefused where the policy
    has something against a host, EndpointUnusable where a wiki cannot be asked, and BadInput naming
    all pages that are absent.
    """
    files: dict[WikiAddress, Path] = {}
    problems: list[Problem] = []
    n_known = n_requests = 0
    for api in dict.fromkeys(address.api for address in addresses):
        wanted = [address for address in addresses if address.api == api]
        async with _Wiki(api, config, clock) as wiki:
            tell(f"to {wiki.host}: titles of pages ({len(wanted)}), nothing of this workspace")
            for address, page, found in await wiki.find(wanted):
                if not page.revision:
                    problems.append(Problem(address.title, f"is no page of {wiki.host}"))
                    continue
                file = folder / _UNSAFE.sub("_", wiki.host) / f"{page.revision}{WIKI_SUFFIX}"
                n_known += file.exists()
                if not file.exists():
                    _keep(file, await wiki.page(page, found))
                files[address] = file
            n_requests += wiki.n_requests
    if problems:
        raise BadInput("Some pages are not there; none was read.", problems)
    return Fetched(files=files, n_known=n_known, n_requests=n_requests)


def _keep(file: Path, page: WikiFile) -> None:
    """Writes a page whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    begun = file.with_suffix(".part")
    begun.write_bytes(msgspec.json.encode(page))
    begun.replace(file)


class _Answered(NamedTuple):
    status: int = 0
    headers: Mapping[str, str] = {}
    body: bytes = b""


class _Wiki:
    """The API of one wiki, through the gate."""

    def __init__(self, api: str, config: ModelConfig, clock: Clock) -> None:
        from proofstone.engines.models import destination_of  # noqa: PLC0415 - heavy

        to = destination_of(api)
        if to is None:
            raise EndpointUnusable(f"{api} is no address of a wiki's API.")
        self.host = str(to)
        self.n_requests = 0
        self._api, self._config, self._clock, self._to = api, config, clock, to
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> _Wiki:
        from proofstone.engines.models import Entry, Secret  # noqa: PLC0415 - heavy
        from proofstone.engines.models.http_session import open_session  # noqa: PLC0415
        from proofstone.engines.models.route import choose_route  # noqa: PLC0415

        gate, environment = self._config.gate, self._config.environment
        gate.check_policies(self._to)
        gate.permit(self._to)  # who names the address sends its title there, and nothing else
        self._session = open_session(
            self._api,
            choose_route(self._api, Entry(), environment, gate, "the address"),
            headers=[("User-Agent", Secret(_AGENT))],
            connect_timeout_s=_CONNECT_S,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.close()

    async def find(
        self, addresses: Sequence[WikiAddress]
    ) -> list[tuple[WikiAddress, WikiPage, WikiFound]]:
        """Each page in the revision that is to be read, and what the wiki said of itself."""
        by_title: dict[str, tuple[WikiPage, WikiFound]] = {}
        titles = list(dict.fromkeys(address.title for address in addresses))
        for start in range(0, len(titles), AT_ONCE):
            part = titles[start : start + AT_ONCE]
            going_on: dict[str, str] = {}
            while True:
                found = await self._asked(
                    page_query(part, going_on), partial(read_found, asked=part)
                )
                by_title |= {page.asked: (page, found) for page in found.pages}
                if not found.going_on or found.going_on == going_on:
                    break
                going_on = found.going_on
        made = []
        for address in addresses:
            page, found = by_title.get(
                address.title, (WikiPage(asked=address.title, title=address.title), WikiFound())
            )
            if address.revision and page.revision:
                other = address.revision != page.revision
                page = msgspec.structs.replace(
                    page, revision=address.revision, timestamp="" if other else page.timestamp
                )
            made.append((address, page, found))
        return made

    async def page(self, page: WikiPage, found: WikiFound) -> WikiFile:
        """The text of a revision."""
        html = await self._asked(parse_query(page.revision), read_html)
        base = self._api.removesuffix("/api.php")
        return WikiFile(
            title=page.title, revision=page.revision, timestamp=page.timestamp,
            address=f"{base}/index.php?oldid={page.revision}", site=found.site,
            language=found.language, licence=found.licence, html=html,
        )  # fmt: skip

    async def _asked(self, query: dict[str, str], read: Callable[[bytes], T]) -> T:
        """What a request is answered, after as many waits as the wiki asks for, within bounds."""
        import aiohttp  # noqa: PLC0415 - heavy

        why, answer = "", _Answered()
        for attempt in range(_TRIES):
            try:
                answer = await self._answer(query)
                if answer.status not in _BUSY:
                    return read(answer.body)
                why = f"HTTP {answer.status}"
            except WikiError as error:
                if error.code not in _BUSY_CODES:
                    raise EndpointUnusable(f"{self.host} answers: {error}.", hint=_HINT) from error
                why = str(error)
            except (aiohttp.ClientError, TimeoutError) as error:
                why, answer = str(error) or "no answer in time", _Answered()
            asked_for = read_retry_after(answer.headers, self._clock.now())
            wait = 2.0**attempt if asked_for is None else asked_for
            if wait > _LONGEST_WAIT_S or attempt == _TRIES - 1:
                break
            await self._clock.sleep(wait)
        raise EndpointUnusable(f"{self.host} cannot be asked now: {why}.", hint="Try again later.")

    async def _answer(self, query: dict[str, str]) -> _Answered:
        import aiohttp  # noqa: PLC0415 - heavy

        if self._session is None:
            raise EndpointUnusable(f"{self.host} is not open.")
        self.n_requests += 1
        limit = aiohttp.ClientTimeout(total=_TIMEOUT_S)
        async with self._session.get(
            self._api, params=query, timeout=limit, allow_redirects=False
        ) as reply:
            body = await reply.content.read(_MOST_BYTES + 1)
            while len(body) <= _MOST_BYTES and (more := await reply.content.read(_MOST_BYTES)):
                body += more
            if len(body) > _MOST_BYTES:
                raise EndpointUnusable(f"{self.host} sends more than {_MOST_BYTES:,} bytes a page.")
            headers = dict(reply.headers)
            if reply.status >= 300 and reply.status not in _BUSY:
                raise EndpointUnusable(f"{self.host} answers HTTP {reply.status}.", hint=_HINT)
            return _Answered(reply.status, headers, body)

"""Search the web from a workspace; responses are stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from html import unescape
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from proofstone.errors import BadUsage, EgressRefused, EndpointUnusable
from proofstone.models.budget import RequestPurse, Spending, open_request_purse
from proofstone.models.config import ModelConfig
from proofstone.models.credentials import Secret
from proofstone.models.names import destination_of
from proofstone.models.retries import read_retry_after
from proofstone.records.calls import Clock
from proofstone.records.ids import content_id
from proofstone.records.knowledge import Source
from proofstone.records.models import WEB_SEARCHES, WebSearchName
from proofstone.search.http import Got, get, read_note, write_note
from proofstone.session.folders import MARK
from proofstone.session.permits import SentBeside, SentLog

# The protocols of web searches: requests and responses. Nothing is sent here.
#
# Brave Search, Google's Custom Search and SearXNG (which forwards queries to Bing, Baidu and
# others) as their public documents describe them.

WebFailure = Literal[
    "rate_limited", "no_credit", "bad_key", "bad_request", "unreadable", "server_error"
]


_ADDRESSES: Mapping[str, str] = {
    "brave": "https://api.search.brave.com/res/v1/web/search",
    "google": "https://www.googleapis.com/customsearch/v1",
}


_MOST: Mapping[str, int] = {"brave": 20, "google": 10, "searxng": 10}  # hits of one request


_DETAIL = 300


# Markup in titles and texts that highlights the query's words.
_INLINE = re.compile(r"</?(?:b|strong|em|i|mark|span|u|wbr|a|code)\b[^<>]{0,300}>", re.IGNORECASE)


_BREAK = re.compile(r"</?(?:br|p|div|li|ul)\b[^<>]{0,300}>", re.IGNORECASE)


class WebHit(Struct, frozen=True, gc=False, kw_only=True):
    """A page found by a search: its address, title and snippet.

    ``engine`` found it, if a search asks several. ``published`` is the date given by the search.
    """

    url: str
    title: str
    text: str
    engine: str = ""
    published: str = ""


class WebRequest(Struct, frozen=True, kw_only=True):
    """A GET request: address, parameters, and the header with the key (empty: none)."""

    url: str
    parameters: Mapping[str, str]
    key_header: str = ""


class WebSearchError(Exception):
    """An error reported by a search: its kind and message."""

    def __init__(self, kind: WebFailure, detail: str) -> None:
        super().__init__(f"{kind}: {detail}")
        self.kind = kind
        self.detail = detail


def web_requests_for(search: WebSearchName, k: int) -> int:
    """Return the maximum number of requests for the first ``k`` hits.

    SearXNG does not state its page size; ten are assumed.
    """
    return max(1, -(-k // _MOST[search]))


def web_request(
    search: WebSearchName, query: str, k: int, *, base: str = "", engine: str = "", page: int = 0
) -> WebRequest:
    """Return the request for the first ``k`` hits (as many as one page holds).

    ``page`` counts the requests from 0. ``base`` is the address of a SearXNG instance, or replaces
    the provider's. ``engine`` is Google's search engine id, or the engines for SearXNG
    ("bing,baidu").
    """
    n = str(max(1, min(k, _MOST[search])))
    if search == "brave":
        return WebRequest(
            url=base or _ADDRESSES[search],
            parameters={"q": query, "count": n, **_paged("offset", page, 0)},
            key_header="X-Subscription-Token",
        )  # fmt: skip
    if search == "google":
        # The key goes into a header, which Google accepts as well: addresses are logged.
        return WebRequest(
            url=base or _ADDRESSES[search],
            parameters={
                "q": query, "num": n, "cx": engine, **_paged("start", page * _MOST[search], 1),
            },
            key_header="X-Goog-Api-Key",
        )  # fmt: skip
    engines = {"engines": engine} if engine else {}
    url = f"{base.rstrip('/').removesuffix('/search')}/search"
    asked = {"q": query, "format": "json", **engines, **_paged("pageno", page, 1)}
    return WebRequest(url=url, parameters=asked)


def _paged(name: str, at: int, first: int) -> dict[str, str]:
    """Return the parameter for a later page; empty for the first."""
    return {name: str(first + at)} if at else {}


def read_web_hits(search: WebSearchName, status: int, body: bytes, k: int) -> list[WebHit]:
    """Return the hits of a response, best first, at most ``k``; empty if nothing was found.

    Raises WebSearchError for a search's error and for an invalid response.
    """
    if status != 200:
        raise WebSearchError(*_failure(status, body))
    try:
        hits = _READERS[search](body)[:k]
    except (msgspec.DecodeError, UnicodeDecodeError) as cause:
        raise WebSearchError("unreadable", f"invalid response of {search}: {cause}") from cause
    if not hits and not _finds_nothing(search, body):
        failure = _failure(status, body)
        detail = failure[1] if failure[1] != f"HTTP {status}" else f"invalid response of {search}"
        raise WebSearchError("unreadable" if failure[0] == "bad_request" else failure[0], detail)
    return hits


def _finds_nothing(search: WebSearchName, body: bytes) -> bool:
    """Return True if a response without hits is the search's own, not other JSON or an error."""
    said = msgspec.json.decode(body)
    if not isinstance(said, dict) or said.get("error"):
        return False
    if search == "brave":
        return said.get("type") == "search" or "web" in said
    if search == "google":
        return str(said.get("kind", "")).startswith("customsearch") or "items" in said
    return "results" in said  # SearXNG requires this field


def _plain(text: str) -> str:
    """Return a text without markup, entities and line ends."""
    return " ".join(unescape(_BREAK.sub(" ", _INLINE.sub("", text))).split())


class _BraveHit(Struct, frozen=True):
    url: str
    title: str = ""
    description: str = ""
    page_age: str = ""


class _BraveWeb(Struct, frozen=True):
    results: tuple[_BraveHit, ...] = ()


class _Brave(Struct, frozen=True):
    web: _BraveWeb | None = None


class _GoogleHit(Struct, frozen=True):
    link: str
    title: str = ""
    snippet: str = ""


class _Google(Struct, frozen=True):
    items: tuple[_GoogleHit, ...] = ()


class _SearxngHit(Struct, frozen=True, rename={"published": "publishedDate"}):
    url: str
    title: str = ""
    content: str | None = ""
    engine: str = ""
    published: str | None = ""


class _Searxng(Struct, frozen=True):
    results: tuple[_SearxngHit, ...]


def _read_brave(body: bytes) -> list[WebHit]:
    web = msgspec.json.decode(body, type=_Brave).web or _BraveWeb()
    return [
        WebHit(
            url=hit.url, title=_plain(hit.title), text=_plain(hit.description),
            published=hit.page_age,
        )
        for hit in web.results
    ]  # fmt: skip


def _read_google(body: bytes) -> list[WebHit]:
    items = msgspec.json.decode(body, type=_Google).items
    return [
        WebHit(url=hit.link, title=_plain(hit.title), text=_plain(hit.snippet)) for hit in items
    ]


def _read_searxng(body: bytes) -> list[WebHit]:
    return [
        WebHit(
            url=hit.url, title=_plain(hit.title), text=_plain(hit.content or ""),
            engine=hit.engine, published=hit.published or "",
        )
        for hit in msgspec.json.decode(body, type=_Searxng).results
    ]  # fmt: skip


_READERS = {"brave": _read_brave, "google": _read_google, "searxng": _read_searxng}


class _Error(Struct, frozen=True):
    code: str | int = ""
    status: str | int = ""
    detail: str = ""
    message: str = ""
    errors: tuple[dict[str, str | int], ...] = ()


class _ErrorBody(Struct, frozen=True):
    error: _Error | str = ""


def _failure(status: int, body: bytes) -> tuple[WebFailure, str]:
    """Return the kind of an error and the search's message, from its codes or else the status."""
    try:
        found = msgspec.json.decode(body, type=_ErrorBody).error
    except (msgspec.DecodeError, UnicodeDecodeError):
        found = ""
    error = _Error(message=found) if isinstance(found, str) else found
    reasons = {str(each.get("reason", "")) for each in error.errors}
    code = f"{error.code} {error.status} {' '.join(sorted(reasons))}".lower()
    detail = (error.detail or error.message or f"HTTP {status}")[:_DETAIL]
    for kind, signs in _SIGNS:
        if any(sign in code for sign in signs):
            return kind, detail
    if "api key" in detail.lower():  # Google's only message for an invalid key
        return "bad_key", detail
    return _by_status(status), detail


_SIGNS: tuple[tuple[WebFailure, tuple[str, ...]], ...] = (
    ("no_credit", ("dailylimitexceeded", "quota_limited", "payment")),
    ("rate_limited", ("rate_limited", "ratelimitexceeded", "resource_exhausted")),
    ("bad_key", ("subscription_token_invalid", "keyinvalid", "api_key_invalid")),
)


def _by_status(status: int) -> WebFailure:
    if status == 429:
        return "rate_limited"
    if status == 402:
        return "no_credit"
    if status in (401, 403):
        return "bad_key"
    return "server_error" if status >= 500 else "bad_request"


_TRIES = 4


_PROBE = "weather"


_LONGEST_WAIT_S = 60.0


_KEYS = {"brave": "BRAVE_SEARCH_API_KEY", "google": "GOOGLE_SEARCH_API_KEY"}


_BASES = {
    "brave": "BRAVE_SEARCH_URL", "google": "GOOGLE_SEARCH_URL", "searxng": "SEARXNG_URL"
}  # fmt: skip


_ENGINES = {"google": "GOOGLE_SEARCH_ENGINE_ID", "searxng": "SEARXNG_ENGINES"}


_RETRIED = frozenset({"rate_limited", "server_error"})


class KeptSearch(Struct, frozen=True, kw_only=True):
    """A stored search: search, query, time (seconds since the epoch), and hits.

    Also holds the SHA-256 of the response, and the ids of private sources that the query was made
    from.
    """

    search: str
    query: str
    k: int
    asked_at: float
    answer: str
    hits: tuple[WebHit, ...]
    sources: tuple[str, ...] = ()


@dataclass
class _Sent:
    """Requests that may be billed, and what they took of a budget."""

    requests: int = 0
    billed: int = 0


class WebSearcher:
    """One web search.

    Each query is sent once and then read from ``folder``. ``tell`` receives what is sent before it
    is; ``log`` records it. ``engines`` are those that SearXNG is to ask, instead of the
    environment's. ``spending`` is charged the price of each request. Raises NoPrice if its budget
    is in money and no price is known.
    """

    def __init__(
        self,
        search: WebSearchName,
        folder: Path,
        config: ModelConfig,
        clock: Clock,
        *,
        engines: str = "",
        log: SentLog | None = None,
        tell: Callable[[str], None] | None = None,
        spending: Spending | None = None,
    ) -> None:
        self.search = search
        self._folder = folder / MARK / "websearch"
        self._config, self._clock, self._tell, self._log = config, clock, tell, log
        self._base = self._set(_BASES[search])
        self._engine = engines or self._set(_ENGINES.get(search, ""))
        self.name = f"{search}:{engines}" if engines else search
        if unset := _unset(search, config.environment):
            raise BadUsage(
                f"a search by {search} needs {' and '.join(unset)}",
                hint="set it in the environment or in a .env file",
            )
        self._price = config.searches.get(search)
        self._purse: RequestPurse | None = (
            None if spending is None else open_request_purse(search, self._price, spending)
        )

    async def seek(
        self,
        query: str,
        k: int = 10,
        *,
        made_from: Sequence[Source] = (),
        is_cleared: bool = False,
    ) -> KeptSearch:
        """Return the first ``k`` hits.

        ``made_from`` are the sources whose text the query uses. It is sent only if the policy
        allows each of them, unless that was settled before (``is_cleared``). Raises EgressRefused
        if it does not, BudgetReached, and WebSearchError, which ``told_failure`` turns into a
        message.
        """
        request = self._request(query, k)
        file = self._file(request, k)
        if (kept := read_note(file, KeptSearch)) is not None:
            return kept
        if not is_cleared:
            self._clear(request.url, made_from)
        sent = _Sent()
        try:
            bodies, hits = await self._all_asked(query, k, sent)
        finally:
            self._note(query, made_from, sent)
        found = KeptSearch(
            search=self.search, query=query, k=k, asked_at=self._clock.now(),
            answer=sha256(b"".join(bodies)).hexdigest(), hits=tuple(hits),
            sources=tuple(source.id.hex() for source in made_from),
        )  # fmt: skip
        write_note(file, found)
        return found

    async def probe(self) -> int:
        """Return the number of hits of a fixed query without workspace data; nothing is stored.

        Raises EgressRefused, WebSearchError.
        """
        _body, hits = await self._asked(_PROBE, 1, _Sent())
        return len(hits)

    @property
    def address(self) -> str:
        """Return its address."""
        return self._request("", 1).url

    def kept(self, query: str, k: int = 10) -> KeptSearch | None:
        """Return the stored response to a query; None if it would have to be sent."""
        return read_note(self._file(self._request(query, k), k), KeptSearch)

    def _request(self, query: str, k: int, page: int = 0) -> WebRequest:
        return web_request(self.search, query, k, base=self._base, engine=self._engine, page=page)

    def _file(self, request: WebRequest, k: int) -> Path:
        what = [self.search, request.url, request.parameters, k]
        return self._folder / f"{content_id('web-search', what).hex()}.json"

    def _clear(self, url: str, made_from: Sequence[Source]) -> None:
        """Raise EgressRefused unless a policy allows the query.

        A search's host must be listed by name, and each source of the query must be allowed.
        """
        to, gate = destination_of(url), self._config.gate
        if to is None:
            raise BadUsage(f"{url} is not a valid search address")
        gate.check(to)
        for source in made_from:
            gate.check_source(source.title, to)
            if gate.of_source(source.title, to) != "allowed":
                raise EgressRefused(
                    f"queries made from {source.title!r} are not allowed to {to} yet; nothing "
                    "was sent",
                    hint=f'to allow it, add [egress.sources."{source.title}"] hosts = ["{to}"] to '
                    "proofstone.toml",
                )
        if self._tell is not None:
            self._tell(f"to {to}: a query" + (", made from private text" if made_from else ""))

    async def _all_asked(self, query: str, k: int, sent: _Sent) -> tuple[list[bytes], list[WebHit]]:
        """Return the responses and the first ``k`` hits, each address once.

        Further pages are requested while they bring new hits.
        """
        bodies: list[bytes] = []
        found: dict[str, WebHit] = {}
        for page in range(web_requests_for(self.search, k)):
            body, hits = await self._asked(query, k, sent, page)
            bodies.append(body)
            n_before = len(found)
            for hit in hits:
                found.setdefault(hit.url, hit)
            if len(found) >= k or len(found) == n_before:
                break
        return bodies, list(found.values())[:k]

    async def _asked(
        self, query: str, k: int, sent: _Sent, page: int = 0
    ) -> tuple[bytes, list[WebHit]]:
        request = self._request(query, k, page)
        key = self._set(_KEYS.get(self.search, ""))
        headers = {"Accept": Secret("application/json")}
        if request.key_header:
            headers[request.key_header] = Secret(key)
        for attempt in range(_TRIES):
            asked_for = None
            try:
                got = await self._paid(request, headers, sent)
                asked_for = read_retry_after(got.headers, self._clock.now())
                return got.body, read_web_hits(self.search, got.status, got.body, k)
            except EndpointUnusable as error:
                failed = WebSearchError("server_error", error.message)
            except WebSearchError as error:
                detail = error.detail.replace(key, "...") if key else error.detail
                failed = WebSearchError(error.kind, detail)
            wait = 2.0**attempt if asked_for is None else asked_for
            if failed.kind not in _RETRIED or attempt == _TRIES - 1 or wait > _LONGEST_WAIT_S:
                raise failed from None
            await self._clock.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    async def _paid(self, request: WebRequest, headers: Mapping[str, Secret], sent: _Sent) -> Got:
        """Make one request, charged for a 200 or for a connection that broke after sending.

        Other responses are errors, which are not billed.
        """
        import aiohttp  # noqa: PLC0415 - heavy

        purse = self._purse
        held = 0 if purse is None else await purse.put_aside()
        is_billed, is_known = True, False
        try:
            got = await get(
                request.url,
                self._config,
                parameters=request.parameters,
                headers=headers,
                resends=False,  # each is billed
            )
            is_billed, is_known = got.status == 200, True
        except EgressRefused:
            is_billed = False
            raise
        except EndpointUnusable as error:
            unreached = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError, ValueError)
            is_billed = not isinstance(error.__cause__, unreached)
            raise
        finally:
            if is_billed:
                sent.requests += 1
                sent.billed += 0 if purse is None else purse.settle(held, is_estimated=not is_known)
            elif purse is not None:
                purse.give_back(held)
        return got

    def _note(self, query: str, made_from: Sequence[Source], sent: _Sent) -> None:
        price = self._price
        line = SentBeside(
            at=self._clock.now(), endpoint=self.address, what="searched", by=self.name,
            requests=sent.requests, n_bytes=sent.requests * len(query.encode()),
            cost_usd=None if price is None else sent.requests * price.per_1000 / 1000,
            sources=tuple(source.title for source in made_from),
        )  # fmt: skip
        if self._log is not None and sent.requests:
            self._log.add([line])
        if self._purse is not None:
            self._purse.noted(sent.billed)

    def _set(self, variable: str) -> str:
        return self._config.environment.get(variable, "").strip() if variable else ""


_HINTS = {
    "rate_limited": "try again later, or send fewer concurrent requests",
    "no_credit": "the quota of the key is used up: raise it, or try again tomorrow",
    "bad_key": "check the key in the environment; SearXNG must allow the format json (its "
    "settings: search.formats)",
    "bad_request": "check the address and the settings of the search",
    "unreadable": "check the address: no search answered",
    "server_error": "try again later",
}


def told_failure(search: str, error: WebSearchError) -> EndpointUnusable:
    """Return a search's error as an error for users."""
    return EndpointUnusable(
        f"{search} answers {error.kind}: {error.detail}", hint=_HINTS[error.kind]
    )


def set_searches(environment: Mapping[str, str]) -> list[WebSearchName]:
    """Return the searches whose variables are set."""
    return [search for search in WEB_SEARCHES if not _unset(search, environment)]


def _unset(search: WebSearchName, environment: Mapping[str, str]) -> list[str]:
    needed = [_KEYS[search]] if search in _KEYS else [_BASES[search]]
    needed += ["GOOGLE_SEARCH_ENGINE_ID"] if search == "google" else []
    return [name for name in needed if not environment.get(name, "").strip()]


def searches_of(folder: Path, source: bytes) -> tuple[str, ...]:
    """Return the stored searches with queries made from a source, relative to the workspace."""
    files = sorted((folder / MARK / "websearch").glob("*.json"))
    return tuple(
        file.relative_to(folder).as_posix()
        for file in files
        if (kept := read_note(file, KeptSearch)) is None or source.hex() in kept.sources
    )
